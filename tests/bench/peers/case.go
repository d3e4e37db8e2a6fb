//go:build cgo

package peers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/runtime"
)

// step records one call in a batch and returns its results.
type step func(b *runtime.Batch) []runtime.Operand

// form is an operation in one element type: how to make its inputs and record it.
type form struct {
	name  string
	sizes [][]int
	half  bool // also in f16 and bf16
	build func(in *inputs, d []int) step
}

// benchCase is one operation, element type and size. The name is the same in
// torch_ops.py and mlx_ops.py.
type benchCase struct {
	Op    string `json:"op"`
	DType string `json:"dtype"`
	Dims  []int  `json:"dims"`
	build func(in *inputs, d []int) step
}

func (c *benchCase) size() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Dims), " ", "×"), "[]")
}

// cases lists the cases of some element types whose operation matches.
func cases(only *regexp.Regexp, dtypes []string) []benchCase {
	var list []benchCase
	add := func(dtype string, forms []form) {
		for _, f := range forms {
			if !slices.Contains(dtypes, dtype) || !only.MatchString(f.name) || dtype != "f32" && !f.half {
				continue
			}
			for _, d := range f.sizes {
				list = append(list, benchCase{f.name, dtype, d, f.build})
			}
		}
	}
	add("f32", forms[float32]())
	add("bf16", forms[runtime.BFloat16]())
	add("f16", forms[runtime.Float16]())
	return list
}

func forms[T float]() []form {
	var list []form
	list = append(list, mapForms[T]()...)
	list = append(list, layoutForms[T]()...)
	list = append(list, rowForms[T]()...)
	list = append(list, reduceForms[T]()...)
	list = append(list, matmulForms[T]()...)
	list = append(list, optimForms[T]()...)
	list = append(list, gradForms[T]()...)
	return append(list, stepForms[T]()...)
}

// The sizes of what works on a matrix, or on rows of one: one that stays in the
// cache and one that does not.
var matrix = [][]int{{256, 1024}, {16384, 1024}}

// inHalf marks a form as measured in f16 and bf16 too.
func inHalf(f form) form {
	f.half = true
	return f
}

// sized gives a form other sizes.
func sized(f form, sizes ...[]int) form {
	f.sizes = sizes
	return f
}
