package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// value is a forward expression whose value a tensor holds, where the
// conditions in need hold.
type value struct {
	e    expr.Expr // without stops
	key  string
	need []cond
	read expr.Expr
	let  bool
}

// offer makes the value of a step known, so that derivatives read it and do not
// compute it again in another way.
func (b *builder) offer(s *expr.Step) {
	t := s.Result
	if s.Reduce != expr.NoReduce || t.Role == expr.Out && !b.worthReading(t, s.Expr) {
		return
	}
	b.offerExpr(s.Expr, nil, expr.ReadOf(s.Pos, t), t.Role == expr.Let)
}

func (b *builder) offerExpr(e expr.Expr, need []cond, read expr.Expr, let bool) {
	switch e := e.(type) {
	case *expr.Read, *expr.Const, *expr.ParamRef, *expr.Index, *expr.Size:
		return
	case *expr.Where:
		b.offerExpr(e.A, append(slices.Clone(need), cond{e: e.C}), read, let)
		b.offerExpr(e.B, append(slices.Clone(need), cond{e: e.C, neg: true}), read, let)
	}
	if !within(expr.UsedAxes(read), expr.UsedAxes(e)) {
		return // an output that repeats the value along an axis
	}
	e = unstopped(e)
	b.values = append(b.values, value{e: e, key: expr.Key(e), need: need, read: read, let: let})
}

// worthReading reports whether output t is read rather than its value e
// computed again: e costs more than a load, and either t holds it in f32 or it
// takes a reduction to have it. A narrower output is rounded; what is computed
// element by element is computed again from the inputs.
func (b *builder) worthReading(t *expr.Tensor, e expr.Expr) bool {
	if expr.ValueKind(t) != expr.Float {
		return false
	}
	if b.reduces[t] {
		return true
	}
	return t.Type == expr.F32 && !slices.Contains(b.narrow, t.Name) && hasCall(e)
}

// unrounded is e with the values of narrow outputs computed again where a function
// is taken of them: as a factor a rounded value is off by its rounding, but the
// exponential of a logarithm near -10, kept in half, by ten times that.
func (b *builder) unrounded(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if _, ok := e.(*expr.Call); !ok {
			return e
		}
		return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			r, ok := e.(*expr.Read)
			if !ok || r.Idx != nil || r.T.Role != expr.Out || r.T.Save || !slices.Contains(b.narrow, r.T.Name) {
				return e
			}
			if s := b.stepOf(r.T); s.Reduce == expr.NoReduce {
				return unstopped(s.Expr)
			}
			return e
		})
	})
}

func hasCall(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		_, is := e.(*expr.Call)
		found = found || is
		return !found
	})
	return found
}

// known returns a read of the tensor that holds the value of e where the
// conditions of path hold, or e itself.
func (b *builder) known(e expr.Expr, path []cond) expr.Expr {
	key := expr.Key(unstopped(e))
	best := e
	for _, v := range b.values {
		if v.key != key || !implies(path, v.need) {
			continue
		}
		if v.let {
			return v.read
		}
		if best == e {
			best = v.read
		}
	}
	return best
}

// unstopped is e without the marks that keep differentiation out.
func unstopped(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if s, ok := e.(*expr.Stop); ok {
			return s.X
		}
		return e
	})
}

// implies reports whether every condition of need is in path.
func implies(path, need []cond) bool {
	for _, c := range need {
		if !slices.ContainsFunc(path, func(d cond) bool { return d.key() == c.key() }) {
			return false
		}
	}
	return true
}
