package vet

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// mayRun reports whether a function may run a batch.
func (p *program) mayRun(f *ssa.Function) bool {
	for _, b := range f.Blocks {
		for _, instr := range b.Instrs {
			if p.runs(instr) {
				return true
			}
		}
	}
	return false
}

// runs reports whether a batch may run in an instruction: a call, or one that
// hands over to another goroutine.
func (p *program) runs(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case ssa.CallInstruction:
		return p.callRuns(instr)
	case *ssa.UnOp:
		return instr.Op == token.ARROW
	case *ssa.Send, *ssa.Select:
		return true
	}
	return false
}

// callRuns reports whether a call may run a batch.
func (p *program) callRuns(c ssa.CallInstruction) bool {
	common := c.Common()
	if s := p.of(common); s != nil {
		return s.Runs
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return false
	}
	if callee(common) == nil && p.carries(common.Value) {
		return true
	}
	for _, arg := range common.Args {
		if p.carries(arg) {
			return true
		}
	}
	return false
}

// carries reports whether a batch may be run by whoever has v.
func (p *program) carries(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return p.carries(v.X)
	case *ssa.MakeClosure:
		return p.carries(v.Fn)
	case *ssa.Function:
		if s := p.summary[v]; s != nil {
			return s.Runs
		}
		return v.Signature.Recv() == nil && len(v.FreeVars) > 0 && holds(v.FreeVars[0].Type(), map[types.Type]bool{})
	case *ssa.Slice:
		if list, ok := v.X.(*ssa.Alloc); ok && isList(list) {
			for _, elem := range elements(list) {
				if p.carries(elem) {
					return true
				}
			}
			return false
		}
	case *ssa.Const:
		return false
	}
	return holds(v.Type(), map[types.Type]bool{})
}
