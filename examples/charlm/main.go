// Charlm trains a character language model on Moby-Dick with generated kernels
// only, prints its loss on text that it has not seen beside that of models of
// character counts, and lets it write.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/cheggaaa/pb/v3"

	"github.com/kernelgen/kgen/runtime"
)

func main() {
	data := flag.String("data", "data/moby-dick.txt", "the text, UTF-8")
	seed := flag.Uint64("seed", 1, "of the weights, the batches and the sample")
	n := flag.Int("steps", steps, "training steps; the schedule is made for the default")
	workers := flag.Int("workers", 2, "threads of the CPU")
	card := flag.Bool("cuda", false, "train on the first NVIDIA card")
	gpu := flag.Bool("metal", false, "train on the first GPU that Metal knows")
	flag.Parse()
	device := runtime.WithWorkers(*workers)
	if *card {
		device = runtime.CUDA(0)
	}
	if *gpu {
		device = runtime.Metal(0)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Stdout, *data, *seed, *n, device)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "charlm: stopped")
		os.Exit(130)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run trains, evaluates and samples, and prints what came of it to w.
func run(ctx context.Context, w io.Writer, path string, seed uint64, n int, device runtime.Option) (err error) {
	text, err := readCorpus(path)
	if err != nil {
		return err
	}
	dev, err := runtime.Open(device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	m, err := newModel(dev, len(text.chars), seed)
	if err != nil {
		return err
	}
	t, err := newTrainer(m, text.train, seed)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := train(ctx, t, n); err != nil {
		return err
	}
	took := time.Since(start)
	rate := float64(n*batchSize) / took.Seconds()
	held, err := m.heldOut(ctx, text.held)
	if err != nil {
		return err
	}
	sample, err := m.sample(ctx, text.held, 300, seed)
	if err != nil {
		return err
	}
	bigram := countNgrams(text.train, len(text.chars), 2).loss(text.held)
	trigram := countNgrams(text.train, len(text.chars), 3).loss(text.held)
	fourgram := countNgrams(text.train, len(text.chars), 4).loss(text.held)
	fmt.Fprintf(w, "\n%s\n\n", text.decode(sample))
	fmt.Fprintf(w, "4-gram counts: %.2f nats/char; training took %.0f s\n", fourgram, took.Seconds())
	fmt.Fprintf(w, "held-out: %.2f nats/char (bigram %.2f, trigram %.2f), %d steps, %.0f chars/s\n", held, bigram, trigram, n, rate)
	return nil
}

// train runs n steps behind a progress bar.
func train(ctx context.Context, t *trainer, n int) error {
	bar := pb.New(n).SetWriter(os.Stderr).SetTemplate(pb.Full).Set("prefix", "training ").Start()
	defer bar.Finish()
	mean := float32(0)
	for i := 1; i <= n; i++ {
		loss, err := t.step(ctx, i)
		if err != nil {
			return err
		}
		if mean == 0 {
			mean = loss
		}
		mean += 0.02 * (loss - mean)
		if i%50 == 0 {
			bar.Set("prefix", fmt.Sprintf("training, loss %.2f ", mean))
		}
		bar.Increment()
	}
	return nil
}
