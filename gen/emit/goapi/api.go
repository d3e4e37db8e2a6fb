package goapi

import (
	"slices"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/goref"
	"github.com/kernelgen/kgen/gen/expr"
)

// File is what one spec gives: its operations and those of its gradient.
type File struct {
	Name    string // of the spec
	Spec    string // path of the spec
	Package string // import path of the generated package
	Kernels string // import path of the package that holds the C functions
	Funcs   []*Func
	Consts  []Const
	Raw     *goref.Raw // the reference that is written by hand; nil when there is none
	// Internal files hold descriptors only: what generated code needs and no
	// user calls.
	Internal bool
}

// Const is the default of a parameter as a Go constant.
type Const struct {
	Name  string // exported
	Param *expr.Param
	Op    string // name of the spec
}

// Func is an operation in its immediate and its deferred form. It holds one op,
// or, where inputs are lists, one for each combination of their lengths.
type Func struct {
	Name     string   // exported name of the immediate form
	Also     []*Alias // the same under other names
	Doc      []string // paragraphs; the first begins with the name
	Static   string   // the static choices and optional tensors, joined
	TypeVars []string // names of the spec's type variables
	Lists    []string // names of the inputs that are lists
	Ops      []*Op
	Gradient bool // is the gradient of another one
}

// Alias is another name of a Func. It has functions and descriptors of its own, so
// that errors name what was called, and where.
type Alias struct {
	Name string   // exported name of the immediate form
	Op   string   // name in errors
	Vars []string // the variables of its descriptors, one for each op of the Func
}

// under returns the Func under another name.
func (f *Func) under(a *Alias) *Func {
	other := *f
	other.Name, other.Also, other.Ops = a.Name, nil, nil
	for i, op := range f.Ops {
		o := *op
		o.Var = a.Vars[i]
		other.Ops = append(other.Ops, &o)
	}
	return &other
}

// MaxList is the largest number of tensors in a list.
const MaxList = 8

// Op is one descriptor of the generated package: a spec or a derived gradient
// for one combination of its choices.
type Op struct {
	Bound      *bind.Op
	Var        string   // Go variable that holds the descriptor
	Refs       []string // name of the Go reference function of each variant
	Grad       *Grad    // nil when there is no gradient
	Accumulate string   // variable of the op that adds cotangents; "" for none
	Fusible    bool     // is the last call of a Fusion
	CUDA       bool     // has a CUDA source
	Metal      string   // import path of the package that holds its Metal source; "" without one
	Home       *Home    // the spec whose kernels the op runs; nil when it has its own
}

// hasC reports whether the op runs C functions.
func (op *Op) hasC() bool {
	return slices.ContainsFunc(op.Bound.Variants, func(v bind.Variant) bool {
		return slices.ContainsFunc(v.Kernels, func(k bind.Kernel) bool { return k.C != "" })
	})
}

// Home is a spec whose kernels and references another one's op runs.
type Home struct {
	Name    string // of the spec
	Kernels string // import path of the package that holds its C functions
}

// Grad is the gradient of an Op, as in package runtime, with the descriptor's
// variable in place of the Op.
type Grad struct {
	Op     string
	Ins    []GradIn
	Params []uint8
	Outs   []uint8
}

// GradIn is the source of a gradient's input.
type GradIn struct {
	From  GradFrom
	Index uint8
}

// GradFrom says where an input of a gradient comes from.
type GradFrom uint8

// The sources: an input or an output of the forward op, or the cotangent of
// one of its outputs.
const (
	FromIn GradFrom = iota
	FromOut
	FromCotangent
)
