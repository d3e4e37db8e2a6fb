package train_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/schedule"
)

// A decoder learns the bytes of a line by heart and goes on with it.
func ExampleNewDecoderTrainer() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dev, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	m, err := models.NewTextDecoder[float32](dev, models.DecoderConfig{
		Vocab:       128,
		StackConfig: models.StackConfig{Width: 16, Hidden: 32, Kernel: 3, Dilations: models.Doubling(3, 4)},
	}, 1)
	if err != nil {
		log.Fatal(err)
	}
	var ids []int32
	for _, c := range "Call me Ishmael. Some years ago, never mind how long precisely." {
		ids = append(ids, c)
	}
	windows, err := dataset.NewRandomWindows(ids, 40, 4, 1)
	if err != nil {
		log.Fatal(err)
	}
	t, err := train.NewDecoderTrainer(m, train.CE{
		Data:  windows,
		Optim: optim.Config{Method: optim.DefaultAdamW(), Groups: train.Groups(0.01), MaxNorm: 1},
	}, train.Config{Schedule: schedule.Cosine{Peak: 1e-2, Warmup: 10, Steps: 100}})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	if err := t.Run(context.Background(), train.Session{Checkpoint: filepath.Join(dir, "run.safetensors"), Every: 50}); err != nil {
		log.Fatal(err)
	}
	more, err := m.Generate(context.Background(), ids[:8], nil, 8, models.Sampling{})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range more {
		fmt.Print(string(rune(id)))
	}
	fmt.Println()
	// Output: Ishmael.
}
