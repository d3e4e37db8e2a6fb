package simrun

import (
	"slices"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// Launch is one function of a kernel, launched by itself.
type Launch struct {
	Kernel *bind.Kernel
	Job    sim.Job // its Kernel is the function's symbol
	Extent []int64 // of the op's axes
}

// Launches gives a launch for each function of a variant's kernels that can run on the
// arguments: the plain form of a kernel, that with small tiles, the wide one and those of
// the split form in three parts. No kernel has run before it: workspaces hold made-up
// floats, and zeros as integers.
//
// Where chunks is not 0 the planner's axes have that extent, as they would for large
// inputs, and only kernels are launched that read a workspace or have a block of rows for
// each group.
func Launches(op *bind.Op, variant int, call oracle.Call, chunks int64) ([]Launch, error) {
	v := &op.Variants[variant]
	sizes, err := oracle.Check(v.Program, call)
	if err != nil {
		return nil, err
	}
	l := newLauncher(nil, op, v, call, sizes)
	if chunks != 0 {
		for i := len(sizes.Extent); i < len(l.extent); i++ {
			l.extent[i] = chunks
		}
	}
	temps := len(v.Program.Ins) + len(v.Program.Outs)
	for i, t := range v.Temps {
		l.tensors[temps+i] = madeUp(t.Type, int(bind.Product(l.extent, t.Axes)))
	}
	var list []Launch
	for i := range v.Kernels {
		k := &v.Kernels[i]
		readsTemp := func(b bind.Buffer) bool { return int(b.Tensor) >= temps && !b.Write }
		if chunks != 0 && !slices.ContainsFunc(k.Buffers, readsTemp) && !overBlocks(op, k) {
			continue
		}
		add := func(symbol string, form *bind.GPULaunch) {
			list = append(list, Launch{k, l.job(k, symbol, form), l.extent})
		}
		add(k.Symbol, &k.GPU)
		if k.Split != nil {
			in := *l
			for _, half := range in.split(k, 3) {
				in.tensors[len(l.tensors)] = madeUp(expr.F32, len(in.tensors[len(l.tensors)])/expr.F32.Bytes())
				list = append(list, Launch{half, in.job(half, half.Symbol, &half.GPU), in.extent})
			}
		}
		if k.GPU.Small != nil {
			add(k.Symbol+bind.SmallForm, k.GPU.Small)
		}
		if w := k.Wide; w != nil && w.Fits(l.extent) {
			add(w.Symbol, &k.GPU)
		}
	}
	return list, nil
}

// overBlocks reports whether the groups of k have a block of rows each.
func overBlocks(op *bind.Op, k *bind.Kernel) bool {
	return slices.ContainsFunc(k.GPU.Grid, func(d bind.GridDim) bool {
		return slices.ContainsFunc(d.Axes, func(a uint8) bool { return op.Axes[a].Blocks })
	})
}

// madeUp is memory as a kernel may have left it: floats of either sign that add up without
// rounding and repeat late, or zeros as integers.
func madeUp(t expr.DType, n int) []byte {
	data := make([]float64, n)
	if t == expr.F32 || t == expr.F16 || t == expr.BF16 {
		for i := range data {
			data[i] = float64(i*37%61-30) / 16
		}
	}
	return oracle.Encode(t, data)
}

// BreakBounds returns the call with values outside their bounds in every input that
// has some, and false if none has.
func BreakBounds(p *expr.Program, call oracle.Call) (oracle.Call, bool) {
	broken := false
	ins := slices.Clone(call.Ins)
	for i, t := range p.Ins {
		if t.Bounds == nil || len(ins[i].Data) == 0 {
			continue
		}
		bad := []float64{-1 << 20, 1 << 20}
		if t.Type == expr.U8 {
			bad = []float64{255}
		}
		data := slices.Clone(ins[i].Data)
		for j := range data {
			data[j] = bad[j%len(bad)]
		}
		ins[i].Data, broken = data, true
	}
	call.Ins = ins
	return call, broken
}
