package oracle

import (
	"fmt"
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

// Expressions are compiled to closures over a frame, one closure type for each
// kind of value. Uint values are held in uint64 with the upper half zero.
type (
	floatFn func(*frame) float64
	intFn   func(*frame) int64
	uintFn  func(*frame) uint64
	boolFn  func(*frame) bool
)

// frame is where an expression is evaluated.
type frame struct {
	index  []int64 // position along each axis
	params []Value
	data   [][]float64 // elements of each tensor
}

// compiler turns the expressions of one program into closures. Sizes are known
// before, so they become constants. The first error stays in err.
type compiler struct {
	p      *expr.Program
	axis   map[*expr.Axis]int
	size   func(*expr.Axis) int64
	param  map[*expr.Param]int
	tensor map[*expr.Tensor]int // place in frame.data
	err    error
}

func newCompiler(p *expr.Program, axis map[*expr.Axis]int, size func(*expr.Axis) int64) *compiler {
	c := &compiler{p: p, axis: axis, size: size, param: map[*expr.Param]int{}, tensor: map[*expr.Tensor]int{}}
	for i, param := range p.Params {
		c.param[param] = i
	}
	return c
}

func (c *compiler) failf(e expr.Expr, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %v: %s", c.p.Name, e.Pos(), fmt.Sprintf(format, args...))
	}
}

// evalInt evaluates an Int expression over parameters and extents.
func evalInt(p *expr.Program, size func(*expr.Axis) int64, params []Value, e expr.Expr) (int64, error) {
	c := newCompiler(p, nil, size)
	f := c.int(e)
	if c.err != nil {
		return 0, c.err
	}
	return f(&frame{params: params}), nil
}

// evalBool evaluates a Bool expression over parameters and extents.
func evalBool(p *expr.Program, size func(*expr.Axis) int64, params []Value, e expr.Expr) (bool, error) {
	c := newCompiler(p, nil, size)
	f := c.bool(e)
	if c.err != nil {
		return false, c.err
	}
	return f(&frame{params: params}), nil
}

// stored compiles e to the float64 that a tensor holds for its value.
func (c *compiler) stored(e expr.Expr) floatFn {
	switch e.Kind() {
	case expr.Float:
		return c.float(e)
	case expr.Int:
		f := c.int(e)
		return func(fr *frame) float64 { return float64(f(fr)) }
	case expr.Bool:
		f := c.bool(e)
		return func(fr *frame) float64 { return bit(f(fr)) }
	}
	c.failf(e, "a tensor cannot hold an unsigned value")
	return func(*frame) float64 { return 0 }
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (c *compiler) float(e expr.Expr) floatFn {
	switch e := e.(type) {
	case *expr.Const:
		v := e.F
		return func(*frame) float64 { return v }
	case *expr.ParamRef:
		i := c.param[e.P]
		return func(fr *frame) float64 { return fr.params[i].F }
	case *expr.Read:
		return c.read(e)
	case *expr.Unary:
		x := c.float(e.X)
		return func(fr *frame) float64 { return -x(fr) }
	case *expr.Binary:
		return c.floatBinary(e)
	case *expr.Where:
		cond, a, b := c.bool(e.C), c.float(e.A), c.float(e.B)
		return func(fr *frame) float64 {
			if cond(fr) {
				return a(fr)
			}
			return b(fr)
		}
	case *expr.Call:
		return c.floatCall(e)
	case *expr.Convert:
		return c.toFloat(e)
	case *expr.Stop:
		return c.float(e.X)
	}
	c.failf(e, "a %T is no float", e)
	return func(*frame) float64 { return 0 }
}

func (c *compiler) floatBinary(e *expr.Binary) floatFn {
	x, y := c.float(e.X), c.float(e.Y)
	switch e.Op {
	case expr.Add:
		return func(fr *frame) float64 { return x(fr) + y(fr) }
	case expr.Sub:
		return func(fr *frame) float64 { return x(fr) - y(fr) }
	case expr.Mul:
		return func(fr *frame) float64 { return x(fr) * y(fr) }
	case expr.Div:
		return func(fr *frame) float64 { return x(fr) / y(fr) }
	}
	c.failf(e, "operator %d has no meaning for floats", e.Op)
	return x
}

func (c *compiler) toFloat(e *expr.Convert) floatFn {
	var f floatFn
	switch e.X.Kind() {
	case expr.Float:
		f = c.float(e.X)
	case expr.Int:
		x := c.int(e.X)
		f = func(fr *frame) float64 { return float64(x(fr)) }
	case expr.Bool:
		x := c.bool(e.X)
		f = func(fr *frame) float64 { return bit(x(fr)) }
	default:
		x := c.uint(e.X)
		f = func(fr *frame) float64 { return float64(x(fr)) }
	}
	if t := e.Round; t != expr.InvalidDType {
		return func(fr *frame) float64 { return Round(f(fr), t) }
	}
	return f
}

// unary holds the intrinsics from one float to a float.
var unary = map[expr.Fn]func(float64) float64{
	expr.FnExp: math.Exp, expr.FnLog: math.Log, expr.FnLog1p: math.Log1p, expr.FnExpm1: math.Expm1,
	expr.FnTanh: math.Tanh, expr.FnErf: math.Erf, expr.FnSqrt: math.Sqrt, expr.FnAbs: math.Abs,
	expr.FnFloor: math.Floor, expr.FnCeil: math.Ceil, expr.FnRound: math.RoundToEven,
	expr.FnSigmoid: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	expr.FnRsqrt:   func(x float64) float64 { return 1 / math.Sqrt(x) },
	expr.FnSign:    sign,
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // 0 or NaN
}

func (c *compiler) floatCall(e *expr.Call) floatFn {
	if f, ok := unary[e.Fn]; ok {
		x := c.float(e.Args[0])
		return func(fr *frame) float64 { return f(x(fr)) }
	}
	switch e.Fn {
	case expr.FnUniform:
		x := c.uint(e.Args[0])
		return func(fr *frame) float64 { return uniform(x(fr)) }
	case expr.FnFMA:
		x, y, z := c.float(e.Args[0]), c.float(e.Args[1]), c.float(e.Args[2])
		return func(fr *frame) float64 { return math.FMA(x(fr), y(fr), z(fr)) }
	case expr.FnMin, expr.FnMax, expr.FnPow:
		x, y := c.float(e.Args[0]), c.float(e.Args[1])
		switch e.Fn {
		case expr.FnMin:
			return func(fr *frame) float64 { return min(x(fr), y(fr)) }
		case expr.FnMax:
			return func(fr *frame) float64 { return max(x(fr), y(fr)) }
		}
		return func(fr *frame) float64 { return math.Pow(x(fr), y(fr)) }
	}
	c.failf(e, "intrinsic %d gives no float", e.Fn)
	return func(*frame) float64 { return 0 }
}

// read compiles the read of a tensor element.
func (c *compiler) read(e *expr.Read) floatFn {
	t, ok := c.tensor[e.T]
	if !ok {
		c.failf(e, "%s is read before it is computed", e.T.Name)
		return func(*frame) float64 { return 0 }
	}
	axes, strides := c.layout(e.T)
	if e.Idx == nil {
		return ownRead(t, axes, strides)
	}
	idx := make([]intFn, len(e.Idx))
	for i, x := range e.Idx {
		idx[i] = c.int(x)
	}
	extents := make([]int64, len(axes))
	for i := range axes {
		extents[i] = c.size(e.T.Axes[i])
	}
	return indexedRead(t, idx, extents, strides, fill(e.T))
}

// layout returns the axes of t by number and their strides.
func (c *compiler) layout(t *expr.Tensor) (axes []int, strides []int64) {
	axes, strides = make([]int, len(t.Axes)), make([]int64, len(t.Axes))
	n := int64(1)
	for i := len(t.Axes) - 1; i >= 0; i-- {
		axes[i], strides[i] = c.axis[t.Axes[i]], n
		n *= c.size(t.Axes[i])
	}
	return axes, strides
}

// ownRead reads t at the position of the frame. Most tensors have one or two axes, and
// most of the time that the oracle takes is spent here.
func ownRead(t int, axes []int, strides []int64) floatFn {
	switch len(axes) {
	case 1:
		a, s := axes[0], strides[0]
		return func(fr *frame) float64 { return fr.data[t][fr.index[a]*s] }
	case 2:
		a, s, a2, s2 := axes[0], strides[0], axes[1], strides[1]
		return func(fr *frame) float64 { return fr.data[t][fr.index[a]*s+fr.index[a2]*s2] }
	}
	return func(fr *frame) float64 {
		at := int64(0)
		for i, a := range axes {
			at += fr.index[a] * strides[i]
		}
		return fr.data[t][at]
	}
}

func indexedRead(t int, idx []intFn, extents, strides []int64, fill float64) floatFn {
	return func(fr *frame) float64 {
		at := int64(0)
		for i, f := range idx {
			x := f(fr)
			if x < 0 || x >= extents[i] {
				return fill
			}
			at += x * strides[i]
		}
		return fr.data[t][at]
	}
}

// fill is what a read outside t gives.
func fill(t *expr.Tensor) float64 {
	switch {
	case t.Fill == nil:
		return 0
	case t.Fill.K == expr.Float:
		return t.Fill.F
	}
	return float64(t.Fill.I)
}
