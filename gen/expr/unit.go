package expr

import (
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// unit is a spec with its expressions and shapes parsed and its names known;
// all that does not depend on types and static choices.
type unit struct {
	spec    *spec.Spec
	tensors []*decl
	axes    []axisDecl
	require []exprDecl
	names   map[string]nameUse // what each name of the spec stands for
	groups  map[string]bool    // axis name → is a group
	uses    map[string]int     // how often expressions name it
	cyclic  bool               // inlining it would not end

	// shapeless says that a shape is missing or wrong. What the expressions mean
	// depends on the axes, so they are not looked at.
	shapeless bool

	// unparsed says that an expression is not valid, so that nobody knows what
	// it uses.
	unparsed bool

	list diag.List
}

// nameUse is what a name stands for, for messages.
type nameUse struct {
	what string
	at   diag.Pos
}

// decl is a tensor of the spec, parsed.
type decl struct {
	*spec.Tensor
	name   string
	shapes []shapeCase
	over   []axisName
	expr   ast
	bounds ast
}

// shapeCase is a shape that holds under a condition on statics; an empty
// condition always holds.
type shapeCase struct {
	cond []Choice
	at   diag.Pos
	dims []shapeDim
}

type exprDecl struct {
	name spec.Text
	text string
	expr ast
}

// axisDecl is an entry of [axes]; free says that the caller gives the extent.
type axisDecl struct {
	exprDecl
	free bool
}

// failed reports whether the spec has mistakes.
func (u *unit) failed() bool { return len(u.list) > 0 }

func newUnit(s *spec.Spec) *unit {
	u := &unit{
		spec: s, names: map[string]nameUse{}, groups: map[string]bool{}, uses: map[string]int{},
	}
	for _, v := range s.Statics {
		u.declare("static", v.Name)
	}
	for _, p := range s.Params {
		u.declare("parameter", p.Name)
	}
	for i := range s.Tensors {
		u.tensor(&s.Tensors[i])
	}
	u.parseAxes()
	for _, r := range s.Requires {
		u.require = append(u.require, exprDecl{r.Name, r.Expr.Value, u.parse(r.Expr)})
	}
	u.axisNames()
	return u
}

// declare gives a name its meaning, once.
func (u *unit) declare(what string, name spec.Text) {
	if old, ok := u.names[name.Value]; ok {
		u.list.Add(name.Pos(), "the %s %s has the name of the %s at %s", what, name.Value, old.what, old.at)
		return
	}
	u.names[name.Value] = nameUse{what, name.Pos()}
}

func (u *unit) parse(t spec.Text) ast {
	if !t.IsSet() {
		return nil
	}
	a, err := parseExpr(t)
	if err != nil {
		u.list = append(u.list, *err)
		u.unparsed = true
		return nil
	}
	walkAST(a, u.countUse)
	return a
}

func (u *unit) countUse(a ast) {
	switch a := a.(type) {
	case *astName:
		u.uses[a.name]++
	case *astIndex:
		u.uses[a.name]++
	}
}

var tensorWords = map[spec.TensorKind]string{
	spec.In: "input", spec.InOut: "inout", spec.Let: "let", spec.Out: "output", spec.Temp: "workspace",
}

func (u *unit) tensor(t *spec.Tensor) {
	u.declare(tensorWords[t.Kind], t.Name)
	d := &decl{Tensor: t, name: t.Name.Value, expr: u.parse(t.Expr), bounds: u.parse(t.Bounds)}
	n := len(u.list)
	if t.Shape.Text.IsSet() {
		d.shapes = []shapeCase{{at: t.Shape.Pos, dims: parseShape(t.Shape.Text, &u.list)}}
	}
	for _, c := range t.Shape.Cases {
		sc := shapeCase{cond: u.condition(c.Name), at: c.Name.Pos(), dims: parseShape(c.Expr, &u.list)}
		d.shapes = append(d.shapes, sc)
	}
	u.shapeless = u.shapeless || t.Kind != spec.Let && !t.Shape.IsSet() || len(u.list) > n
	if t.Over.IsSet() {
		d.over = u.over(t.Over)
	}
	u.tensors = append(u.tensors, d)
}

// over parses a list of axes to reduce; the dots of a group may be left out.
func (u *unit) over(t spec.Text) []axisName {
	n := len(u.list)
	dims := parseShape(t, &u.list)
	if len(dims) == 0 && len(u.list) == n {
		u.list.Add(t.Pos(), "over names no axis")
	}
	var axes []axisName
	for _, d := range dims {
		if len(d.axes) > 1 {
			u.list.Add(d.at, "over is a list of axes, without parentheses")
		}
		axes = append(axes, d.axes...)
	}
	return axes
}

// condition parses "ta=n,tb=t"; package spec has checked its form.
func (u *unit) condition(t spec.Text) []Choice {
	var cond []Choice
	for part := range strings.SplitSeq(t.Value, ",") {
		name, value, _ := strings.Cut(part, "=")
		c := Choice{strings.TrimSpace(name), strings.TrimSpace(value)}
		values := u.staticValues(c.Name)
		switch {
		case values == nil:
			u.list.Add(t.Pos(), "%q names no static", c.Name)
		case !contains(values, c.Value):
			u.list.AddHint(t.Pos(), "its values are "+strings.Join(values, " "), "the static %s has no value %q", c.Name, c.Value)
		}
		u.uses[c.Name]++
		cond = append(cond, c)
	}
	return cond
}

// staticValues returns the values of a [static], nil if there is none.
func (u *unit) staticValues(name string) []string {
	for _, s := range u.spec.Statics {
		if s.Name.Value == name {
			return values(s)
		}
	}
	return nil
}

func values(s spec.Static) []string { return names(s.Values) }

func names(texts []spec.Text) []string {
	var list []string
	for _, t := range texts {
		list = append(list, t.Value)
	}
	return list
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (u *unit) parseAxes() {
	for _, a := range u.spec.Axes {
		d := axisDecl{exprDecl: exprDecl{name: a.Name, text: a.Expr.Value}}
		switch {
		case !isAxisName(a.Name.Value):
			u.list.Add(a.Name.Pos(), "%q cannot name an axis: an upper-case letter comes first", a.Name.Value)
			continue
		case a.Expr.Value == "caller":
			d.free = true
		default:
			d.expr = u.parse(a.Expr)
		}
		u.axes = append(u.axes, d)
	}
}

// axisNames declares the axes and checks that each is a group everywhere or
// nowhere.
func (u *unit) axisNames() {
	at := map[string]diag.Pos{}
	for _, d := range u.tensors {
		for _, s := range d.shapes {
			for _, dim := range s.dims {
				for _, a := range dim.axes {
					u.axisName(a, dim.group, at)
				}
			}
		}
	}
	for _, a := range u.axes {
		if _, ok := at[a.name.Value]; !ok {
			at[a.name.Value] = a.name.Pos()
			u.declare("axis", a.name)
		}
	}
}

func (u *unit) axisName(a axisName, group bool, at map[string]diag.Pos) {
	first, seen := at[a.name]
	if !seen {
		at[a.name] = a.at
		u.groups[a.name] = group
		if old, ok := u.names[a.name]; ok {
			u.list.Add(a.at, "the axis %s has the name of the %s at %s", a.name, old.what, old.at)
			return
		}
		u.names[a.name] = nameUse{"axis", a.at}
		return
	}
	if u.groups[a.name] != group {
		u.list.Add(a.at, "the axis %s is a group (%s...) in one place and a single axis in another; see %s", a.name, a.name, first)
	}
}

// decl returns the tensor of the given name, nil if there is none.
func (u *unit) decl(name string) *decl {
	for _, d := range u.tensors {
		if d.name == name {
			return d
		}
	}
	return nil
}

// typeNames returns the type of each input and output as written.
func (u *unit) typeNames() map[string]string {
	m := map[string]string{}
	for _, d := range u.tensors {
		if d.Kind != spec.Let {
			m[d.name] = u.typeName(d)
		}
	}
	return m
}

// typeName returns the type as written; the first type variable is the default.
func (u *unit) typeName(d *decl) string {
	switch {
	case d.Type.IsSet():
		return d.Type.Value
	case len(u.spec.Types) > 0:
		return u.spec.Types[0].Name.Value
	}
	return ""
}
