package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// DeadCall finds deferred calls whose results nobody uses.
var DeadCall = &analysis.Analyzer{
	Name: "deadcall",
	Doc: `find deferred calls whose results are not used

A deferred call does nothing but to give results, unless it updates a tensor in
place. One of which no result is used is a mistake, most often a variable that
was meant to be used further down:

	h := ops.GELUDeferred(b, x)
	h = ops.SiLUDeferred(b, x) // GELUDeferred is reported

Functions that record such calls only, and return what they give, count as well.
A call whose results are assigned to _ is meant as it stands, and in a test, one
that is a statement: it is there for its error.`,
	Requires: []*analysis.Analyzer{summaries},
	Run:      deadCall,
}

func deadCall(pass *analysis.Pass) (any, error) {
	p := pass.ResultOf[summaries].(*program)
	if p.funcs == nil {
		return nil, nil
	}
	d := &dead{p: p, meant: meantCalls(pass)}
	for _, f := range p.funcs {
		for c := range calls(f) {
			call, ok := c.(*ssa.Call)
			if !ok || !d.records(call) || d.used(call, map[ssa.Value]bool{}) {
				continue
			}
			if !d.feeds(call, call, map[ssa.Value]bool{}) {
				pass.Reportf(call.Pos(), "the result of %s is not used: use it, or assign it to _ if the call is meant as it stands", callee(&call.Call).Name())
			}
		}
	}
	return nil, nil
}

// dead looks for results that are not used.
type dead struct {
	p     *program
	meant map[token.Pos]bool // calls that need no use of their results
}

// records reports whether a call records work and does nothing else.
func (d *dead) records(c *ssa.Call) bool {
	s := d.p.of(&c.Call)
	if s == nil || !s.Pure {
		return false
	}
	for _, e := range s.Args {
		if e&records != 0 {
			return c.Call.Signature().Results().Len() > 0
		}
	}
	return false
}

// used reports whether a value is meant as it stands, or used by anything but calls
// whose own results are not used.
func (d *dead) used(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.Phi:
			if d.used(r, seen) {
				return true
			}
		case *ssa.Extract:
			if d.used(r, seen) {
				return true
			}
		case *ssa.Call:
			if !d.passesOn(r) || d.used(r, seen) {
				return true
			}
		default:
			return true
		}
	}
	call, ok := v.(*ssa.Call)
	return ok && d.meant[call.Pos()]
}

// passesOn reports whether a call does nothing with its arguments but what shows
// in its result.
func (d *dead) passesOn(c *ssa.Call) bool {
	s := d.p.of(&c.Call)
	return s != nil && (s.Same || d.records(c))
}

// feeds reports whether a value goes into a call other than c, so that what is
// to be said is said there.
func (d *dead) feeds(v ssa.Value, c *ssa.Call, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	for _, r := range *v.Referrers() {
		if call, ok := r.(*ssa.Call); ok && call != c && d.records(call) {
			return true
		}
		if next, ok := r.(ssa.Value); ok && d.feeds(next, c, seen) {
			return true
		}
	}
	return false
}

// meantCalls returns the calls whose results are assigned to _, at once or by way
// of a variable, and the calls that are statements of a test.
func meantCalls(pass *analysis.Pass) map[token.Pos]bool {
	vars, calls := map[types.Object]bool{}, map[token.Pos]bool{}
	visit(pass, func(left, right []ast.Expr) {
		for i, r := range right {
			if len(left) == len(right) && !isBlank(left[i]) || len(left) != len(right) && !allBlank(left) {
				continue
			}
			switch r := ast.Unparen(r).(type) {
			case *ast.Ident:
				vars[pass.TypesInfo.Uses[r]] = true
			case *ast.CallExpr:
				calls[r.Lparen] = true
			}
		}
	})
	visit(pass, func(left, right []ast.Expr) {
		for i, r := range right {
			call, ok := ast.Unparen(r).(*ast.CallExpr)
			if !ok {
				continue
			}
			of := left
			if len(left) == len(right) {
				of = left[i : i+1]
			}
			for _, l := range of {
				if id, ok := l.(*ast.Ident); ok && vars[pass.TypesInfo.ObjectOf(id)] {
					calls[call.Lparen] = true
				}
			}
		}
	})
	for _, file := range pass.Files {
		if !inTest(pass, file.Pos()) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.ExprStmt); ok {
				if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
					calls[call.Lparen] = true
				}
			}
			return true
		})
	}
	return calls
}

// inTest reports whether a position is in a test file.
func inTest(pass *analysis.Pass, at token.Pos) bool {
	return strings.HasSuffix(pass.Fset.Position(at).Filename, "_test.go")
}

// visit calls f with the two sides of every assignment and declaration.
func visit(pass *analysis.Pass, f func(left, right []ast.Expr)) {
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				f(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				left := make([]ast.Expr, len(n.Names))
				for i, id := range n.Names {
					left[i] = id
				}
				f(left, n.Values)
			}
			return true
		})
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func allBlank(list []ast.Expr) bool {
	for _, e := range list {
		if !isBlank(e) {
			return false
		}
	}
	return true
}
