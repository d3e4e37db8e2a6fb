package bind

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/simt"
	"github.com/kernelgen/kgen/gen/lower/vec"
	"github.com/kernelgen/kgen/gen/plan"
)

// Input is what one Op is made of.
type Input struct {
	ImportPath string          // of the generated package; part of every symbol
	Programs   []*expr.Program // one for each binding of the types, same static choices
	Static     string          // the static choices, joined
	Hash       uint64
	Spec       *expr.Spec // where the kernels are written by hand, else not needed
}

// Result is an Op with the kernels that its symbols name.
type Result struct {
	Op    *Op
	Plans []*plan.Plan // one for each variant
	C     []*ir.Func   // VEC form of each kernel, in the order of the variants
	MSL   []*ir.Func   // SIMT form
	Raw   []*ir.Raw    // one for each variant, where the kernels are written by hand
	// Unlowered says, by target, why kernels are missing; nil when none are.
	Unlowered map[Target]error
}

// Target is an execution model.
type Target string

// The targets of the two lowerings.
const (
	C   Target = "c"
	MSL Target = "msl"
)

// Prefix is the beginning of every symbol of a package: two generated packages
// that hold one op link together.
func Prefix(importPath string) string {
	sum := sha256.Sum256([]byte(importPath))
	return "kg_" + hex.EncodeToString(sum[:4])
}

// Bind plans and lowers the programs of one op, and assigns slots, parameter
// blocks and symbols.
func Bind(in Input) (*Result, error) {
	first := in.Programs[0]
	r := &Result{
		Op:        &Op{Name: first.Name, Static: in.Static, Hash: in.Hash},
		Unlowered: map[Target]error{},
	}
	plans := r.plans(in.Programs)
	r.Plans = plans
	x := newIndex(plans[0])
	r.Op.Axes = x.axes(plans[0])
	r.Op.Ins = x.args(first.Ins)
	r.Op.Outs = x.args(first.Outs)
	for _, p := range first.Params {
		r.Op.Params = append(r.Op.Params, Param{p.Name, p.Type})
	}
	for _, q := range first.Require {
		r.Op.Require = append(r.Op.Require, Require{q.Cond, q.Text})
	}
	for _, pl := range plans {
		if len(newIndex(pl).order) != len(x.order) {
			return nil, fmt.Errorf("bind: %s: variants are planned over different axes", first.Name)
		}
		if pl.Program.Raw != nil {
			r.raw(in, pl.Program)
		} else {
			r.variant(in, pl)
		}
	}
	return r, nil
}

// symbol names a kernel: package, op, static choices, types, position.
func symbol(in Input, p *expr.Program, k, n int) string {
	parts := []string{Prefix(in.ImportPath), p.Name}
	if in.Static != "" {
		parts = append(parts, in.Static)
	}
	for _, t := range p.Types {
		parts = append(parts, t.String())
	}
	if n > 1 {
		parts = append(parts, fmt.Sprint(k+1))
	}
	return strings.Join(parts, "_")
}

func (r *Result) variant(in Input, pl *plan.Plan) {
	p := pl.Program
	x := newIndex(pl)
	v := Variant{Program: p, Ins: types(p.Ins), Outs: types(p.Outs), Reshape: reshape(p)}
	for _, t := range pl.Temps {
		v.Temps = append(v.Temps, Temp{t.Type, x.of(t.Axes)})
	}
	for i, k := range pl.Kernels {
		sym := symbol(in, p, i, len(pl.Kernels))
		block := &lower.Block{}
		out := Kernel{Symbol: sym}
		vk, err := vec.Lower(pl, k, sym, block)
		if err != nil {
			r.unlowered(C, err)
		}
		sk, err := simt.Lower(pl, k, sym, block)
		if err != nil {
			r.unlowered(MSL, err)
		}
		wk, err := simt.LowerWide(pl, k, sym, block)
		if err != nil {
			r.unlowered(MSL, err)
		}
		fields := block.Layout()
		if vk != nil {
			vk.Func.Fields, vk.Func.Doc = fields, describe(k)
			out.Guarded, out.Faults = vk.Func.Guarded, faults(vk.Func)
			out.CPU = CPULaunch{Grid: grid(x, vk.Grid), Cost: x.of(vk.Cost), CostPer: vk.CostPer, Scratch: vk.Scratch}
			r.C = append(r.C, vk.Func)
		}
		if sk != nil {
			out.Guarded, out.Faults = sk.Func.Guarded, faults(sk.Func)
			out.GPU = gpuLaunch(x, sk)
			if sk.Small != nil {
				small := gpuLaunch(x, sk.Small)
				out.GPU.Small = &small
			}
			for _, f := range simtForms(sk) {
				complete(f, fields, describe(k))
				r.MSL = append(r.MSL, f)
			}
		}
		if wk != nil {
			wk.Func.Fields, wk.Func.Doc = fields, describeWide(k)
			out.Wide = wideForm(x, k, wk)
			r.MSL = append(r.MSL, wk.Func)
		}
		if k.Shape == plan.Contract && sk != nil {
			out.Split = r.split(pl, k, sym)
		}
		for _, term := range k.Flops() {
			out.Flops = append(out.Flops, Term{term.Coef, x.of(term.Axes)})
		}
		out.Block, out.BlockBytes = blockOf(x, pl, block), block.Bytes
		writes := k.Writes()
		for i, t := range lower.Tensors(k) {
			n := x.tensor(pl, t)
			b := Buffer{Tensor: n, Write: slices.Contains(writes, t)}
			if vk != nil {
				vk.Func.Buffers[i].Arg = int(n)
				for _, slot := range vk.Func.Buffers[i].InPlace {
					b.InPlace = append(b.InPlace, uint8(slot))
				}
			}
			for _, f := range simtForms(sk) {
				number(f, i, n)
			}
			if wk != nil {
				wk.Func.Buffers[i].Arg = int(n)
			}
			out.Buffers = append(out.Buffers, b)
		}
		out.Product = product(x, k, lower.Tensors(k))
		v.Kernels = append(v.Kernels, out)
	}
	if r.Unlowered[C] != nil && r.Unlowered[MSL] != nil {
		v.Kernels, v.Temps = nil, nil
	}
	r.Op.Variants = append(r.Op.Variants, v)
}

// complete gives f, and its plain form, the layout of its parameter block and a comment.
func complete(f *ir.Func, fields []*ir.Field, doc string) {
	for ; f != nil; f = f.Plain {
		f.Fields, f.Doc = fields, doc
	}
}

// number says which tensor lies in a slot of f, and of its plain form.
func number(f *ir.Func, slot int, tensor uint8) {
	for ; f != nil; f = f.Plain {
		f.Buffers[slot].Arg = int(tensor)
	}
}

// simtForms lists the functions of a kernel in SIMT form.
func simtForms(k *simt.Kernel) []*ir.Func {
	switch {
	case k == nil:
		return nil
	case k.Small == nil:
		return []*ir.Func{k.Func}
	}
	return []*ir.Func{k.Func, k.Small.Func}
}

// blockOf lists the fields of the block of a kernel of pl.
func blockOf(x *index, pl *plan.Plan, block *lower.Block) []Field {
	list := blockFields(x, pl.Program, block)
	for _, w := range block.Wanted {
		list = append(list, Field{Offset: w.Field.Offset, Wanted: x.tensor(pl, w.Tensor)})
	}
	return list
}

// blockFields lists the extents and parameters of a block that has its layout.
func blockFields(x *index, p *expr.Program, block *lower.Block) []Field {
	var list []Field
	for _, s := range block.Sizes {
		list = append(list, Field{Offset: s.Field.Offset, Size: x.of([]*expr.Axis{s.Axis})})
	}
	for _, q := range block.Params {
		list = append(list, Field{Offset: q.Field.Offset, Param: uint8(slices.Index(p.Params, q.Param))})
	}
	return list
}

// faults reports whether f may set the fault word.
func faults(f *ir.Func) bool {
	found := false
	ir.WalkStmts(f.Body, func(s ir.Stmt) {
		_, is := s.(*ir.Fault)
		found = found || is
	})
	return found
}

func (r *Result) unlowered(t Target, err error) {
	if r.Unlowered[t] == nil {
		r.Unlowered[t] = err
	}
}

func types(ts []*expr.Tensor) []expr.DType {
	var out []expr.DType
	for _, t := range ts {
		out = append(out, t.Type)
	}
	return out
}

func grid(x *index, dims []vec.Dim) []GridDim {
	var g []GridDim
	for _, d := range dims {
		g = append(g, GridDim{x.of(d.Axes), d.Tile})
	}
	return g
}

func gpuLaunch(x *index, k *simt.Kernel) GPULaunch {
	g := GPULaunch{Threads: k.Threads}
	for _, d := range k.Grid {
		g.Grid = append(g.Grid, GridDim{x.of(d.Axes), d.Tile})
	}
	if len(k.Row) > 0 {
		g.Row = GridDim{x.of(k.Row), k.PerThread}
	}
	return g
}

func wideForm(x *index, of *plan.Kernel, k *simt.Kernel) *WideForm {
	w := &WideForm{Symbol: k.Func.Symbol}
	for slot, t := range lower.Tensors(of) {
		if slices.Contains(k.Aligned, t) {
			w.Aligned = append(w.Aligned, uint8(slot))
		}
	}
	for _, d := range k.Multiple {
		w.Multiple = append(w.Multiple, GridDim{x.of(d.Axes), d.Tile})
	}
	return w
}

// describeWide says the same of the wide form of k.
func describeWide(k *plan.Kernel) string {
	return strings.TrimSuffix(describe(k), ".") + ", 16 bytes at a time."
}

// describe says in a line what k does.
func describe(k *plan.Kernel) string {
	var names []string
	for _, t := range k.Writes() {
		names = append(names, t.Name)
	}
	return fmt.Sprintf("%s kernel for %s.", k.Shape, strings.Join(names, ", "))
}

// index numbers the axes of a plan: the program's, then the planner's.
type index struct{ order []*expr.Axis }

func newIndex(pl *plan.Plan) *index {
	x := &index{order: slices.Clone(pl.Program.Axes)}
	for _, c := range pl.Chunks {
		x.order = append(x.order, c.Axis)
	}
	return x
}

func (x *index) of(axes []*expr.Axis) []uint8 {
	var out []uint8
	for _, a := range axes {
		out = append(out, uint8(slices.Index(x.order, a)))
	}
	return out
}

func (x *index) axes(pl *plan.Plan) []Axis {
	var out []Axis
	for _, a := range pl.Program.Axes {
		out = append(out, Axis{Name: a.Name, Group: a.Group, Free: a.Free, Extent: a.Extent})
	}
	for _, c := range pl.Chunks {
		out = append(out, Axis{Name: c.Axis.Name, ChunkOf: x.of(c.Of), Chunk: c.Size, Blocks: c.Blocks})
	}
	return out
}

func (x *index) args(ts []*expr.Tensor) []Arg {
	var out []Arg
	for _, t := range ts {
		a := Arg{Name: t.Name, InOut: t.Role == expr.InOut, Lazy: t.Lazy}
		for _, d := range t.Shape {
			a.Shape = append(a.Shape, x.of(d))
		}
		out = append(out, a)
	}
	return out
}

// tensor is the number of t in a Variant: inputs, outputs, workspaces.
func (x *index) tensor(pl *plan.Plan, t *expr.Tensor) uint8 {
	n := 0
	for _, list := range [][]*expr.Tensor{pl.Program.Ins, pl.Program.Outs, pl.Temps} {
		if i := slices.Index(list, t); i >= 0 {
			return uint8(n + i)
		}
		n += len(list)
	}
	panic(fmt.Sprintf("bind: %s: tensor %s is neither an argument nor a workspace", pl.Program.Name, t.Name))
}

// reshape returns one more than the index of the input whose elements the only
// result of p holds in their order, 0 if there is none: it is read at its own
// axes, which are those of the result, however its dimensions merge them.
func reshape(p *expr.Program) uint8 {
	if len(p.Outs) != 1 || len(p.Steps) != 1 {
		return 0
	}
	out := p.Outs[0]
	r, ok := p.Steps[0].Expr.(*expr.Read)
	if !ok || r.Idx != nil || p.Steps[0].Reduce != expr.NoReduce {
		return 0
	}
	i := slices.Index(p.Ins, r.T)
	if i < 0 || r.T.Type != out.Type || r.T.Bounds != nil || !slices.Equal(r.T.Axes, out.Axes) {
		return 0
	}
	return uint8(i + 1)
}
