//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/bench/models"
	"github.com/kernelgen/kgen/tests/bench/peers"
)

// measured are the programs that measure the C kernels, by name.
var measured = map[string]func(args []string) error{"": figures, "peers": peers.Main, "models": models.Main}

// figures measures the runtime, copies and products.
func figures([]string) (err error) {
	dev, err := runtime.Open(runtime.WithWorkers(2), runtime.WithPoolCap(4<<30))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	for _, f := range []func(*runtime.Device) error{recording, dependent, memory, product} {
		if err := f(dev); err != nil {
			return err
		}
	}
	return nil
}

// chain records n dependent additions.
func chain(b *runtime.Batch, x, y runtime.Tensor[float32], n int) runtime.Tensor[float32] {
	for range n {
		x = ops.AddDeferred(b, x, y)
	}
	return x
}

// recording measures what a deferred call costs the caller, and what a step
// allocates.
func recording(dev *runtime.Device) error {
	x, err := runtime.FromSlice(dev, make([]float32, 64), 64)
	if err != nil {
		return err
	}
	b := dev.Batch("recording")
	ctx := context.Background()
	for _, n := range []int{200, 2000} {
		var best time.Duration
		var allocs []uint64
		for i := range 40 {
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			start := time.Now()
			last := chain(b, x, x, n)
			took := time.Since(start)
			r := runtime.Read(b, last)
			if err := b.Sync(ctx); err != nil {
				return err
			}
			if _, err := r.Value(); err != nil {
				return err
			}
			goruntime.ReadMemStats(&after)
			if i > 10 {
				allocs = append(allocs, after.Mallocs-before.Mallocs)
				if best == 0 || took < best {
					best = took
				}
			}
		}
		slices.Sort(allocs)
		fmt.Printf("recording, program of %d ops: %d ns an op, %d heap allocations a step (median)\n",
			n, best.Nanoseconds()/int64(n), allocs[len(allocs)/2])
	}
	return nil
}

// dependent measures 1,000 dependent small kernels as one program.
func dependent(dev *runtime.Device) error {
	x, err := runtime.FromSlice(dev, make([]float32, 64), 64)
	if err != nil {
		return err
	}
	b := dev.Batch("dependent")
	best := time.Hour
	for range 50 {
		r := runtime.Read(b, chain(b, x, x, 1000))
		start := time.Now()
		if err := b.Sync(context.Background()); err != nil {
			return err
		}
		best = min(best, time.Since(start))
		if _, err := r.Value(); err != nil {
			return err
		}
	}
	fmt.Printf("1,000 dependent adds of 64 elements as one program: %.2f µs each\n", best.Seconds()*1e3)
	return nil
}

// memory measures kernels that move memory against a copy by two threads. Runs
// of both alternate, so that a noisy moment hits both.
func memory(dev *runtime.Device) error {
	const n = 16 << 20 // 64 MiB of f32
	const rows, width = n / 1024, 1024
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i%2048)/512 - 2
	}
	x, err := runtime.FromSlice(dev, data, rows, width)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := runtime.FromSlice(dev, data, rows, width)
	if err != nil {
		return err
	}
	defer y.Close()
	gamma, err := runtime.FromSlice(dev, make([]float32, width), width)
	if err != nil {
		return err
	}
	defer gamma.Close()
	yard := newCopier(4 * n)
	for _, k := range []struct {
		name  string
		bytes float64
		call  func(b *runtime.Batch) runtime.Tensor[float32]
	}{
		{"add", 12 * n, func(b *runtime.Batch) runtime.Tensor[float32] { return ops.AddDeferred(b, x, y) }},
		{"gelu", 8 * n, func(b *runtime.Batch) runtime.Tensor[float32] { return ops.GELUDeferred(b, x) }},
		{"layernorm", 8 * n, func(b *runtime.Batch) runtime.Tensor[float32] {
			out, _, _ := ops.LayerNormDeferred(b, x, gamma, gamma, ops.LayerNormEps)
			return out
		}},
		{"softmax", 8 * n, func(b *runtime.Batch) runtime.Tensor[float32] { return ops.SoftmaxDeferred(b, x) }},
	} {
		var ours, theirs []float64
		b := dev.Batch(k.name)
		for range 12 {
			out := k.call(b)
			b.Keep(out)
			start := time.Now()
			if err := b.Sync(context.Background()); err != nil {
				return err
			}
			ours = append(ours, k.bytes/time.Since(start).Seconds())
			if err := out.Close(); err != nil {
				return err
			}
			theirs = append(theirs, yard.rate())
		}
		o, t := slices.Max(ours[2:]), slices.Max(theirs[2:])
		fmt.Printf("%s, 64 MiB f32, 2 workers: %.1f GB/s, %.0f %% of a memcpy by two threads (%.1f GB/s)\n", k.name, o/1e9, 100*o/t, t/1e9)
	}
	return nil
}

// product measures a square matrix product against OpenBLAS.
func product(dev *runtime.Device) error {
	const n = 1024
	data := make([]float32, n*n)
	for i := range data {
		data[i] = float32(i%7) - 3
	}
	a, err := runtime.FromSlice(dev, data, n, n)
	if err != nil {
		return err
	}
	defer a.Close()
	b := dev.Batch("product")
	best, blas := time.Hour.Seconds(), time.Hour.Seconds()
	for range 4 {
		for range 6 {
			out := ops.MatMulNNDeferred(b, a, a)
			b.Keep(out)
			start := time.Now()
			if err := b.Sync(context.Background()); err != nil {
				return err
			}
			best = min(best, time.Since(start).Seconds())
			if err := out.Close(); err != nil {
				return err
			}
		}
		if haveBLAS {
			blas = min(blas, blasSeconds(n))
		}
	}
	flops := 2.0 * n * n * n
	fmt.Printf("matmul 1024³ f32, 2 workers: %.0f GFLOP/s", flops/best/1e9)
	if haveBLAS {
		fmt.Printf(", %.0f %% of OpenBLAS %s (%.0f GFLOP/s)", 100*blas/best, blasKernel(), flops/blas/1e9)
	}
	fmt.Println()
	return nil
}
