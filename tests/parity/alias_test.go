package parity_test

import (
	"context"
	"errors"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// TestOtherNames: a kernel under its other name gives the same bits, and its
// errors name what was called, and where.
func TestOtherNames(t *testing.T) {
	for _, d := range both(t) {
		a, b, bias := from[f32](t, d, matrix(row(1, 2, -1), row(0.5, -2, 3))), of(t, d, 3, 2), from[f32](t, d, vector(-3, 0.25))
		want := download(t, must(ops.MatMulBiasGELUNN(a, b, bias))(t).Untyped())
		if msg := identical(download(t, must(ops.FusedMatMulAddGELUNN(a, b, bias))(t).Untyped()), want); msg != "" {
			t.Errorf("on %s: %s", d.name, msg)
		}
		_, err := ops.FusedMatMulAddGELUNN(a, a, bias)
		at := line()
		batch := d.Batch("other names")
		ops.FusedMatMulAddGELUNNDeferred(batch, a, a, bias)
		for at, err := range map[int]error{at - 1: err, line() - 1: batch.Sync(context.Background())} {
			var e *runtime.Error
			if !errors.As(err, &e) {
				t.Errorf("on %s: the error of operands that do not fit is %v", d.name, err)
				continue
			}
			if e.Op != "fused_matmul_add_gelu" || e.Site.Line != at || filepath.Base(e.Site.File) != "alias_test.go" {
				t.Errorf("on %s: the error of the call in line %d is of %s at %s", d.name, at, e.Op, e.Site)
			}
		}
	}
}

// line is the line that it is called in.
func line() int {
	_, _, n, _ := goruntime.Caller(1)
	return n
}
