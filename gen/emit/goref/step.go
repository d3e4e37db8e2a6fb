package goref

import (
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/expr"
)

// step writes the loop nest of one step under a comment that says what it
// computes.
func (e *emitter) step(s *expr.Step) {
	e.add(jen.Line().Comment(heading(s)))
	t := s.Result
	switch {
	case t.Role == expr.InOut:
		e.add(newValues(t).Op(":=").Make(jen.Index().Add(storage(t.Type)), jen.Len(e.tensor(t))))
	case t.Role == expr.Let && len(t.Axes) == 0 && s.Reduce == expr.NoReduce:
		e.add(let(t).Op(":=").Add(typed(e.value(s.Expr), s.Expr.Kind())))
		return
	case t.Role == expr.Let && len(t.Axes) == 0:
		e.add(jen.Var().Add(let(t)).Add(arithmetic(expr.ValueKind(t))))
	case t.Role == expr.Let:
		e.add(let(t).Op(":=").Make(jen.Index().Add(arithmetic(expr.ValueKind(t))), e.count(t.Axes).at(lowest)))
	}
	e.loops(t.Axes, func() { e.element(s) })
}

// heading describes a step, such as "mean[R]: mean over D".
func heading(s *expr.Step) string {
	text := s.Result.Name
	if len(s.Result.Axes) > 0 {
		text += "[" + axisNames(s.Result.Axes) + "]"
	}
	if s.Reduce == expr.NoReduce {
		return text
	}
	return text + ": " + reduceName(s.Reduce) + " over " + axisNames(s.Over)
}

func axisNames(axes []*expr.Axis) string {
	names := make([]string, len(axes))
	for i, a := range axes {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

func reduceName(op expr.ReduceOp) string {
	return [...]string{
		expr.Sum: "sum", expr.Mean: "mean", expr.Max: "max", expr.Min: "min", expr.Prod: "prod",
		expr.Any: "any", expr.All: "all", expr.Argmax: "argmax", expr.Argmin: "argmin",
	}[op]
}

// loops writes one loop for each axis, the last one innermost, around the
// statements of f. A position that f does not use gets no name.
func (e *emitter) loops(axes []*expr.Axis, f func()) {
	if len(axes) == 0 {
		f()
		return
	}
	a := axes[0]
	outer := e.positions[a]
	e.positions[a] = false
	body := e.nested(func() { e.loops(axes[1:], f) })
	head := jen.For(jen.Range().Add(e.size(a)))
	if e.positions[a] {
		head = jen.For(position(a).Op(":=").Range().Add(e.size(a)))
	}
	e.positions[a] = outer
	e.add(head.Block(body...))
}

// element writes the computation of one element of a step.
func (e *emitter) element(s *expr.Step) {
	kind := s.Expr.Kind()
	if s.Reduce == expr.NoReduce {
		e.assign(s.Result, kind, e.value(s.Expr))
		return
	}
	acc := e.temp("acc")
	r := reduction(s.Reduce, kind, acc)
	e.add(r.declare)
	e.loops(s.Over, func() { e.add(r.take(e.value(s.Expr))) })
	result := code{s: jen.Id(acc), prec: primary}
	switch s.Reduce {
	case expr.Mean:
		n := jen.Float64().Parens(jen.Max(e.count(s.Over).at(lowest), jen.Lit(1)))
		result = code{s: jen.Id(acc).Op("/").Add(n), prec: product}
	case expr.Argmax, expr.Argmin:
		kind = expr.Int
		result.s = jen.Id(acc).Dot("Pos").Call()
	}
	e.assign(s.Result, kind, result)
}

// assign writes the store of a value at the current position.
func (e *emitter) assign(t *expr.Tensor, kind expr.Kind, v code) {
	switch t.Role {
	case expr.Let:
		target := let(t)
		if len(t.Axes) > 0 {
			target = target.Index(e.offset(t.Axes, nil).at(lowest))
		}
		e.add(target.Op("=").Add(v.at(lowest)))
	case expr.InOut:
		e.add(newValues(t).Index(e.offset(t.Axes, nil).at(lowest)).Op("=").Add(store(v.at(lowest), kind, t.Type)))
	default:
		e.add(e.tensor(t).Index(e.offset(t.Axes, nil).at(lowest)).Op("=").Add(store(v.at(lowest), kind, t.Type)))
	}
}

// accumulator is how a reduction is written in Go.
type accumulator struct {
	declare jen.Code
	take    func(v code) jen.Code
}

func reduction(op expr.ReduceOp, kind expr.Kind, acc string) accumulator {
	id := func() *jen.Statement { return jen.Id(acc) }
	start := func(v *jen.Statement) jen.Code { return id().Op(":=").Add(v) }
	update := func(op string) func(v code) jen.Code {
		return func(v code) jen.Code { return id().Op(op).Add(v.at(lowest)) }
	}
	switch op {
	case expr.Prod:
		return accumulator{start(number(kind, 1)), update("*=")}
	case expr.Max:
		return accumulator{start(limit(kind, -1)), func(v code) jen.Code { return id().Op("=").Max(id(), v.at(lowest)) }}
	case expr.Min:
		return accumulator{start(limit(kind, 1)), func(v code) jen.Code { return id().Op("=").Min(id(), v.at(lowest)) }}
	case expr.Any:
		return accumulator{start(jen.False()), func(v code) jen.Code { return id().Op("=").Add(id()).Op("||").Add(v.at(lowest)) }}
	case expr.All:
		return accumulator{start(jen.True()), func(v code) jen.Code { return id().Op("=").Add(id()).Op("&&").Add(v.at(logicalAnd)) }}
	case expr.Argmax, expr.Argmin:
		return accumulator{jen.Var().Add(id()).Qual(runtimePath, "RefArg"), func(v code) jen.Code {
			x := v.at(lowest)
			if kind != expr.Float {
				x = jen.Float64().Parens(x)
			}
			return id().Dot(map[bool]string{true: "Max", false: "Min"}[op == expr.Argmax]).Call(x)
		}}
	}
	return accumulator{start(number(kind, 0)), update("+=")}
}

// number is a literal of kind k with its type.
func number(k expr.Kind, v int) *jen.Statement {
	if k == expr.Float {
		return jen.Lit(float64(v))
	}
	return arithmetic(k).Parens(jen.Lit(v))
}

// limit is the value that every value of kind k is at least (sign -1) or at
// most (sign 1).
func limit(k expr.Kind, sign int) *jen.Statement {
	switch {
	case k == expr.Float:
		return jen.Qual("math", "Inf").Call(jen.Lit(sign))
	case sign < 0:
		return jen.Int64().Parens(jen.Qual("math", "MinInt32"))
	}
	return jen.Int64().Parens(jen.Qual("math", "MaxInt32"))
}
