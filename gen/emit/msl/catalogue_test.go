package msl_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// call is one call of a spec: extents, and what is not random or a default.
type call struct {
	axes   map[string][]int
	params map[string]oracle.Value
	ins    map[string][]float64
	// terms is Σ|term| of the longest sum, by which its error is measured.
	terms float64
}

// entry is a spec with the calls that are tried on it.
type entry struct {
	spec   string
	static []expr.Choice
	types  [][]expr.DType // default: f32 and f16
	calls  []call
	deep   bool // for make proof
}

type (
	ax = map[string][]int
	pm = map[string]oracle.Value
	in = map[string][]float64
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

func elementwise(spec string) entry {
	special := []float64{inf, -inf, nan, 0, 40, -40, 100, -100, 12, -12, 8.5, 1, -1}
	return entry{spec: spec, calls: []call{
		{axes: ax{"P": {2, 150}}},
		{axes: ax{"P": {0}}},
		{axes: ax{"P": {13}}, ins: in{"x": special}},
	}}
}

func broadcast(spec string) entry {
	return entry{spec: spec, calls: []call{
		{axes: ax{"P": {}, "S": {300}}},
		{axes: ax{"P": {3, 2}, "S": {43}}, terms: 6},
		{axes: ax{"P": {7, 41}, "S": {}}, terms: 300},
		{axes: ax{"P": {0}, "S": {3}}},
	}}
}

// deep is an entry that make proof runs alone.
func deep(e entry) entry {
	e.deep = true
	return e
}

func transposed(ta, tb string) []expr.Choice {
	return []expr.Choice{{Name: "ta", Value: ta}, {Name: "tb", Value: tb}}
}

var products = []call{
	largestProduct,
	{axes: ax{"Z": {2}, "M": {2, 3}, "N": {5}, "K": {17}}, terms: 20},
	{axes: ax{"Z": {}, "M": {2}, "N": {3}, "K": {0}}, terms: 1},
	{axes: ax{"Z": {}, "M": {0}, "N": {3}, "K": {2}}, terms: 1},
}

var catalogue = []entry{
	broadcast("add"), deep(broadcast("sub")), deep(broadcast("mul")),
	elementwise("gelu"), deep(elementwise("relu")), deep(elementwise("tanh")), deep(elementwise("sigmoid")),
	{spec: "gelu", types: [][]expr.DType{{expr.BF16}}, calls: elementwise("gelu").calls},
	{spec: "dropout", calls: []call{{axes: ax{"P": {3, 170}}, params: pm{
		"p": oracle.Float(0.375), "seed": oracle.Uint(0x9e3779b97f4a7c15), "offset": oracle.Uint(1<<32 - 100)}}}},
	{spec: "scale", deep: true, calls: []call{{axes: ax{"P": {300}}, params: pm{"s": oracle.Float(-2.5)}}}},
	{spec: "residual_add", deep: true, calls: []call{{axes: ax{"P": {300}}}}},
	{spec: "bias_add", calls: []call{{axes: ax{"R": {9, 5}, "N": {37}}, terms: 45}}},
	{spec: "add_broadcast_2d_3d", calls: []call{{axes: ax{"B": {2}, "L": {19}, "D": {40}}, terms: 19}}},
	{spec: "mask_zero", calls: []call{
		{axes: ax{"B": {2}, "L": {3}, "D": {70}}},
		{axes: ax{"B": {1}, "L": {2}, "D": {2}}, ins: in{"y": {nan, inf, 1, 2}, "mask": {0, 1}}},
	}},
	{spec: "softmax", calls: []call{
		{axes: ax{"R": {2, 2}, "D": {769}}, terms: 1},
		{axes: ax{"R": {5}, "D": {3}}, ins: in{"x": {
			-inf, -inf, -inf, -inf, 0, -inf, 0, -inf, 0, 1000, 1000, -inf, 1, nan, 2}}},
		{axes: ax{"R": {3}, "D": {0}}},
		{axes: ax{"R": {0}, "D": {8}}},
	}},
	{spec: "layernorm", calls: []call{
		{axes: ax{"R": {3}, "D": {769}}, terms: 800},
		{axes: ax{"R": {2, 2}, "D": {5}}, terms: 10},
		{axes: ax{"R": {1}, "D": {4}}, ins: in{"x": {40000, 40001, 40002, 40003}}},
		{axes: ax{"R": {2}, "D": {8}}, ins: in{"x": repeat(-15.9375, 16)}, params: pm{"eps": oracle.Float(float64(float32(1e-4)))}},
		{axes: ax{"R": {4}, "D": {1}}, terms: 1},
	}},
	{spec: "cross_entropy", calls: []call{
		{axes: ax{"R": {5}, "V": {300}}, terms: 10},
		{axes: ax{"R": {4}, "V": {10}}, ins: in{"target": {-100, 3, -100, 0}}, terms: 1,
			params: pm{"label_smoothing": oracle.Float(0.125)}},
		{axes: ax{"R": {2}, "V": {2}}, ins: in{"logits": {1000, 0, 1000, 0}, "target": {0, 1}}},
	}},
	{spec: "row_sum", calls: []call{
		{axes: ax{"R": {3}, "D": {257}}, terms: 130},
		{axes: ax{"R": {1}, "D": {60000}}, ins: in{"x": repeat(0.0999755859375, 60000)}, terms: 6000},
		{axes: ax{"R": {2}, "D": {0}}},
	}},
	{spec: "argmax", calls: []call{
		{axes: ax{"R": {3}, "D": {1025}}},
		{axes: ax{"R": {6}, "D": {4}}, ins: in{"x": {
			3, nan, 1, 5, nan, 1, 2, nan, 1, 2, nan, 3, inf, nan, -inf, 0, -inf, -inf, -inf, -inf, 2, 7, 7, 1}}},
		{axes: ax{"R": {1}, "D": {600}}, ins: in{"x": repeat(4, 600)}},
		{axes: ax{"R": {2}, "D": {0}}},
	}},
	{spec: "masked_mean", calls: []call{
		{axes: ax{"B": {3}, "L": {70}, "H": {45}}, terms: 1},
		{axes: ax{"B": {1}, "L": {300}, "H": {1}}, terms: 1},
		{axes: ax{"B": {2}, "L": {3}, "H": {1}}, ins: in{"x": {1, 2, 3, 1, nan, 3}, "mask": {0, 0, 0, 1, 0, 1}}},
		{axes: ax{"B": {2}, "L": {0}, "H": {3}}},
	}},
	{spec: "sum", calls: []call{
		{axes: ax{"P": {40000}}, terms: 20000},
		{axes: ax{"P": {8}}, ins: in{"x": {32000, 32000, 32000, 32000, -32000, -32000, -32000, -32000}}},
		{axes: ax{"P": {0}}},
	}},
	{spec: "mean", deep: true, calls: []call{
		{axes: ax{"P": {4, 5000}}, ins: in{"x": repeat(60000, 20000)}},
		{axes: ax{"P": {0}}},
	}},
	{spec: "bias_grad", calls: []call{
		{axes: ax{"R": {11, 7}, "N": {33}}, terms: 77},
		{axes: ax{"R": {20000}, "N": {1}}, ins: in{"dy": repeat(0.0999755859375, 20000)}, terms: 2000},
		{axes: ax{"R": {0}, "N": {3}}},
	}},
	{spec: "embedding", calls: []call{
		{axes: ax{"N": {2, 7}, "V": {300}, "D": {70}}, terms: 10},
		{axes: ax{"N": {4}, "V": {4}, "D": {2}}, ins: in{"ids": {2, 2, 2, 0}}, terms: 4},
		{axes: ax{"N": {0}, "V": {4}, "D": {2}}},
	}},
	{spec: "matmul", static: transposed("n", "n"), calls: products, deep: true},
	{spec: "matmul", static: transposed("n", "t"), calls: products, deep: true},
	{spec: "matmul", static: transposed("t", "n"), calls: products[:2], deep: true},
	{spec: "matmul", static: transposed("t", "t"), types: [][]expr.DType{{expr.BF16}}, calls: products},
	{spec: "matmul_bias", static: transposed("n", "n"), calls: products, deep: true},
	{spec: "matmul_bias_gelu", static: transposed("n", "t"), calls: products},
	{spec: "adamw", static: []expr.Choice{{Name: "shadow", Value: "with"}}, calls: []call{
		{axes: ax{"P": {300}}, params: pm{"lr": oracle.Float(0.125), "weight_decay": oracle.Float(0.0625)}, ins: in{
			"v": repeat(0.25, 300), "inv_scale": {0.5}, "clip": {1}, "skip": {0}, "step": {3}}},
		{axes: ax{"P": {2}}, params: pm{"lr": oracle.Float(0.125)}, ins: in{
			"v": {0, 0}, "m": {0, 0}, "inv_scale": {1}, "clip": {1}, "skip": {0}, "step": {100000}}},
		{axes: ax{"P": {5}}, params: pm{"lr": oracle.Float(0.125)}, ins: in{
			"v": repeat(0.5, 5), "inv_scale": {1}, "clip": {1}, "skip": {1}, "step": {1}}},
	}},
	{spec: "fill", deep: true, calls: []call{{axes: ax{"P": {2, 130}}, params: pm{"value": oracle.Float(7)}}}},
	{spec: "cast", types: [][]expr.DType{{expr.F32, expr.F16}, {expr.F16, expr.F32}, {expr.F32, expr.BF16}, {expr.BF16, expr.F16}},
		calls: []call{
			{axes: ax{"P": {300}}},
			{axes: ax{"P": {8}}, ins: in{"x": {65504, 65520, -65520, 1e-8, 6.1e-5, inf, nan, -0.1}}},
		}},
}

// TestCatalogue runs forward and derived gradient of each entry under the
// sanitizers and compares the results with the oracle's.
func TestCatalogue(t *testing.T) {
	for _, e := range catalogue {
		if e.deep && !everyLayout {
			continue
		}
		name := e.spec
		for _, c := range e.static {
			name += "_" + c.Value
		}
		if e.types != nil {
			name += "_" + e.types[0][0].String()
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.run(t)
		})
	}
}

// kernelSet is a program with its kernels, and the forward program's gradient.
type kernelSet struct {
	forward, backward *expr.Program
	f, b              *bind.Result
	grad              *grad.Result
}

// run tries all types under the address and undefined-behaviour sanitizers, and
// the first ones under the thread sanitizer: races do not depend on types.
func (e entry) run(t *testing.T) {
	types := e.types
	if types == nil {
		types = [][]expr.DType{{expr.F32}, {expr.F16}}
	}
	var sets []kernelSet
	for _, list := range types {
		sets = append(sets, newKernelSet(t, instance(t, e.spec, e.static, list...)))
	}
	accepted(t, e.spec, e.text(t, sets))
	for san, sets := range map[sim.Sanitizer][]kernelSet{sim.Thread: sets[:1], sim.Address | sim.Undefined: sets} {
		program := build(t, e.spec+".metal", e.text(t, sets), san|sim.Quick)
		for _, s := range sets {
			for i, c := range e.calls {
				s.check(t, program, c, i)
			}
		}
	}
}

func newKernelSet(t *testing.T, p *expr.Program) kernelSet {
	t.Helper()
	s := kernelSet{forward: p, f: bound(t, p)}
	if s.grad = gradient(t, p); s.grad != nil {
		s.backward = s.grad.Program
		s.b = bound(t, s.backward)
	}
	return s
}

// text is the file that holds the kernels of sets.
func (e entry) text(t *testing.T, sets []kernelSet) []byte {
	t.Helper()
	var kernels []*ir.Func
	for _, s := range sets {
		kernels = append(kernels, s.f.MSL...)
		if s.b != nil {
			kernels = append(kernels, s.b.MSL...)
		}
	}
	return emit(t, findSpec(t, e.spec).File, kernels)
}

// check makes one call of the forward program and one of its gradient.
func (s kernelSet) check(t *testing.T, program *sim.Program, c call, seed int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	fwd := c.inputs(t, r, s.forward)
	want := compare(t, program, s.f, s.forward, fwd, c.terms)
	if s.grad == nil {
		return
	}
	bwd := oracle.Call{Params: make([]oracle.Value, len(s.grad.Params)), Free: fwd.Free}
	for i, p := range s.grad.Params {
		bwd.Params[i] = fwd.Params[p]
	}
	for i, src := range s.grad.In {
		switch src.Kind {
		case grad.FromIn:
			bwd.Ins = append(bwd.Ins, fwd.Ins[src.Index])
		case grad.FromOut:
			bwd.Ins = append(bwd.Ins, want.Outs[src.Index])
		default:
			bwd.Ins = append(bwd.Ins, random(r, s.backward.Ins[i], want.Outs[src.Index].Shape, 0))
		}
	}
	compare(t, program, s.b, s.backward, bwd, c.terms)
}

// inputs makes the arguments of a call.
func (c call) inputs(t *testing.T, r *rand.Rand, p *expr.Program) oracle.Call {
	t.Helper()
	oc := oracle.Call{Params: oracle.Defaults(p), Free: c.axes}
	for i, q := range p.Params {
		if v, ok := c.params[q.Name]; ok {
			oc.Params[i] = v
		}
		oc.Params[i].F = float64(float32(oc.Params[i].F))
	}
	for _, x := range p.Ins {
		bound := int64(0)
		if size, ok := x.Bounds.(*expr.Size); ok {
			bound = int64(count(c.axes[size.A.Name]))
		}
		a := random(r, x, shape(x, c.axes), bound)
		for i, v := range c.ins[x.Name] {
			a.Data[i] = oracle.Round(v, x.Type)
		}
		oc.Ins = append(oc.Ins, a)
	}
	return oc
}

// compare runs p on the simulated device and in the oracle; it returns what the
// oracle gives, rounded to the storage types.
func compare(t *testing.T, program *sim.Program, b *bind.Result, p *expr.Program, c oracle.Call, terms float64) *oracle.Result {
	t.Helper()
	exact, err := oracle.Run(p, c)
	if err != nil {
		t.Fatal(err)
	}
	type form struct {
		small         bool
		parts, blocks int64
	}
	forms := []form{{}}
	if slices.ContainsFunc(b.Op.Axes, func(a bind.Axis) bool { return a.Blocks }) {
		forms = append(forms, form{blocks: 1}, form{blocks: 5}, form{blocks: 200}) // more than there are rows
	}
	for k := range b.Kernels {
		if k.Split != nil {
			forms = append(forms, form{small: true}, form{parts: 3})
			break
		}
	}
	want := exact.Named(p)
	for _, form := range forms {
		d := newDevice(program, b)
		d.small, d.parts, d.blocks = form.small, form.parts, form.blocks
		got := d.run(t, p, c)
		for _, r := range d.reports {
			t.Errorf("%s: %s", p.Name, r)
		}
		if f := d.readFault(); f.set != 0 {
			t.Errorf("%s: fault: %s", p.Name, f)
		}
		for _, x := range results(p) {
			if bad := difference(x.Type, got[x.Name], want[x.Name], terms); bad != "" {
				t.Errorf("%s %v, shapes %v, form %+v: %s: %s", p.Name, p.Types, shapes(c), form, x.Name, bad)
			}
		}
	}
	c.Round = true
	rounded, err := oracle.Run(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return rounded
}

func shapes(c oracle.Call) [][]int {
	var s [][]int
	for _, a := range c.Ins {
		s = append(s, a.Shape)
	}
	return s
}

// results are the tensors that p writes.
func results(p *expr.Program) []*expr.Tensor {
	list := slices.Clone(p.Outs)
	for _, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, t)
		}
	}
	return list
}
