package expr

import (
	"strconv"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

const (
	maxList      = 8    // pieces of a list input
	maxInstances = 1024 // of one spec
)

// The values of the choice that an optional tensor makes.
const (
	With    = "with"
	Without = "without"
)

// choices returns the static choices of the spec in their order.
func (u *unit) choices() []ChoiceSet {
	var cs []ChoiceSet
	for _, s := range u.spec.Statics {
		cs = append(cs, ChoiceSet{s.Name.Value, values(s)})
	}
	for _, d := range u.tensors {
		switch {
		case d.Optional && d.List.IsSet():
			u.list.Add(d.Name.Pos(), "the list %s cannot be optional", d.name)
		case d.Optional:
			cs = append(cs, ChoiceSet{d.name, []string{With, Without}})
		case d.List.IsSet():
			var counts []string
			for n := 1; n <= maxList; n++ {
				counts = append(counts, strconv.Itoa(n))
			}
			cs = append(cs, ChoiceSet{d.name, counts})
		}
	}
	return cs
}

// instances builds a Program for each combination of choices and types.
func (c *checker) instances(u *unit, choices []ChoiceSet) []*Program {
	if u.shapeless {
		return nil
	}
	n := 1
	for _, cs := range choices {
		n *= len(cs.Values)
	}
	for _, v := range u.spec.Types {
		n *= len(v.Types)
	}
	if n > maxInstances {
		u.list.Add(u.spec.Pos(), "the spec has %d instances, at most %d are allowed: fewer types or static choices", n, maxInstances)
		return nil
	}
	var programs []*Program
	errs := newInstanceErrors(u)
	u.eachChoice(choices, nil, func(static []Choice) {
		u.eachBinding(u.spec.Types, nil, func(types []DType) {
			in := &instance{c: c, u: u, static: static, types: types, list: &diag.List{}}
			programs = append(programs, in.build())
			errs.add(*in.list)
		})
	})
	return programs
}

func (u *unit) eachChoice(sets []ChoiceSet, made []Choice, f func([]Choice)) {
	if len(sets) == 0 {
		f(made)
		return
	}
	for _, v := range sets[0].Values {
		u.eachChoice(sets[1:], append(made[:len(made):len(made)], Choice{sets[0].Name, v}), f)
	}
}

func (u *unit) eachBinding(vars []spec.TypeVar, made []DType, f func([]DType)) {
	if len(vars) == 0 {
		f(made)
		return
	}
	for _, t := range vars[0].Types {
		u.eachBinding(vars[1:], append(made[:len(made):len(made)], dtypes[t.Value]), f)
	}
}

var dtypes = map[string]DType{"f32": F32, "f16": F16, "bf16": BF16, "i32": I32, "u8": U8}

// instanceErrors merges the mistakes of the instances of one spec: what one
// instance has said about a place, no other instance says again.
type instanceErrors struct {
	u    *unit
	seen map[diag.Pos]bool
}

func newInstanceErrors(u *unit) *instanceErrors {
	e := &instanceErrors{u: u, seen: map[diag.Pos]bool{}}
	for _, d := range u.list {
		e.seen[d.Pos] = true
	}
	return e
}

func (e *instanceErrors) add(list diag.List) {
	var fresh diag.List
	for _, d := range list.Sorted() {
		if !e.seen[d.Pos] {
			fresh = append(fresh, d)
		}
	}
	for _, d := range fresh {
		e.seen[d.Pos] = true
	}
	e.u.list = append(e.u.list, fresh...)
}
