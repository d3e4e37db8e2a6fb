package simrun

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// launcher runs the kernels of one variant for one call, as a host does.
type launcher struct {
	program *sim.Program
	op      *bind.Op
	variant *bind.Variant
	call    oracle.Call
	extent  []int64  // of the op's axes
	tensors [][]byte // inputs, outputs, workspaces
	fault   []byte   // the fault word
	reports []sim.Report
	moved   []Bytes
	stopped bool // a kernel did not end
}

// faultBytes is the size of the fault word: lock, set, op and tensor as int32,
// then position, value and bound as int64.
const faultBytes = 40

// blockRows is how many rows a block of rows has here. A host gives it fewer where there
// are few rows, and more where there are many.
const blockRows = 64

func newLauncher(p *sim.Program, op *bind.Op, v *bind.Variant, call oracle.Call, sizes *oracle.Sizes) *launcher {
	l := &launcher{program: p, op: op, variant: v, call: call, fault: make([]byte, faultBytes)}
	l.extent = slices.Clone(sizes.Extent)
	for _, a := range op.Axes[len(l.extent):] {
		size := a.Chunk
		if a.Blocks {
			size = blockRows
		}
		l.extent = append(l.extent, ceilDiv(bind.Product(l.extent, a.ChunkOf), size))
	}
	for i, t := range v.Program.Ins {
		l.tensors = append(l.tensors, oracle.Encode(t.Type, call.Ins[i].Data))
	}
	for _, t := range v.Program.Outs {
		l.tensors = append(l.tensors, unset(t.Type, elements(sizes.Shape(t))))
	}
	for _, t := range v.Temps {
		l.tensors = append(l.tensors, unset(t.Type, int(bind.Product(l.extent, t.Axes))))
	}
	return l
}

// unset is memory that nothing has written to: NaN as floats, -1 as integers.
func unset(t expr.DType, n int) []byte {
	return slices.Repeat([]byte{0xFF}, n*t.Bytes())
}

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func ceilDiv(n, by int64) int64 { return (n + by - 1) / by }

// run launches the kernels in order. It stops early when one does not end.
func (l *launcher) run(ctx context.Context) error {
	for i := range l.variant.Kernels {
		k := &l.variant.Kernels[i]
		launches := []*bind.Kernel{k}
		extent, tensors := l.extent, len(l.tensors)
		if parts := k.PartsFor(l.extent); parts > 1 {
			launches = l.split(k, parts)
		}
		for _, k := range launches {
			ended, err := l.launch(ctx, k)
			if err != nil || !ended {
				return err
			}
		}
		l.extent, l.tensors = extent, l.tensors[:tensors]
	}
	return nil
}

// split returns the launches of the split form of a kernel. It adds the axis that counts
// the parts, and the workspace.
func (l *launcher) split(k *bind.Kernel, parts int64) []*bind.Kernel {
	l.extent = append(slices.Clone(l.extent), parts)
	l.tensors = append(slices.Clone(l.tensors), unset(expr.F32, int(bind.Product(l.extent, k.Split.Sums))))
	return []*bind.Kernel{&k.Split.Parts, &k.Split.Join}
}

// launch runs one kernel and reports whether it came to its end.
func (l *launcher) launch(ctx context.Context, k *bind.Kernel) (ended bool, err error) {
	form, suffix := k.GPU.Form(l.extent)
	symbol := k.Symbol + suffix
	if w := k.Wide; w != nil && w.Fits(l.extent) { // all tensors begin at multiples of 16 bytes
		symbol = w.Symbol
	}
	r, err := l.program.Run(ctx, l.job(k, symbol, form))
	if err != nil {
		return false, err
	}
	l.reports = append(l.reports, r.Reports...)
	l.moved = append(l.moved, bytesOf(symbol, k, r.Moved))
	if r.Buffers == nil {
		l.stopped = true
		return false, nil
	}
	for slot, b := range k.Buffers {
		if b.Write {
			l.tensors[b.Tensor] = r.Buffers[slot]
		}
	}
	l.fault = r.Buffers[len(r.Buffers)-1]
	return true, nil
}

// job is one launch of a function of a kernel.
func (l *launcher) job(k *bind.Kernel, symbol string, form *bind.GPULaunch) sim.Job {
	job := sim.Job{Kernel: symbol, Group: [3]int{form.ThreadsFor(l.extent), 1, 1}}
	for i, n := range form.Groups(l.extent) {
		job.Grid[i] = int(n)
	}
	for slot, b := range k.Buffers {
		job.Buffers = append(job.Buffers, sim.Buffer{Index: slot, Data: l.tensors[b.Tensor], Writable: b.Write})
	}
	n := len(k.Buffers)
	if k.BlockBytes > 0 {
		job.Buffers = append(job.Buffers, sim.Buffer{Index: n, Data: l.op.FillBlock(k, l.extent, oracle.Bits(l.variant.Program.Params, l.call.Params))})
	}
	job.Buffers = append(job.Buffers, sim.Buffer{Index: n + 1, Data: l.fault, Writable: true})
	return job
}

// results reads the outputs, then the new values of the inouts.
func (l *launcher) results(sizes *oracle.Sizes) []oracle.Array {
	p := l.variant.Program
	var list []oracle.Array
	for i, t := range p.Outs {
		list = append(list, oracle.Array{Shape: sizes.Shape(t), Data: oracle.Decode(t.Type, l.tensors[len(p.Ins)+i])})
	}
	for i, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, oracle.Array{Shape: l.call.Ins[i].Shape, Data: oracle.Decode(t.Type, l.tensors[i])})
		}
	}
	return list
}

// faulted reports whether a kernel found a bad value.
func (l *launcher) faulted() bool { return binary.LittleEndian.Uint32(l.fault[4:]) != 0 }
