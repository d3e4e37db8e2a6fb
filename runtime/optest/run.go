package optest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernelgen/kgen/runtime"
)

// run calls the op on a device and returns its outputs, then the new versions
// of its inouts.
func (a *arguments) run(d *runtime.Device) ([]array, error) {
	b := d.Batch("optest")
	ins, err := a.upload(d)
	defer closeAll(ins)
	if err != nil {
		return nil, err
	}
	results := a.record(b, ins)
	for _, h := range results {
		b.Keep(h)
	}
	if err := b.Sync(context.Background()); err != nil {
		return nil, err
	}
	var outs []array
	for _, h := range results {
		out, err := download(h)
		if err != nil {
			return nil, err
		}
		outs = append(outs, out)
		if err := h.Close(); err != nil {
			return nil, err
		}
	}
	return outs, nil
}

// upload makes the inputs. Those that it returns are to be closed, also when there
// is an error.
func (a *arguments) upload(d *runtime.Device) ([]runtime.Handle, error) {
	var ins []runtime.Handle
	for _, in := range a.ins {
		h, err := in.upload(d)
		if err != nil {
			return ins, err
		}
		ins = append(ins, h)
	}
	return ins, nil
}

func closeAll(list []runtime.Handle) {
	for _, h := range list {
		h.Close()
	}
}

// record calls the op with the given inputs and returns its results.
func (a *arguments) record(b *runtime.Batch, ins []runtime.Handle) []runtime.Handle {
	var call runtime.Call
	call.Begin(b, a.op)
	for _, h := range ins {
		call.In(h)
	}
	a.scalars(&call)
	for i, axis := range a.op.Axes {
		if axis.Free {
			call.Free(a.dims[i]...)
		}
	}
	for i, t := range a.variant.Outs {
		call.OutType(i, t)
	}
	call.Record(a.variant.Static)
	results := make([]runtime.Handle, a.results())
	for i := range results {
		results[i] = runtime.OutHandle(&call, i)
	}
	return results
}

func (a *arguments) scalars(call *runtime.Call) {
	for i, p := range a.op.Params {
		v := a.params[i]
		switch p.Type {
		case runtime.ParamF32:
			call.F32(v.F32())
		case runtime.ParamI32:
			call.I32(v.I32())
		case runtime.ParamU32:
			call.U32(v.U32())
		case runtime.ParamU64:
			call.U64(v.U64())
		case runtime.ParamBool:
			call.Bool(v.Bool())
		}
	}
}

// results is the number of outputs and of inouts.
func (a *arguments) results() int {
	n := len(a.op.Outs)
	for _, in := range a.op.Ins {
		if in.InOut {
			n++
		}
	}
	return n
}

// resultName names result i in messages.
func (a *arguments) resultName(i int) string {
	if i < len(a.op.Outs) {
		return a.op.Outs[i].Name
	}
	i -= len(a.op.Outs)
	for _, in := range a.op.Ins {
		if in.InOut {
			if i == 0 {
				return in.Name
			}
			i--
		}
	}
	return ""
}

// spread returns how far each result moves when the inputs move by a rounding
// error of f32, in which kernels compute: what they cannot be expected to do
// better than.
func (a *arguments) spread(d *runtime.Device, at []array) ([][]float64, error) {
	if wide := a.widened(); wide != nil {
		exact, err := wide.run(d)
		if err != nil {
			return nil, err
		}
		return wide.spread(d, exact)
	}
	spread := make([][]float64, len(at))
	for i := range at {
		spread[i] = make([]float64, len(at[i].data))
	}
	rng := rand.New(rand.NewPCG(seedOf(a.op.Name), rounds))
	const moves = 4
	for range moves {
		moved, err := a.moved(rng).run(d)
		if err != nil {
			return nil, err
		}
		for i := range at {
			for j, v := range moved[i].data {
				if g := gap(v, at[i].data[j]); g > spread[i][j] || math.IsNaN(g) {
					spread[i][j] = g
				}
			}
		}
	}
	return spread, nil
}

// widened returns the arguments for the variant that stores as f32 what this one
// stores in fewer bits; nil if there is none, or nothing is.
func (a *arguments) widened() *arguments {
	w := *a
	w.ins = slices.Clone(a.ins)
	types := slices.Clone(a.variant.Ins)
	for i, t := range types {
		if t == runtime.F16 || t == runtime.BF16 {
			types[i], w.ins[i].dtype = runtime.F32, runtime.F32
		}
	}
	i := slices.IndexFunc(a.op.Variants, func(v runtime.Variant) bool {
		return v.Static == a.variant.Static && slices.Equal(v.Ins, types)
	})
	if i < 0 || slices.Equal(types, a.variant.Ins) {
		return nil
	}
	w.variant = &a.op.Variants[i]
	return &w
}

// moved returns the arguments with every f32 input moved to a neighbour.
func (a *arguments) moved(rng *rand.Rand) *arguments {
	m := *a
	m.ins = nil
	for _, in := range a.ins {
		if in.dtype == runtime.F32 {
			data := make([]float64, len(in.data))
			for i, v := range in.data {
				data[i] = v * (1 + (2*float64(rng.IntN(2))-1)*0x1p-23)
			}
			in.data = data
		}
		m.ins = append(m.ins, in)
	}
	return &m
}
