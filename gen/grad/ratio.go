package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// The gradient of a softmax needs e/total, and that of a log-softmax or a
// cross-entropy exp(x-top)/total. The forward program has computed both: the
// first is its output, the second the exponential of one (or of x less its
// logsumexp). The rules here find that, so that maximum and sum need not be
// computed again.

// inRatio reports whether an output holds a quotient with t in it, or a sum
// with the logarithm of t. Cotangents of such tensors are passed on as they are,
// so that divisor and numerator meet in one product.
func (b *builder) inRatio(t *expr.Tensor) bool {
	for _, s := range b.p.Steps {
		if s.Reduce == expr.Sum && reads(s.Expr, t) && b.inRatio(s.Result) {
			return true
		}
	}
	return slices.ContainsFunc(b.values, func(v value) bool {
		e, ok := v.e.(*expr.Binary)
		if !ok || !b.held(v) {
			return false
		}
		switch e.Op {
		case expr.Div:
			return reads(e.X, t) || reads(e.Y, t)
		case expr.Add, expr.Sub:
			return b.logOf(e.Y, t)
		}
		return false
	})
}

// held reports whether v is read from an output, not computed again.
func (b *builder) held(v value) bool {
	r, ok := v.read.(*expr.Read)
	return ok && (r.T.Role == expr.Out || b.holder(r.T) != nil)
}

func reads(e expr.Expr, t *expr.Tensor) bool {
	r, ok := e.(*expr.Read)
	return ok && r.T == t && r.Idx == nil
}

// logOf reports whether e is log(t), perhaps in a let of its own, perhaps with
// another operand where a condition says so.
func (b *builder) logOf(e expr.Expr, t *expr.Tensor) bool {
	if r, ok := e.(*expr.Read); ok && r.Idx == nil {
		s := b.stepOf(r.T)
		return s != nil && s.Reduce == expr.NoReduce && b.logOf(s.Expr, t)
	}
	c, ok := e.(*expr.Call)
	if !ok || c.Fn != expr.FnLog {
		return false
	}
	if w, ok := c.Args[0].(*expr.Where); ok {
		return reads(w.A, t) || reads(w.B, t)
	}
	return reads(c.Args[0], t)
}

// simplify rewrites the value of t for the places where its conditions hold:
// choices that they decide are taken, and quotients that an output holds are
// read.
func (b *builder) simplify(t term) term {
	t.val = decided(t.val, t.path)
	p := factors(t.val)
	changed := false
	for i := range p.num {
		for j := 0; j < len(p.den); {
			q := b.quotient(p.num[i], p.den[j], t.path)
			if q == nil {
				j++
				continue
			}
			t.path = replaceAbout(t.path, expr.Key(p.num[i]), expr.Key(q))
			p.num[i] = q
			p.den = slices.Delete(p.den, j, j+1)
			changed = true
		}
	}
	if changed {
		t.val = p.expr(t.val.Pos())
	}
	return t
}

// decided is e with each where taken that the conditions of path decide.
func decided(e expr.Expr, path []cond) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if w, ok := e.(*expr.Where); ok {
			switch {
			case implies(path, []cond{{e: w.C}}):
				return w.A
			case implies(path, []cond{{e: w.C, neg: true}}):
				return w.B
			}
		}
		return e
	})
}

func replaceAbout(path []cond, old, new string) []cond {
	path = slices.Clone(path)
	for i := range path {
		if slices.Contains(path[i].about, old) {
			path[i].about = append(slices.Clone(path[i].about), new)
		}
	}
	return path
}

// quotient returns x/y where an output holds it, or its logarithm.
func (b *builder) quotient(x, y expr.Expr, path []cond) expr.Expr {
	at := x.Pos()
	r, ok := y.(*expr.Read)
	if !ok || r.Idx != nil || !b.inRatio(r.T) {
		return nil
	}
	if q := expr.DivOf(at, x, y); b.known(q, path) != q {
		return b.known(q, path)
	}
	a := b.exponent(x)
	if a == nil {
		return nil
	}
	for _, v := range b.values {
		e, ok := v.e.(*expr.Binary)
		if !ok || !implies(path, v.need) || !b.held(v) || !b.logOf(e.Y, r.T) {
			continue
		}
		if e.Op == expr.Sub && expr.Key(e.X) == expr.Key(a) {
			return expr.CallOf(at, expr.FnExp, v.read)
		}
		if d, ok := a.(*expr.Binary); ok && e.Op == expr.Add && d.Op == expr.Sub && expr.Key(d.Y) == expr.Key(e.X) {
			return expr.CallOf(at, expr.FnExp, expr.SubOf(at, d.X, v.read))
		}
	}
	return nil
}

// exponent returns a of exp(a), or of a let that holds it.
func (b *builder) exponent(e expr.Expr) expr.Expr {
	if r, ok := e.(*expr.Read); ok && r.Idx == nil {
		if s := b.stepOf(r.T); s != nil && s.Reduce == expr.NoReduce {
			e = s.Expr
		}
	}
	if c, ok := e.(*expr.Call); ok && c.Fn == expr.FnExp {
		return unstopped(c.Args[0])
	}
	return nil
}

// implied reports whether condition c may go from a term with value e: where it
// does not hold, a factor of e is exactly zero and the others are finite.
func (b *builder) implied(e expr.Expr, c cond, path []cond) bool {
	for _, f := range factors(e).num {
		if b.zeroUnless(f, c) && b.tameBut(e, []string{expr.Key(f)}, path) {
			return true
		}
	}
	return false
}

// zeroUnless reports whether e is zero wherever c does not hold: a tensor that
// is computed so, or the exponential of a log-softmax, where c is that the sum
// of the exponentials is not zero.
func (b *builder) zeroUnless(e expr.Expr, c cond) bool {
	if f, ok := e.(*expr.Call); ok && f.Fn == expr.FnExp {
		r, ok := f.Args[0].(*expr.Read)
		return ok && r.Idx == nil && b.logOfNothing(r.T, c)
	}
	r, ok := e.(*expr.Read)
	if !ok || r.Idx != nil {
		return false
	}
	s := b.stepOf(r.T)
	if s == nil || s.Reduce != expr.NoReduce {
		return false
	}
	w, ok := s.Expr.(*expr.Where)
	if !ok || expr.Key(w.C) != expr.Key(c.e) {
		return false
	}
	if c.neg {
		return expr.IsNum(w.A, 0)
	}
	return expr.IsNum(w.B, 0)
}

// logOfNothing reports whether t is a - log(where(total == 0, 1, total)) with
// total the sum of exp(a), and c that total is not zero: where it is zero, so is
// exp(a), and t is a.
func (b *builder) logOfNothing(t *expr.Tensor, c cond) bool {
	s := b.stepOf(t)
	zero, ok := c.e.(*expr.Binary)
	if s == nil || !ok || !c.neg || zero.Op != expr.Eq || !expr.IsNum(zero.Y, 0) {
		return false
	}
	d, ok := unstopped(s.Expr).(*expr.Binary)
	total, isRead := zero.X.(*expr.Read)
	if !ok || !isRead || d.Op != expr.Sub || !b.logOf(d.Y, total.T) || !b.oneAtZero(d.Y, c.e) {
		return false
	}
	sum := b.stepOf(total.T)
	if sum == nil || sum.Reduce != expr.Sum {
		return false
	}
	a := b.exponent(sum.Expr)
	return a != nil && expr.Key(a) == expr.Key(d.X)
}

// oneAtZero reports whether e, a logarithm, is that of 1 where zero holds.
func (b *builder) oneAtZero(e, zero expr.Expr) bool {
	if r, ok := e.(*expr.Read); ok {
		e = b.stepOf(r.T).Expr
	}
	c, ok := e.(*expr.Call)
	if !ok {
		return false
	}
	w, ok := c.Args[0].(*expr.Where)
	return ok && expr.Key(w.C) == expr.Key(zero) && expr.IsNum(w.A, 1)
}
