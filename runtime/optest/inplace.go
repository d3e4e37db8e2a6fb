package optest

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// The lengths given to each axis in turn where a result is computed in the memory of
// an operand, the others having two positions: whole vectors and what is left of
// them, several tiles and blocks of a sum. The longest is given to one axis only.
var inPlaceLengths = []int{1, 31, 33, 1025, 40009}

// A pair is an input in whose memory a kernel may compute an output.
type pair struct{ in, out int }

// pairs are those of a variant whose input no later kernel reads.
func pairs(op *runtime.Op, v *runtime.Variant) []pair {
	var list []pair
	for k, kernel := range v.Kernel {
		for _, b := range kernel.Buffers {
			out := int(b.Tensor) - len(op.Ins)
			for _, slot := range b.InPlace {
				in := int(kernel.Buffers[slot].Tensor)
				if in < len(op.Ins) && out < len(op.Outs) && kernel.C != nil && !reads(v.Kernel[k+1:], in) {
					list = append(list, pair{in, out})
				}
			}
		}
	}
	return list
}

func reads(kernels []runtime.Kernel, tensor int) bool {
	return slices.ContainsFunc(kernels, func(k runtime.Kernel) bool {
		return slices.ContainsFunc(k.Buffers, func(b runtime.Buffer) bool { return int(b.Tensor) == tensor })
	})
}

// inPlace compares results that are computed in the memory of an operand with those
// that have memory of their own: they must have the same bits, on every instruction
// set, with one worker and with several.
func inPlace(t *testing.T, op *runtime.Op, variant int, params []Param) {
	calls := inPlaceCalls(op, variant, params)
	if len(calls) == 0 {
		return
	}
	for _, isa := range []string{"baseline", "avx2", "avx512"} {
		with := func(workers int, without ...string) *runtime.Device {
			return open(t, runtime.WithISA(isa), runtime.WithWorkers(workers), runtime.WithoutPasses(without...))
		}
		if d, err := runtime.Open(runtime.WithISA(isa)); err != nil {
			continue // this machine has not got it
		} else {
			d.Close()
		}
		apart, devices := with(1, "view", "fuse", "inplace"), []*runtime.Device{with(1, "view", "fuse"), with(3, "view", "fuse")}
		for _, p := range pairs(op, &op.Variants[variant]) {
			_, others, err := calls[0].runPair(devices[0], p, false)
			if err != nil {
				t.Errorf("%s: %v", calls[0], err)
			}
			for _, a := range calls {
				a.inPlace(t, p, apart, devices, others)
			}
		}
	}
}

// inPlaceCalls makes the arguments with which a variant is run in place.
func inPlaceCalls(op *runtime.Op, variant int, params []Param) []*arguments {
	if len(pairs(op, &op.Variants[variant])) == 0 {
		return nil
	}
	var list []*arguments
	for long, axis := range op.Axes {
		for _, n := range inPlaceLengths {
			if !isChosen(axis) || n > 10000 && long != lastChosen(op) {
				continue
			}
			dims := func(i int) []int {
				if i == long {
					return []int{n}
				}
				return []int{2}
			}
			if a, ok := argumentsOf(op, variant, params, uint64(n), func() func(int) []int { return dims }); ok {
				list = append(list, a)
			}
		}
	}
	return list
}

// lastChosen is the last axis whose extent is free to choose.
func lastChosen(op *runtime.Op) int {
	last := 0
	for i, axis := range op.Axes {
		if isChosen(axis) {
			last = i
		}
	}
	return last
}

// inPlace compares what devices compute in place with what one computes that does not.
// So many results as others lie in the memory of an operand anyway.
func (a *arguments) inPlace(t reporter, p pair, apart *runtime.Device, devices []*runtime.Device, others int) {
	t.Helper()
	want, _, err := a.runPair(apart, p, true)
	if err != nil {
		t.Errorf("%s: %v", a, err)
		return
	}
	name := fmt.Sprintf("%s: with %s in place of %s", a, a.op.Outs[p.out].Name, a.op.Ins[p.in].Name)
	for _, d := range devices {
		got, n, err := a.runPair(d, p, true)
		if err != nil || n <= others {
			t.Errorf("%s: %d results lie where an operand did, %d without it (%v)", name, n, others, err)
			return
		}
		for i := range want {
			if at := firstOther(got[i].data, want[i].data); at >= 0 {
				t.Errorf("%s and %d workers: %s%v is %v, in memory of its own it is %v", name, d.Workers(), a.resultName(i),
					position(at, want[i].shape), got[i].data[at], want[i].data[at])
			}
		}
	}
}

// firstOther is the first position at which two arrays have different bits, -1 if there
// is none. One NaN is like another.
func firstOther(got, want []float64) int {
	for i, w := range want {
		if v := got[i]; math.Float64bits(v) != math.Float64bits(w) && !(math.IsNaN(v) && math.IsNaN(w)) {
			return i
		}
	}
	return -1
}

var inPlaceResults = regexp.MustCompile(`(\d+) results? in the memory of an operand`)

// runPair makes a value within a batch that equals the input of p, or one like it, and
// calls the op with that input, or where inside is set with the value in its place. It
// returns the results and how many results lie in the memory of an operand.
func (a *arguments) runPair(d *runtime.Device, p pair, inside bool) ([]array, int, error) {
	ins, err := a.upload(d)
	defer closeAll(ins)
	if err != nil {
		return nil, 0, err
	}
	b := d.Batch("optest")
	var operand runtime.Handle
	if ins, operand, err = a.operand(d, b, p, ins); err != nil {
		return nil, 0, err
	}
	var gets []func() (array, error)
	if inside {
		ins[p.in] = operand
	} else {
		gets = append(gets, read(b, operand))
	}
	for _, h := range a.record(b, ins) {
		gets = append(gets, read(b, h))
	}
	text, err := b.Explain()
	if err != nil {
		return nil, 0, err
	}
	n := 0
	if found := inPlaceResults.FindStringSubmatch(text); found != nil {
		n, _ = strconv.Atoi(found[1])
	}
	if err := b.Sync(context.Background()); err != nil {
		return nil, 0, err
	}
	var results []array
	for _, get := range gets {
		got, err := get()
		if err != nil {
			return nil, 0, err
		}
		results = append(results, got)
	}
	return results, n, nil
}

// operand makes the value: the input plus zero where the package has an op that adds,
// else the output of p, which is like the input. It returns the inputs as they are by
// then.
func (a *arguments) operand(d *runtime.Device, b *runtime.Batch, p pair, ins []runtime.Handle) ([]runtime.Handle, runtime.Handle, error) {
	add := a.op.Accumulate
	if add == nil && a.op.Grad != nil {
		add = a.op.Grad.Op.Accumulate
	}
	ins = slices.Clone(ins)
	if add == nil {
		results := a.record(b, ins)
		operand, results := results[p.out], results[len(a.op.Outs):]
		for i, in := range a.op.Ins {
			if in.InOut {
				ins[i], results = results[0], results[1:]
			}
		}
		return ins, operand, nil
	}
	in := a.ins[p.in]
	zeros, err := array{in.dtype, in.shape, make([]float64, len(in.data))}.upload(d)
	if err != nil {
		return nil, runtime.Handle{}, err
	}
	var call runtime.Call
	call.Begin(b, add)
	call.In(ins[p.in])
	call.In(zeros)
	call.Record("")
	return ins, runtime.OutHandle(&call, 0), nil
}
