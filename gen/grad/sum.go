package grad

import (
	"cmp"
	"slices"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// sum returns e summed over the given axes: factors that do not vary along them
// are taken out, an axis along which nothing varies becomes its size, and the
// rest becomes a let. It returns nil for what sums to zero: deviations from
// their own mean.
func (b *builder) sum(name string, e expr.Expr, over []*expr.Axis) expr.Expr {
	if len(over) == 0 {
		return e
	}
	at := e.Pos()
	outer, inner := factors(e).hoist(func(f expr.Expr) bool {
		return len(meet(expr.UsedAxes(f), over)) == 0
	})
	if b.deviations(inner, over) {
		return nil
	}
	core := b.operands(at, inner, over)
	used := meet(over, expr.UsedAxes(core))
	if unused := minus(over, used); len(unused) > 0 {
		outer.num = append(outer.num, expr.ToFloat(at, expr.SizeProduct(at, b.order(unused))))
	}
	if len(used) == 0 {
		return outer.times(at, core)
	}
	t := b.temp(name, expr.Sum, used, core)
	return outer.times(at, expr.ReadOf(at, t))
}

// sumWhere is sum of where(c, e, 0). Only what is finite in any case leaves the
// sum, so that nothing meets the zero of a place that c excludes.
func (b *builder) sumWhere(name string, c, e expr.Expr, over []*expr.Axis) expr.Expr {
	at := e.Pos()
	outer, inner := factors(e).hoist(func(f expr.Expr) bool {
		return constant(f) && b.tame(f, nil)
	})
	core := expr.WhereOf(at, c, inner.expr(at), expr.Num(at, 0))
	used := meet(over, expr.UsedAxes(core))
	if unused := minus(over, used); len(unused) > 0 {
		outer.num = append(outer.num, expr.ToFloat(at, expr.SizeProduct(at, b.order(unused))))
	}
	t := b.temp(name, expr.Sum, used, core)
	return outer.times(at, expr.ReadOf(at, t))
}

// deviations reports whether p is x - mean(x), with the mean over the given axes.
func (b *builder) deviations(p product, over []*expr.Axis) bool {
	if len(p.num) != 1 || len(p.den) != 0 {
		return false
	}
	d, ok := p.num[0].(*expr.Binary)
	if !ok || d.Op != expr.Sub {
		return false
	}
	m, ok := d.Y.(*expr.Read)
	if !ok || m.Idx != nil {
		return false
	}
	s := b.stepOf(m.T)
	return s != nil && s.Reduce == expr.Mean && within(s.Over, over) && within(over, s.Over) && expr.Key(s.Expr) == expr.Key(d.X)
}

// operands returns p as one expression. The operands of a matrix product become
// lets unless they are plain reads, so that the step is a sum of a product of
// two reads.
func (b *builder) operands(at diag.Pos, p product, over []*expr.Axis) expr.Expr {
	left, right, ok := matrices(p, over)
	if !ok {
		return p.expr(at)
	}
	x, y := b.operand(left), b.operand(right)
	return expr.MulOf(at, x, y)
}

func (b *builder) operand(p product) expr.Expr {
	e := p.expr(p.num[0].Pos())
	if r, ok := e.(*expr.Read); ok {
		return r
	}
	if r, ok := b.known(e, nil).(*expr.Read); ok {
		return r
	}
	return expr.ReadOf(e.Pos(), b.temp(label(e)+"_term", expr.NoReduce, nil, e))
}

// matrices splits p, summed over the given axes, into the two operands of a
// matrix product: each varies over all of the summed axes and over an axis that
// the other does not have.
func matrices(p product, over []*expr.Axis) (left, right product, ok bool) {
	type factor struct {
		e    expr.Expr
		den  bool
		axes []*expr.Axis
	}
	var fs []factor
	for _, f := range p.num {
		fs = append(fs, factor{f, false, expr.UsedAxes(f)})
	}
	for _, f := range p.den {
		fs = append(fs, factor{f, true, expr.UsedAxes(f)})
	}
	slices.SortStableFunc(fs, func(x, y factor) int { return cmp.Compare(len(y.axes), len(x.axes)) })
	var lAxes, rAxes []*expr.Axis
	for _, f := range fs {
		side := &left
		switch {
		case lAxes == nil:
			lAxes = f.axes
		case within(f.axes, lAxes):
		case rAxes == nil:
			side, rAxes = &right, f.axes
		case within(f.axes, rAxes):
			side = &right
		default:
			return left, right, false
		}
		if f.den {
			side.den = append(side.den, f.e)
		} else {
			side.num = append(side.num, f.e)
		}
	}
	ok = len(left.num) > 0 && len(right.num) > 0 && within(over, lAxes) && within(over, rAxes) &&
		len(minus(lAxes, rAxes)) > 0 && len(minus(rAxes, lAxes)) > 0
	return left, right, ok
}
