package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Children returns the direct operands of e, in order.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Read:
		return e.Idx
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Where:
		return []Expr{e.C, e.A, e.B}
	case *Call:
		return e.Args
	case *Convert:
		return []Expr{e.X}
	case *Stop:
		return []Expr{e.X}
	}
	return nil
}

// WithChildren returns e with other operands, in the order of Children. It
// returns e itself when they are the ones e has.
func WithChildren(e Expr, kids []Expr) Expr {
	old := Children(e)
	same := true
	for i := range old {
		same = same && old[i] == kids[i]
	}
	if same {
		return e
	}
	switch e := e.(type) {
	case *Read:
		c := *e
		c.Idx = kids
		return &c
	case *Unary:
		c := *e
		c.X = kids[0]
		return &c
	case *Binary:
		c := *e
		c.X, c.Y = kids[0], kids[1]
		return &c
	case *Where:
		c := *e
		c.C, c.A, c.B = kids[0], kids[1], kids[2]
		return &c
	case *Call:
		c := *e
		c.Args = kids
		return &c
	case *Convert:
		c := *e
		c.X = kids[0]
		return &c
	case *Stop:
		c := *e
		c.X = kids[0]
		return &c
	}
	return e
}

// Walk calls f for e and, while f returns true, for everything below it.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	for _, k := range Children(e) {
		Walk(k, f)
	}
}

// Rewrite rebuilds e from the leaves up: f sees each node with its operands
// already rewritten and returns what shall stand in its place.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	old := Children(e)
	if len(old) == 0 {
		return f(e)
	}
	kids := make([]Expr, len(old))
	for i, k := range old {
		kids[i] = Rewrite(k, f)
	}
	return f(WithChildren(e, kids))
}

// UsedAxes returns the axes that the value of e varies over, each once, in the
// order in which a walk meets them: axes used as an index, and the axes of
// tensors read at their own place.
func UsedAxes(e Expr) []*Axis {
	var axes []*Axis
	add := func(a *Axis) {
		for _, b := range axes {
			if a == b {
				return
			}
		}
		axes = append(axes, a)
	}
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Index:
			add(e.A)
		case *Flat:
			for _, a := range e.T.Axes {
				add(a)
			}
		case *Read:
			if e.Idx == nil {
				for _, a := range e.T.Axes {
					add(a)
				}
			}
		}
		return true
	})
	return axes
}

// Uses reports whether the value of e varies over a.
func Uses(e Expr, a *Axis) bool {
	for _, b := range UsedAxes(e) {
		if a == b {
			return true
		}
	}
	return false
}

// Reads returns the tensors that e reads, each once, in the order of a walk.
func Reads(e Expr) []*Tensor {
	var ts []*Tensor
	Walk(e, func(e Expr) bool {
		if r, ok := e.(*Read); ok {
			for _, t := range ts {
				if t == r.T {
					return true
				}
			}
			ts = append(ts, r.T)
		}
		return true
	})
	return ts
}

// Key returns a string that is equal for expressions of equal structure within
// one Program (axes, params and tensors are compared by name).
func Key(e Expr) string {
	var b strings.Builder
	writeKey(&b, e)
	return b.String()
}

func writeKey(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *Const:
		switch e.K {
		case Float:
			b.WriteString("f" + strconv.FormatUint(math.Float64bits(e.F), 16))
		case Uint, Uint64:
			fmt.Fprintf(b, "u%d:%d", e.K, e.U)
		default:
			fmt.Fprintf(b, "i%d:%d", e.K, e.I)
		}
	case *ParamRef:
		b.WriteString("p:" + e.P.Name)
	case *Index:
		b.WriteString("ix:" + e.A.Name)
	case *Size:
		b.WriteString("sz:" + e.A.Name)
	case *Flat:
		b.WriteString("fl:" + e.T.Name)
	case *Read:
		b.WriteString("rd:" + e.T.Name)
	case *Unary:
		fmt.Fprintf(b, "un%d", e.Op)
	case *Binary:
		fmt.Fprintf(b, "bi%d", e.Op)
	case *Where:
		b.WriteString("wh")
	case *Call:
		fmt.Fprintf(b, "ca%d", e.Fn)
	case *Convert:
		fmt.Fprintf(b, "cv%d.%d.%d", e.K, e.X.Kind(), e.Round)
	case *Stop:
		b.WriteString("st")
	}
	if kids := Children(e); len(kids) > 0 {
		b.WriteByte('(')
		for i, k := range kids {
			if i > 0 {
				b.WriteByte(',')
			}
			writeKey(b, k)
		}
		b.WriteByte(')')
	}
}
