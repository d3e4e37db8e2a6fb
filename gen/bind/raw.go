package bind

import (
	"errors"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// ErrNoSource says that a kernel written by hand has no source for a target.
var ErrNoSource = errors.New("there is no source for it beside the spec")

// words lists the words of an instance.
func words(s *expr.Spec, p *expr.Program) []ir.RawWord {
	var list []ir.RawWord
	bit := map[bool]int{true: 1}
	for i, c := range s.Choices {
		made := p.Static[i].Value
		if _, isTensor := s.TypeNames[c.Name]; isTensor {
			list = append(list, ir.RawWord{Name: "has_" + c.Name, Value: bit[made == expr.With]})
			continue
		}
		for _, v := range c.Values {
			list = append(list, ir.RawWord{Name: c.Name + "_" + v, Value: bit[made == v]})
		}
	}
	for i, t := range p.Ins {
		if t.Bounds != nil {
			list = append(list, ir.RawWord{Name: "tensor_" + t.Name, Value: i})
		}
	}
	return list
}

// raw binds a program whose kernels are written by hand. Every launch is given
// every tensor, inputs, outputs and workspaces in this order, and the extents of
// all axes and all parameters. Its functions have no bodies: those are in the
// sources.
func (r *Result) raw(in Input, p *expr.Program) {
	inst := &ir.Raw{ID: symbol(in, p, 0, 1), Program: p, Words: words(in.Spec, p)}
	for i, name := range in.Spec.TypeVars {
		inst.Types = append(inst.Types, ir.RawType{Name: name, Type: p.Types[i]})
	}
	r.Raw = append(r.Raw, inst)
	if !p.Raw.HasMSL {
		r.unlowered(MSL, ErrNoSource)
	}
	x := &index{order: p.Axes}
	v := Variant{Program: p, Ins: types(p.Ins), Outs: types(p.Outs)}
	for _, t := range p.Raw.Temps {
		v.Temps = append(v.Temps, Temp{t.Type, x.of(t.Axes)})
	}
	for i, l := range p.Raw.Launches {
		block := lower.BlockOf(p.Axes, p.Params)
		f := ir.Func{Symbol: symbol(in, p, i, len(p.Raw.Launches)), Fields: block.Layout(), Doc: "Launches " + l.Name + " of the source."}
		k := Kernel{Symbol: f.Symbol, BlockBytes: block.Bytes}
		for _, t := range rawTensors(p) {
			write := t.Role != expr.In
			f.Guarded = f.Guarded || t.Role == expr.InOut
			n := len(f.Buffers)
			f.Buffers = append(f.Buffers, &ir.Buffer{Name: t.Name, Slot: n, Arg: n, Type: t.Type, Write: write})
			k.Buffers = append(k.Buffers, Buffer{Tensor: uint8(n), Write: write})
		}
		k.Block = blockFields(x, p, block)
		k.Guarded = f.Guarded
		k.Faults = slices.ContainsFunc(p.Ins, func(t *expr.Tensor) bool { return t.Bounds != nil })
		k.CPU = CPULaunch{Grid: tiles(x, l.Items), Cost: x.of(l.Cost), CostPer: l.CostPS, Scratch: l.Scratch}
		c := f
		launch := ir.RawLaunch{Name: l.Name, Vec: &c}
		r.C = append(r.C, launch.Vec)
		if p.Raw.HasMSL || p.Raw.HasCUDA {
			k.GPU = GPULaunch{Grid: tiles(x, l.Groups), Threads: l.Threads}
			launch.SIMT = rawSIMT(f, l)
		}
		if p.Raw.HasMSL {
			r.MSL = append(r.MSL, launch.SIMT)
		}
		inst.Launches = append(inst.Launches, launch)
		v.Kernels = append(v.Kernels, k)
	}
	r.Op.Variants = append(r.Op.Variants, v)
}

// rawSIMT is the SIMT form of a launch.
func rawSIMT(f ir.Func, l *expr.Launch) *ir.Func {
	f.SIMT, f.Threads = true, l.Threads
	elems := map[expr.Kind]ir.Elem{expr.Float: ir.F32, expr.Int: ir.I32, expr.Uint: ir.U32}
	for _, a := range l.Shared {
		f.Arrays = append(f.Arrays, &ir.Array{Name: a.Name, Type: elems[a.Kind], Len: a.Len})
	}
	return &f
}

// rawTensors lists what the launches of p are given.
func rawTensors(p *expr.Program) []*expr.Tensor {
	var list []*expr.Tensor
	for _, ts := range [][]*expr.Tensor{p.Ins, p.Outs, p.Raw.Temps} {
		list = append(list, ts...)
	}
	return list
}

func tiles(x *index, list []expr.Tile) []GridDim {
	var dims []GridDim
	for _, t := range list {
		dims = append(dims, GridDim{x.of(t.Axes), t.Size})
	}
	return dims
}

// plans are the plans of programs; those of kernels written by hand are empty.
func (r *Result) plans(programs []*expr.Program) []*plan.Plan {
	var list []*plan.Plan
	for _, p := range programs {
		pl := &plan.Plan{Program: p}
		if p.Raw == nil {
			made, err := plan.New(p)
			if err != nil {
				r.Unlowered[C], r.Unlowered[MSL] = err, err
			} else {
				pl = made
			}
		}
		list = append(list, pl)
	}
	return list
}
