package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// addAxes makes the axes in the order in which the file declares them: those of
// the inputs' shapes, then those of [axes].
func (in *instance) addAxes() {
	for _, d := range in.inputs() {
		for _, dim := range in.shape(d) {
			for _, a := range dim.axes {
				if d.List.IsSet() && a.name == d.List.Value {
					in.addListAxis(d, a)
				} else {
					in.addAxis(&Axis{Name: a.name, Group: dim.group, Pos: a.at})
				}
			}
		}
	}
	for _, a := range in.u.axes {
		in.addDeclared(a)
	}
	in.checkExtents()
}

func (in *instance) inputs() []*decl {
	var ds []*decl
	for _, d := range in.u.tensors {
		if (d.Kind == spec.In || d.Kind == spec.InOut) && in.present(d) {
			ds = append(ds, d)
		}
	}
	return ds
}

// addAxis adds a to the program unless an axis of its name is there.
func (in *instance) addAxis(a *Axis) *Axis {
	if old := in.axes[a.Name]; old != nil {
		return old
	}
	in.axes[a.Name] = a
	in.prog.Axes = append(in.prog.Axes, a)
	return a
}

// addDeclared adds an entry of [axes]: an extent that the caller gives, or one
// that is computed from parameters and earlier extents.
func (in *instance) addDeclared(a axisDecl) {
	name := a.name.Value
	group := in.u.groups[name]
	var extent Expr
	if a.expr != nil {
		e := &env{in: in, host: "an extent", list: in.list}
		extent = e.whole(a.expr, Int)
	}
	if group && !a.free {
		in.list.Add(a.name.Pos(), "the group %s... cannot have a computed extent; only the caller can give it", name)
	}
	old := in.axes[name]
	if old == nil {
		in.addAxis(&Axis{Name: name, Group: group, Free: a.free, Extent: extent, Pos: a.name.Pos()})
		return
	}
	if in.standsAlone(name) {
		in.list.Add(a.name.Pos(), "the axis %s has its extent from an input at %s already", name, old.Pos)
		return
	}
	// An axis of a merged dimension of an input: its extent is said here, and
	// that of its neighbour follows.
	if late := in.laterSize(extent, old); late != nil {
		in.list.Add(a.expr.pos(), "the extent of %s needs that of %s, which the file declares later", name, late.Name)
		return
	}
	old.Free, old.Extent = a.free, extent
}

// laterSize returns an axis whose size e uses and that does not come before a.
func (in *instance) laterSize(e Expr, a *Axis) *Axis {
	for _, used := range sizes(e) {
		if slices.Index(in.prog.Axes, used) >= slices.Index(in.prog.Axes, a) {
			return used
		}
	}
	return nil
}

// sizes returns the axes whose size e uses; e may be nil.
func sizes(e Expr) []*Axis {
	var axes []*Axis
	if e == nil {
		return nil
	}
	Walk(e, func(e Expr) bool {
		if s, ok := e.(*Size); ok {
			axes = append(axes, s.A)
		}
		return true
	})
	return axes
}

// standsAlone reports whether the axis is a dimension of its own in an input.
func (in *instance) standsAlone(name string) bool {
	for _, d := range in.inputs() {
		for _, dim := range in.shape(d) {
			if len(dim.axes) == 1 && dim.axes[0].name == name {
				return true
			}
		}
	}
	return false
}

// checkExtents reports axes whose extents the host cannot find: a shape can
// give one group that nothing else gives, and a merged dimension one axis.
func (in *instance) checkExtents() {
	known := map[string]bool{}
	for grew := true; grew; {
		grew = false
		for _, a := range in.prog.Axes {
			if !known[a.Name] && (a.Free || a.Extent != nil && allKnown(sizes(a.Extent), known)) {
				known[a.Name], grew = true, true
			}
		}
		for _, d := range in.inputs() {
			for _, name := range in.solves(d, known) {
				known[name], grew = true, true
			}
		}
	}
	for _, d := range in.inputs() {
		in.reportUnknown(d, known)
	}
}

func allKnown(axes []*Axis, known map[string]bool) bool {
	for _, a := range axes {
		if !known[a.Name] {
			return false
		}
	}
	return true
}

// solves returns the axes that the shape of d gives once those known are known.
func (in *instance) solves(d *decl, known map[string]bool) []string {
	var found, groups []string
	for _, dim := range in.shape(d) {
		var unknown []string
		for _, a := range dim.axes {
			if !known[a.name] {
				unknown = append(unknown, a.name)
			}
		}
		switch {
		case dim.group:
			groups = append(groups, unknown...)
		case len(unknown) == 1:
			found = append(found, unknown[0])
		}
	}
	if len(groups) == 1 {
		found = append(found, groups[0])
	}
	return found
}

func (in *instance) reportUnknown(d *decl, known map[string]bool) {
	var groups []string
	for _, dim := range in.shape(d) {
		var unknown []string
		for _, a := range dim.axes {
			if !known[a.name] {
				unknown = append(unknown, a.name)
			}
		}
		switch {
		case len(unknown) == 0:
		case dim.group:
			groups = append(groups, unknown[0]+"...")
		default:
			in.list.AddHint(dim.at, "give one of them in [axes]", "the extents of %s cannot be told from their product",
				strings.Join(unknown, " and "))
		}
	}
	if len(groups) > 0 {
		in.list.AddHint(d.Shape.Pos, "another input must have all but one of them",
			"the ranks of %s cannot be told from the rank of %s", strings.Join(groups, " and "), d.name)
	}
}

// dims resolves a shape. The axis named from, if any, stands for piece n of a
// list along it.
func (in *instance) dims(d *decl, shape []shapeDim, from string, n int) []Dim {
	var dims []Dim
	for _, sd := range shape {
		var dim Dim
		for _, a := range sd.axes {
			name := a.name
			if from == name {
				name = pieceName(name, n)
			}
			x := in.axes[name]
			if x == nil {
				in.list.AddHint(a.at, "give it in [axes]", "the extent of the axis %s of %s is not known: no input has it", a.name, d.name)
				x = in.addAxis(&Axis{Name: name, Group: sd.group, Free: true, Pos: a.at})
			}
			dim = append(dim, x)
		}
		dims = append(dims, dim)
	}
	return dims
}

func pieceName(name string, n int) string { return name + "_" + strconv.Itoa(n) }

func (in *instance) pieces(d *decl) int {
	n, _ := strconv.Atoi(in.choice(d.name))
	return n
}

// addListAxis adds the axes of the pieces of a list and the axis of their sum.
func (in *instance) addListAxis(d *decl, a axisName) {
	for _, other := range in.inputs() {
		if at, ok := findAxis(in.shape(other), a.name); ok && other != d {
			in.list.Add(at, "the axis %s is that of the list %s, whose pieces alone give its extent", a.name, d.name)
		}
	}
	var sum Expr
	for n := 1; n <= in.pieces(d); n++ {
		p := &Axis{Name: pieceName(a.name, n), Pos: a.at}
		if use, ok := in.u.names[p.Name]; ok {
			in.list.Add(use.at, "the %s %s has the name of a piece of the list axis %s", use.what, p.Name, a.name)
		}
		in.addAxis(p)
		size := &Size{Node{Int, a.at}, p}
		if sum == nil {
			sum = size
		} else {
			sum = &Binary{Node{Int, a.at}, Add, sum, size}
		}
	}
	in.addAxis(&Axis{Name: a.name, Extent: sum, Pos: a.at})
}

// addList makes the pieces of a list input.
func (in *instance) addList(d *decl) {
	shape := in.shape(d)
	l := &listInput{along: in.axes[d.List.Value]}
	if !isOwnDim(shape, d.List.Value) {
		in.list.Add(d.List.Pos(), "list = %q names no axis that is a dimension of %s by itself", d.List.Value, d.name)
		in.bad[d.name] = true
		return
	}
	l.shape = in.tensor(d, d.name, in.dims(d, shape, "", 0))
	for n := 1; n <= in.pieces(d); n++ {
		t := in.tensor(d, pieceName(d.name, n), in.dims(d, shape, d.List.Value, n))
		if use, ok := in.u.names[t.Name]; ok {
			in.list.Add(use.at, "the %s %s has the name of a piece of the list %s", use.what, t.Name, d.name)
		}
		t.List = n
		if t.Fill == nil {
			t.Fill = &Const{Node: Node{dtypeKind(t.Type), t.Pos}}
		}
		l.pieces = append(l.pieces, t)
		in.prog.Ins = append(in.prog.Ins, t)
	}
	in.lists[d.name] = l
}

func findAxis(shape []shapeDim, name string) (diag.Pos, bool) {
	for _, d := range shape {
		for _, a := range d.axes {
			if a.name == name {
				return a.at, true
			}
		}
	}
	return diag.Pos{}, false
}

func isOwnDim(shape []shapeDim, axis string) bool {
	for _, d := range shape {
		if !d.group && len(d.axes) == 1 && d.axes[0].name == axis {
			return true
		}
	}
	return false
}
