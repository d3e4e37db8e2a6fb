package spec

import (
	"slices"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/internal/tomltree"
)

// Spec is one spec file as written. Texts that the file lacks are not set.
type Spec struct {
	File   string // slash-separated, relative to the module root
	Group  string // the folder of the file
	Name   string // the name of the file without .toml
	GoName string // exported Go name: the key go, else GoName(Name)

	Doc, Source, Family, Go Text
	Also                    []Text // other names of the kernel

	Types    []TypeVar
	Statics  []Static
	Params   []Param
	Tensors  []Tensor // in, inout, let, out and temp tables, in the order of the file
	Axes     []Entry  // [axes]
	Requires []Entry  // [require]
	Save     []Text   // names of lets that are outputs too
	Lazy     []Text   // names of lets that are stored where a gradient reads them
	Grad     *Grad
	Pattern  Text // [fuses] pattern
	Raw      *Raw // [raw]: the kernels are written by hand; nil when they are not
}

// Pos returns the first place of the file, for what concerns it as a whole.
func (s *Spec) Pos() diag.Pos { return diag.Pos{File: s.File, Line: 1, Col: 1} }

// TypeVar is a type variable and the storage types that it stands for; there
// are none where the file names none that are right.
type TypeVar struct {
	Name  Text
	Types []Text
}

// Static is a compile-time choice and its values.
type Static struct {
	Name   Text
	Values []Text
}

// Entry is a key of [axes] or [require] with its expression.
type Entry struct {
	Name, Expr Text
}

// Param is a scalar argument. Default is nil where the file gives none, and
// fits Type where both are right.
type Param struct {
	Name    Text
	Type    Text
	Default *Value
	Doc     Text
}

// TensorKind says which table a Tensor comes from.
type TensorKind uint8

// The tables that hold tensors.
const (
	In TensorKind = iota
	InOut
	Let
	Out
	Temp // a workspace between the launches of a kernel written by hand
)

// String returns the name of the table.
func (k TensorKind) String() string {
	return [...]string{"in", "inout", "let", "out", "temp"}[k]
}

// Tensor is an in, inout, let, out or temp table. Keys that its kind does not have
// are never set.
type Tensor struct {
	Kind     TensorKind
	Name     Text
	Shape    Shape
	Type     Text
	Fill     *Value
	Bounds   Text
	Except   Text
	List     Text
	Optional bool
	Doc      Text
	Over     Text
	Reduce   Text
	Expr     Text
}

// Shape is a shape text, or one for each static choice.
type Shape struct {
	Pos   diag.Pos
	Text  Text
	Cases []Entry // Name is the condition, such as "ta=n"
}

// IsSet reports whether the file gives a shape.
func (s Shape) IsSet() bool { return s.Text.IsSet() || len(s.Cases) > 0 }

// Grad is the [grad] table. The gradient is derived with respect to Wrt, or it
// is the spec named Kernel.
type Grad struct {
	Pos       diag.Pos
	Wrt, From []Text
	Name      Text

	// Of a Kernel: its static choices by conditions on those of this spec, and
	// what its inputs and outputs, by name, stand for.
	Kernel  Text
	Static  []Entry
	In, Out []Entry
}

// Set holds all specs of a folder, sorted by file, and the text of every file.
type Set struct {
	Specs   []*Spec
	Broken  []string // names of specs whose files are not valid TOML
	sources map[string]*tomltree.Source
}

// Has reports whether the set holds a spec of the given name, be it right or
// wrong.
func (s *Set) Has(name string) bool {
	return slices.Contains(s.Broken, name) || slices.ContainsFunc(s.Specs, func(x *Spec) bool { return x.Name == name })
}

// Source returns the text of a file as positions count it: without byte order
// mark and with LF line ends; nil for a file that is not in the set.
func (s *Set) Source(file string) []byte {
	if src := s.sources[file]; src != nil {
		return []byte(src.Text)
	}
	return nil
}
