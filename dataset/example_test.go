package dataset_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/kernelgen/kgen/dataset"
)

// Two epochs of samples in batches of two, no wider than need be.
func ExampleLoader() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "samples.jsonl")
	lines := `{"input_ids": [1], "target": [0.5]}
{"input_ids": [2, 3, 4], "attention_mask": [1, 1, 0], "target": [1]}
{"input_ids": [5, 6], "target": [1.5]}
`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		log.Fatal(err)
	}
	src, err := dataset.OpenJSONL(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	l, err := dataset.NewLoader(src, dataset.Config{Batch: 2, Widths: []int{2, 4}})
	if err != nil {
		log.Fatal(err)
	}
	var b dataset.Batch
	for epoch := 0; epoch < 2; {
		switch err := l.Next(&b); err {
		case nil:
			fmt.Println(b.Rows, "by", b.Width, b.IDs, b.Mask, b.Target)
		case io.EOF:
			epoch++
		default:
			log.Fatal(err)
		}
	}
	// Output:
	// 2 by 2 [1 0 5 6] [1 0 1 1] [0.5 1.5]
	// 1 by 4 [2 3 4 0] [1 1 0 0] [1]
	// 2 by 2 [1 0 5 6] [1 0 1 1] [0.5 1.5]
	// 1 by 4 [2 3 4 0] [1 1 0 0] [1]
}
