//go:build proof

package parity_test

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// C028 (d): a row of an f16 table at an element offset beyond 2^31. The table
// takes 5.6 GB.
func TestC028RowsBeyond32Bits(t *testing.T) {
	const rows, at, dim = 262144, 199729, 10752 // at * dim is 2147486208
	d := device{"cpu", open(t)}
	content := make([]float64, dim)
	for i := range content {
		content[i] = float64(i%1000) + 2
	}
	table := must(ops.Pad(from[f16](t, d, matrix(content)), at, rows-at-1, 1))(t)
	if n := table.Len(); n != rows*dim {
		t.Fatalf("the table has %d elements, want %d", n, rows*dim)
	}
	y := must(ops.Embedding(ints(t, d, at-1, at, at+1, rows-1), table))(t)
	ones := slices.Repeat([]float64{1}, dim)
	expect(t, d, "rows around the limit", y, matrix(ones, content, ones, ones))
	_, err := ops.Embedding(ints(t, d, rows), table)
	checkFault(t, d, "behind the table", err, runtime.FaultError{Op: "embedding", Tensor: "ids", Index: []int64{0}, Value: rows, Bound: rows})
	expect(t, d, "one row as a view", must(table.View(at*dim, 1, dim))(t), matrix(content))
}
