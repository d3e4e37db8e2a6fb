package parity_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/spec"
	"github.com/kernelgen/kgen/runtime"
)

type (
	f32  = float32
	f16  = runtime.Float16
	bf16 = runtime.BFloat16
)

// function is a generated function: that of a spec, for one choice of its
// statics and optional tensors.
type function struct {
	spec   string
	choice string // "ta=n,tb=t"; lists make no choice, one function takes any number
	forms  []any  // for each binding of types, the immediate and the deferred form
}

// functions are all generated functions but gradients, which Batch.Grad runs.
func functions() []function {
	return slices.Concat(elementwiseFunctions, indexFunctions, layoutFunctions, lossFunctions,
		matmulFunctions, optimFunctions, reduceFunctions, rowsFunctions, scanFunctions)
}

// specs returns the checked specs, by name.
var specs = sync.OnceValue(func() map[string]*expr.Spec {
	set, wrong := spec.Load(os.DirFS("../.."), "specs")
	checked, more := expr.Check(set)
	if len(wrong)+len(more) > 0 {
		panic("the specs have mistakes: run kgen check")
	}
	byName := map[string]*expr.Spec{}
	for _, s := range checked {
		byName[s.Name] = s
	}
	return byName
})

// form is both forms of a function for one binding of types.
type form struct {
	program       *expr.Program
	now, deferred reflect.Value
}

// formOf finds the forms of a program's function in the table.
func formOf(t testing.TB, p *expr.Program) form {
	t.Helper()
	f := form{program: p}
	for _, row := range functions() {
		if row.spec != p.Name || row.choice != choiceText(p) {
			continue
		}
		for _, v := range row.forms {
			fn := reflect.ValueOf(v)
			switch {
			case !slices.Equal(tensorTypes(fn.Type()), programTypes(p)):
			case fn.Type().NumIn() > 0 && fn.Type().In(0) == reflect.TypeFor[*runtime.Batch]():
				f.deferred = fn
			default:
				f.now = fn
			}
		}
	}
	if !f.now.IsValid() || !f.deferred.IsValid() {
		t.Fatalf("no function for %s: add it to the tables in functions_%s_test.go", programName(p), specs()[p.Name].Group)
	}
	return f
}

// choiceText is a program's choice of statics and optional tensors.
func choiceText(p *expr.Program) string {
	var parts []string
	for _, c := range p.Static {
		if !isList(p, c.Name) {
			parts = append(parts, c.Name+"="+c.Value)
		}
	}
	return strings.Join(parts, ",")
}

// isList reports whether a choice is the length of a list.
func isList(p *expr.Program, choice string) bool {
	return slices.ContainsFunc(p.Ins, func(t *expr.Tensor) bool { return t.List > 0 && strings.HasPrefix(t.Name, choice+"_") })
}

// programName names a program in messages: "matmul[ta=n,tb=n] f16".
func programName(p *expr.Program) string {
	var parts []string
	for _, c := range p.Static {
		parts = append(parts, c.Name+"="+c.Value)
	}
	name := p.Name
	if len(parts) > 0 {
		name += "[" + strings.Join(parts, ",") + "]"
	}
	for _, t := range p.Types {
		name += " " + t.String()
	}
	return name
}

// programTypes returns the element types of a program's inputs and results, a
// list once.
func programTypes(p *expr.Program) []runtime.DType {
	var types []runtime.DType
	for _, t := range slices.Concat(p.Ins, results(p)) {
		if t.List <= 1 {
			types = append(types, dtypeOf(t.Type))
		}
	}
	return types
}

// results returns what a program's function returns: outputs, then new versions.
func results(p *expr.Program) []*expr.Tensor {
	list := slices.DeleteFunc(slices.Clone(p.Outs), func(t *expr.Tensor) bool { return t.Lazy })
	for _, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, t)
		}
	}
	return list
}

// tensorTypes returns the element types of a function's tensors, arguments
// first.
func tensorTypes(fn reflect.Type) []runtime.DType {
	var types []runtime.DType
	add := func(t reflect.Type) {
		if t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if d := elementType(t); d != runtime.InvalidDType {
			types = append(types, d)
		}
	}
	for i := range fn.NumIn() {
		add(fn.In(i))
	}
	for i := range fn.NumOut() {
		add(fn.Out(i))
	}
	return types
}

// elementType returns the element type of a Tensor type.
func elementType(t reflect.Type) runtime.DType {
	switch t {
	case reflect.TypeFor[runtime.Tensor[f32]]():
		return runtime.F32
	case reflect.TypeFor[runtime.Tensor[f16]]():
		return runtime.F16
	case reflect.TypeFor[runtime.Tensor[bf16]]():
		return runtime.BF16
	case reflect.TypeFor[runtime.Tensor[int32]]():
		return runtime.I32
	case reflect.TypeFor[runtime.Tensor[uint8]]():
		return runtime.U8
	}
	return runtime.InvalidDType
}

func dtypeOf(t expr.DType) runtime.DType {
	return map[expr.DType]runtime.DType{
		expr.F32: runtime.F32, expr.F16: runtime.F16, expr.BF16: runtime.BF16, expr.I32: runtime.I32, expr.U8: runtime.U8,
	}[t]
}

// storage is the compiler's name of a type of the runtime.
func storage(t runtime.DType) expr.DType {
	return map[runtime.DType]expr.DType{
		runtime.F32: expr.F32, runtime.F16: expr.F16, runtime.BF16: expr.BF16, runtime.I32: expr.I32, runtime.U8: expr.U8,
	}[t]
}
