package goapi

import "github.com/dave/jennifer/jen"

// immediate adds the form of f that runs at once: a wrapper over the deferred
// one.
func immediate(file *jen.File, f *Func, s *signature) {
	params := s.parameters()
	batch := rt("Immediate").Call(handles(s.operands())...)
	if len(s.tensors) == 0 {
		params = append([]jen.Code{jen.Id("dev").Op("*").Add(rt("Device"))}, params...)
		batch = jen.Id("dev").Dot("Immediate").Call()
	}
	fn := jen.Func().Id(f.Name)
	s.generic(fn)
	result := jen.Error()
	if s.named() {
		result = jen.Id("err").Error()
	}
	fn.Params(params...).Add(s.resultTypes(result))
	fn.BlockFunc(func(g *jen.Group) {
		g.Id(s.batch).Op(":=").Add(batch)
		var names []jen.Code
		for _, r := range s.results {
			names = append(names, jen.Id(r.name))
		}
		g.List(names...).Op(s.assign()).Add(s.deferredCall(f))
		g.Return(append(names, rt("Finish").Call(append([]jen.Code{jen.Id(s.batch)}, handles(s.resultOperands())...)...))...)
	})
	file.Add(fn)
}

// deferredCall calls the deferred form with the arguments of the immediate one.
func (s *signature) deferredCall(f *Func) *jen.Statement {
	call := jen.Id(f.Name + "Deferred")
	if open := s.openTypes(); len(open) > 0 {
		call.Types(open...)
	}
	return call.Call(append([]jen.Code{jen.Id(s.batch)}, s.args()...)...)
}

// args are the parameters of a form, but for the first one, as arguments.
func (s *signature) args() []jen.Code {
	var args []jen.Code
	for _, t := range s.tensors {
		args = append(args, jen.Id(t.name))
	}
	for _, p := range s.params {
		args = append(args, jen.Id(p.name))
	}
	for i, a := range s.axes {
		arg := jen.Id(a.name)
		if a.a.Group && i == len(s.axes)-1 {
			arg.Op("...")
		}
		args = append(args, arg)
	}
	return args
}

// openTypes lists the type parameters that no argument fixes; they come first.
func (s *signature) openTypes() []jen.Code {
	var names []jen.Code
	for _, p := range s.types {
		if !p.fixed {
			names = append(names, jen.Id(p.name))
		}
	}
	return names
}

// operand is a tensor, or a list of tensors, by its name in Go.
type operand struct {
	name string
	list bool
}

func (s *signature) operands() []operand {
	var list []operand
	for _, t := range s.tensors {
		list = append(list, operand{t.name, t.list})
	}
	return list
}

func (s *signature) resultOperands() []operand {
	var list []operand
	for _, r := range s.results {
		list = append(list, operand{r.name, r.list})
	}
	return list
}

// handles writes the handles of operands as arguments of a variadic function.
func handles(operands []operand) []jen.Code {
	var single []jen.Code
	var lists *jen.Statement
	for _, o := range operands {
		switch {
		case !o.list:
			single = append(single, jen.Id(o.name).Dot("Untyped").Call())
		case lists == nil:
			lists = rt("Handles").Call(jen.Id(o.name))
		default:
			lists = jen.Append(lists, rt("Handles").Call(jen.Id(o.name)).Op("..."))
		}
	}
	switch {
	case lists == nil:
		return single
	case len(single) > 0:
		lists = jen.Append(append([]jen.Code{lists}, single...)...)
	}
	return []jen.Code{lists.Op("...")}
}
