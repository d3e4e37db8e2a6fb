// Package card measures operations on the first NVIDIA card and prints a JSON line for
// each: its name, type, milliseconds, the least bytes that it has to move and its float
// operations. beside.py runs the same in PyTorch and prints both, with the share of
// what a copy on the card reaches.
//
//	bench card [-generated]
package card

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"slices"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

const rows, cols, classes = 16384, 4096, 32768

// Main runs the program with the arguments after its name.
func Main(args []string) (err error) {
	flag := flag.NewFlagSet("card", flag.ExitOnError)
	generated := flag.Bool("generated", false, "leave nothing to libraries")
	if err := flag.Parse(args); err != nil {
		return err
	}
	opts := []runtime.Option{runtime.CUDA(0)}
	if *generated {
		opts = append(opts, runtime.WithoutLibraries())
	}
	d, err := runtime.Open(opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	chain(d)
	operations(d, "f32", func(x float32) float32 { return x })
	operations(d, "f16", runtime.ToFloat16)
	return nil
}

// line is what is printed of one case.
type line struct {
	Op    string  `json:"op"`
	Type  string  `json:"type"`
	MS    float64 `json:"ms"`
	Bytes float64 `json:"bytes"`
	Flops float64 `json:"flops"`
}

func (l line) print() {
	text, err := json.Marshal(l)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
}

// must returns what a call gives that does not fail.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// operations measures what moves memory, and a product.
func operations[T float32 | runtime.Float16](d *runtime.Device, name string, of func(float32) T) {
	size := 4.0
	if name == "f16" {
		size = 2
	}
	tensor := func(shape ...int) runtime.Tensor[T] {
		n := 1
		for _, s := range shape {
			n *= s
		}
		period := make([]T, 8191)
		for i := range period {
			period[i] = of(float32(math.Sin(float64(i))))
		}
		data := make([]T, 0, n+len(period))
		for len(data) < n {
			data = append(data, period...)
		}
		return must(runtime.FromSlice(d, data[:n], shape...))
	}
	measure := func(op string, least, flops float64, record func(b *runtime.Batch) []runtime.Operand) {
		line{op, name, device(d, record), least, flops}.print()
	}
	one := func(t runtime.Tensor[T]) []runtime.Operand { return []runtime.Operand{t} }
	n := float64(rows) * cols * size

	x, y := tensor(rows, cols), tensor(rows, cols)
	gamma, beta := tensor(cols), tensor(cols)
	measure("gelu", 2*n, 0, func(b *runtime.Batch) []runtime.Operand { return one(ops.GELUDeferred(b, x)) })
	measure("add", 3*n, 0, func(b *runtime.Batch) []runtime.Operand { return one(ops.AddDeferred(b, x, y)) })
	measure("softmax", 2*n, 0, func(b *runtime.Batch) []runtime.Operand { return one(ops.SoftmaxDeferred(b, x)) })
	measure("layernorm", 2*n, 0, func(b *runtime.Batch) []runtime.Operand {
		z, _, _ := ops.LayerNormDeferred(b, x, gamma, beta, ops.LayerNormEps)
		return one(z)
	})
	measure("layernorm gelu", 2*n, 0, func(b *runtime.Batch) []runtime.Operand {
		z, _, _ := ops.LayerNormGELUDeferred(b, x, gamma, beta, ops.LayerNormEps)
		return one(z)
	})
	_, mean, rstd, err := ops.LayerNorm(x, gamma, beta, ops.LayerNormEps)
	if err != nil {
		log.Fatal(err)
	}
	first := must(ops.Slice(must(x.View(0, rows, cols, 1)), 0, 1))
	wide := must(ops.Cast[float32](must(first.View(0, rows))))
	rest := must(ops.Sub(mean, wide))
	measure("layernorm backward", 3*n, 0, func(b *runtime.Batch) []runtime.Operand {
		dx, dg, db := ops.LayerNormGradDeferred(b, x, gamma, rstd, rest, y)
		return []runtime.Operand{dx, dg, db}
	})
	ids := make([]int32, rows)
	for i := range ids {
		ids[i] = int32(i * 7919 % classes)
	}
	id := must(runtime.FromSlice(d, ids, rows))
	table := tensor(classes, cols)
	measure("embedding", 2*n, 0, func(b *runtime.Batch) []runtime.Operand { return one(ops.EmbeddingDeferred(b, id, table)) })
	logits := tensor(4096, classes)
	target := must(id.View(0, 4096))
	measure("cross entropy", 4096*classes*size, 0, func(b *runtime.Batch) []runtime.Operand {
		loss, _ := ops.CrossEntropyDeferred(b, logits, target, -100, 0)
		return []runtime.Operand{loss}
	})
	w, bias := tensor(4096, 4096), tensor(4096)
	a := must(x.View(0, 4096, 4096))
	measure("matmul bias gelu 4096", 3*4096*4096*size, 2*4096*4096*4096, func(b *runtime.Batch) []runtime.Operand {
		return one(ops.MatMulBiasGELUNTDeferred(b, a, w, bias))
	})
	for _, t := range []runtime.Operand{x, y, gamma, beta, table, logits, w, bias, id, mean, rstd, first, wide, rest} {
		if err := t.Untyped().Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// device returns the median of the milliseconds that the card works on a program.
func device(d *runtime.Device, record func(b *runtime.Batch) []runtime.Operand) float64 {
	run := func() {
		b := d.Batch("card")
		made := record(b)
		b.Keep(made...)
		if err := b.Sync(context.Background()); err != nil {
			log.Fatal(err)
		}
		for _, t := range made {
			if err := t.Untyped().Close(); err != nil {
				log.Fatal(err)
			}
		}
	}
	for range 3 {
		run()
	}
	const runs = 21
	trace := must(d.StartTrace())
	for range runs {
		run()
	}
	trace.Stop()
	sums := make([]float64, runs)
	first := trace.Ops()[0].Program
	for _, op := range trace.Ops() {
		sums[op.Program-first] += op.Device.Seconds() * 1e3
	}
	slices.Sort(sums)
	return sums[runs/2]
}

// chain measures a thousand small kernels that wait for each other, in time of the
// host from the first call that records to the end of the program.
func chain(d *runtime.Device) {
	x := must(runtime.FromSlice(d, make([]float32, 64), 64))
	defer x.Close()
	run := func() (all, sync time.Duration) {
		b := d.Batch("chain")
		start := time.Now()
		y := x
		for range 1000 {
			y = ops.AddDeferred(b, y, x)
		}
		b.Keep(y)
		recorded := time.Now()
		if err := b.Sync(context.Background()); err != nil {
			log.Fatal(err)
		}
		end := time.Now()
		y.Close()
		return end.Sub(start), end.Sub(recorded)
	}
	run()
	var alls, syncs []time.Duration
	for range 21 {
		all, sync := run()
		alls, syncs = append(alls, all), append(syncs, sync)
	}
	slices.Sort(alls)
	slices.Sort(syncs)
	line{Op: "1000 adds of 64, all", Type: "f32", MS: alls[10].Seconds() * 1e3}.print()
	line{Op: "1000 adds of 64, sync", Type: "f32", MS: syncs[10].Seconds() * 1e3}.print()
}
