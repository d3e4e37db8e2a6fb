package gen

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
	"github.com/kernelgen/kgen/gen/simrun"
)

const rawSpec = `doc    = "Gives x."
dtypes = ["f32", "f16"]
[in.x]
shape = "P..."
[out.y]
shape = "P..."
[raw.move]
items   = ["P/64"]
groups  = ["P/64"]
threads = 64
`

const rawGo = "package move\n\nfunc reference(a *args) { copy(a.y, a.x) }\n"

// rawModule is a module with one kernel written by hand.
func rawModule(c, metal, reference string) map[string]string {
	return map[string]string{
		"go.mod":              "module example.com/raw\n\ngo 1.26\n",
		"specs/g/raw.toml":    rawSpec,
		"specs/g/raw.c":       c,
		"specs/g/raw.metal":   metal,
		"specs/g/raw.go.txt":  reference,
		"specs/g/plain.toml":  "doc = \"Gives -x.\"\ndtypes = [\"f32\"]\n[in.x]\nshape = \"P...\"\n[out.y]\nshape = \"P...\"\nexpr = \"-x\"\n",
		"specs/g/unread.c":    "not a source of any spec",
		"specs/g/plain.metal": "not of a spec with [raw]",
	}
}

// hostile is text that a generator which quotes, formats or splices its input
// would change.
const hostile = "// `backquote` */ {{.Name}} %d %s %% \\n \x60\n//go:build ignore\n/* //line x.go:1 */ // \"quote' $1 ${x}\n"

// TestRawSourcesSurvive: sources reach each target byte for byte. (C055)
func TestRawSourcesSurvive(t *testing.T) {
	const c, metal = "static void move(const Args *args, int64_t lo, int64_t hi) {}\n", "void move(thread const Args &args) {}\n"
	megabyte := strings.Repeat("// "+strings.Repeat("x", 76)+"\n", 1<<20/80)
	for name, text := range map[string]string{
		"hostile":            hostile,
		"no final newline":   hostile + "// the end",
		"trailing backslash": hostile + "// the end \\",
		"backslash, newline": hostile + "// the end \\\n",
		"a megabyte":         megabyte,
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{
				"generated/ops/internal/cg/raw.raw.h":   c + text,
				"msl/g/raw.metal":                       metal + text,
				"generated/ops/internal/ref_raw/raw.go": rawGo + text,
			}
			res := compile(t, write(t, rawModule(c+text, metal+text, rawGo+text)))
			for _, f := range res.Files() {
				text, ok := want[f.Path]
				if !ok {
					continue
				}
				delete(want, f.Path)
				if path.Ext(f.Path) != ".metal" && !bytes.HasSuffix(f.Data, []byte("\n"+text)) {
					t.Errorf("%s does not end in the source", f.Path)
				}
				if n := bytes.Count(f.Data, []byte("\n"+text+"\n")); path.Ext(f.Path) == ".metal" && n != 2 {
					t.Errorf("%s holds the source %d times, want it for both types", f.Path, n)
				}
			}
			for file := range want {
				t.Errorf("%s is not generated", file)
			}
		})
	}
}

// TestRawSourcesCompile: what was spliced around the sources is still C and
// Metal, whatever they end in.
func TestRawSourcesCompile(t *testing.T) {
	simtest.Need(t)
	const move = "for (int64_t i = lo * 64; i < kgi_min(hi * 64, args->size_P); i++) kg_st_T(args->y + i, kg_ld_T(args->x + i));"
	const body = "static void move(const Args *args, int64_t lo, int64_t hi) { " + move + " }\n"
	metal := "void move(thread const Args &args) {\n\tconst int i = int(args.group.x) * 64 + int(args.tid);\n" +
		"\tif (i < args.size_P) kg_st_T(args.y + i, kg_ld_T(args.x + i));\n}\n"
	for _, end := range []string{"", "// no newline", "// backslash \\", "// backslash \\\n", "#define LEFT 1"} {
		dir := write(t, rawModule(body+end, metal+end, rawGo))
		res := compile(t, dir)
		for _, f := range res.Files() {
			file := filepath.Join(dir, filepath.FromSlash(f.Path))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		cc := exec.Command("cc", "-std=gnu11", "-Wno-psabi", "-fsyntax-only", "raw.raw.c")
		cc.Dir = filepath.Join(dir, "generated/ops/internal/cg")
		if text, err := cc.CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%.500s", end, err, text)
		}
		found, err := CheckShaders(context.Background(), res.Shaders())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if len(f.Findings) > 0 {
				t.Errorf("%q: %s: %v", end, f.Path, f.Findings)
			}
		}
	}
}

// TestRawGolden compares what is generated around the sources of a kernel that
// uses all a spec can declare, and the descriptor of a gradient that is a spec,
// with what they were. Whether they compile is the business of tests/script.
func TestRawGolden(t *testing.T) {
	files := map[string]bool{
		"generated/ops/internal/chand/route.raw.c": true, "msl/hand/route.metal": true, "generated/ops/route_ref.go": true,
		"generated/ops/internal/ref_route/args_ref.go": true, "generated/ops/cube.go": true,
	}
	for _, f := range compile(t, "testdata/rawmodule").Files() {
		if !files[f.Path] {
			continue
		}
		delete(files, f.Path)
		name := filepath.Join("testdata/golden/raw", path.Base(f.Path)+".golden")
		if *update {
			if err := os.WriteFile(name, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if d := diff.Diff(name, want, f.Path, f.Data); d != nil {
			t.Errorf("rewrite the golden files with -update if this is as it should be:\n%s", d)
		}
	}
	for file := range files {
		t.Errorf("%s is not generated", file)
	}
}

// A change of any source changes the hash that stands in code and shader.
func TestRawHash(t *testing.T) {
	files := rawModule("void move() {}", "void move() {}", rawGo)
	seen := map[uint64]string{hashes(t, files)["raw"]: "nothing"}
	for _, file := range []string{"specs/g/raw.c", "specs/g/raw.metal", "specs/g/raw.go.txt"} {
		files[file] += "// more\n"
		h := hashes(t, files)["raw"]
		if other, ok := seen[h]; ok {
			t.Errorf("the hash after a change of %s is that after one of %s", file, other)
		}
		seen[h] = file
	}
}

// mistakes compiles a module and returns what is wrong with it, a line each.
func mistakes(t *testing.T, files map[string]string) string {
	t.Helper()
	m, err := Open(write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	_, list, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range list.Sorted() {
		lines = append(lines, d.Pos.String()+": "+d.Msg)
	}
	return strings.Join(lines, "\n")
}

func TestRawReferenceMistakes(t *testing.T) {
	for reference, want := range map[string]string{
		"package main\n\nfunc reference(a *args) {}\n":            "specs/g/raw.go.txt:1:9: the package of a reference cannot be called main",
		"package move\n\nfunc references(a *args) {}\n":           "specs/g/raw.go.txt:1:9: the source has no function reference",
		"package move\n\nfunc (a *args) reference() {}\n":         "specs/g/raw.go.txt:1:9: the source has no function reference",
		"package move\n\nfunc reference(a *args) {\n\tfor {\n}\n": "specs/g/raw.go.txt:5:3: expected '}', found 'EOF'",
		"package move\x00": "specs/g/raw.go.txt:1:13: the file holds a NUL byte",
	} {
		if got := mistakes(t, rawModule("void move() {}", "void move() {}", reference)); !strings.HasPrefix(got, want) {
			t.Errorf("%q gives\n%s\nwant\n%s", reference, got, want)
		}
	}
}

// forward is a spec whose gradient is a spec, and backward that spec.
const (
	forward = `doc    = "Gives scale*x."
dtypes = ["f32", "f16"]
[param.scale]
type = "f32"
[in.x]
shape = "R... D"
[in.k]
shape = "R..."
type  = "i32"
[out.y]
shape = "R... D"
expr  = "scale * x + f32(k)"
[grad]
kernel = "backward"
`
	backward = `doc    = "Gives scale*d_y."
dtypes = ["f32", "f16"]
[param.scale]
type = "f32"
[in.d_y]
shape = "A... B"
[out.d_x]
shape = "A... B"
expr  = "scale * d_y"
`
)

// TestGradientKernels: a gradient that is a spec must fit what it is the
// gradient of.
func TestGradientKernels(t *testing.T) {
	replace := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	for name, c := range map[string]struct{ forward, backward, want string }{
		"right":   {forward, backward, ""},
		"renamed": {forward + "in = { g = \"d_y\" }\n", replace(backward, "d_y", "g"), ""},
		"no spec": {replace(forward, `"backward"`, `"elsewhere"`), backward,
			`specs/g/forward.toml:14:10: the gradient kernel "elsewhere" is no spec`},
		"mistake in it": {forward, replace(backward, "scale * d_y", "scale *"), "specs/g/backward.toml:9:17: "},
		"an input": {forward, replace(backward, "d_y", "d_z"),
			"specs/g/forward.toml:14:10: the gradient kernel backward has the input d_z, and d_z is no input, output or cotangent of forward here"},
		"an output": {forward, replace(backward, "d_x", "d_k2"),
			"specs/g/forward.toml:14:10: the gradient kernel backward has the output d_k2, which is no d_NAME of an input of forward here"},
		"a parameter": {forward, replace(backward, `"f32"`+"\n[in", `"i32"`+"\n[in", "scale * d_y", "f32(scale) * d_y"),
			"specs/g/forward.toml:14:10: the gradient kernel backward has the parameter scale, and forward has none of that name and type"},
		"types": {forward, replace(backward, `, "f16"`, ""),
			"specs/g/forward.toml:14:10: the gradient kernel backward has no instance for f16 of forward: its tensors have other types"},
		"shapes": {forward, replace(backward, "A... B", "A..."),
			`specs/g/forward.toml:14:10: the gradient kernel backward has d_y with the shape "A...", which stands for the shape "R... D" of y`},
		"a choice": {forward, replace(backward, "[param", "[static]\nway = [\"a\", \"b\"]\n[param", `"scale * d_y"`, `'where(way == "a", scale, 1) * d_y'`),
			"specs/g/forward.toml:14:10: nothing says which way the gradient kernel backward has"},
		"an unknown rename": {forward + "in = { g = \"d_y\" }\n", backward,
			"specs/g/forward.toml:15:8: the gradient kernel backward has no input g"},
		"no cotangent": {forward + "in = { d_y = \"d_k\" }\n", backward,
			`specs/g/forward.toml:15:14: the gradient cannot be given "d_k"`},
		"no result": {forward + "out = { d_x = \"x\" }\n", backward,
			`specs/g/forward.toml:15:15: the gradient cannot give "x"`},
		"an int result": {forward + "out = { d_x = \"d_k\" }\n", backward,
			"specs/g/forward.toml:15:15: the i32 input k has no gradient: only float inputs have"},
	} {
		files := map[string]string{
			"go.mod": "module example.com/grad\n", "specs/g/forward.toml": c.forward, "specs/g/backward.toml": c.backward,
		}
		if got := mistakes(t, files); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestCumSum runs the Metal kernels of the running sums on rows of several
// rounds, under the sanitizers, and, in each type and direction, without the barrier
// between them and without the bounds of what it loads and stores.
func TestCumSum(t *testing.T) {
	simtest.Need(t)
	res := compile(t, "..")
	s, ops := res.find("cumsum")
	ref, err := res.module.startReference(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ref.close(); err != nil {
			t.Error(err)
		}
	}()
	shader, err := s.file(StageMSL)
	if err != nil {
		t.Fatal(err)
	}
	for _, san := range []sim.Sanitizer{sim.Thread, sim.Address | sim.Undefined} {
		for _, op := range ops {
			p := build(t, shader, san)
			for v := range op.Programs {
				checkLongRows(t, p, op, v, ref)
			}
		}
	}
	for _, m := range []struct {
		left, put string
		san       sim.Sanitizer
		want      sim.ReportKind
	}{
		{"threadgroup_barrier(mem_flags::mem_threadgroup);", "", sim.Thread, sim.DataRace},
		{"if (d < n) {\n\t\t\t\tsum", "{\n\t\t\t\tsum", sim.Address, sim.Bounds},
		{"if (d < n) {\n\t\t\t\tkg_st", "{\n\t\t\t\tkg_st", sim.Address, sim.Bounds},
	} {
		p := build(t, replaceAll(t, shader, m.left, m.put), m.san)
		for _, op := range ops {
			for v, program := range op.Programs {
				out, err := simrun.Run(context.Background(), p, op.Bound.Op, v, longRows(program))
				if err != nil {
					t.Fatal(err)
				}
				if len(out.Reports) == 0 || out.Reports[0].Kind != m.want || out.Reports[0].File != s.Raw.Metal.File {
					t.Errorf("%s of %v without %q: the reports are %v, want %s in %s", op.Name, program.Types, m.left, out.Reports, m.want, s.Raw.Metal.File)
				}
			}
		}
	}
}

func replaceAll(t *testing.T, text []byte, old, with string) []byte {
	t.Helper()
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("the source has no %q", old)
	}
	return bytes.ReplaceAll(text, []byte(old), []byte(with))
}

func build(t *testing.T, shader []byte, san sim.Sanitizer) *sim.Program {
	t.Helper()
	dir, err := sim.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	p, err := sim.Build(context.Background(), dir, "cumsum.metal", shader, san)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// longRows is a call with rows of more than two rounds, whose sums are exact in
// every type until a NaN, or infinities, end them.
func longRows(p *expr.Program) oracle.Call {
	in := oracle.NewArray(2, 2500)
	for i := range in.Data {
		in.Data[i] = float64(i%3 - i%5/2)
	}
	in.Data[1300] = math.NaN()
	in.Data[2500+700], in.Data[2500+1900] = math.Inf(1), math.Inf(-1)
	return oracle.Call{Ins: []oracle.Array{in}, Round: true}
}

func checkLongRows(t *testing.T, program *sim.Program, op *Op, v int, ref *refServer) {
	t.Helper()
	p := op.Programs[v]
	call := longRows(p)
	want, err := ref.run(p, call)
	if err != nil {
		t.Fatal(err)
	}
	got, err := simrun.Run(context.Background(), program, op.Bound.Op, v, call)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Reports) > 0 || got.Result == nil {
		t.Fatalf("%s %s: %v", StaticName(op.Choices), DTypeName(p), got.Reports)
	}
	for i, w := range want.Outs[0].Data {
		if g := got.Outs[0].Data[i]; g != w && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Fatalf("%s %s: element %d is %v, the reference gives %v", StaticName(op.Choices), DTypeName(p), i, got.Outs[0].Data[i], w)
		}
	}
}

// Gradients that are specs run the kernels of those and add none.
func TestGradientRunsKernels(t *testing.T) {
	res := compile(t, "..")
	_, ops := res.find("cumsum")
	for i, g := range []int{1, 0} {
		grad := ops[i].Grad.Op
		if len(grad.Bound.C)+len(grad.Bound.MSL) > 0 || len(grad.Bound.Unlowered) > 0 {
			t.Errorf("%s has kernels of its own", grad.FuncName())
		}
		for v := range grad.Bound.Op.Variants {
			got, want := grad.Bound.Op.Variants[v].Kernels, ops[g].Bound.Op.Variants[v].Kernels
			if len(got) != 1 || got[0].Symbol != want[0].Symbol {
				t.Errorf("%s runs %v, want %v", grad.FuncName(), got, want)
			}
		}
		if in := grad.Bound.Op.Ins[0]; in.Name != "d_y" {
			t.Errorf("%s takes %s, want d_y", grad.FuncName(), in.Name)
		}
	}
	if targets := ops[0].Targets(); len(targets) != 3 {
		t.Errorf("cumsum has kernels for %v only", targets)
	}
}
