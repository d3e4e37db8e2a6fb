package models_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
)

// A decoder as it is drawn from its seed continues a prompt of ids.
func ExampleTextDecoder_Generate() {
	dev, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	m, err := models.NewTextDecoder[float32](dev, models.DecoderConfig{
		Vocab:       256,
		StackConfig: models.StackConfig{Width: 32, Hidden: 64, Kernel: 3, Dilations: models.Doubling(4, 8)},
	}, 1)
	if err != nil {
		log.Fatal(err)
	}
	ids, err := m.Generate(context.Background(), []int32{'C', 'a', 'l', 'l'}, nil, 12, models.Sampling{Temperature: 0.8, TopP: 0.95, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(ids), "ids; the model sees", m.Stack.ReceptiveField(), "of them")
	// Output: 12 ids; the model sees 31 of them
}
