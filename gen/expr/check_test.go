package expr

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kernelgen/kgen/gen/spec"
)

// checkOne checks specs/test/k.toml together with testdata/lib.
func checkOne(t *testing.T, text string) *Spec {
	t.Helper()
	fsys := library(t)
	fsys["specs/test/k.toml"] = &fstest.MapFile{Data: []byte(text)}
	set, list := spec.Load(fsys, "specs")
	specs, more := Check(set)
	if got := about(append(list, more...), "specs/test/k.toml", set); len(got) > 0 {
		t.Fatalf("unexpected mistakes:\n%s", got)
	}
	for _, s := range specs {
		if s.Name == "k" {
			return s
		}
	}
	t.Fatal("k is not among the checked specs")
	return nil
}

// steps formats the steps of a program, one a line: result [axes] = expression.
func steps(p *Program) string {
	var lines []string
	for _, s := range p.Steps {
		line := s.Result.Name + "[" + axisNames(s.Result.Axes) + "] = "
		if s.Reduce != NoReduce {
			line += s.Reduce.String() + "[" + axisNames(s.Over) + "] "
		}
		lines = append(lines, line+Format(s.Expr))
	}
	return strings.Join(lines, "\n")
}

func expectSteps(t *testing.T, p *Program, want ...string) {
	t.Helper()
	if got := steps(p); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestStepAxes(t *testing.T) {
	s := checkOne(t, `
dtypes = ["f32", "f16"]
[param.eps]
type = "f32"
default = 1
[in.x]
shape = "R... D"
[in.gamma]
shape = "D"
[let.mu]
over = "D"
reduce = "mean"
expr = "x"
[let.pos]
expr = "D + size(R)"
[let.scalar]
expr = "eps * 2"
[let.mixed]
expr = "gamma + mu + pos + scalar"
[let.all]
over = "R... D"
reduce = "max"
expr = "x[R, D]"
[out.y]
shape = "R... D"
expr = "mixed + all"
[save]
names = ["mu"]
`)
	if len(s.Instances) != 2 || fmt.Sprint(s.Instances[0].Types, s.Instances[1].Types) != "[f32] [f16]" {
		t.Fatalf("instances: %v", s.Instances)
	}
	p := s.Instances[1]
	expectSteps(t, p,
		"mu[R] = mean[D] x",
		"pos[D] = D + size(R)",
		"scalar[none] = eps * 2",
		"mixed[R D] = gamma + mu + pos + scalar",
		"all[none] = max[R D] x[R, D]",
		"y[R D] = mixed + all",
		"mu[R] = mu")
	if y := p.Outs[0]; y.Type != F16 || FormatShape(y.Shape) != "R... D" || y.Save {
		t.Errorf("y: %+v", y)
	}
	if mu := p.Outs[1]; mu.Type != F32 || !mu.Save || mu.Role != Out || mu == p.Steps[0].Result {
		t.Errorf("saved mu: %+v", mu)
	}
	if d := p.Params[0].Default; d == nil || d.K != Float || d.F != 1 {
		t.Errorf("default of eps: %+v", d)
	}
}

// TestStaticShapes checks shapes and expressions that depend on a choice, and
// the order of instances: statics outer, types inner.
func TestStaticShapes(t *testing.T) {
	s := checkOne(t, `
[types]
S = ["f32", "f16"]
[static]
ta = ["n", "t"]
[in.a]
shape = { "ta=n" = "M K", "ta=t" = "K M" }
[in.b]
shape = "K N"
[out.c]
shape = "M N"
over = "K"
reduce = "sum"
expr = 'where(ta != "t", a, 2*a) * b'
`)
	var got []string
	for _, p := range s.Instances {
		got = append(got, fmt.Sprintf("%v %v %s", p.Static, p.Types, FormatShape(p.Ins[0].Shape)))
	}
	want := "[{ta n}] [f32] M K|[{ta n}] [f16] M K|[{ta t}] [f32] K M|[{ta t}] [f16] K M"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
	expectSteps(t, s.Instances[0], "c[M N] = sum[K] a * b")
	expectSteps(t, s.Instances[2], "c[M N] = sum[K] 2 * a * b")
}

func TestOptional(t *testing.T) {
	s := checkOne(t, `
dtypes = ["f32"]
[in.x]
shape = "R... N"
[in.bias]
shape = "N"
optional = true
[let.wide]
expr = "x * x"
[let.y0]
expr = "where(has(bias) && true, x + bias, x)"
[out.y]
shape = "R... N"
expr = "y0"
[out.square]
shape = "R... N"
optional = true
expr = "wide"
`)
	if fmt.Sprint(s.Choices) != "[{bias [with without]} {square [with without]}]" {
		t.Errorf("choices: %v", s.Choices)
	}
	expectSteps(t, s.Instances[0], "wide[R N] = x * x", "y0[R N] = x + bias", "y[R N] = y0", "square[R N] = wide")
	expectSteps(t, s.Instances[3], "y0[R N] = x", "y[R N] = y0")
	if p := s.Instances[3]; len(p.Ins) != 1 || len(p.Outs) != 1 {
		t.Errorf("without both: %d inputs, %d outputs", len(p.Ins), len(p.Outs))
	}
}

func TestList(t *testing.T) {
	s := checkOne(t, `
dtypes = ["f32"]
[in.x]
shape = "R... D"
list = "D"
[out.y]
shape = "R... D"
expr = "x + size(D)"
[grad]
wrt = ["x"]
`)
	if len(s.Instances) != 8 {
		t.Fatalf("%d instances", len(s.Instances))
	}
	expectSteps(t, s.Instances[0], "y[R D] = x_1[R, D] + size(D)")
	p := s.Instances[1]
	expectSteps(t, p, "y[R D] = where(D < size(D_1), x_1[R, D], x_2[R, D - size(D_1)]) + size(D)")
	var axes []string
	for _, a := range p.Axes {
		axes = append(axes, a.Name)
		if a.Name == "D" && Format(a.Extent) != "size(D_1) + size(D_2)" {
			t.Errorf("extent of D: %s", Format(a.Extent))
		}
	}
	if strings.Join(axes, " ") != "R D_1 D_2 D" {
		t.Errorf("axes %v", axes)
	}
	for i, x := range p.Ins {
		if x.List != i+1 || x.Fill == nil || FormatShape(x.Shape) != fmt.Sprintf("R... D_%d", i+1) {
			t.Errorf("piece %d: %+v", i, x)
		}
	}
}

func TestInline(t *testing.T) {
	s := checkOne(t, `
dtypes = ["f32"]
[in.x]
shape = "R... D"
[in.k]
shape = ""
type = "u8"
[let.s]
over = "D"
reduce = "sum"
expr = "relu(x*x) + leaky(x)"
[let.deep]
expr = "leaky(leaky(s, 0.5))"
[out.y]
shape = "R... D"
expr = "masked(x, k) + deep + relu(1)"
`)
	expectSteps(t, s.Instances[0],
		"s_relu_x[R D] = x * x",
		"s_leaky_low[R D] = 0.25 * x",
		"s[R] = sum[D] where(s_relu_x < 0, 0, s_relu_x) + (where(x < -0.0, s_leaky_low, x) + 0 * s_leaky_low)",
		"deep_leaky_low[R] = 0.5 * s",
		"deep_leaky_x[R] = where(s < -0.0, deep_leaky_low, s) + 0 * deep_leaky_low",
		"deep_leaky_low_2[R] = 0.25 * deep_leaky_x",
		"deep[R] = where(deep_leaky_x < -0.0, deep_leaky_low_2, deep_leaky_x) + 0 * deep_leaky_low_2",
		"y[R D] = where(k != 0, x, 0) + deep + where(1.0 < 0.0, 0.0, 1.0)")
}

// TestCycle checks that specs that call each other are reported once each, and
// that nobody who calls them hangs.
func TestCycle(t *testing.T) {
	set, _ := spec.Load(library(t), "specs")
	_, list := Check(set)
	var got []string
	for _, d := range list.Sorted() {
		got = append(got, d.Error())
	}
	want := []string{
		"specs/lib/loop_a.toml:6:9: loop_a calls itself: loop_a calls loop_b calls loop_a",
		"specs/lib/loop_b.toml:6:19: loop_b calls itself: loop_b calls loop_a calls loop_b",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestBoolOutputs checks how bools are stored.
func TestBoolOutputs(t *testing.T) {
	s := checkOne(t, `
dtypes = ["f32"]
[in.x]
shape = "R... D"
[let.pos]
expr = "x > 0"
[out.each]
shape = "R... D"
type = "u8"
expr = "pos == (x < 1)"
[out.some]
shape = "R..."
type = "u8"
over = "D"
reduce = "any"
expr = "pos"
[out.best]
shape = "R..."
type = "i32"
over = "D"
reduce = "argmax"
expr = "x"
[out.count]
shape = "R..."
over = "D"
reduce = "sum"
expr = "where(pos, 1, 0)"
[save]
names = ["pos"]
`)
	p := s.Instances[0]
	expectSteps(t, p,
		"pos[R D] = x > 0",
		"each[R D] = where(pos && x < 1 || !pos && !(x < 1), 1, 0)",
		"some_any[R] = any[D] pos",
		"some[R] = where(some_any, 1, 0)",
		"best[R] = argmax[D] x",
		"count[R] = sum[D] f32(where(pos, 1, 0))",
		"pos[R D] = where(pos, 1, 0)")
	if r := p.Steps[0].Result; r.Type != U8 {
		t.Errorf("a bool let holds %v", r.Type)
	}
}

// TestInside checks which reads are known to be inside without a fill.
func TestInside(t *testing.T) {
	const head = `
dtypes = ["f32"]
[param.start]
type = "i32"
[param.len]
type = "i32"
[param.k]
type = "i32"
[in.x]
shape = "B L"
[in.ids]
shape = "N"
type = "i32"
bounds = "size(L)"
[axes]
S = "len"
V = "(size(L) - k)/2 + 1"
W = "size(L) * k"
P = "caller"
[require]
start = "start >= 0 && start + len <= size(L)"
k = "0 < k"
p = "size(P) == size(L) && k + start + len > -5"
u = "size(V) + size(W) + len + start != -77"
[let.best]
over = "L"
reduce = "argmax"
expr = "x"
[let.both]
over = "B L"
reduce = "argmax"
expr = "x"
[out.n]
shape = "S V W P"
expr = "0"
[out.m]
shape = "B N"
type = "i32"
expr = "best + both + ids"
[out.y]
shape = "B L N S V W P"
expr = "x[B, %s]"
`
	tests := []struct {
		index string
		ok    bool
	}{
		{"L", true}, {"size(L) - 1 - L", true}, {"start + S", true}, {"S", true}, {"P", true}, {"ids", true}, {"best", true},
		{"2*V", true}, {"2*V + k - 1", true}, {"W / k", true}, {"(L + L)/2", true}, {"(L + start) % size(L)", true},
		{"max(0, min(size(L) - 1, L + start))", true}, {"where(start > 0, L, 0*L)", true},
		{"L - 1", false}, {"L + 1", false}, {"start + S + 1", false}, {"start", false}, {"0", false}, {"ids + 1", false}, {"both", false},
		{"2*V + k", false}, {"(max(0, L) + 0) / k", false}, {"W / start", false}, {"(W + 1) / k", false}, {"(L + L + 2)/2", false}, {"L % k", false}, {"N % size(P)", false}, {"(L - 1)/k", false}, {"L % start", false}, {"W", false}, {"N", false}, {"L*L", false}, {"min(0, L - 5)", false}, {"max(L, k)", false},
		{"-L", false}, {"L + k - 1", false}, {"i32(x)", false}, {"where(start > 0, L, k)", false},
	}
	for _, tt := range tests {
		text := fmt.Sprintf(head, tt.index)
		set, list := spec.ParseSet("specs/test/k.toml", []byte(text))
		_, more := Check(set)
		list = append(list, more...)
		if ok := len(list) == 0; ok != tt.ok {
			t.Errorf("x[B, %s]: accepted = %v, want %v: %v", tt.index, ok, tt.ok, list.Err())
		}
	}
}

// TestIdentifiers checks that names that mean something to Go, C, MSL or CUDA,
// or to the language itself, can be names of anything.
func TestIdentifiers(t *testing.T) {
	names := strings.Fields(`type range func map select switch go defer chan interface package var
len cap make copy min max nil true int float32 string error any iota err ctx out n i b d k r dev batch
unsafe fmt errors math runtime C init main thread threadgroup device constant kernel vertex fragment half
uint new delete this template namespace auto register restrict dot exp y0 j1 I NAN INFINITY blockIdx
threadIdx __shared__ gid where size flat has stop inf nan f32 i32 u64 philox _x false`)
	for _, name := range names {
		for _, form := range []string{
			"[in.%s]\nshape=\"Q...\"\n[out.o_]\nshape=\"Q...\"\nexpr=\"%s + exp(%s) + max(%s, 1)\"",
			"[param.%s]\ntype=\"f32\"\n[in.x_]\nshape=\"Q...\"\n[out.o_]\nshape=\"Q...\"\nexpr=\"%s * x_ + exp(%s) + where(x_ > %s, 1, 0)\"",
			"[in.x_]\nshape=\"Q...\"\n[let.%s]\nexpr=\"x_\"\n[out.o_]\nshape=\"Q...\"\nexpr=\"%s + exp(%s) + %s[Q]\"",
		} {
			text := "dtypes=[\"f32\"]\n" + strings.ReplaceAll(form, "%s", name)
			set, list := spec.ParseSet("specs/test/k.toml", []byte(text))
			specs, more := Check(set)
			if list = append(list, more...); len(list) > 0 {
				t.Errorf("%s: %v", name, list.Err())
				continue
			}
			p := specs[0].Instances[0]
			if q := reread(t, "k", p.Format()); outline(q) != outline(p) {
				t.Errorf("%s: read again it is\n%s\nwant\n%s", name, outline(q), outline(p))
			}
		}
	}
	for _, name := range []string{"a-b", "1a", "a b", "_", "__", "ä", ""} {
		text := fmt.Sprintf("dtypes=[\"f32\"]\n[in.%q]\nshape=\"Q...\"\n[out.y]\nshape=\"Q...\"\nexpr=\"1\"", name)
		if _, list := spec.ParseSet("specs/test/k.toml", []byte(text)); len(list) == 0 {
			t.Errorf("%q is accepted as a name", name)
		} else if list[0].Pos.Line != 2 {
			t.Errorf("%q is reported at %v", name, list[0])
		}
	}
}

// TestScale checks that an integer default takes part as a float.
func TestScale(t *testing.T) {
	s := checkOne(t, `
dtypes = ["f32"]
[param.scale]
type = "f32"
default = 2
[in.x]
shape = "P..."
fill = -inf
[out.y]
shape = "P..."
expr = "x / scale + 1/2.0"
`)
	p := s.Instances[0]
	b := p.Steps[0].Expr.(*Binary).X.(*Binary)
	if b.K != Float || b.Op != Div || p.Params[0].Default.F != 2 || !math.IsInf(p.Ins[0].Fill.F, -1) {
		t.Errorf("got %s, default %+v, fill %+v", Format(b), p.Params[0].Default, p.Ins[0].Fill)
	}
}

func TestGradDecl(t *testing.T) {
	s := checkOne(t, `
go = "LossOf"
dtypes = ["f32"]
[in.x]
shape = "P..."
[let.a]
expr = "x*x"
[out.y]
shape = "P..."
expr = "a"
[out.n]
shape = ""
type = "i32"
over = "P"
reduce = "sum"
expr = "where(x > 0, 1, 0)"
[out.z]
shape = "P..."
type = "f32"
expr = "a + 1"
[save]
names = ["a"]
[grad]
wrt = ["x"]
[fuses]
pattern = "leaky(relu(x))"
`)
	if g := s.Grad; g.Name != "k_grad" || g.GoName != "LossOfGrad" || fmt.Sprint(g.Wrt, g.From) != "[x] [y z]" {
		t.Errorf("grad: %+v", g)
	}
	p := s.Pattern
	if s.Fuses != "leaky(relu(x))" || p.Name != "leaky" || !p.Call || p.Args[0].Name != "relu" || p.Args[0].Args[0].Call {
		t.Errorf("pattern: %+v", p)
	}
	if s.GoName != "LossOf" || s.TypeNames["y"] != "T" || s.TypeNames["n"] != "i32" {
		t.Errorf("spec: %+v", s)
	}
}

// TestOneRun checks that broken files do not hide each other's mistakes: each of
// ten has one, found by the TOML library, package spec or this package.
func TestOneRun(t *testing.T) {
	const in, out = "dtypes = [\"f32\"]\n[in.x]\nshape = \"P...\"\n", "[out.y]\nshape = \"P...\"\nexpr = \"x\"\n"
	broken := []struct{ text, want string }{
		{"dtypes = [\"f64\"]\n[in.x]\nshape = \"P...\"\n" + out, "1:11: unknown float type"},
		{in + "[out.y]\nshape = \"P...\"\nexpr = \"gelo(x)\"\n", "6:9: unknown function"},
		{in + "[out.y]\nshape = \"P...\"\nexpr = \"x * alpha\"\n", "6:13: unknown name"},
		{in + "[out.y]\nshape = \"P...\"\nexpr = \"exp(x\"\n", "6:14: the expression ends"},
		{in + out + "[param.\"1x\"]\ntype = \"f32\"\n", "7:8: \"1x\" is no identifier"},
		{"# one\n\ndoc = \"open\n" + in + out, "3:12: strings cannot contain newlines"},
		{in + "[out.y]\nshape = \"Q...\"\nexpr = \"1\"\n", "5:10: the extent of the axis Q"},
		{in + "[let.u]\nexpr = \"x\"\n" + out, "4:6: the let u is not used"},
		{in + "[out.y]\nshape = \"P...\"\ntype = \"i32\"\nexpr = \"x\"\n", "7:9: y is i32"},
		{in + "[out.y]\nshape = \"P...\"\nexpr = \"x\"\nkind = 1\n", "7:1: unknown key"},
	}
	fsys := fstest.MapFS{}
	for i, b := range broken {
		fsys[fmt.Sprintf("specs/g/k%d.toml", i)] = &fstest.MapFile{Data: []byte(b.text)}
	}
	set, list := spec.Load(fsys, "specs")
	_, more := Check(set)
	list = append(list, more...).Sorted()
	if len(list) != len(broken) {
		t.Fatalf("got %d mistakes, want %d:\n%v", len(list), len(broken), list.Err())
	}
	for i, d := range list {
		if want := fmt.Sprintf("specs/g/k%d.toml:%s", i, broken[i].want); !strings.HasPrefix(d.Error(), want) {
			t.Errorf("got %q, want %q", d.Error(), want)
		}
	}
}
