package expr

import "slices"

// expr checks e and everything below it; space holds the axes of the step, nil
// where there is none.
func (v *verifier) expr(e Expr, space []*Axis) {
	for _, k := range Children(e) {
		if k == nil {
			v.failf("an operand is missing")
			return
		}
		v.expr(k, space)
	}
	switch e := e.(type) {
	case *Const:
		v.want(e.K != InvalidKind, "a constant has no kind")
	case *ParamRef:
		v.want(slices.Contains(v.p.Params, e.P), "parameter %s is not declared", e.P.Name)
		v.want(e.K == paramKind(e.P.Type), "parameter %s is read as %s", e.P.Name, e.K)
	case *Index:
		v.want(e.K == Int, "a position is %s", e.K)
	case *Size:
		v.want(e.K == Int, "a size is %s", e.K)
		v.known([]*Axis{e.A})
	case *Flat:
		v.want(e.K == Uint64, "a flat position is %s", e.K)
		for _, a := range e.T.Axes {
			v.want(slices.Contains(space, a), "flat(%s) needs axis %s", e.T.Name, a.Name)
		}
	case *Read:
		v.read(e)
	case *Unary:
		v.unary(e)
	case *Binary:
		v.binary(e)
	case *Where:
		v.want(e.C.Kind() == Bool, "where chooses by a %s", e.C.Kind())
		v.want(e.A.Kind() == e.K && e.B.Kind() == e.K, "where of %s and %s gives %s", e.A.Kind(), e.B.Kind(), e.K)
	case *Call:
		v.call(e)
	case *Convert:
		v.convert(e)
	case *Stop:
		v.want(e.X.Kind() == e.K, "stop changes %s to %s", e.X.Kind(), e.K)
	default:
		v.failf("unknown expression %T", e)
	}
}

func (v *verifier) want(ok bool, format string, args ...any) {
	if !ok {
		v.failf(format, args...)
	}
}

func (v *verifier) read(e *Read) {
	t := e.T
	v.want(v.ready[t], "reads %s before it is computed", t.Name)
	v.want(e.K == ValueKind(t), "a read of %s gives %s, not %s", t.Name, ValueKind(t), e.K)
	if e.Idx == nil {
		return
	}
	v.want(len(e.Idx) == len(t.Axes), "reads %s with %d indices for %d axes", t.Name, len(e.Idx), len(t.Axes))
	for _, x := range e.Idx {
		v.want(x.Kind() == Int, "an index of %s is %s", t.Name, x.Kind())
	}
}

func (v *verifier) unary(e *Unary) {
	k := e.X.Kind()
	v.want(k == e.K, "an operator turns %s into %s", k, e.K)
	if e.Op == Not {
		v.want(k == Bool, "not of a %s", k)
		return
	}
	v.want(k == Float || k == Int, "minus of a %s", k)
}

func (v *verifier) binary(e *Binary) {
	x, y := e.X.Kind(), e.Y.Kind()
	v.want(x == y, "operator %s has operands of kind %s and %s", e.Op, x, y)
	switch e.Op {
	case Lt, Le, Gt, Ge, Eq, Ne:
		v.want(e.K == Bool, "a comparison gives %s", e.K)
	case LogicAnd, LogicOr:
		v.want(x == Bool && e.K == Bool, "a logical operator takes %s and gives %s", x, e.K)
	case And, Or, Xor, Shl, Shr:
		v.want(x != Float && x != Bool && e.K == x, "a bit operator takes %s and gives %s", x, e.K)
	default:
		v.want(x != Bool && e.K == x, "arithmetic takes %s and gives %s", x, e.K)
	}
}

// signature is what an intrinsic takes and gives.
func signature(fn Fn, first Kind) (args []Kind, result Kind) {
	switch fn {
	case FnMin, FnMax:
		return []Kind{first, first}, first
	case FnPow:
		return []Kind{Float, Float}, Float
	case FnFMA:
		return []Kind{Float, Float, Float}, Float
	case FnAbs, FnSign:
		return []Kind{first}, first
	case FnIsNaN, FnIsInf:
		return []Kind{Float}, Bool
	case FnPhilox:
		return []Kind{Uint64, Uint64}, Uint
	case FnUniform:
		return []Kind{Uint}, Float
	}
	return []Kind{Float}, Float
}

func (v *verifier) call(e *Call) {
	first := Float
	if len(e.Args) > 0 && e.Args[0].Kind() == Int {
		first = Int
	}
	args, result := signature(e.Fn, first)
	v.want(e.K == result, "intrinsic %s gives %s", e.Fn, e.K)
	if len(args) != len(e.Args) {
		v.failf("intrinsic %s has %d operands, want %d", e.Fn, len(e.Args), len(args))
		return
	}
	for i, k := range args {
		v.want(e.Args[i].Kind() == k, "operand %d of intrinsic %s is %s, want %s", i+1, e.Fn, e.Args[i].Kind(), k)
	}
}

func (v *verifier) convert(e *Convert) {
	v.want(e.K != InvalidKind && e.X.Kind() != InvalidKind, "a conversion without a kind")
	if e.Round != InvalidDType {
		v.want(e.K == Float, "rounding gives %s", e.K)
	}
}

func paramKind(t ParamType) Kind {
	switch t {
	case ParamI32:
		return Int
	case ParamU32:
		return Uint
	case ParamU64:
		return Uint64
	case ParamBool:
		return Bool
	}
	return Float
}
