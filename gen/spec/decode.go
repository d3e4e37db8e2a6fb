package spec

import (
	"math"
	"sort"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/internal/tomltree"
)

// decoder turns the tree of a file into a Spec and collects the mistakes.
type decoder struct {
	spec  *Spec
	list  diag.List
	isRaw bool // the file has [raw]
}

func (d *decoder) file(root *tomltree.Node) {
	d.isRaw = root.Child("raw") != nil
	t := d.table(root, "the file", fileKeys)
	s := d.spec
	s.Doc = t.text("doc")
	s.Source = t.text("source")
	s.Family = t.text("family")
	d.goName(t.text("go"))
	s.Also = t.texts("also")
	for _, name := range s.Also {
		if !isLowerIdent(name.Value) {
			d.list.Add(name.Pos(), "%q is no lower-case identifier, so it cannot name a kernel", name.Value)
		}
	}
	d.types(t)
	d.each(t, "static", listsKind, func(n *tomltree.Node, _ key) { d.static(n) })
	d.tables(t, "param", d.param)
	for _, k := range []TensorKind{In, InOut, Let, Out, Temp} {
		d.tables(t, k.String(), func(t *table) { d.tensor(k, t) })
	}
	sort.SliceStable(s.Tensors, func(i, j int) bool { return s.Tensors[i].Name.Pos().Less(s.Tensors[j].Name.Pos()) })
	s.Axes = d.entries(t, "axes")
	s.Requires = d.entries(t, "require")
	d.one(t, "save", func(t *table) {
		s.Save, s.Lazy = t.texts("names"), t.texts("lazy")
		if len(s.Save)+len(s.Lazy) == 0 {
			d.list.Add(t.pos(), "[save] names no let: name some in names, or in lazy")
		}
	})
	d.one(t, "grad", d.grad)
	d.one(t, "fuses", func(t *table) { s.Pattern = t.text("pattern") })
	d.raw(t)
	t.finish()
	d.outputs(root)
}

func (d *decoder) table(n *tomltree.Node, name string, keys []key) *table {
	return &table{list: &d.list, n: n, name: name, keys: keys, isRaw: d.isRaw}
}

// isTable reports a node that is no table.
func (d *decoder) isTable(n *tomltree.Node, what string) bool {
	if n.Kind != tomltree.Table {
		d.list.Add(n.Val.Pos(), "%s must be a table, not %s", what, n.Describe())
	}
	return n.Kind == tomltree.Table
}

// each calls f for each entry of a table from names to values.
func (d *decoder) each(t *table, name string, k kind, f func(*tomltree.Node, key)) {
	n, key := t.get(name, k)
	if n == nil || !d.isTable(n, name) {
		return
	}
	n.RefuseCases(&d.list)
	for _, kid := range n.Kids {
		if d.ident(kid.Key) {
			f(kid, key)
		}
	}
}

// tables calls f for each table of a table from names to tables.
func (d *decoder) tables(t *table, name string, f func(*table)) {
	d.each(t, name, tablesKind, func(n *tomltree.Node, k key) {
		if d.isTable(n, n.Key.Value) {
			sub := d.table(n, "["+name+"."+n.Key.Value+"]", k.keys)
			f(sub)
			sub.finish()
		}
	})
}

// one calls f for a table if there is one.
func (d *decoder) one(t *table, name string, f func(*table)) {
	n, k := t.get(name, tableKind)
	if n == nil || !d.isTable(n, name) {
		return
	}
	sub := d.table(n, "["+name+"]", k.keys)
	f(sub)
	sub.finish()
}

// ident reports a name that is no identifier.
func (d *decoder) ident(name Text) bool {
	ok := IsIdent(name.Value)
	if !ok {
		d.list.AddHint(name.Pos(), "letters of ASCII, digits and underscores, no digit first, more than underscores",
			"%q is no identifier", name.Value)
	}
	return ok
}

func (d *decoder) goName(t Text) {
	s := d.spec
	s.Go, s.GoName = t, GoName(s.Name)
	switch {
	case t.IsSet() && !isExported(t.Value):
		d.list.Add(t.Pos(), "go = %q is no exported Go identifier", t.Value)
	case t.IsSet():
		s.GoName = t.Value
	case !isExported(s.GoName):
		d.list.AddHint(s.Pos(), "give the key go", "the spec name %q gives no exported Go name", s.Name)
	}
}

// types reads dtypes, the values of T, or [types].
func (d *decoder) types(t *table) {
	dtypes, k := t.get("dtypes", textsKind)
	types := t.n.Child("types")
	switch {
	case dtypes != nil && types != nil:
		d.list.Add(types.Key.Pos(), "both dtypes and [types] are given; dtypes is short for [types] T")
	case dtypes != nil:
		name := dtypes.Key
		name.Value = "T"
		d.typeVar(name, k.texts(&d.list, dtypes, "dtypes"))
	}
	d.each(t, "types", listsKind, func(n *tomltree.Node, k key) { d.typeVar(n.Key, k.texts(&d.list, n, n.Key.Value)) })
}

func (d *decoder) typeVar(name Text, types []Text) {
	if c := name.Value[0]; c < 'A' || c > 'Z' {
		d.list.Add(name.Pos(), "%q cannot name a type variable: an upper-case letter comes first", name.Value)
		return
	}
	d.spec.Types = append(d.spec.Types, TypeVar{Name: name, Types: types})
}

func (d *decoder) static(n *tomltree.Node) {
	values := stringsOf(&d.list, n, n.Key.Value)
	for _, v := range values {
		if !IsIdent(v.Value) {
			d.list.Add(v.Pos(), "the value %q of the static %s is no identifier, so it cannot be part of a Go name", v.Value, n.Key.Value)
		}
	}
	for i, v := range values {
		for _, w := range values[:i] {
			if strings.EqualFold(v.Value, w.Value) {
				d.list.Add(v.Pos(), "the values %q and %q of the static %s differ only in case", w.Value, v.Value, n.Key.Value)
			}
		}
	}
	if len(values) > 0 {
		d.spec.Statics = append(d.spec.Statics, Static{Name: n.Key, Values: values})
	}
}

func (d *decoder) param(t *table) {
	p := Param{Name: t.n.Key, Type: t.text("type"), Doc: t.text("doc"), Default: t.value("default")}
	if p.Default != nil && p.Type.IsSet() {
		if err := fits(p.Default, p.Type.Value); err != nil {
			d.list.Add(p.Default.Pos(), "the default of %s: %v", p.Name.Value, err)
			p.Default = nil
		}
	}
	d.spec.Params = append(d.spec.Params, p)
}

// fits reports a default that its parameter type cannot hold.
func fits(v *Value, typ string) (err error) {
	switch typ {
	case "f32":
		_, err = v.AsFloat32()
	case "i32":
		_, err = v.AsInt(math.MinInt32, math.MaxInt32)
	case "u32":
		_, err = v.AsInt(0, math.MaxUint32)
	case "u64":
		_, err = v.AsInt(0, math.MaxInt64)
	case "bool":
		_, err = v.AsBool()
	}
	return err
}

func (d *decoder) entries(t *table, name string) []Entry {
	var es []Entry
	d.each(t, name, entriesKind, func(n *tomltree.Node, _ key) {
		if e := stringOf(&d.list, n, n.Key.Value); e.IsSet() {
			es = append(es, Entry{n.Key, e})
		}
	})
	return es
}

func (d *decoder) grad(t *table) {
	g := &Grad{Pos: t.pos(), Wrt: t.texts("wrt"), From: t.texts("from"), Name: t.text("name")}
	d.gradKernel(t, g)
	if g.Name.IsSet() && !isLowerIdent(g.Name.Value) {
		d.list.Add(g.Name.Pos(), "%q is no lower-case identifier, so it cannot name a gradient", g.Name.Value)
	}
	d.spec.Grad = g
}

// outputs reports a file without any output.
func (d *decoder) outputs(root *tomltree.Node) {
	for _, key := range []string{"out", "inout"} {
		if n := root.Child(key); n != nil && (n.Kind != tomltree.Table || len(n.Kids) > 0) {
			return
		}
	}
	d.list.AddHint(d.spec.Pos(), "declare [out.NAME] with shape and expr", "the spec %s has no output", d.spec.Name)
}
