//go:build kgenbench

package program

import (
	"context"
	"errors"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

// calls is how many calls, each of tensors of its own, make one batch: several
// where they are small, so that the cost of Sync counts for little, and together
// still stay in the cache.
func calls(r *request) int64 {
	const together = 8 << 20
	return min(max(together/max(r.Bytes, 1), 1), 16)
}

// measure returns the seconds of one call: the shortest batch of some, after one
// to warm up. In between it lets the yardstick try, so that a noisy moment hits
// both.
func measure(dev *runtime.Device, y *yardstick, op *runtime.Op, r *request, limit time.Duration) (seconds float64, err error) {
	sets := make([][]runtime.Handle, calls(r))
	defer func() { err = errors.Join(err, closeAll(sets)) }()
	for i := range sets {
		if sets[i], err = inputs(dev, r); err != nil {
			return 0, err
		}
	}
	b := dev.Batch("bench")
	if _, err := run(b, op, r, sets); err != nil {
		return 0, err
	}
	best := time.Hour
	const parts = 4
	for range parts {
		y.try(int64(len(sets)) * r.Bytes)
		for begin, n := time.Now(), 0; n == 0 || time.Since(begin) < limit/parts; n++ {
			took, err := run(b, op, r, sets)
			if err != nil {
				return 0, err
			}
			best = min(best, took)
		}
	}
	return best.Seconds() / float64(len(sets)), nil
}

// run makes one call for each set of inputs, which get the new versions of what
// the op updates, and returns how long that took.
func run(b *runtime.Batch, op *runtime.Op, r *request, sets [][]runtime.Handle) (time.Duration, error) {
	var outs []runtime.Operand
	start := time.Now()
	for _, ins := range sets {
		var c runtime.Call
		c.Begin(b, op)
		for _, h := range ins {
			c.In(h)
		}
		scalars(&c, op, r)
		for _, dims := range r.Free {
			c.Free(dims...)
		}
		for i, t := range r.Outs {
			c.OutType(i, dtypes[t])
		}
		c.Record(op.Variants[0].Static) // all variants of an op have made the same choices
		for i := range r.Outs {
			outs = append(outs, runtime.OutHandle(&c, i))
		}
		n := len(r.Outs)
		for i := range ins {
			if op.Ins[i].InOut {
				ins[i] = runtime.OutHandle(&c, n)
				n++
			}
		}
	}
	b.Keep(outs...)
	err := b.Sync(context.Background())
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	for _, t := range outs {
		err = errors.Join(err, t.Untyped().Close())
	}
	return took, err
}

func scalars(c *runtime.Call, op *runtime.Op, r *request) {
	for i, v := range r.Params {
		switch op.Params[i].Type {
		case runtime.ParamF32:
			c.F32(v.F32())
		case runtime.ParamI32:
			c.I32(v.I32())
		case runtime.ParamU32:
			c.U32(v.U32())
		case runtime.ParamU64:
			c.U64(v.U64())
		case runtime.ParamBool:
			c.Bool(v.Bool())
		}
	}
}
