package vet

import (
	"iter"

	"golang.org/x/tools/go/ssa"
)

// calls returns the calls of a function, those in defer and go statements too.
func calls(f *ssa.Function) iter.Seq[ssa.CallInstruction] {
	return func(yield func(ssa.CallInstruction) bool) {
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				if c, ok := instr.(ssa.CallInstruction); ok && !yield(c) {
					return
				}
			}
		}
	}
}

// mayBePure reports whether the signature of a function is that of a deferred
// call: it has a batch, and gives tensors only.
func mayBePure(f *ssa.Function) bool {
	results := f.Signature.Results()
	for v := range results.Variables() {
		if !tensors(v.Type()) {
			return false
		}
	}
	for _, arg := range f.Params {
		if apiType(arg.Type()) == "Batch" {
			return results.Len() > 0 && len(f.FreeVars) == 0
		}
	}
	return false
}

// isPure reports whether all a function does is to record calls.
func (p *program) isPure(f *ssa.Function) bool {
	for _, b := range f.Blocks {
		for _, instr := range b.Instrs {
			if !p.pureInstr(instr) {
				return false
			}
		}
	}
	return f.Blocks != nil
}

func (p *program) pureInstr(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Call:
		if b, ok := instr.Call.Value.(*ssa.Builtin); ok {
			switch b.Name() {
			case "len", "cap", "min", "max", "append", "ssa:wrapnilchk":
				return true
			}
			return false
		}
		s := p.of(&instr.Call)
		return s != nil && s.Pure
	case *ssa.Store:
		return local(instr.Addr)
	case *ssa.Go, *ssa.Defer, *ssa.Send, *ssa.Select, *ssa.MapUpdate, *ssa.Panic, *ssa.MakeClosure:
		return false
	}
	return true
}

// local reports whether an address is in a variable or list that the function
// has made.
func local(addr ssa.Value) bool {
	switch a := addr.(type) {
	case *ssa.Alloc, *ssa.MakeSlice:
		return true
	case *ssa.IndexAddr:
		return local(a.X)
	case *ssa.FieldAddr:
		return local(a.X)
	case *ssa.Slice:
		return local(a.X)
	}
	return false
}
