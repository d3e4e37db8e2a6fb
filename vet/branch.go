package vet

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// isNilCheck returns the value that a block branches on being nil, and the
// number of the branch that is taken if it is; nil if it does not.
func isNilCheck(b *ssa.BasicBlock) (v ssa.Value, branch int) {
	test, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return nil, 0
	}
	op, ok := test.Cond.(*ssa.BinOp)
	if !ok {
		return nil, 0
	}
	v, other := op.X, op.Y
	if isNil(v) {
		v, other = other, v
	}
	if !isNil(other) {
		return nil, 0
	}
	switch op.Op.String() {
	case "==":
		return v, 0
	case "!=":
		return v, 1
	}
	return nil, 0
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

var errorType = types.Universe.Lookup("error").Type()

// isError reports whether the type of a value is error.
func isError(v ssa.Value) bool { return types.Identical(v.Type(), errorType) }

// afterError reports whether a branch is taken because there is an error.
func afterError(b *ssa.BasicBlock, branch int) bool {
	v, whenNil := isNilCheck(b)
	return v != nil && isError(v) && branch != whenNil
}

// returnsError reports whether a return gives an error that it makes itself.
func returnsError(r *ssa.Return) bool {
	for _, v := range r.Results {
		if !isError(v) {
			continue
		}
		switch v := v.(type) {
		case *ssa.MakeInterface:
			return true
		case *ssa.UnOp:
			_, global := v.X.(*ssa.Global)
			return global
		case *ssa.Call:
			f := v.Call.StaticCallee()
			if f == nil {
				return v.Call.IsInvoke() && v.Call.Method.FullName() == "(context.Context).Err"
			}
			switch f.String() {
			case "fmt.Errorf", "errors.New", "context.Cause":
				return true
			}
		}
	}
	return false
}
