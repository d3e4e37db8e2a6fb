package parity_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/runtime"
)

// call is one call of a generated function with arrays of the host.
type call struct {
	form   form
	ins    []array // one for each input of the program
	params []any   // in the parameters' own types
	free   [][]int // for each axis that the caller gives
	offset int     // every input is a sub-view that starts at this element
}

// upload makes the inputs.
func (c *call) upload(t testing.TB, d *runtime.Device) []runtime.Handle {
	t.Helper()
	var list []runtime.Handle
	for _, a := range c.ins {
		if c.offset == 0 {
			list = append(list, a.upload(t, d))
			continue
		}
		whole := array{dtype: a.dtype, shape: []int{c.offset + len(a.data)}, data: append(make([]float64, c.offset), a.data...)}.upload(t, d)
		view, err := whole.View(c.offset, a.shape...)
		if err != nil {
			t.Fatal(err)
		}
		closeHandle(t, whole)
		list = append(list, view)
	}
	return list
}

// record calls the deferred form.
func (c *call) record(b *runtime.Batch, ins []runtime.Handle) []runtime.Handle {
	return handles(c.form.deferred.Call(c.arguments(c.form.deferred.Type(), reflect.ValueOf(b), ins)))
}

// immediate calls the immediate form and returns the results on the host.
func (c *call) immediate(t testing.TB, d *runtime.Device) ([]array, error) {
	t.Helper()
	ins := c.upload(t, d)
	fn := c.form.now
	var first reflect.Value
	if fn.Type().In(0) == reflect.TypeFor[*runtime.Device]() {
		first = reflect.ValueOf(d)
	}
	out := fn.Call(c.arguments(fn.Type(), first, ins))
	last := out[len(out)-1]
	if !last.IsNil() {
		return nil, last.Interface().(error)
	}
	return downloadAll(t, handles(out[:len(out)-1])), nil
}

// arguments orders the arguments as the Go function takes them. first is the
// batch or the device, if it takes one.
func (c *call) arguments(fn reflect.Type, first reflect.Value, ins []runtime.Handle) []reflect.Value {
	var args []reflect.Value
	at := 0
	if first.IsValid() {
		args = append(args, first)
		at = 1
	}
	params, free := c.params, c.free
	for ; at < fn.NumIn(); at++ {
		switch t := fn.In(at); {
		case elementType(t) != runtime.InvalidDType:
			args = append(args, tensor(ins[0]))
			ins = ins[1:]
		case t.Kind() == reflect.Slice && elementType(t.Elem()) != runtime.InvalidDType:
			list := reflect.MakeSlice(t, 0, len(ins))
			for _, h := range ins {
				list = reflect.Append(list, tensor(h))
			}
			args, ins = append(args, list), nil
		case t.Kind() == reflect.Int || t.Kind() == reflect.Slice:
			for _, n := range free[0] {
				args = append(args, reflect.ValueOf(n))
			}
			free = free[1:]
		default:
			args = append(args, reflect.ValueOf(params[0]))
			params = params[1:]
		}
	}
	return args
}

func tensor(h runtime.Handle) reflect.Value {
	switch h.DType() {
	case runtime.F32:
		return reflect.ValueOf(runtime.As[f32](h))
	case runtime.F16:
		return reflect.ValueOf(runtime.As[f16](h))
	case runtime.BF16:
		return reflect.ValueOf(runtime.As[bf16](h))
	case runtime.I32:
		return reflect.ValueOf(runtime.As[int32](h))
	}
	return reflect.ValueOf(runtime.As[uint8](h))
}

func handles(values []reflect.Value) []runtime.Handle {
	var list []runtime.Handle
	for _, v := range values {
		list = append(list, v.Interface().(runtime.Operand).Untyped())
	}
	return list
}

// run records the call, and its gradient if cotangents are given, runs the
// batch and returns the results and the gradients of the inputs named in wrt.
func (c *call) run(t testing.TB, d *runtime.Device, cotangents []array, wrt []int) (outs, grads []array, err error) {
	t.Helper()
	b := d.Batch(c.form.program.Name)
	ins := c.upload(t, d)
	pending := c.record(b, ins)
	kept := pending
	if cotangents != nil {
		var of []runtime.Operand
		for _, i := range wrt {
			of = append(of, ins[i])
		}
		loss := dotAll(t, b, pending, cotangents)
		kept = append(kept, b.Grad(loss, of...)...)
	}
	for _, h := range kept {
		b.Keep(h)
	}
	if err := b.Sync(context.Background()); err != nil {
		return nil, nil, err
	}
	all := downloadAll(t, kept)
	for i, in := range ins {
		if c.form.program.Ins[i].Role != expr.InOut {
			closeHandle(t, in)
		}
	}
	return all[:len(pending)], all[len(pending):], nil
}
