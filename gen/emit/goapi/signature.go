package goapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
)

// signature is the Go form of an operation's arguments and results.
type signature struct {
	types   []typeParam // those that no argument fixes come first
	tensors []tensorArg // in call order
	params  []scalarArg
	axes    []axisArg // extents that the caller gives
	results []result  // outputs, then new versions of inouts
	batch   string    // name of the batch: b, or batch where an argument is called b
}

// typeParam is a type variable that stands for several storage types.
type typeParam struct {
	name  string
	types []expr.DType
	fixed bool // by an argument
}

// tensorArg is a tensor, or a list of tensors.
type tensorArg struct {
	name string // in Go
	typ  *jen.Statement
	list bool
	t    *expr.Tensor
}

type scalarArg struct {
	name string
	p    *expr.Param
}

type axisArg struct {
	name string
	a    *expr.Axis
}

// result is an output, a list of outputs, or the new version of an inout.
type result struct {
	name  string // in Go, for the documentation and for lists
	typ   *jen.Statement
	t     *expr.Tensor
	inout bool
	index int   // of the output or of the input, not counting lists before it
	lists []int // the list arguments whose lengths count for the index
	like  int   // for a list: the list argument with the same length
	list  bool
	open  string // the type parameter that no argument fixes, "" if one does
}

func newSignature(f *Func) *signature {
	s := &signature{}
	variants := f.Ops[0].Bound.Variants
	p := variants[0].Program
	types := typeVars(f, variants)
	names := scope{taken: []string{tableName(f)}}
	for _, op := range f.Ops {
		names.taken = append(names.taken, op.Var)
	}
	s.batch = batchName(p)
	names.taken = append(names.taken, s.batch)
	for i, t := range p.Ins {
		s.input(&names, types, variants, i, t)
	}
	for _, q := range p.Params {
		s.params = append(s.params, scalarArg{names.name(q.Name), q})
	}
	for _, a := range p.Axes {
		if a.Free {
			s.axes = append(s.axes, axisArg{names.name(axisName(p, a)), a})
		}
	}
	s.outputs(&names, types, variants, p)
	for _, open := range []bool{true, false} {
		for _, v := range types {
			if v.used && v.fixed != open {
				s.types = append(s.types, v.typeParam)
			}
		}
	}
	return s
}

// batchName is b, unless an argument or a result has that name.
func batchName(p *expr.Program) string {
	list := slices.Concat(p.Ins, p.Outs)
	taken := slices.ContainsFunc(list, func(t *expr.Tensor) bool { return localName(baseName(t)) == "b" }) ||
		slices.ContainsFunc(p.Params, func(q *expr.Param) bool { return localName(q.Name) == "b" }) ||
		slices.ContainsFunc(p.Axes, func(a *expr.Axis) bool { return a.Free && localName(a.Name) == "b" })
	if taken {
		return "batch"
	}
	return "b"
}

// axisName names the argument that gives the extent of an axis, or the shape
// of a group.
func axisName(p *expr.Program, a *expr.Axis) string {
	switch {
	case !a.Group:
		return a.Name
	case slices.ContainsFunc(p.Axes, func(other *expr.Axis) bool { return other.Group && other.Free && other != a }):
		return "shape_" + a.Name
	}
	return "shape"
}

// typeVar is a type variable of the spec while tensors are assigned to it.
type typeVar struct {
	typeParam
	index int // in Program.Types
	used  bool
}

// typeVars returns the type variables that take more than one type.
func typeVars(f *Func, variants []bind.Variant) []*typeVar {
	var vars []*typeVar
	for i, name := range f.TypeVars {
		v := &typeVar{typeParam: typeParam{name: name}, index: i}
		for _, x := range variants {
			if t := x.Program.Types[i]; !slices.Contains(v.types, t) {
				v.types = append(v.types, t)
			}
		}
		if len(v.types) > 1 {
			vars = append(vars, v)
		}
	}
	return vars
}

// element returns the Go type of a tensor whose storage type in variant i is
// at(i): the type itself when all variants agree, else the type variable that
// it follows.
func element(vars []*typeVar, variants []bind.Variant, at func(bind.Variant) expr.DType) (*jen.Statement, *typeVar) {
	same := func(is func(bind.Variant) expr.DType) bool {
		return !slices.ContainsFunc(variants, func(v bind.Variant) bool { return at(v) != is(v) })
	}
	first := at(variants[0])
	if same(func(bind.Variant) expr.DType { return first }) {
		return goType(first), nil
	}
	for _, tv := range vars {
		if same(func(v bind.Variant) expr.DType { return v.Program.Types[tv.index] }) {
			tv.used = true
			return jen.Id(tv.name), tv
		}
	}
	panic("goapi: " + variants[0].Program.Name + ": a tensor follows no type variable")
}

func (s *signature) input(names *scope, types []*typeVar, variants []bind.Variant, i int, t *expr.Tensor) {
	if t.List > 1 {
		return // belongs to the list that its first piece began
	}
	typ, tv := element(types, variants, func(v bind.Variant) expr.DType { return v.Ins[i] })
	if tv != nil {
		tv.fixed = true
	}
	s.tensors = append(s.tensors, tensorArg{names.name(baseName(t)), typ, t.List > 0, t})
}

// baseName is the name of a tensor, or of the list that it is a piece of.
func baseName(t *expr.Tensor) string {
	if t.List > 0 {
		return strings.TrimSuffix(t.Name, "_"+strconv.Itoa(t.List))
	}
	return t.Name
}

func (s *signature) outputs(names *scope, types []*typeVar, variants []bind.Variant, p *expr.Program) {
	var lists []int // list arguments whose pieces are among the outputs so far
	index := 0
	for i, t := range p.Outs {
		if t.List > 1 || t.Lazy {
			continue // a piece of a list that has begun, or the gradient's alone; those stand last
		}
		typ, tv := element(types, variants, func(v bind.Variant) expr.DType { return v.Outs[i] })
		r := result{name: names.name(baseName(t)), typ: typ, t: t, index: index, lists: slices.Clone(lists)}
		if tv != nil && !tv.fixed {
			r.open = tv.name
		}
		if t.List > 0 {
			r.list, r.like = true, s.listArg(strings.TrimPrefix(baseName(t), "d_"))
			lists = append(lists, r.like)
		} else {
			index++
		}
		s.results = append(s.results, r)
	}
	lists, index = nil, 0
	for a, arg := range s.tensors {
		if arg.t.Role == expr.InOut {
			s.results = append(s.results, result{
				name: names.name("new_" + arg.t.Name), typ: arg.typ, t: arg.t,
				inout: true, index: index, lists: slices.Clone(lists),
			})
		}
		if arg.list {
			lists = append(lists, a)
		} else {
			index++
		}
	}
}

// listArg returns the list argument of the given name.
func (s *signature) listArg(name string) int {
	return slices.IndexFunc(s.tensors, func(a tensorArg) bool { return a.list && baseName(a.t) == name })
}
