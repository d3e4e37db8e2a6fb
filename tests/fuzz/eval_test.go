//go:build proof

package fuzz

import (
	"fmt"
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// evaluator computes the span of every element of a program's results.
type evaluator struct {
	p      *expr.Program
	sizes  *oracle.Sizes
	params map[*expr.Param]oracle.Value
	data   map[*expr.Tensor][]span
	index  map[*expr.Axis]int64
}

// spans returns what each output, and the new value of each inout, can hold
// after the stores.
func spans(p *expr.Program, call oracle.Call) ([][]span, error) {
	sizes, err := oracle.Check(p, call)
	if err != nil {
		return nil, err
	}
	ev := &evaluator{p, sizes, map[*expr.Param]oracle.Value{}, map[*expr.Tensor][]span{}, map[*expr.Axis]int64{}}
	for i, q := range p.Params {
		ev.params[q] = call.Params[i]
	}
	for i, t := range p.Ins {
		for _, v := range call.Ins[i].Data {
			ev.data[t] = append(ev.data[t], exactly(v))
		}
	}
	written := map[*expr.Tensor][]span{}
	for _, s := range p.Steps {
		if r := ev.step(s); s.Result.Role == expr.Let {
			ev.data[s.Result] = r
		} else {
			written[s.Result] = r
		}
	}
	var all [][]span
	for _, t := range results(p) {
		list := written[t]
		for i := range list {
			list[i] = list[i].stored(t.Type)
		}
		all = append(all, list)
	}
	return all, nil
}

// results lists the outputs of p, then its inouts.
func results(p *expr.Program) []*expr.Tensor {
	list := append([]*expr.Tensor{}, p.Outs...)
	for _, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, t)
		}
	}
	return list
}

func (ev *evaluator) step(s *expr.Step) []span {
	var out []span
	ev.each(s.Result.Axes, func() {
		if s.Reduce == expr.NoReduce {
			out = append(out, ev.value(s.Expr))
			return
		}
		var terms []span
		ev.each(s.Over, func() { terms = append(terms, ev.value(s.Expr)) })
		out = append(out, reduced(s.Reduce, s.Expr.Kind(), terms))
	})
	return out
}

// each runs f for every index of the axes.
func (ev *evaluator) each(axes []*expr.Axis, f func()) {
	if len(axes) == 0 {
		f()
		return
	}
	for i := range ev.sizes.Of(axes[0]) {
		ev.index[axes[0]] = i
		ev.each(axes[1:], f)
	}
	ev.index[axes[0]] = 0
}

func (ev *evaluator) value(e expr.Expr) span {
	switch e := e.(type) {
	case *expr.Const:
		return constant(e)
	case *expr.ParamRef:
		v := ev.params[e.P]
		return constant(&expr.Const{Node: e.Node, F: v.F, I: v.I, U: v.U})
	case *expr.Index:
		return exactly(float64(ev.index[e.A]))
	case *expr.Size:
		return exactly(float64(ev.sizes.Of(e.A)))
	case *expr.Flat:
		return word(uint64(ev.offset(e.T)))
	case *expr.Read:
		return ev.read(e)
	case *expr.Unary:
		if e.Op == expr.Not {
			return not(ev.value(e.X))
		}
		x := ev.value(e.X).negated()
		if e.K == expr.Int {
			x = x.inInt()
		}
		return x
	case *expr.Binary:
		return ev.binary(e)
	case *expr.Where:
		return ev.where(e)
	case *expr.Call:
		return ev.call(e)
	case *expr.Convert:
		return converted(e, ev.value(e.X))
	case *expr.Stop:
		return ev.value(e.X)
	}
	panic(fmt.Sprintf("no span of a %T", e))
}

// constant may be rounded to f32 or not.
func constant(e *expr.Const) span {
	switch e.K {
	case expr.Float:
		return hull(exactly(e.F), exactly(float64(float32(e.F))))
	case expr.Uint, expr.Uint64:
		return word(e.U)
	}
	return exactly(float64(e.I))
}

func (ev *evaluator) offset(t *expr.Tensor) int64 {
	at := int64(0)
	for _, a := range t.Axes {
		at = at*ev.sizes.Of(a) + ev.index[a]
	}
	return at
}

// read is an element, or the hull of those that an index leaves open.
func (ev *evaluator) read(e *expr.Read) span {
	if e.Idx == nil {
		return ev.data[e.T][ev.offset(e.T)]
	}
	fill := exactly(0)
	if e.T.Fill != nil {
		fill = constant(e.T.Fill)
	}
	at, outside := []int64{0}, false
	for i, x := range e.Idx {
		s, n := ev.value(x), ev.sizes.Of(e.T.Axes[i])
		from, to := max(int64(s.lo), 0), min(int64(s.hi), n-1)
		outside = outside || int64(s.lo) < 0 || int64(s.hi) >= n
		var next []int64
		for _, base := range at {
			for j := from; j <= to; j++ {
				next = append(next, base*n+j)
			}
		}
		at = next
	}
	result, first := fill, !outside
	for _, i := range at {
		if v := ev.data[e.T][i]; first {
			result, first = v, false
		} else {
			result = hull(result, v)
		}
	}
	return result
}

func (ev *evaluator) where(e *expr.Where) span {
	c := ev.value(e.C)
	switch {
	case c.certain(1):
		return ev.value(e.A)
	case c.certain(0):
		return ev.value(e.B)
	}
	a, b := ev.value(e.A), ev.value(e.B)
	if e.K == expr.Uint || e.K == expr.Uint64 {
		return span{}
	}
	return hull(a, b)
}

func (ev *evaluator) binary(e *expr.Binary) span {
	x := ev.value(e.X)
	switch {
	case e.Op == expr.LogicAnd && x.certain(0), e.Op == expr.LogicOr && x.certain(1):
		return x
	}
	y := ev.value(e.Y)
	switch k := e.X.Kind(); k {
	case expr.Uint, expr.Uint64:
		return words(e.Op, k, x, y)
	case expr.Float:
		return floats(e.Op, x, y)
	}
	return ints(e.Op, x, y)
}

func floats(op expr.BinaryOp, x, y span) span {
	switch op {
	case expr.Add:
		return plus(x, y)
	case expr.Sub:
		return plus(x, y.negated())
	case expr.Mul:
		return times(x, y)
	case expr.Div:
		return over(x, y)
	}
	return compared(op, x, y)
}

func compared(op expr.BinaryOp, x, y span) span {
	switch op {
	case expr.Lt:
		return less(x, y, false)
	case expr.Le:
		return less(x, y, true)
	case expr.Gt:
		return less(y, x, false)
	case expr.Ge:
		return less(y, x, true)
	case expr.Eq:
		return equal(x, y)
	}
	return not(equal(x, y))
}

// ints is an operation on ints or bools.
func ints(op expr.BinaryOp, x, y span) span {
	switch op {
	case expr.Add:
		return span{lo: x.lo + y.lo, hi: x.hi + y.hi}.inInt()
	case expr.Sub:
		return span{lo: x.lo - y.hi, hi: x.hi - y.lo}.inInt()
	case expr.Mul:
		return corners(x, y, func(x, y float64) float64 { return x * y }).inInt()
	case expr.LogicAnd:
		return lesser(x, y)
	case expr.LogicOr:
		return greater(x, y)
	case expr.Div, expr.Rem, expr.And, expr.Or, expr.Xor, expr.Shl, expr.Shr:
		if !x.single() || !y.single() {
			return anyInt
		}
		return exactly(float64(whole(op, int64(x.lo), int64(y.lo)))).inInt()
	}
	return compared(op, x, y)
}

func whole(op expr.BinaryOp, x, y int64) int64 {
	switch op {
	case expr.And:
		return x & y
	case expr.Or:
		return x | y
	case expr.Xor:
		return x ^ y
	case expr.Shl:
		return x << uint64(y)
	case expr.Shr:
		return x >> uint64(y)
	}
	if y == 0 {
		return 0
	}
	q := int64(math.Floor(float64(x) / float64(y)))
	if op == expr.Div {
		return q
	}
	return x - q*y
}

func words(op expr.BinaryOp, k expr.Kind, x, y span) span {
	if !x.known || !y.known {
		if op >= expr.Lt && op <= expr.Ne {
			return anyBool
		}
		return span{}
	}
	u := uint64(0)
	switch op {
	case expr.Add:
		u = x.u + y.u
	case expr.Sub:
		u = x.u - y.u
	case expr.Mul:
		u = x.u * y.u
	case expr.Eq:
		return truth(x.u == y.u)
	case expr.Ne:
		return truth(x.u != y.u)
	case expr.Lt:
		return truth(x.u < y.u)
	default:
		panic(fmt.Sprintf("no span of operator %d on unsigned values", op))
	}
	if k == expr.Uint {
		u &= math.MaxUint32
	}
	return word(u)
}

func converted(e *expr.Convert, x span) span {
	from := e.X.Kind()
	switch e.K {
	case expr.Float:
		if from == expr.Uint || from == expr.Uint64 {
			if !x.known {
				return anything
			}
			x = exactly(float64(x.u))
		}
		if from != expr.Float && max(-x.lo, x.hi) > 1<<24 {
			x = x.inF32(opUnit)
		}
		if e.Round != expr.InvalidDType {
			return x.stored(e.Round)
		}
		return x
	case expr.Uint, expr.Uint64:
		switch {
		case from == expr.Uint || from == expr.Uint64:
		case x.single():
			x = word(uint64(int64(x.lo)))
		default:
			return span{}
		}
		if e.K == expr.Uint {
			x.u &= math.MaxUint32
		}
		return x
	}
	switch from {
	case expr.Float:
		return truncated(x)
	case expr.Uint, expr.Uint64:
		if !x.known {
			return anyInt
		}
		return exactly(float64(int32(x.u)))
	}
	return x
}

// truncated is the int of a float: towards zero, 0 of NaN, the ends of i32
// beyond them.
func truncated(x span) span {
	if x.empty() {
		return exactly(0)
	}
	clip := func(v float64) float64 { return math.Trunc(min(max(v, math.MinInt32), math.MaxInt32)) }
	r := span{lo: clip(x.lo), hi: clip(x.hi)}
	if x.nan {
		r = hull(r, exactly(0))
	}
	return r
}

// increasing are the monotone intrinsics of one float.
var increasing = map[expr.Fn]func(float64) float64{
	expr.FnExp: math.Exp, expr.FnLog: math.Log, expr.FnLog1p: math.Log1p, expr.FnExpm1: math.Expm1,
	expr.FnTanh: math.Tanh, expr.FnErf: math.Erf, expr.FnSqrt: math.Sqrt,
	expr.FnSigmoid: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
}

// stepwise are those whose results f32 holds.
var stepwise = map[expr.Fn]func(float64) float64{
	expr.FnFloor: math.Floor, expr.FnCeil: math.Ceil, expr.FnRound: math.RoundToEven,
	expr.FnSign: func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return math.Copysign(1, x)
	},
}

func (ev *evaluator) call(e *expr.Call) span {
	x := ev.value(e.Args[0])
	if f := increasing[e.Fn]; f != nil {
		return rising(x, f).inF32(callUnit)
	}
	if f := stepwise[e.Fn]; f != nil {
		return rising(x, f)
	}
	switch e.Fn {
	case expr.FnRsqrt:
		if x.lo <= 0 && !x.empty() {
			return anything
		}
		return rising(x, func(x float64) float64 { return 1 / math.Sqrt(x) }).inF32(callUnit)
	case expr.FnAbs:
		if e.K == expr.Int {
			return greater(x, x.negated()).inInt()
		}
		switch {
		case x.empty() || x.lo >= 0:
			return x
		case x.hi <= 0:
			return x.negated()
		}
		return span{lo: 0, hi: math.Max(-x.lo, x.hi), nan: x.nan}
	case expr.FnIsNaN:
		return possible(x.nan, !x.empty())
	case expr.FnIsInf:
		infinite := math.IsInf(x.lo, 0) || math.IsInf(x.hi, 0)
		return possible(!x.empty() && infinite, x.nan || !x.single() || !infinite)
	case expr.FnUniform:
		if !x.known {
			return span{lo: 0, hi: 1}
		}
		return exactly(float64(x.u>>8) * 0x1p-24)
	}
	y := ev.value(e.Args[1])
	switch e.Fn {
	case expr.FnMin:
		return lesser(x, y)
	case expr.FnMax:
		return greater(x, y)
	case expr.FnFMA:
		return plus(times(x, y), ev.value(e.Args[2]))
	case expr.FnPow:
		if x.lo <= 0 {
			return anything
		}
		return corners(x, y, math.Pow).inF32(2 * callUnit)
	case expr.FnPhilox:
		if !x.known || !y.known {
			return span{}
		}
		w := oracle.Philox([4]uint32{uint32(y.u), uint32(y.u >> 32)}, [2]uint32{uint32(x.u), uint32(x.u >> 32)})
		return word(uint64(w[0]))
	}
	panic(fmt.Sprintf("no span of intrinsic %d", e.Fn))
}
