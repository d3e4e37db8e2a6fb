package gen

import (
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// FuncName returns the name of the op's immediate Go function: the Go name of
// the spec, the values of its static choices, and the optional tensors that it
// has: MatMulNT, MatMulNTWithBias.
func (op *Op) FuncName() string {
	var b strings.Builder
	b.WriteString(op.GoName)
	for _, c := range op.Choices {
		if c.Kind == Static {
			b.WriteString(spec.GoName(c.Value))
		}
	}
	for _, c := range op.Choices {
		if c.Kind == Optional && c.Value == "with" {
			b.WriteString("With" + spec.GoName(c.Name))
		}
	}
	return b.String()
}

// ConstName returns the name of the Go constant that holds the default of a
// parameter: LayerNormEps.
func (op *Op) ConstName(param string) string { return op.GoName + spec.GoName(param) }

// checkNames reports exported names that two specs would give. Package spec has
// compared the names of specs; here choices and parameters have been added.
func checkNames(specs []*Spec) diag.List {
	var list diag.List
	owner := map[string]*Spec{}
	for _, s := range specs {
		for _, name := range s.exported() {
			other, ok := owner[name]
			if !ok {
				owner[name] = s
			} else if other != s {
				list.AddHint(diag.Pos{File: s.File, Line: 1, Col: 1}, "rename one of the specs, or give one another go name",
					"%s and %s both give the Go name %s", s.File, other.File, name)
			}
		}
	}
	return list
}

// exported returns the Go names that the spec gives, in order.
func (s *Spec) exported() []string {
	var names []string
	for _, op := range s.Ops {
		names = append(names, op.FuncName(), op.FuncName()+"Deferred")
		for _, other := range s.aliases(op) {
			names = append(names, other.Name, other.Name+"Deferred")
		}
		if op.Grad != nil {
			g := op.Grad.Op
			names = append(names, g.FuncName(), g.FuncName()+"Deferred")
		}
		for _, p := range op.Programs[0].Params {
			if p.Default != nil {
				names = append(names, op.ConstName(p.Name))
			}
		}
	}
	return names
}
