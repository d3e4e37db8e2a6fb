package expr

import (
	"go/token"

	"github.com/kernelgen/kgen/gen/diag"
)

// ast is an expression as written: names have no meaning yet.
type ast interface {
	pos() diag.Pos
	height() int
}

// astNode is what all ast nodes share: the place that messages point at, and
// the height of the tree below.
type astNode struct {
	at diag.Pos
	h  int
}

func (n astNode) pos() diag.Pos { return n.at }
func (n astNode) height() int   { return n.h }

type (
	astName struct {
		astNode
		name string
	}
	// astNumber is an int or float literal.
	astNumber struct {
		astNode
		tok token.Token
		lit string
	}
	astString struct {
		astNode
		value string
	}
	astUnary struct {
		astNode
		op token.Token
		x  ast
	}
	// astBinary stands at its operator.
	astBinary struct {
		astNode
		op   token.Token
		x, y ast
	}
	astCall struct {
		astNode
		name string
		args []ast
	}
	astIndex struct {
		astNode
		name string
		idx  []ast
	}
)

// walkAST calls f for a and everything below it.
func walkAST(a ast, f func(ast)) {
	if a == nil {
		return
	}
	f(a)
	switch a := a.(type) {
	case *astUnary:
		walkAST(a.x, f)
	case *astBinary:
		walkAST(a.x, f)
		walkAST(a.y, f)
	case *astCall:
		for _, x := range a.args {
			walkAST(x, f)
		}
	case *astIndex:
		for _, x := range a.idx {
			walkAST(x, f)
		}
	}
}
