package goapi

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/kernelgen/kgen/gen/expr"
)

// deferred adds the form of f that records into a batch.
func deferred(file *jen.File, f *Func, s *signature) {
	params := append([]jen.Code{jen.Id(s.batch).Op("*").Add(rt("Batch"))}, s.parameters()...)
	fn := jen.Func().Id(f.Name + "Deferred")
	s.generic(fn)
	fn.Params(params...).Add(s.resultTypes())
	fn.BlockFunc(func(g *jen.Group) {
		g.Var().Id("call").Add(rt("Call"))
		g.Id("call").Dot("Begin").Call(jen.Id(s.batch), s.opOf(f))
		s.arguments(g)
		g.Id("call").Dot("Record").Call(jen.Lit(f.Static))
		s.returns(g)
	})
	file.Add(fn)
}

// generic adds the type parameters to a declaration.
func (s *signature) generic(fn *jen.Statement) {
	if len(s.types) == 0 {
		return
	}
	fn.TypesFunc(func(g *jen.Group) {
		for _, p := range s.types {
			g.Id(p.name).Add(union(p.types))
		}
	})
}

func union(types []expr.DType) *jen.Statement {
	u := goType(types[0])
	for _, t := range types[1:] {
		u.Op("|").Add(goType(t))
	}
	return u
}

func tensorOf(typ *jen.Statement) *jen.Statement { return rt("Tensor").Types(typ.Clone()) }

// parameters is the parameter list that both forms share; neighbours of one
// type share it.
func (s *signature) parameters() []jen.Code {
	type param struct {
		name string
		typ  *jen.Statement
		key  string // equal for equal types
	}
	var list []param
	for _, t := range s.tensors {
		list = append(list, param{t.name, t.goType(), fmt.Sprint("tensor ", t.list, t.typ.GoString())})
	}
	for _, p := range s.params {
		list = append(list, param{p.name, scalarType(p.p.Type), fmt.Sprint("scalar ", p.p.Type)})
	}
	for i, a := range s.axes {
		typ := jen.Int()
		switch {
		case a.a.Group && i == len(s.axes)-1:
			typ = jen.Op("...").Int()
		case a.a.Group:
			typ = jen.Index().Int()
		}
		list = append(list, param{a.name, typ, fmt.Sprint("axis ", a.a.Group, i == len(s.axes)-1 && a.a.Group)})
	}
	var codes []jen.Code
	for i, p := range list {
		code := jen.Id(p.name)
		if i+1 == len(list) || list[i+1].key != p.key {
			code.Add(p.typ)
		}
		codes = append(codes, code)
	}
	return codes
}

// goType is the Go type of the argument.
func (t tensorArg) goType() *jen.Statement {
	if t.list {
		return jen.Index().Add(tensorOf(t.typ))
	}
	return tensorOf(t.typ)
}

func scalarType(t expr.ParamType) *jen.Statement {
	switch t {
	case expr.ParamI32:
		return jen.Int32()
	case expr.ParamU32:
		return jen.Uint32()
	case expr.ParamU64:
		return jen.Uint64()
	case expr.ParamBool:
		return jen.Bool()
	}
	return jen.Float32()
}

// goType is the Go type of the result.
func (r result) goType() *jen.Statement {
	if r.list {
		return jen.Index().Add(tensorOf(r.typ))
	}
	return tensorOf(r.typ)
}

// named reports whether the results have names in the declaration.
func (s *signature) named() bool { return len(s.results) > 1 }

// resultTypes is the result list of the deferred form, followed by more; several
// results have names, which neighbours of one type share.
func (s *signature) resultTypes(more ...jen.Code) *jen.Statement {
	if !s.named() {
		types := append([]jen.Code{s.results[0].goType()}, more...)
		if len(types) == 1 {
			return jen.Add(types[0])
		}
		return jen.Params(types...)
	}
	var list []jen.Code
	key := func(i int) string { return fmt.Sprint(s.results[i].list, s.results[i].typ.GoString()) }
	for i, r := range s.results {
		code := jen.Id(r.name)
		if i+1 == len(s.results) || key(i) != key(i+1) {
			code.Add(r.goType())
		}
		list = append(list, code)
	}
	return jen.Params(append(list, more...)...)
}

// opOf is the descriptor that a call uses: where inputs are lists, the one for
// their lengths. A length that has none is found by the runtime, since the
// number of inputs is then not that of the descriptor.
func (s *signature) opOf(f *Func) *jen.Statement {
	if len(f.Lists) == 0 {
		return jen.Op("&").Id(f.Ops[0].Var)
	}
	var index *jen.Statement
	for _, name := range f.Lists {
		n := jen.Id("min").Call(jen.Id("max").Call(jen.Len(jen.Id(s.tensors[s.listArg(name)].name)), jen.Lit(1)), jen.Lit(MaxList)).Op("-").Lit(1)
		if index != nil {
			n = jen.Parens(index).Op("*").Lit(MaxList).Op("+").Add(n)
		}
		index = n
	}
	return jen.Id(tableName(f)).Index(index)
}

// tableName is the variable that holds the descriptors of a Func with lists.
func tableName(f *Func) string { return lowerFirst(f.Name) + "Ops" }

// arguments writes what is given to the call between Begin and Record.
func (s *signature) arguments(g *jen.Group) {
	call := func(method string, args ...jen.Code) *jen.Statement { return jen.Id("call").Dot(method).Call(args...) }
	for _, t := range s.tensors {
		if !t.list {
			g.Add(call("In", jen.Id(t.name).Dot("Untyped").Call()))
			continue
		}
		g.For(jen.List(jen.Id("_"), jen.Id("piece")).Op(":=").Range().Id(t.name)).Block(
			call("In", jen.Id("piece").Dot("Untyped").Call()))
	}
	for _, p := range s.params {
		method := [...]string{expr.ParamF32: "F32", expr.ParamI32: "I32", expr.ParamU32: "U32", expr.ParamU64: "U64", expr.ParamBool: "Bool"}[p.p.Type]
		g.Add(call(method, jen.Id(p.name)))
	}
	for _, a := range s.axes {
		if a.a.Group {
			g.Add(call("Free", jen.Id(a.name).Op("...")))
		} else {
			g.Add(call("Free", jen.Id(a.name)))
		}
	}
	for _, r := range s.results {
		if r.open != "" {
			g.Add(call("OutType", s.position(r), rt("TypeOf").Types(jen.Id(r.open)).Call()))
		}
	}
}

// position is the index of a result among the call's outputs or inputs.
func (s *signature) position(r result) *jen.Statement {
	var pos *jen.Statement
	for _, l := range r.lists {
		n := jen.Len(jen.Id(s.tensors[l].name))
		if pos != nil {
			n = pos.Op("+").Add(n)
		}
		pos = n
	}
	switch {
	case pos == nil:
		return jen.Lit(r.index)
	case r.index > 0:
		return pos.Op("+").Lit(r.index)
	}
	return pos
}

// assign is how the results get their values: named ones exist already.
func (s *signature) assign() string {
	if s.named() {
		return "="
	}
	return ":="
}

// returns writes the results of the recorded call.
func (s *signature) returns(g *jen.Group) {
	var values []jen.Code
	for _, r := range s.results {
		from := "Out"
		if r.inout {
			from = "InOut"
		}
		get := func(at *jen.Statement) *jen.Statement {
			return rt(from).Types(r.typ.Clone()).Call(jen.Op("&").Id("call"), at)
		}
		if !r.list {
			values = append(values, get(s.position(r)))
			continue
		}
		at := jen.Id("i")
		if len(r.lists) > 0 || r.index > 0 {
			at = s.position(r).Op("+").Id("i")
		}
		g.Id(r.name).Op(s.assign()).Make(jen.Index().Add(tensorOf(r.typ)), jen.Len(jen.Id(s.tensors[r.like].name)))
		g.For(jen.Id("i").Op(":=").Range().Id(r.name)).Block(jen.Id(r.name).Index(jen.Id("i")).Op("=").Add(get(at)))
		values = append(values, jen.Id(r.name))
	}
	g.Return(values...)
}
