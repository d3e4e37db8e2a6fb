package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// shapes adds forward inputs until the extents of all axes of the gradient
// follow from its inputs: the wrt inputs themselves first.
func (a *assembly) shapes(outs []*expr.Tensor) {
	order := slices.Clone(a.b.wrt)
	for i := range a.b.p.Ins {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	var added []int
	for _, i := range order {
		missing := a.missing(outs)
		t := a.b.p.Ins[i]
		gives := slices.ContainsFunc(missing, func(x *expr.Axis) bool { return slices.Contains(t.Axes, x) })
		if !a.wantIn[i] && gives {
			a.wantIn[i] = true
			added = append(added, i)
		}
	}
	for _, i := range added {
		a.wantIn[i] = false
		if len(a.missing(outs)) > 0 {
			a.wantIn[i] = true
		}
	}
}

// missing returns the axes whose extent no input gives yet.
func (a *assembly) missing(outs []*expr.Tensor) []*expr.Axis {
	var ts []*expr.Tensor
	for i, t := range a.b.p.Ins {
		if a.wantIn[i] {
			ts = append(ts, t)
		}
	}
	for i, t := range a.b.p.Outs {
		if a.wantOut[i] || a.b.cotIn[i] != nil {
			ts = append(ts, t)
		}
	}
	known := given(ts)
	var missing []*expr.Axis
	for _, x := range a.axes(outs) {
		if x.Extent == nil && !x.Free && !slices.Contains(known, x) {
			missing = append(missing, x)
		}
	}
	return missing
}

// given returns the axes whose extents follow from the shapes of ts: a
// dimension of one axis gives it, and a shape gives its only unknown group.
func given(ts []*expr.Tensor) []*expr.Axis {
	var known []*expr.Axis
	for more := true; more; {
		more = false
		for _, t := range ts {
			var open []*expr.Axis
			for _, d := range t.Shape {
				if len(d) != 1 || slices.Contains(known, d[0]) {
					continue
				}
				if d[0].Group {
					open = append(open, d[0])
					continue
				}
				known = append(known, d[0])
				more = true
			}
			if len(open) == 1 {
				known = append(known, open[0])
				more = true
			}
		}
	}
	return known
}

// axes returns the axes that the gradient needs, those of extents included, in
// order of declaration.
func (a *assembly) axes(outs []*expr.Tensor) []*expr.Axis {
	need := map[*expr.Axis]bool{}
	for i, t := range a.b.p.Ins {
		if a.wantIn[i] {
			mark(need, t)
		}
	}
	for i, t := range a.b.p.Outs {
		if a.wantOut[i] || a.b.cotIn[i] != nil {
			mark(need, t)
		}
	}
	for _, t := range outs {
		mark(need, t)
	}
	for _, s := range append(slices.Clone(a.steps), a.b.steps...) {
		markStep(need, s)
	}
	all := slices.Concat(a.b.p.Axes, a.b.fresh)
	for _, x := range slices.Backward(all) {
		if need[x] && x.Extent != nil {
			markSizes(need, x.Extent)
		}
	}
	return slices.DeleteFunc(all, func(x *expr.Axis) bool { return !need[x] })
}

func mark(need map[*expr.Axis]bool, t *expr.Tensor) {
	for _, x := range t.Axes {
		need[x] = true
	}
	if t.Bounds != nil {
		markSizes(need, t.Bounds)
	}
}

func markStep(need map[*expr.Axis]bool, s *expr.Step) {
	for _, x := range slices.Concat(s.Result.Axes, s.Over, expr.UsedAxes(s.Expr)) {
		need[x] = true
	}
	markSizes(need, s.Expr)
}

func markSizes(need map[*expr.Axis]bool, e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) bool {
		if s, ok := e.(*expr.Size); ok {
			need[s.A] = true
		}
		return true
	})
}

// declare sets the axes, parameters and requirements of the finished program.
func (a *assembly) declare(r *Result) {
	g := r.Program
	g.Axes = a.axes(g.Outs)
	used := map[*expr.Param]bool{}
	note := func(e expr.Expr) {
		expr.Walk(e, func(e expr.Expr) bool {
			if p, ok := e.(*expr.ParamRef); ok {
				used[p.P] = true
			}
			return true
		})
	}
	for _, s := range g.Steps {
		note(s.Expr)
	}
	for _, x := range g.Axes {
		if x.Extent != nil {
			note(x.Extent)
		}
	}
	for _, t := range g.Ins {
		if t.Bounds != nil {
			note(t.Bounds)
		}
		if t.Except != nil {
			used[t.Except] = true
		}
	}
	for i, p := range a.b.p.Params {
		if used[p] {
			g.Params = append(g.Params, p)
			r.Params = append(r.Params, i)
		}
	}
	for _, q := range a.b.p.Require {
		if scopedTo(q.Cond, g) {
			g.Require = append(g.Require, q)
		}
	}
}

// scopedTo reports whether e is over parameters and axes of g alone.
func scopedTo(e expr.Expr, g *expr.Program) bool {
	ok := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.ParamRef:
			ok = ok && slices.Contains(g.Params, e.P)
		case *expr.Size:
			ok = ok && slices.Contains(g.Axes, e.A)
		}
		return ok
	})
	return ok
}
