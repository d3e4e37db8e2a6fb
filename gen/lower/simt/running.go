package simt

import (
	"math"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// running is a pass for the greatest element of a row joined with the next one, whose
// sums are of exp(x-base) or of x-base, where base is that greatest element. A thread
// takes both over a slab at once, with the greatest element so far as the base, and when
// that rises the sums so far follow it; so a row that registers do not hold is read once.
// The method: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018.
type running struct {
	top  *plan.Stage
	sums []*plan.Stage
	base expr.Expr // the greatest element, or 0 where that is -inf
}

// findRunning returns passes n and n+1 as one, nil where they are not of that kind.
func findRunning(k *plan.Kernel, n int) *running {
	passes := k.Passes()
	if n+1 >= len(passes) || len(passes[n]) != 1 || passes[n][0].Reduce != expr.Max || lower.AccType(passes[n][0], false).Elem != ir.F32 {
		return nil
	}
	r := &running{top: passes[n][0], sums: passes[n+1]}
	for _, s := range r.sums {
		base := r.baseOf(s, k.Red)
		if base == nil || r.base != nil && expr.Key(base) != expr.Key(r.base) {
			return nil
		}
		r.base = base
	}
	return r
}

// baseOf returns the base of a sum that can follow it, nil where it cannot.
func (r *running) baseOf(s *plan.Stage, red []*expr.Axis) expr.Expr {
	if s.Reduce != expr.Sum {
		return nil
	}
	e, w := term(s)
	arg, isExp := exponent(e)
	if isExp {
		e = arg
	}
	d, ok := e.(*expr.Binary)
	if w != nil && (r.uses(w.C) || !isExp && varies(w.C, red...)) || !ok || d.Op != expr.Sub || r.uses(d.X) || !r.isBase(d.Y) {
		return nil
	}
	return d.Y
}

// term returns what s sums up, and the condition under which it does if there is one.
func term(s *plan.Stage) (expr.Expr, *expr.Where) {
	if w, ok := lower.Conditional(s); ok {
		return w.A, w
	}
	return s.Expr, nil
}

// exponent returns the argument of a call of exp.
func exponent(e expr.Expr) (expr.Expr, bool) {
	c, ok := e.(*expr.Call)
	if !ok || c.Fn != expr.FnExp {
		return nil, false
	}
	return c.Args[0], true
}

// isExp reports whether s sums exponentials.
func isExp(s *plan.Stage) bool {
	e, _ := term(s)
	_, ok := exponent(e)
	return ok
}

func (r *running) uses(e expr.Expr) bool { return slices.Contains(expr.Reads(e), r.top.Let) }

func (r *running) isTop(e expr.Expr) bool {
	read, ok := e.(*expr.Read)
	return ok && read.T == r.top.Let
}

// isBase reports whether e is the greatest element where that is finite: it alone, or
// with another value where it is -inf.
func (r *running) isBase(e expr.Expr) bool {
	w, ok := e.(*expr.Where)
	if !ok {
		return r.isTop(e)
	}
	c, ok := w.C.(*expr.Binary)
	return ok && c.Op == expr.LogicAnd && r.isInf(c.X) && r.isNegative(c.Y) && isConst(w.A) && r.isTop(w.B)
}

func (r *running) isInf(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	return ok && c.Fn == expr.FnIsInf && r.isTop(c.Args[0])
}

func (r *running) isNegative(e expr.Expr) bool {
	c, ok := e.(*expr.Binary)
	return ok && c.Op == expr.Lt && r.isTop(c.X) && isConst(c.Y)
}

func isConst(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && !math.IsNaN(c.F)
}

// running computes passes n and n+1 of the row at hand.
func (r *row) running(n int, p *running) {
	tops, sums := r.newAccs([]*plan.Stage{p.top}, "_thread"), r.newAccs(p.sums, "_thread")
	top, count := tops[0].v, r.counter(p)
	first := lower.Int(0)
	if !r.streams {
		first = r.slab
		r.kept(n, r.adds(tops), nil)
	}
	base := r.Mut("base", ir.Scalar(ir.F32))
	r.Emit(&ir.Decl{V: base, X: lower.RefTo(top)})
	r.loop("from", first, r.n, r.slab, func(from ir.Expr) {
		before := r.copyOf(top)
		r.fetch(n, from)
		r.fetched(n, from, r.adds(tops))
		r.Local(p.top.Let, lower.RefTo(top))
		now := r.Value(p.base)
		r.follow(p, sums, bin(ir.Ne, before, lower.RefTo(top)), lower.RefTo(base), now, count)
		r.Emit(&ir.Assign{V: base, X: now})
		r.apart(n+1, sums, func(sums []*acc) {
			r.blockwise(sums, func(sums []*acc) { r.fetched(n+1, from, r.terms(sums)) })
		})
		r.counted(count, from)
	})
	before := r.copyOf(top)
	r.fold(tops, []*plan.Stage{p.top}, r.group)
	now := r.Value(p.base)
	rose := bin(ir.Ne, before, r.Value(&expr.Read{Node: expr.Node{K: expr.Float}, T: p.top.Let}))
	if !r.streams {
		rose = and(less(r.slab, r.n), rose)
	}
	r.follow(p, sums, rose, lower.RefTo(base), now, count)
	if !r.streams {
		r.apart(n+1, sums, func(sums []*acc) {
			r.blockwise(sums, func(sums []*acc) { r.kept(n+1, r.terms(sums), nil) })
		})
	}
	r.fold(sums, p.sums, r.group)
}

// findStream reports whether the row's elements are needed for two passes that go together
// and for nothing after them: then registers hold none of them longer.
func (r *row) findStream() bool {
	last := len(r.phase) - 1
	if last < 2 || findRunning(r.k, last-2) == nil {
		return false
	}
	return !slices.ContainsFunc(r.phase[last].All, func(e expr.Expr) bool { return varies(e, r.k.Red...) })
}

// terms adds the element at hand to sums of exponentials. A rough exp(-x) is off by about
// 1e-7(3+x) of its value, and in their sum, in which those of large x are few or small, the
// mean of x is at most the logarithm of the number of elements; so for elements of 16 bits
// the sum is off by less than 2e-6 of itself.
func (r *row) terms(sums []*acc) func(i, at, v ir.Expr) {
	add := r.adds(sums)
	for _, s := range sums {
		for _, t := range expr.Reads(s.stage.Expr) {
			if t.Type == expr.F32 && !r.k.Local(t) {
				return add
			}
		}
	}
	return func(i, at, v ir.Expr) { r.Rough(func() { add(i, at, v) }) }
}

// fetches returns what phases n and n+1 read.
func (r *row) fetches(n int) []*expr.Read {
	all := r.needed(n, false)
	for _, e := range r.needed(n+1, false) {
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// fetch leaves in registers what phases n and n+1 read of the thread's elements in the slab at
// a position. All is asked for before any of it is waited for.
func (r *row) fetch(n int, from ir.Expr) {
	all := r.fetches(n)
	r.runsOf(from, func(i, at ir.Expr) {
		for _, e := range all {
			r.get(r.slabOf(e), lower.MulI(i, lower.Int(r.run)), e, at)
		}
	})
}

// fetched runs body in phase n for the elements of a slab that fetch has read.
func (r *row) fetched(n int, from ir.Expr, body func(i, at, v ir.Expr)) {
	r.runsOf(from, func(i, at ir.Expr) {
		r.runIn(at, i, r.needed(n, false), r.slabOf, func(v ir.Expr) { body(nil, lower.AddI(at, v), v) })
	})
}

// slabOf is where the runs of e in a slab are that fetch has read.
func (r *row) slabOf(e *expr.Read) *ir.Array {
	return r.array(e.T.Name+"_slab"+r.number(e), r.own)
}

// counter declares the number of elements that sums of x-base have, nil if there are none.
func (r *row) counter(p *running) *ir.Var {
	for _, s := range p.sums {
		if !isExp(s) {
			count := r.Mut("count", ir.Scalar(ir.I32))
			r.Emit(&ir.Decl{V: count, X: lit32(0)})
			return count
		}
	}
	return nil
}

// counted adds the number of the thread's elements in the slab at a position to the counter,
// if there is one.
func (r *row) counted(count *ir.Var, from ir.Expr) {
	if count == nil {
		return
	}
	one := func(n int64) {
		r.Emit(&ir.Assign{V: count, X: bin(ir.Add, lower.RefTo(count), lit32(n))})
	}
	r.runsOf(from, func(_, at ir.Expr) {
		if r.wide {
			one(r.run)
		} else {
			r.each(at, func(ir.Expr) { one(1) })
		}
	})
}

// copyOf is the value that v has now.
func (r *row) copyOf(v *ir.Var) ir.Expr {
	c := r.Var(v.Name+"_before", v.Type)
	r.Emit(&ir.Decl{V: c, X: lower.RefTo(v)})
	return lower.RefTo(c)
}

// follow makes the sums, which were taken from base, sums taken from now, where rose
// holds. A sum of exponentials that is 0 stays so, whatever its base was.
func (r *row) follow(p *running, sums []*acc, rose, base, now ir.Expr, count *ir.Var) {
	s := &ir.If{C: rose}
	r.Guarded(&s.Then, func() {
		fall := r.Name("fall", bin(ir.Sub, base, now))
		for i, a := range sums {
			sum := lower.RefTo(a.v)
			if isExp(p.sums[i]) {
				factor := &ir.Call{Fn: expr.FnExp, Args: []ir.Expr{fall}, T: fall.Type()}
				none := bin(ir.Eq, sum, zero())
				r.Emit(&ir.Assign{V: a.v, X: &ir.Select{C: none, A: zero(), B: bin(ir.Mul, sum, factor)}})
				continue
			}
			n := &ir.Conv{T: ir.Scalar(ir.F32), X: lower.RefTo(count)}
			some := bin(ir.Ne, lower.RefTo(count), lit32(0))
			if _, w := term(p.sums[i]); w != nil {
				some = and(r.Value(w.C), some)
			}
			r.when(some, func() { r.Emit(&ir.Assign{V: a.v, X: plus(sum, bin(ir.Mul, n, fall))}) })
		}
	})
	r.Emit(s)
}
