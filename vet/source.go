package vet

import "golang.org/x/tools/go/ssa"

// source returns the value that an SSA value is a copy of: through variables
// that are set once, changes of type and functions that give back their
// argument.
func (p *program) source(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.ChangeType:
			v = x.X
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.Call:
			if s := p.of(&x.Call); s == nil || !s.Same {
				return v
			}
			v = x.Call.Args[0]
		case *ssa.UnOp:
			once := setOnce(x.X)
			if once == nil {
				return v
			}
			v = once
		default:
			return v
		}
	}
}

// setOnce returns the value of a variable that is set once, nil for others.
func setOnce(addr ssa.Value) ssa.Value {
	for {
		free, ok := addr.(*ssa.FreeVar)
		if !ok {
			break
		}
		addr = binding(free)
	}
	a, ok := addr.(*ssa.Alloc)
	if !ok {
		return nil
	}
	var v ssa.Value
	for _, r := range *a.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if v != nil || r.Addr != a {
				return nil
			}
			v = r.Val
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.MakeClosure:
			if assigned(r, a) {
				return nil
			}
		default:
			return nil
		}
	}
	return v
}

// binding returns what a free variable is in the function around it.
func binding(free *ssa.FreeVar) ssa.Value {
	fn := free.Parent()
	for _, b := range fn.Parent().Blocks {
		for _, instr := range b.Instrs {
			c, ok := instr.(*ssa.MakeClosure)
			if !ok || c.Fn != fn {
				continue
			}
			for i, f := range fn.FreeVars {
				if f == free {
					return c.Bindings[i]
				}
			}
		}
	}
	return nil
}

// assigned reports whether a function literal assigns to a variable, or does
// anything but read it.
func assigned(c *ssa.MakeClosure, v ssa.Value) bool {
	fn := c.Fn.(*ssa.Function)
	for i, b := range c.Bindings {
		if b != v {
			continue
		}
		for _, r := range *fn.FreeVars[i].Referrers() {
			switch r := r.(type) {
			case *ssa.UnOp, *ssa.DebugRef:
			case *ssa.MakeClosure:
				if assigned(r, fn.FreeVars[i]) {
					return true
				}
			default:
				return true
			}
		}
	}
	return false
}
