package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// tidy gives a name to what the steps of g compute more than once, so that the
// gradient reads like a spec written by hand.
func tidy(g *expr.Program, b *builder) {
	for {
		e, at := repeated(g)
		if e == nil {
			return
		}
		t := &expr.Tensor{Name: b.unique(label(e) + "_" + opName(e)), Role: expr.Let, Type: expr.F32, Pos: e.Pos()}
		t.Axes = b.order(expr.UsedAxes(e))
		for _, a := range t.Axes {
			t.Shape = append(t.Shape, expr.Dim{a})
		}
		key := expr.Key(e)
		for _, s := range g.Steps[at:] {
			s.Expr = replace(s.Expr, key, t)
		}
		g.Steps = slices.Insert(g.Steps, at, &expr.Step{Result: t, Expr: e, Pos: e.Pos()})
	}
}

func replace(e expr.Expr, key string, t *expr.Tensor) expr.Expr {
	if expr.Key(e) == key {
		return expr.ReadOf(e.Pos(), t)
	}
	old := expr.Children(e)
	kids := make([]expr.Expr, len(old))
	for i, k := range old {
		kids[i] = replace(k, key, t)
	}
	if len(kids) == 0 {
		return e
	}
	return expr.WithChildren(e, kids)
}

// repeated returns the largest expression that occurs more than once and is
// worth a name, and the first step that has it.
func repeated(g *expr.Program) (best expr.Expr, at int) {
	type place struct{ count, step int }
	found := map[string]*place{}
	size := 0
	var order []expr.Expr
	for i, s := range g.Steps {
		expr.Walk(s.Expr, func(e expr.Expr) bool {
			if !nameable(e) {
				return true
			}
			key := expr.Key(e)
			if p := found[key]; p != nil {
				p.count++
				return false
			}
			found[key] = &place{1, i}
			order = append(order, e)
			return true
		})
	}
	for _, e := range order {
		p := found[expr.Key(e)]
		if n := weight(e); p.count > 1 && n > size {
			best, at, size = e, p.step, n
		}
	}
	return best, at
}

// nameable reports whether e can be a let of its own: a float of some size that
// varies over an axis, reads no other place (its bounds would be checked where
// a condition keeps it from being read) and no position.
func nameable(e expr.Expr) bool {
	if e.Kind() != expr.Float || weight(e) < 4 && !isCall(e) || len(expr.UsedAxes(e)) == 0 {
		return false
	}
	ok := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Read:
			ok = ok && e.Idx == nil
		case *expr.Flat, *expr.Index:
			ok = false
		}
		return ok
	})
	return ok
}

func isCall(e expr.Expr) bool {
	_, ok := e.(*expr.Call)
	return ok
}

// weight is the number of operations in e, a call counting for several.
func weight(e expr.Expr) int {
	n := 0
	expr.Walk(e, func(e expr.Expr) bool {
		switch e.(type) {
		case *expr.Call:
			n += 4
		case *expr.Binary, *expr.Where, *expr.Unary:
			n++
		}
		return true
	})
	return n
}

// opName is the word by which a let that holds e is named.
func opName(e expr.Expr) string {
	switch e := e.(type) {
	case *expr.Call:
		return e.Fn.String()
	case *expr.Binary:
		switch e.Op {
		case expr.Add, expr.Sub:
			return "sum"
		case expr.Mul:
			return "product"
		case expr.Div:
			return "quotient"
		}
	}
	return "value"
}
