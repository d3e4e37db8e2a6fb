package nn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// A layer in its immediate form.
func ExampleLinear() {
	dev, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	l, err := nn.NewLinear[float32](dev, nn.NewRand(1), 3, 2)
	if err != nil {
		log.Fatal(err)
	}
	err = nn.Load(l.Params(), []nn.Weight[float32]{
		{Name: "weight", Shape: []int{2, 3}, Data: []float32{1, 0, 0, 0, 1, 1}},
		{Name: "bias", Shape: []int{2}, Data: []float32{0.5, 0}},
	})
	if err != nil {
		log.Fatal(err)
	}
	x, err := runtime.FromSlice(dev, []float32{1, 2, 3}, 1, 3)
	if err != nil {
		log.Fatal(err)
	}
	y, err := l.Forward(x)
	if err != nil {
		log.Fatal(err)
	}
	values, err := y.Read()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values)
	// Output: [1.5 5]
}

// Gradient descent on a layer: each step is one program with one wait. Here the layer
// computes in bfloat16 and learns that y = 2x.
func ExampleParam_Update() {
	dev, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	l, err := nn.NewLinearNoBias[runtime.BFloat16](dev, nn.NewRand(1), 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	x, err := runtime.FromSlice(dev, nn.Round[runtime.BFloat16]([]float32{1, -1, 2}), 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	want, err := runtime.FromSlice(dev, nn.Round[runtime.BFloat16]([]float32{2, -2, 4}), 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	w := l.Params()[0]
	b := dev.Batch("step")
	for range 30 {
		loss := ops.MeanDeferred(b, ops.SquareDeferred(b, ops.SubDeferred(b, l.ForwardDeferred(b, x), want)))
		grad := runtime.As[runtime.BFloat16](b.Grad(loss, w.Operand())[0])
		step := ops.ScaleDeferred(b, ops.CastDeferred[float32](b, grad), 0.1)
		w.Update(b, ops.SubDeferred(b, w.Master(), step), runtime.Handle{})
		if err := b.Sync(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	values, err := w.Values()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s = %.1f\n", w.Name, values)
	// Output: weight = [2.0]
}
