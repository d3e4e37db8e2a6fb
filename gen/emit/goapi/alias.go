package goapi

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// alias adds both forms of an operation under another name.
func alias(file *jen.File, fn *Func, s *signature, name string) {
	result := jen.Error()
	if s.named() {
		result = jen.Id("err").Error()
	}
	first := ""
	if len(s.tensors) == 0 {
		first = "dev"
	}
	s.forward(file, fn.Name, name, first, "Device", s.resultTypes(result))
	s.forward(file, fn.Name+"Deferred", name+"Deferred", s.batch, "Batch", s.resultTypes())
}

// forward adds a function that calls to with its own arguments. Its first
// parameter has the given name, unless that is empty, and points to a type of
// the runtime.
func (s *signature) forward(file *jen.File, to, name, first, typ string, results *jen.Statement) {
	params, args := s.parameters(), s.args()
	if first != "" {
		params = append([]jen.Code{jen.Id(first).Op("*").Add(rt(typ))}, params...)
		args = append([]jen.Code{jen.Id(first)}, args...)
	}
	call := jen.Id(to)
	if open := s.openTypes(); len(open) > 0 {
		call.Types(open...)
	}
	fn := jen.Func().Id(name)
	s.generic(fn)
	file.Comment(fmt.Sprintf("%s is %s.", name, to))
	file.Add(fn.Params(params...).Add(results).Block(jen.Return(call.Call(args...))))
	file.Line()
}
