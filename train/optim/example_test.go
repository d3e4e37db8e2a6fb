package optim_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/schedule"
)

// A layer that computes in float16 learns that y = 2x + 1, with its gradients clipped and
// its loss scaled. Each step is one program with one wait.
func Example() {
	dev, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	l, err := nn.NewLinear[runtime.Float16](dev, nn.NewRand(1), 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	x, err := runtime.FromSlice(dev, nn.Round[runtime.Float16]([]float32{1, -1, 2}), 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	want, err := runtime.FromSlice(dev, nn.Round[runtime.Float16]([]float32{3, -1, 5}), 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	o, err := optim.New(l.Params(), optim.Config{
		Method: optim.DefaultAdamW(),
		Groups: []optim.Group{
			{Names: []string{"*bias"}, Rate: 1},
			{Names: []string{"*"}, Rate: 1, WeightDecay: 1e-4},
		},
		MaxNorm: 1,
		Scaling: optim.DefaultScaling(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer o.Close()
	rates := schedule.Cosine{Peak: 0.1, Warmup: 10, Steps: 200}
	b := dev.Batch("step")
	for step := 1; step <= rates.Steps; step++ {
		diff := ops.SubDeferred(b, l.ForwardDeferred(b, x), want)
		loss := ops.MeanDeferred(b, ops.SquareDeferred(b, diff))
		report, err := o.Step(b, loss, rates.Rate(step))
		if err != nil {
			log.Fatal(err)
		}
		if err := b.Sync(context.Background()); err != nil {
			log.Fatal(err)
		}
		if err := report.Err(); err != nil {
			log.Fatal(err)
		}
	}
	for _, p := range l.Params() {
		values, err := p.Values()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s = %.1f\n", p.Name, values)
	}
	// Output:
	// weight = [2.0]
	// bias = [1.0]
}
