package vet

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// makes returns what the results of a function are that it makes itself and gives
// to its caller.
func (p *program) makes(f *ssa.Function) []fresh {
	var found []fresh
	for c := range calls(f) {
		call, ok := c.(*ssa.Call)
		if !ok {
			continue
		}
		for _, m := range p.made(call) {
			flow := p.follow(m.v)
			if flow.effects()&(ends|escapes) != escapes {
				continue
			}
			result := flow.returned(f)
			if result < 0 || !only(f, result, flow) {
				continue
			}
			of := 0
			if m.kind == readback {
				param, ok := m.batch.(*ssa.Parameter)
				if of = slices.Index(f.Params, param); !ok || of < 0 {
					continue
				}
			}
			found = append(found, fresh{result, m.kind, of})
		}
	}
	return found
}

// only reports whether a result of a function is always the followed value, or
// nil.
func only(f *ssa.Function, result int, flow *flow) bool {
	for _, b := range f.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || b == f.Recover {
			continue
		}
		v := ret.Results[result]
		if c, ok := v.(*ssa.Const); ok && c.IsNil() {
			continue
		}
		if _, ok := flow.values[v]; !ok {
			return false
		}
	}
	return true
}

// made is a value that a call makes.
type made struct {
	v     ssa.Value
	kind  kind
	batch ssa.Value // of a read-back
}

// made returns the values that a call makes and its caller owns.
func (p *program) made(c *ssa.Call) []made {
	switch name(&c.Call) {
	case "Open":
		if dev := result(c, 0); dev != nil {
			return []made{{v: dev, kind: device}}
		}
		return nil
	case "Device.Batch":
		return []made{{v: c, kind: batch}}
	case "Read":
		return []made{{v: c, kind: readback, batch: c.Call.Args[0]}}
	}
	s := p.of(&c.Call)
	if s == nil {
		return nil
	}
	var list []made
	for _, f := range s.Fresh {
		m := made{v: result(c, f.Result), kind: f.Kind}
		if m.v == nil {
			continue
		}
		if f.Kind == readback {
			m.batch = c.Call.Args[f.Batch]
		}
		list = append(list, m)
	}
	return list
}

// result returns a result of a call, nil if nobody asks for it.
func result(c *ssa.Call, i int) ssa.Value {
	if c.Call.Signature().Results().Len() == 1 {
		return c
	}
	for _, r := range *c.Referrers() {
		if e, ok := r.(*ssa.Extract); ok && e.Index == i && len(*e.Referrers()) > 0 {
			return e
		}
	}
	return nil
}
