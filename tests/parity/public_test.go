package parity_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// publicGradient is a gradient that has a name of its own in the catalogue.
type publicGradient[T f32 | f16 | bf16] struct {
	name, of string // of the function, and of the spec whose gradient it is
	wrt      string // the input that it is taken with respect to
	out      string // the result whose cotangent it reads
	call     func(b *runtime.Batch, c *goldenCase, ins []runtime.Handle, dy runtime.Tensor[T]) runtime.Tensor[T]
}

func publicGradients[T f32 | f16 | bf16]() []publicGradient[T] {
	return []publicGradient[T]{
		{"embedding_backward", "embedding", "W", "y", func(b *runtime.Batch, _ *goldenCase, ins []runtime.Handle, dy runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.EmbeddingBackwardDeferred(b, runtime.As[int32](ins[0]), runtime.As[T](ins[1]), dy)
		}},
		{"col2im", "im2col", "x", "cols", func(b *runtime.Batch, c *goldenCase, ins []runtime.Handle, dy runtime.Tensor[T]) runtime.Tensor[T] {
			p := c.call.params
			return ops.Col2ImDeferred(b, runtime.As[T](ins[0]), dy, p[0].(int32), p[1].(int32), p[2].(int32), p[3].(int32), c.call.free[0][0])
		}},
		{"unpack_dw_col", "pack_w_to_col", "W", "cols", func(b *runtime.Batch, _ *goldenCase, ins []runtime.Handle, dy runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.UnpackDWColDeferred(b, runtime.As[T](ins[0]), dy)
		}},
	}
}

// TestPublicGradients calls the gradients that are kernels of the catalogue
// themselves with the golden cases of the kernels that they belong to.
func TestPublicGradients(t *testing.T) {
	devices := targets(t)
	runPublicGradients[f32](t, devices)
	runPublicGradients[f16](t, devices)
	runPublicGradients[bf16](t, devices)
}

func runPublicGradients[T f32 | f16 | bf16](t *testing.T, devices []device) {
	for _, g := range publicGradients[T]() {
		t.Run(g.name+" "+runtime.TypeOf[T]().String(), func(t *testing.T) {
			ran := 0
			eachGolden(t, g.of, func(c *goldenCase) {
				if dtypeOf(c.call.form.program.Types[0]) != runtime.TypeOf[T]() {
					return
				}
				ran++
				for _, d := range devices {
					g.check(t, d, c)
				}
			})
			if ran == 0 {
				t.Error("no golden case")
			}
		})
	}
}

func (g publicGradient[T]) check(t *testing.T, d device, c *goldenCase) {
	t.Helper()
	ins := c.call.upload(t, d.Device)
	dy := from[T](t, d, golden.Tensor{Shape: c.Cotangents[g.out].Shape, Data: c.Cotangents[g.out].Data})
	b := d.Batch(g.name)
	dx := g.call(b, c, ins, dy)
	b.Keep(dx)
	if err := b.Sync(context.Background()); err != nil {
		t.Errorf("%s on %s: %v", c.Name, d.name, err)
		return
	}
	for _, h := range append(ins, dy.Untyped()) {
		closeHandle(t, h)
	}
	got, want := downloadAll(t, []runtime.Handle{dx.Untyped()})[0], c.Grads[g.wrt]
	msg := differ(got, array{dtype: runtime.TypeOf[T](), shape: want.Shape, data: want.Data}, nil)
	if msg != "" && got.dtype == runtime.F32 {
		terms := c.terms(t)
		msg = differ(got, array{dtype: got.dtype, shape: want.Shape, data: want.Data}, terms[len(terms)-1])
	}
	if msg != "" {
		t.Errorf("%s on %s: %s", c.Name, d.name, msg)
	}
}
