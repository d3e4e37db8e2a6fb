package oracle

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

func (c *compiler) int(e expr.Expr) intFn {
	switch e := e.(type) {
	case *expr.Const:
		v := e.I
		return func(*frame) int64 { return v }
	case *expr.ParamRef:
		i := c.param[e.P]
		return func(fr *frame) int64 { return fr.params[i].I }
	case *expr.Index:
		a := c.axis[e.A]
		return func(fr *frame) int64 { return fr.index[a] }
	case *expr.Size:
		n := c.size(e.A)
		return func(*frame) int64 { return n }
	case *expr.Read:
		f := c.read(e)
		return func(fr *frame) int64 { return int64(f(fr)) }
	case *expr.Unary:
		x := c.int(e.X)
		return func(fr *frame) int64 { return -x(fr) }
	case *expr.Binary:
		return c.intBinary(e)
	case *expr.Where:
		cond, a, b := c.bool(e.C), c.int(e.A), c.int(e.B)
		return func(fr *frame) int64 {
			if cond(fr) {
				return a(fr)
			}
			return b(fr)
		}
	case *expr.Call:
		return c.intCall(e)
	case *expr.Convert:
		return c.toInt(e)
	case *expr.Stop:
		return c.int(e.X)
	}
	c.failf(e, "a %T is no int", e)
	return func(*frame) int64 { return 0 }
}

func (c *compiler) intBinary(e *expr.Binary) intFn {
	x, y := c.int(e.X), c.int(e.Y)
	if f := intOps[e.Op]; f != nil {
		return func(fr *frame) int64 { return f(x(fr), y(fr)) }
	}
	c.failf(e, "operator %d does not give an int", e.Op)
	return x
}

// intOps holds the operators on Int, whose shifts by less than 0 or more than
// 63 places move every bit out.
var intOps = map[expr.BinaryOp]func(x, y int64) int64{
	expr.Add: func(x, y int64) int64 { return x + y },
	expr.Sub: func(x, y int64) int64 { return x - y },
	expr.Mul: func(x, y int64) int64 { return x * y },
	expr.Div: floorDiv,
	expr.Rem: func(x, y int64) int64 {
		if y == 0 {
			return 0
		}
		return x - y*floorDiv(x, y)
	},
	expr.And: func(x, y int64) int64 { return x & y },
	expr.Or:  func(x, y int64) int64 { return x | y },
	expr.Xor: func(x, y int64) int64 { return x ^ y },
	expr.Shl: func(x, y int64) int64 { return x << uint64(y) },
	expr.Shr: func(x, y int64) int64 { return x >> uint64(y) },
}

// floorDiv rounds towards minus infinity; a division by zero gives 0.
func floorDiv(x, y int64) int64 {
	if y == 0 {
		return 0
	}
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

func (c *compiler) intCall(e *expr.Call) intFn {
	x := c.int(e.Args[0])
	switch e.Fn {
	case expr.FnAbs:
		return func(fr *frame) int64 { return max(x(fr), -x(fr)) }
	case expr.FnSign:
		return func(fr *frame) int64 { return min(max(x(fr), -1), 1) }
	case expr.FnMin:
		y := c.int(e.Args[1])
		return func(fr *frame) int64 { return min(x(fr), y(fr)) }
	case expr.FnMax:
		y := c.int(e.Args[1])
		return func(fr *frame) int64 { return max(x(fr), y(fr)) }
	}
	c.failf(e, "intrinsic %d gives no int", e.Fn)
	return x
}

func (c *compiler) toInt(e *expr.Convert) intFn {
	switch e.X.Kind() {
	case expr.Float:
		x := c.float(e.X)
		return func(fr *frame) int64 { return truncate(x(fr)) }
	case expr.Int:
		return c.int(e.X)
	case expr.Bool:
		x := c.bool(e.X)
		return func(fr *frame) int64 { return int64(bit(x(fr))) }
	}
	x := c.uint(e.X)
	return func(fr *frame) int64 { return int64(x(fr)) }
}

// truncate rounds towards zero; NaN gives 0 and what is outside i32 the
// nearest end of its range.
func truncate(x float64) int64 {
	if math.IsNaN(x) {
		return 0
	}
	return int64(min(max(x, math.MinInt32), math.MaxInt32))
}

// uint compiles a Uint or Uint64 expression.
func (c *compiler) uint(e expr.Expr) uintFn {
	f := c.rawUint(e)
	if e.Kind() == expr.Uint {
		return func(fr *frame) uint64 { return f(fr) & math.MaxUint32 }
	}
	return f
}

func (c *compiler) rawUint(e expr.Expr) uintFn {
	switch e := e.(type) {
	case *expr.Const:
		v := e.U
		return func(*frame) uint64 { return v }
	case *expr.ParamRef:
		i := c.param[e.P]
		return func(fr *frame) uint64 { return fr.params[i].U }
	case *expr.Flat:
		return c.flat(e)
	case *expr.Binary:
		return c.uintBinary(e)
	case *expr.Where:
		cond, a, b := c.bool(e.C), c.uint(e.A), c.uint(e.B)
		return func(fr *frame) uint64 {
			if cond(fr) {
				return a(fr)
			}
			return b(fr)
		}
	case *expr.Call:
		return c.uintCall(e)
	case *expr.Convert:
		return c.toUint(e)
	case *expr.Stop:
		return c.uint(e.X)
	}
	c.failf(e, "a %T is no unsigned value", e)
	return func(*frame) uint64 { return 0 }
}

func (c *compiler) flat(e *expr.Flat) uintFn {
	axes, strides := c.layout(e.T)
	return func(fr *frame) uint64 {
		at := int64(0)
		for i, a := range axes {
			at += fr.index[a] * strides[i]
		}
		return uint64(at)
	}
}

func (c *compiler) uintBinary(e *expr.Binary) uintFn {
	x, y := c.uint(e.X), c.uint(e.Y)
	if f := uintOps[e.Op]; f != nil {
		return func(fr *frame) uint64 { return f(x(fr), y(fr)) }
	}
	c.failf(e, "operator %d does not give an unsigned value", e.Op)
	return x
}

var uintOps = map[expr.BinaryOp]func(x, y uint64) uint64{
	expr.Add: func(x, y uint64) uint64 { return x + y },
	expr.Sub: func(x, y uint64) uint64 { return x - y },
	expr.Mul: func(x, y uint64) uint64 { return x * y },
	expr.Div: func(x, y uint64) uint64 {
		if y == 0 {
			return 0
		}
		return x / y
	},
	expr.Rem: func(x, y uint64) uint64 {
		if y == 0 {
			return 0
		}
		return x % y
	},
	expr.And: func(x, y uint64) uint64 { return x & y },
	expr.Or:  func(x, y uint64) uint64 { return x | y },
	expr.Xor: func(x, y uint64) uint64 { return x ^ y },
	expr.Shl: func(x, y uint64) uint64 { return x << y },
	expr.Shr: func(x, y uint64) uint64 { return x >> y },
}

func (c *compiler) uintCall(e *expr.Call) uintFn {
	x := c.uint(e.Args[0])
	if e.Fn == expr.FnPhilox {
		y := c.uint(e.Args[1])
		return func(fr *frame) uint64 { return philoxWord(x(fr), y(fr)) }
	}
	c.failf(e, "intrinsic %d gives no unsigned value", e.Fn)
	return x
}

func (c *compiler) toUint(e *expr.Convert) uintFn {
	switch e.X.Kind() {
	case expr.Int:
		x := c.int(e.X)
		return func(fr *frame) uint64 { return uint64(x(fr)) }
	case expr.Bool:
		x := c.bool(e.X)
		return func(fr *frame) uint64 { return uint64(bit(x(fr))) }
	case expr.Uint, expr.Uint64:
		return c.uint(e.X)
	}
	c.failf(e, "a float does not convert to an unsigned value")
	return func(*frame) uint64 { return 0 }
}
