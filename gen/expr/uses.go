package expr

import (
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/spec"
)

// checkUses reports what is declared and never used, and names in lists that
// stand for nothing.
func (u *unit) checkUses() {
	for _, d := range u.tensors {
		if d.Except.IsSet() {
			u.uses[d.Except.Value]++
		}
		if d.List.IsSet() {
			u.uses[d.List.Value]++
		}
	}
	u.checkSave()
	if u.unparsed {
		return
	}
	if u.spec.Raw != nil {
		u.unusedTypes() // what its sources use is not known
		return
	}
	for _, p := range u.spec.Params {
		if u.uses[p.Name.Value] == 0 {
			u.list.Add(p.Name.Pos(), "the parameter %s is not used", p.Name.Value)
		}
	}
	for _, s := range u.spec.Statics {
		if u.uses[s.Name.Value] == 0 {
			u.list.Add(s.Name.Pos(), "the static %s is not used", s.Name.Value)
		}
	}
	for _, d := range u.tensors {
		if d.Kind == spec.Let && u.uses[d.name] == 0 {
			u.list.Add(d.Name.Pos(), "the let %s is not used", d.name)
		}
	}
	u.unusedTypes()
	u.unusedAxes()
}

func (u *unit) checkSave() {
	saved := map[string]bool{}
	for _, t := range slices.Concat(u.spec.Save, u.spec.Lazy) {
		switch d := u.decl(t.Value); {
		case saved[t.Value]:
			u.list.Add(t.Pos(), "%s is saved twice", t.Value)
		case d == nil:
			u.list.Add(t.Pos(), "save names %q, which is no let", t.Value)
		case d.Kind != spec.Let:
			u.list.AddHint(t.Pos(), "inputs and outputs are there for the gradient anyway",
				"save names the %s %s; only lets can be saved", tensorWords[d.Kind], t.Value)
		}
		saved[t.Value] = true
		u.uses[t.Value]++
	}
}

func (u *unit) unusedTypes() {
	used := map[string]bool{}
	for _, d := range u.tensors {
		if d.Kind != spec.Let {
			used[u.typeName(d)] = true
		}
		walkAST(d.expr, func(a ast) {
			if c, ok := a.(*astCall); ok {
				used[c.name] = true
			}
		})
	}
	for _, v := range u.spec.Types {
		if !used[v.Name.Value] {
			u.list.Add(v.Name.Pos(), "the type variable %s is not used", v.Name.Value)
		}
	}
}

// unusedAxes reports entries of [axes] that stand in no shape and no
// expression.
func (u *unit) unusedAxes() {
	used := map[string]bool{}
	for _, d := range u.tensors {
		for _, s := range d.shapes {
			for _, dim := range s.dims {
				for _, a := range dim.axes {
					used[a.name] = true
				}
			}
		}
		for _, a := range d.over {
			used[a.name] = true
		}
	}
	for _, a := range u.axes {
		if !used[a.name.Value] && u.uses[a.name.Value] == 0 {
			u.list.Add(a.name.Pos(), "the axis %s is not used", a.name.Value)
		}
	}
}

// grad checks [grad] as far as it does not depend on the instance.
func (u *unit) grad() *GradDecl {
	g := u.spec.Grad
	if g == nil {
		return nil
	}
	out := &GradDecl{Name: u.spec.Name + "_grad", GoName: u.spec.GoName + "Grad"}
	if g.Name.IsSet() {
		out.Name, out.GoName = g.Name.Value, spec.GoName(g.Name.Value)
	}
	if g.Kernel.IsSet() {
		out.Kernel = u.gradKernel(g)
		return out
	}
	for _, t := range g.Wrt {
		d := u.decl(t.Value)
		switch {
		case d == nil || d.Kind != spec.In && d.Kind != spec.InOut:
			u.list.Add(t.Pos(), "wrt names %q, which is no input", t.Value)
		case !u.isFloat(d):
			u.list.Add(t.Pos(), "wrt names the %s input %s; only float inputs have a gradient", u.typeName(d), d.name)
		}
		out.Wrt = append(out.Wrt, t.Value)
	}
	out.From = u.cotangents(g)
	for _, name := range append(append([]string(nil), out.Wrt...), out.From...) {
		if d := u.decl("d_" + name); d != nil && d.Kind != spec.Let {
			u.list.Add(d.Name.Pos(), "the name %s is wanted by the gradient for the cotangent of %s", d.name, name)
		}
	}
	return out
}

func (u *unit) cotangents(g *spec.Grad) []string {
	var from []string
	for _, t := range g.From {
		d := u.decl(t.Value)
		switch {
		case d == nil || d.Kind != spec.Out:
			u.list.Add(t.Pos(), "from names %q, which is no output", t.Value)
		case !u.isFloat(d):
			u.list.Add(t.Pos(), "from names the %s output %s; only float outputs carry a cotangent", u.typeName(d), d.name)
		}
		from = append(from, t.Value)
	}
	if len(g.From) > 0 {
		return from
	}
	for _, d := range u.tensors {
		if d.Kind == spec.Out && u.isFloat(d) {
			from = append(from, d.name)
		}
	}
	if len(from) == 0 {
		u.list.Add(g.Pos, "the spec has no float output, so it has no gradient")
	}
	return from
}

// isFloat reports whether a tensor is of a float type in every instance.
func (u *unit) isFloat(d *decl) bool {
	name := u.typeName(d)
	return name != "i32" && name != "u8"
}

// pattern checks [fuses]: calls of known specs whose arguments are calls,
// inputs or parameters.
func (c *checker) pattern(u *unit) *Pattern {
	t := u.spec.Pattern
	if !t.IsSet() {
		return nil
	}
	a, err := parseExpr(t)
	if err != nil {
		u.list = append(u.list, *err)
		return nil
	}
	if _, ok := a.(*astCall); !ok {
		u.list.Add(a.pos(), "a pattern is a call of a spec, such as bias_add(matmul(a, b), bias)")
		return nil
	}
	return c.patternOf(u, a)
}

func (c *checker) patternOf(u *unit, a ast) *Pattern {
	switch a := a.(type) {
	case *astName:
		if d := u.decl(a.name); d == nil && !u.isParam(a.name) || d != nil && d.Kind != spec.In && d.Kind != spec.InOut {
			u.list.Add(a.pos(), "the pattern names %q, which is no input or parameter of %s", a.name, u.spec.Name)
		}
		return &Pattern{Name: a.name}
	case *astCall:
		if c.byName[a.name] == nil && !c.broken[a.name] {
			u.list.AddHint(a.pos(), c.similar(a.name), "the pattern calls %q, which is no spec", a.name)
		}
		p := &Pattern{Name: a.name, Call: true}
		for _, x := range a.args {
			p.Args = append(p.Args, c.patternOf(u, x))
		}
		if v := c.byName[a.name]; v != nil {
			if lo, hi := v.operands(); len(p.Args) < lo || len(p.Args) > hi {
				u.list.Add(a.pos(), "the pattern calls %s with %d operands; it has %d to %d", a.name, len(p.Args), lo, hi)
			}
		}
		return p
	}
	u.list.Add(a.pos(), "a pattern holds calls, inputs and parameters only")
	return nil
}

// operands returns how many operands a call of the spec has at least and at
// most: its inputs, then its parameters.
func (u *unit) operands() (lo, hi int) {
	for _, d := range u.tensors {
		if d.Kind == spec.In || d.Kind == spec.InOut {
			hi++
			if !d.Optional {
				lo++
			}
		}
	}
	return lo, hi + len(u.spec.Params)
}

func (u *unit) isParam(name string) bool {
	for _, p := range u.spec.Params {
		if p.Name.Value == name {
			return true
		}
	}
	return false
}

// similar returns a hint that names a spec that is spelt much like name.
func (c *checker) similar(name string) string {
	for _, u := range c.units {
		if strings.ReplaceAll(u.spec.Name, "_", "") == strings.ReplaceAll(strings.ToLower(name), "_", "") {
			return "did you mean " + u.spec.Name + "?"
		}
	}
	return ""
}
