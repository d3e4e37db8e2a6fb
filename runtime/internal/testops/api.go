package testops

import "github.com/kernelgen/kgen/runtime"

// Tensor is a float32 tensor.
type Tensor = runtime.Tensor[float32]

// AddDeferred records a + b.
func AddDeferred(b *runtime.Batch, x, y Tensor) Tensor { return binary(b, addOp, x, y) }

// MulDeferred records a * b.
func MulDeferred(b *runtime.Batch, x, y Tensor) Tensor {
	var c runtime.Call
	c.Begin(b, mulOp)
	c.In(x.Untyped())
	c.In(y.Untyped())
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

func binary(b *runtime.Batch, op *runtime.Op, x, y Tensor) Tensor {
	var c runtime.Call
	c.Begin(b, op)
	c.In(x.Untyped())
	c.In(y.Untyped())
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

// ScaleDeferred records s * x.
func ScaleDeferred(b *runtime.Batch, x Tensor, s float32) Tensor {
	var c runtime.Call
	c.Begin(b, scaleOp)
	c.In(x.Untyped())
	c.F32(s)
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

// CopyDeferred records a copy of x.
func CopyDeferred(b *runtime.Batch, x Tensor) Tensor {
	var c runtime.Call
	c.Begin(b, copyOp)
	c.In(x.Untyped())
	c.F32(1)
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

// Scale is s * x, now.
func Scale(x Tensor, s float32) (Tensor, error) {
	b := runtime.Immediate(x.Untyped())
	y := ScaleDeferred(b, x, s)
	return y, runtime.Finish(b, y.Untyped())
}

// Mul is a * b, now.
func Mul(x, y Tensor) (Tensor, error) {
	b := runtime.Immediate(x.Untyped(), y.Untyped())
	z := MulDeferred(b, x, y)
	return z, runtime.Finish(b, z.Untyped())
}

// SumDeferred records the sum of all elements.
func SumDeferred(b *runtime.Batch, x Tensor) Tensor {
	var c runtime.Call
	c.Begin(b, sumOp)
	c.In(x.Untyped())
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

// FillDeferred records a tensor of one value.
func FillDeferred(b *runtime.Batch, value float32, shape ...int) Tensor {
	var c runtime.Call
	c.Begin(b, fillOp)
	c.F32(value)
	c.Free(shape...)
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

// Fill is a tensor of one value, now.
func Fill(d *runtime.Device, value float32, shape ...int) (Tensor, error) {
	b := d.Immediate()
	y := FillDeferred(b, value, shape...)
	return y, runtime.Finish(b, y.Untyped())
}

// SGDDeferred records w -= lr * g and returns the new version of w.
func SGDDeferred(b *runtime.Batch, w, g Tensor, lr float32) Tensor {
	var c runtime.Call
	c.Begin(b, sgdOp)
	c.In(w.Untyped())
	c.In(g.Untyped())
	c.F32(lr)
	c.Record("")
	return runtime.InOut[float32](&c, 0)
}

// EmbeddingDeferred records the lookup of rows.
func EmbeddingDeferred(b *runtime.Batch, ids runtime.Tensor[int32], w Tensor) Tensor {
	var c runtime.Call
	c.Begin(b, embeddingOp)
	c.In(ids.Untyped())
	c.In(w.Untyped())
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

// Embedding looks rows up, now.
func Embedding(ids runtime.Tensor[int32], w Tensor) (Tensor, error) {
	b := runtime.Immediate(ids.Untyped(), w.Untyped())
	y := EmbeddingDeferred(b, ids, w)
	return y, runtime.Finish(b, y.Untyped())
}

// ISADeferred records the number of the instruction set of the device.
func ISADeferred(b *runtime.Batch) runtime.Tensor[int32] {
	var c runtime.Call
	c.Begin(b, isaOp)
	c.Record("")
	return runtime.Out[int32](&c, 0)
}

// OverrunDeferred records a copy of x whose kernel writes one element too many.
func OverrunDeferred(b *runtime.Batch, x Tensor) Tensor {
	var c runtime.Call
	c.Begin(b, overrunOp)
	c.In(x.Untyped())
	c.Record("")
	return runtime.Out[float32](&c, 0)
}
