package goref

import (
	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/expr"
)

// read returns the element of a tensor. One at a computed position becomes a
// temporary that holds the fill value where the position is outside.
func (e *emitter) read(x *expr.Read) code {
	t := x.T
	if x.Idx == nil {
		return atom(e.elementOf(t, e.offset(t.Axes, nil)))
	}
	index := make([]*jen.Statement, len(t.Axes)) // nil: the position along the axis itself
	var names, values []jen.Code
	var inside *jen.Statement
	for i, a := range t.Axes {
		if own, ok := x.Idx[i].(*expr.Index); ok && own.A == a {
			continue
		}
		v := e.value(x.Idx[i])
		at := e.temp("at")
		index[i] = jen.Id(at)
		names = append(names, jen.Id(at))
		values = append(values, typed(v, expr.Int))
		test := jen.Id(at).Op(">=").Lit(0).Op("&&").Id(at).Op("<").Add(e.size(a))
		if inside == nil {
			inside = test
		} else {
			inside = inside.Op("&&").Add(test)
		}
	}
	element := e.elementOf(t, e.offset(t.Axes, index))
	if inside == nil {
		return atom(element)
	}
	name := e.temp("v")
	e.add(jen.Id(name).Op(":=").Add(fill(t)))
	e.add(jen.If(jen.List(names...).Op(":=").List(values...), inside).Block(jen.Id(name).Op("=").Add(element)))
	return atom(jen.Id(name))
}

// elementOf returns the element of t at an offset, as a value.
func (e *emitter) elementOf(t *expr.Tensor, at code) *jen.Statement {
	switch {
	case t.Role != expr.Let:
		return load(e.tensor(t).Index(at.at(lowest)), t.Type)
	case len(t.Axes) == 0:
		return let(t)
	}
	return let(t).Index(at.at(lowest))
}

// fill is what a read outside t gives.
func fill(t *expr.Tensor) *jen.Statement {
	k := expr.ValueKind(t)
	switch {
	case k == expr.Bool:
		return jen.Lit(t.Fill != nil && t.Fill.I != 0)
	case t.Fill == nil:
		return number(k, 0)
	case k == expr.Float && t.Fill.K == expr.Float:
		return float(t.Fill.F).s
	case k == expr.Float:
		return jen.Lit(float64(t.Fill.I))
	}
	return number(k, int(t.Fill.I))
}

// offset is the row-major position over axes. An index that is not nil replaces
// the loop's position along its axis.
func (e *emitter) offset(axes []*expr.Axis, index []*jen.Statement) code {
	if len(axes) == 0 {
		return code{s: jen.Lit(0), prec: primary, constant: true}
	}
	var at code
	for i, a := range axes {
		var pos *jen.Statement
		if index != nil && index[i] != nil {
			pos = index[i]
		} else {
			pos = e.position(a)
		}
		if i == 0 {
			at = atom(pos)
			continue
		}
		at = code{s: at.at(product).Op("*").Add(e.size(a)).Op("+").Add(pos), prec: sum}
	}
	return at
}

// count is the number of positions over axes.
func (e *emitter) count(axes []*expr.Axis) code {
	if len(axes) == 0 {
		return code{s: jen.Lit(1), prec: primary, constant: true}
	}
	n := atom(e.size(axes[0]))
	for _, a := range axes[1:] {
		n = code{s: n.s.Op("*").Add(e.size(a)), prec: product}
	}
	return n
}
