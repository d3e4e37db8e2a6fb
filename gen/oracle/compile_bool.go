package oracle

import (
	"cmp"
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

func (c *compiler) bool(e expr.Expr) boolFn {
	switch e := e.(type) {
	case *expr.Const:
		v := e.I != 0
		return func(*frame) bool { return v }
	case *expr.ParamRef:
		i := c.param[e.P]
		return func(fr *frame) bool { return fr.params[i].I != 0 }
	case *expr.Read:
		f := c.read(e)
		return func(fr *frame) bool { return f(fr) != 0 }
	case *expr.Unary:
		x := c.bool(e.X)
		return func(fr *frame) bool { return !x(fr) }
	case *expr.Binary:
		return c.boolBinary(e)
	case *expr.Where:
		cond, a, b := c.bool(e.C), c.bool(e.A), c.bool(e.B)
		return func(fr *frame) bool {
			if cond(fr) {
				return a(fr)
			}
			return b(fr)
		}
	case *expr.Call:
		return c.boolCall(e)
	case *expr.Convert:
		return c.toBool(e)
	case *expr.Stop:
		return c.bool(e.X)
	}
	c.failf(e, "a %T is no bool", e)
	return func(*frame) bool { return false }
}

func (c *compiler) boolBinary(e *expr.Binary) boolFn {
	switch e.Op {
	case expr.LogicAnd:
		x, y := c.bool(e.X), c.bool(e.Y)
		return func(fr *frame) bool { return x(fr) && y(fr) }
	case expr.LogicOr:
		x, y := c.bool(e.X), c.bool(e.Y)
		return func(fr *frame) bool { return x(fr) || y(fr) }
	}
	var f boolFn
	switch e.X.Kind() {
	case expr.Float:
		f = compare(e.Op, c.float(e.X), c.float(e.Y))
	case expr.Int:
		f = compare(e.Op, c.int(e.X), c.int(e.Y))
	case expr.Bool:
		f = compare(e.Op, c.stored(e.X), c.stored(e.Y))
	default:
		f = compare(e.Op, c.uint(e.X), c.uint(e.Y))
	}
	if f == nil {
		c.failf(e, "operator %d gives no bool", e.Op)
	}
	return f
}

func compare[T cmp.Ordered, F ~func(*frame) T](op expr.BinaryOp, x, y F) boolFn {
	switch op {
	case expr.Lt:
		return func(fr *frame) bool { return x(fr) < y(fr) }
	case expr.Le:
		return func(fr *frame) bool { return x(fr) <= y(fr) }
	case expr.Gt:
		return func(fr *frame) bool { return x(fr) > y(fr) }
	case expr.Ge:
		return func(fr *frame) bool { return x(fr) >= y(fr) }
	case expr.Eq:
		return func(fr *frame) bool { return x(fr) == y(fr) }
	case expr.Ne:
		return func(fr *frame) bool { return x(fr) != y(fr) }
	}
	return nil
}

func (c *compiler) boolCall(e *expr.Call) boolFn {
	x := c.float(e.Args[0])
	switch e.Fn {
	case expr.FnIsNaN:
		return func(fr *frame) bool { return math.IsNaN(x(fr)) }
	case expr.FnIsInf:
		return func(fr *frame) bool { return math.IsInf(x(fr), 0) }
	}
	c.failf(e, "intrinsic %d gives no bool", e.Fn)
	return nil
}

func (c *compiler) toBool(e *expr.Convert) boolFn {
	switch e.X.Kind() {
	case expr.Bool:
		return c.bool(e.X)
	case expr.Uint, expr.Uint64:
		x := c.uint(e.X)
		return func(fr *frame) bool { return x(fr) != 0 }
	}
	x := c.stored(e.X)
	return func(fr *frame) bool { return x(fr) != 0 }
}
