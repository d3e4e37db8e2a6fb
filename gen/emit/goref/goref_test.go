package goref_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/emit/goref"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/sample"
	"github.com/kernelgen/kgen/gen/spec"
)

// request is one call of a generated function, as the runner in
// testdata/runner takes it: elements as float64, converted there.
type request struct {
	Func  int
	Size  []int64
	Param []uint64
	Type  []uint8 // expr.DType of each buffer
	Data  [][]float64
}

// response holds the buffers after the call, or the fault.
type response struct {
	Data  [][]float64
	Fault string
}

// shipped returns the checked specs of the repository.
func shipped(t *testing.T) []*expr.Spec {
	t.Helper()
	set, list := spec.Load(os.DirFS("../../.."), "specs")
	specs, more := expr.Check(set)
	for _, d := range append(list, more...) {
		t.Fatalf("%v: %s", d.Pos, d.Msg)
	}
	return slices.DeleteFunc(specs, func(s *expr.Spec) bool { return s.Raw != nil }) // the oracle has none of those
}

func gradient(t *testing.T, s *expr.Spec, p *expr.Program) *expr.Program {
	t.Helper()
	d, list := grad.Derive(p, grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From})
	if len(list) > 0 {
		t.Fatal(list.Err())
	}
	return d.Program
}

// TestMatchesOracle compiles the reference of every instance of every spec, and
// of its gradient, and compares it with the oracle on random inputs of awkward
// shapes.
func TestMatchesOracle(t *testing.T) {
	var programs []*expr.Program
	for _, s := range shipped(t) {
		for _, p := range s.Instances {
			programs = append(programs, p)
			if s.Grad != nil {
				programs = append(programs, gradient(t, s, p))
			}
		}
	}
	var calls []oracle.Call
	var requests []request
	for i, p := range programs {
		for seed := range uint64(4) {
			call, err := sample.Call(p, seed)
			if err != nil {
				t.Fatal(err)
			}
			call.Round = true
			calls = append(calls, call)
			requests = append(requests, newRequest(t, i, p, call))
		}
	}
	responses := run(t, programs, requests)
	for i, call := range calls {
		p := programs[requests[i].Func]
		want, err := oracle.Run(p, call)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, p, want, responses[i])
	}
}

// TestFault checks that a bad id is reported as the oracle reports it, and that
// nothing is written.
func TestFault(t *testing.T) {
	var p *expr.Program
	for _, s := range shipped(t) {
		if s.Name == "embedding" {
			p = s.Instances[0]
		}
	}
	ids := oracle.Array{Shape: []int{3}, Data: []float64{1, 4, -1}}
	call := oracle.Call{Ins: []oracle.Array{ids, oracle.NewArray(4, 2)}}
	res := run(t, []*expr.Program{p}, []request{newRequest(t, 0, p, call)})[0]
	if want := "tensor 0 position 1 value 4 bound 4"; res.Fault != want {
		t.Errorf("fault %q, want %q", res.Fault, want)
	}
	for i, v := range res.Data[2] {
		if v != 7 {
			t.Errorf("y[%d] was written: %v", i, v)
		}
	}
}

// newRequest puts a call into the order of a RefCall. Outputs start as sevens.
func newRequest(t *testing.T, fn int, p *expr.Program, call oracle.Call) request {
	t.Helper()
	sizes, err := oracle.Check(p, call)
	if err != nil {
		t.Fatal(err)
	}
	r := request{Func: fn, Size: sizes.Extent}
	for i, param := range p.Params {
		v := call.Params[i]
		switch param.Type {
		case expr.ParamF32:
			r.Param = append(r.Param, uint64(math.Float32bits(float32(v.F))))
		case expr.ParamI32, expr.ParamBool:
			r.Param = append(r.Param, uint64(uint32(v.I)))
		default:
			r.Param = append(r.Param, v.U)
		}
	}
	for i, in := range p.Ins {
		r.Type, r.Data = append(r.Type, uint8(in.Type)), append(r.Data, call.Ins[i].Data)
	}
	for _, out := range p.Outs {
		n := 1
		for _, d := range sizes.Shape(out) {
			n *= d
		}
		sevens := make([]float64, n)
		for i := range sevens {
			sevens[i] = 7
		}
		r.Type, r.Data = append(r.Type, uint8(out.Type)), append(r.Data, sevens)
	}
	return r
}

func compare(t *testing.T, p *expr.Program, want *oracle.Result, got response) {
	t.Helper()
	if got.Fault != "" {
		t.Errorf("%s: unexpected fault: %s", p.Name, got.Fault)
		return
	}
	inouts := want.InOuts
	for i, in := range p.Ins {
		if in.Role == expr.InOut {
			same(t, p, in, inouts[0].Data, got.Data[i])
			inouts = inouts[1:]
		}
	}
	for i, out := range p.Outs {
		same(t, p, out, want.Outs[i].Data, got.Data[len(p.Ins)+i])
	}
}

// same wants equal values: both sides compute in float64 in the same order.
// Where the processor fuses multiplications and additions, one rounding of the
// storage type may differ.
func same(t *testing.T, p *expr.Program, tensor *expr.Tensor, want, got []float64) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %s has %d elements, want %d", p.Name, tensor.Name, len(got), len(want))
		return
	}
	rounding := map[expr.DType]float64{expr.F32: 0x1p-23, expr.F16: 0x1p-10, expr.BF16: 0x1p-7}[tensor.Type]
	for i, w := range want {
		g := got[i]
		if g != w && !(math.IsNaN(g) && math.IsNaN(w)) && !(math.Abs(g-w) <= rounding*math.Abs(w)) {
			t.Errorf("%s %v: %s[%d] = %v, the oracle has %v", p.Name, p.Static, tensor.Name, i, g, w)
			return
		}
	}
}

// run compiles the references of programs in a module of their own and makes
// the calls.
func run(t *testing.T, programs []*expr.Program, requests []request) []response {
	t.Helper()
	dir := t.TempDir()
	writeModule(t, dir, programs)
	var in, out, stderr bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(requests); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, &in, &out, &stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var responses []response
	if err := gob.NewDecoder(&out).Decode(&responses); err != nil {
		t.Fatal(err)
	}
	return responses
}

func writeModule(t *testing.T, dir string, programs []*expr.Program) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	readRuntime(t, root)
	f := jen.NewFile("main")
	var funcs []jen.Code
	for i, p := range programs {
		name := fmt.Sprintf("ref%d", i)
		if err := goref.Func(f, name, p); err != nil {
			t.Fatal(err)
		}
		funcs = append(funcs, jen.Id(name))
	}
	call := jen.Func().Params(jen.Op("*").Qual("github.com/kernelgen/kgen/runtime", "RefCall"))
	f.Var().Id("funcs").Op("=").Index().Add(call).Values(funcs...)
	var src strings.Builder
	if err := f.Render(&src); err != nil {
		t.Fatal(err)
	}
	runner, err := os.ReadFile("testdata/runner.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	mod := fmt.Sprintf("module reftest\n\ngo 1.26\n\nrequire github.com/kernelgen/kgen v0.0.0\n\nreplace github.com/kernelgen/kgen => %q\n", root)
	for name, text := range map[string]string{"go.mod": mod, "refs.go": src.String(), "main.go": string(runner)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readRuntime reads the files that the compiled module depends on, so that a
// cached result of this test is not used after they change.
func readRuntime(t *testing.T, root string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "runtime", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of package runtime: %v", err)
	}
	for _, f := range files {
		if _, err := os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
}
