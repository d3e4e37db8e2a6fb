package msl_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares the text of kernels of each shape with testdata. Each
// golden file must also pass the check against the stand-in.
func TestGolden(t *testing.T) {
	forward := func(name string, static []expr.Choice, types ...expr.DType) []*ir.Func {
		return bound(t, instance(t, name, static, types...)).MSL
	}
	backward := func(name string, types ...expr.DType) []*ir.Func {
		return bound(t, gradient(t, instance(t, name, nil, types...)).Program).MSL
	}
	for _, g := range []struct {
		file, spec string
		kernels    []*ir.Func
	}{
		{"map", "gelu", forward("gelu", nil, expr.F16)},
		{"map_inout", "adamw", forward("adamw", []expr.Choice{{Name: "shadow", Value: "with"}}, expr.BF16)},
		{"rows", "layernorm", forward("layernorm", nil, expr.F32)},
		{"rows_argmax", "argmax", forward("argmax", nil, expr.F32)},
		{"reduce", "sum", forward("sum", nil, expr.F16)},
		{"cols", "masked_mean", forward("masked_mean", nil, expr.F32)},
		{"matmul", "matmul_bias_gelu", forward("matmul_bias_gelu", transposed("n", "t"), expr.F16)},
		{"gather", "embedding", forward("embedding", nil, expr.F16)},
		{"scatter", "embedding", backward("embedding", expr.F32)},
	} {
		t.Run(g.file, func(t *testing.T) {
			s := findSpec(t, g.spec)
			got, err := msl.Emit(&msl.File{Spec: s.File, Doc: s.Doc, Source: s.Source, Hash: 0x0123456789abcdef, Kernels: g.kernels})
			if err != nil {
				t.Fatal(err)
			}
			accepted(t, g.file, got)
			path := filepath.Join("testdata", g.file+".metal")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what is emitted; see the difference and run: go test ./gen/emit/msl -run Golden -update", path)
			}
		})
	}
}

// The same kernels give the same bytes.
func TestEmitIsDeterministic(t *testing.T) {
	p := gradient(t, instance(t, "layernorm", nil, expr.F16)).Program
	first := emit(t, "a.toml", bound(t, p).MSL)
	for range 5 {
		if !bytes.Equal(first, emit(t, "a.toml", bound(t, p).MSL)) {
			t.Fatal("two runs differ")
		}
	}
}
