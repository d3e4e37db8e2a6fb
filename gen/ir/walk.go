package ir

import "slices"

// Operands returns the direct operands of e, in order; those that are absent
// are left out.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case *At:
		return present(e.I)
	case *Un:
		return present(e.X)
	case *Bin:
		return present(e.X, e.Y)
	case *Select:
		return present(e.C, e.A, e.B)
	case *Call:
		return e.Args
	case *Conv:
		return present(e.X)
	case *Load:
		return present(e.Off, e.Stride, e.N, e.At, e.Len, e.If, e.Else)
	case *First:
		return present(e.N)
	case *Horizontal:
		return present(e.X)
	case *Shuffle:
		return present(e.X)
	case *Winner:
		return present(e.Best, e.Index)
	case *Better:
		return present(e.X, e.Best)
	}
	return matrixOperands(e)
}

// Exprs returns the expressions that s itself holds, in order; those that are
// absent are left out.
func Exprs(s Stmt) []Expr {
	switch s := s.(type) {
	case *Decl:
		return present(s.X)
	case *Assign:
		return present(s.X)
	case *For:
		return present(s.From, s.To, s.Step)
	case *If:
		return present(s.C)
	case *Store:
		return present(s.Off, s.X, s.Stride, s.N)
	case *Move:
		return present(s.Off, s.LD, s.From, s.RowStep, s.ColStep, s.Rows, s.Cols)
	case *Repeat:
		return present(s.Off, s.LD, s.X, s.Rows, s.Cols)
	case *Put:
		return present(s.I, s.X, s.N)
	case *LoadRun:
		return present(s.At, s.X)
	case *Ahead:
		return present(s.C)
	case *Prefetch:
		return present(s.Off)
	case *StoreRun:
		return present(s.Off, s.At)
	case *Fault:
		return present(s.Pos, s.Value, s.Bound)
	case *Multiply:
		return present(s.Rows, s.Cols, s.K, s.First)
	case *MultiplyPlain:
		return present(s.Off, s.LD, s.Rows, s.Cols, s.K, s.First)
	case *Pack:
		return present(s.At, s.K, s.Depth, s.X, s.N)
	case *PackBlock:
		return present(s.Off, s.LD, s.Count, s.Depth)
	}
	return matrixExprs(s)
}

// Blocks returns the statement lists inside s.
func Blocks(s Stmt) []*[]Stmt {
	switch s := s.(type) {
	case *For:
		return []*[]Stmt{&s.Body}
	case *If:
		return []*[]Stmt{&s.Then, &s.Else}
	case *Ahead:
		return []*[]Stmt{&s.Body}
	}
	return nil
}

// WalkStmts calls f for each statement of body and, after it, for those inside
// it.
func WalkStmts(body []Stmt, f func(Stmt)) {
	for _, s := range body {
		f(s)
		for _, b := range Blocks(s) {
			WalkStmts(*b, f)
		}
	}
}

// WalkExpr calls f for e and everything below it.
func WalkExpr(e Expr, f func(Expr)) {
	f(e)
	for _, x := range Operands(e) {
		WalkExpr(x, f)
	}
}

// WalkExprs calls f for every expression of body, inner statements included.
func WalkExprs(body []Stmt, f func(Expr)) {
	WalkStmts(body, func(s Stmt) {
		for _, e := range Exprs(s) {
			WalkExpr(e, f)
		}
	})
}

func present(es ...Expr) []Expr {
	return slices.DeleteFunc(es, func(e Expr) bool { return e == nil })
}
