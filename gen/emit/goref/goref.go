package goref

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/expr"
)

// runtimePath is the package that generated code imports.
const runtimePath = "github.com/kernelgen/kgen/runtime"

// Func adds to f the function
//
//	func name(c *runtime.RefCall)
//
// that computes p: the extents in c follow p.Axes, the parameters p.Params, the
// buffers p.Ins and then p.Outs. A position outside its bounds sets the fault
// of c, and nothing is written. The error names op and place of what has no
// meaning in Go.
func Func(f *jen.File, name string, p *expr.Program) error {
	e := newEmitter(p)
	body := e.body()
	if e.err != nil {
		return e.err
	}
	f.ImportName(runtimePath, "runtime")
	f.Comment(e.doc(name))
	f.Func().Id(name).Params(jen.Id("c").Op("*").Qual(runtimePath, "RefCall")).Block(append(e.header(), body...)...)
	return nil
}

// emitter writes one function. It notes what the body uses, since Go refuses
// unused variables.
type emitter struct {
	p       *expr.Program
	axes    map[*expr.Axis]bool
	params  map[*expr.Param]bool
	tensors map[*expr.Tensor]bool
	err     error

	block     *[]jen.Code         // where statements go
	temps     int                 // temporaries so far
	positions map[*expr.Axis]bool // loops around whose position is used
}

func newEmitter(p *expr.Program) *emitter {
	return &emitter{
		p: p, axes: map[*expr.Axis]bool{}, params: map[*expr.Param]bool{}, tensors: map[*expr.Tensor]bool{},
		positions: map[*expr.Axis]bool{},
	}
}

func (e *emitter) failf(x expr.Expr, format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%s: %v: %s", e.p.Name, x.Pos(), fmt.Sprintf(format, args...))
	}
}

// doc is the comment of the function: what it computes, for which types and
// choices.
func (e *emitter) doc(name string) string {
	var kinds []string
	for _, t := range append(e.p.Ins[:len(e.p.Ins):len(e.p.Ins)], e.p.Outs...) {
		kinds = append(kinds, t.Name+" "+typeName(t.Type))
	}
	for _, c := range e.p.Static {
		kinds = append(kinds, c.Name+"="+c.Value)
	}
	return fmt.Sprintf("%s computes %s in float64, one loop nest for each step: %s.", name, e.p.Name, strings.Join(kinds, ", "))
}

// body returns the statements after the header.
func (e *emitter) body() []jen.Code {
	var body []jen.Code
	e.block = &body
	for i, t := range e.p.Ins {
		if t.Bounds != nil {
			e.bounds(i, t)
		}
	}
	for _, s := range needed(e.p) {
		e.step(s)
	}
	for _, t := range e.p.Ins {
		if t.Role == expr.InOut {
			e.add(jen.Copy(e.tensor(t), newValues(t)))
		}
	}
	return body
}

// needed returns the steps that outputs depend on.
func needed(p *expr.Program) []*expr.Step {
	read := map[*expr.Tensor]bool{}
	keep := make([]bool, len(p.Steps))
	for i := len(p.Steps) - 1; i >= 0; i-- {
		s := p.Steps[i]
		if keep[i] = s.Result.Role != expr.Let || read[s.Result]; keep[i] {
			for _, t := range expr.Reads(s.Expr) {
				read[t] = true
			}
		}
	}
	var steps []*expr.Step
	for i, s := range p.Steps {
		if keep[i] {
			steps = append(steps, s)
		}
	}
	return steps
}

// bounds writes the check of an input whose elements are positions.
func (e *emitter) bounds(i int, t *expr.Tensor) {
	args := []jen.Code{jen.Id("c"), jen.Lit(i), e.tensor(t), e.value(t.Bounds).at(lowest)}
	if t.Except != nil {
		args = append(args, e.param(t.Except))
	}
	e.add(jen.If(jen.Op("!").Qual(runtimePath, "RefInBounds").Call(args...)).Block(jen.Return()))
}

// header returns the declarations of what the body uses.
func (e *emitter) header() []jen.Code {
	var h []jen.Code
	for i, a := range e.p.Axes {
		if e.axes[a] {
			h = append(h, size(a).Op(":=").Id("c").Dot("Size").Index(jen.Lit(i)))
		}
	}
	for i, p := range e.p.Params {
		if e.params[p] {
			h = append(h, param(p).Op(":=").Id("c").Dot("Param").Index(jen.Lit(i)).Dot(accessor(p.Type)).Call())
		}
	}
	for i, t := range append(e.p.Ins[:len(e.p.Ins):len(e.p.Ins)], e.p.Outs...) {
		if e.tensors[t] {
			h = append(h, buffer(t).Op(":=").Qual(runtimePath, "RefSlice").Types(storage(t.Type)).Call(jen.Id("c"), jen.Lit(i)))
		}
	}
	return h
}

func (e *emitter) add(c jen.Code) { *e.block = append(*e.block, c) }

// nested runs f with statements going to a block of its own.
func (e *emitter) nested(f func()) []jen.Code {
	outer := e.block
	var inner []jen.Code
	e.block = &inner
	f()
	e.block = outer
	return inner
}

// temp returns a new name.
func (e *emitter) temp(prefix string) string {
	e.temps++
	return fmt.Sprintf("%s%d", prefix, e.temps)
}
