package expr

// Affine splits an Int expression into coef*a + rest, where neither varies over
// a; ok is false for what has another form.
func Affine(e Expr, a *Axis) (coef, rest Expr, ok bool) {
	at := e.Pos()
	if !Uses(e, a) {
		return Whole(at, 0), e, true
	}
	switch e := e.(type) {
	case *Index:
		return Whole(at, 1), Whole(at, 0), true
	case *Unary:
		if coef, rest, ok = Affine(e.X, a); ok && e.Op == Neg {
			return NegOf(at, coef), NegOf(at, rest), true
		}
	case *Binary:
		if e.Op != Add && e.Op != Sub && e.Op != Mul {
			break
		}
		c, r, okX := Affine(e.X, a)
		d, s, okY := Affine(e.Y, a)
		if !okX || !okY {
			break
		}
		switch {
		case e.Op == Add:
			return AddOf(at, c, d), AddOf(at, r, s), true
		case e.Op == Sub:
			return SubOf(at, c, d), SubOf(at, r, s), true
		case IsWhole(d, 0):
			return MulOf(at, c, s), MulOf(at, r, s), true
		case IsWhole(c, 0):
			return MulOf(at, r, d), MulOf(at, r, s), true
		}
	}
	return nil, nil, false
}
