package spec

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// decoder turns the tree of a file into a Spec and collects the mistakes.
type decoder struct {
	spec  *Spec
	list  diag.List
	isRaw bool // the file has [raw]
}

var (
	families   = []string{"map", "rows", "cols", "reduce", "matmul", "gather", "scatter", "window"}
	floatTypes = []string{"f32", "f16", "bf16"}
	paramTypes = []string{"f32", "i32", "u32", "u64", "bool"}
	reductions = []string{"sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin"}
)

func (d *decoder) file(root *node) {
	t := d.table(root, "the file")
	s := d.spec
	s.Doc = t.text("doc")
	s.Source = t.text("source")
	s.Family = d.oneOf(t.text("family"), "family", families)
	d.goName(t.text("go"))
	s.Also = t.texts("also")
	for _, name := range s.Also {
		if !isLowerIdent(name.Value) {
			d.list.Add(name.Pos(), "%q is no lower-case identifier, so it cannot name a kernel", name.Value)
		}
	}
	d.types(t)
	d.tables(t, "static", d.static)
	d.tables(t, "param", d.param)
	raw := t.get("raw")
	d.isRaw = raw != nil
	for _, k := range []TensorKind{In, InOut, Let, Out, Temp} {
		d.tables(t, k.String(), func(n *node) { d.tensor(k, n) })
	}
	sort.SliceStable(s.Tensors, func(i, j int) bool { return s.Tensors[i].Name.start < s.Tensors[j].Name.start })
	s.Axes = d.entries(t, "axes")
	s.Requires = d.entries(t, "require")
	d.save(t.get("save"))
	d.grad(t.get("grad"))
	d.fuses(t.get("fuses"))
	d.raw(raw, root)
	t.finish()
	d.outputs(root)
}

func (d *decoder) table(n *node, name string) *table {
	return &table{list: &d.list, n: n, name: name}
}

// isTable reports a node that is no table.
func (d *decoder) isTable(n *node, what string) bool {
	if n.kind != tableNode {
		d.list.Add(n.val.Pos(), "%s must be a table, not %s", what, describe(n))
	}
	return n.kind == tableNode
}

// tables calls f for each entry of a table of named tables or values.
func (d *decoder) tables(t *table, key string, f func(*node)) {
	n := t.get(key)
	if n == nil || !d.isTable(n, key) {
		return
	}
	refuseCases(&d.list, n)
	for _, k := range n.kids {
		if d.ident(k.key) {
			f(k)
		}
	}
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

// oneOf reports a text that is none of the known words; it is then not set.
func (d *decoder) oneOf(t Text, what string, known []string) Text {
	if !t.IsSet() || slices.Contains(known, t.Value) {
		return t
	}
	d.list.AddHint(t.Pos(), "one of "+strings.Join(known, " "), "unknown %s %q", what, t.Value)
	return Text{}
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
	dtypes, types := t.get("dtypes"), t.get("types")
	switch {
	case dtypes != nil && types != nil:
		d.list.Add(types.key.Pos(), "both dtypes and [types] are given; dtypes is short for [types] T")
	case dtypes != nil:
		name := dtypes.key
		name.Value = "T"
		d.typeVar(name, dtypes, "dtypes")
	}
	if types != nil {
		d.tables(t, "types", func(n *node) { d.typeVar(n.key, n, n.key.Value) })
	}
}

func (d *decoder) typeVar(name Text, n *node, what string) {
	v := TypeVar{Name: name}
	for _, t := range stringsOf(&d.list, n, what) {
		if t := d.oneOf(t, "float type", floatTypes); t.IsSet() {
			v.Types = append(v.Types, t)
		}
	}
	if c := name.Value[0]; c < 'A' || c > 'Z' {
		d.list.Add(name.Pos(), "%q cannot name a type variable: an upper-case letter comes first", name.Value)
		return
	}
	d.spec.Types = append(d.spec.Types, v)
}

func (d *decoder) static(n *node) {
	values := stringsOf(&d.list, n, n.key.Value)
	for _, v := range values {
		if !IsIdent(v.Value) {
			d.list.Add(v.Pos(), "the value %q of the static %s is no identifier, so it cannot be part of a Go name", v.Value, n.key.Value)
		}
	}
	for i, v := range values {
		for _, w := range values[:i] {
			if strings.EqualFold(v.Value, w.Value) {
				d.list.Add(v.Pos(), "the values %q and %q of the static %s differ only in case", w.Value, v.Value, n.key.Value)
			}
		}
	}
	if len(values) > 0 {
		d.spec.Statics = append(d.spec.Statics, Static{Name: n.key, Values: values})
	}
}

func (d *decoder) param(n *node) {
	if !d.isTable(n, n.key.Value) {
		return
	}
	t := d.table(n, "[param."+n.key.Value+"]")
	p := Param{Name: n.key, Type: d.oneOf(t.need("type"), "parameter type", paramTypes), Doc: t.text("doc")}
	p.Default = t.value("default")
	t.finish()
	if p.Default != nil && p.Type.IsSet() {
		if err := fits(p.Default, p.Type.Value); err != nil {
			d.list.Add(p.Default.Pos(), "the default of %s: %v", n.key.Value, err)
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

func (d *decoder) entries(t *table, key string) []Entry {
	var es []Entry
	d.tables(t, key, func(n *node) {
		if e := stringOf(&d.list, n, n.key.Value); e.IsSet() {
			es = append(es, Entry{n.key, e})
		}
	})
	return es
}

func (d *decoder) save(n *node) {
	if n == nil || !d.isTable(n, "save") {
		return
	}
	t := d.table(n, "[save]")
	if n.child("names") == nil && n.child("lazy") == nil {
		d.list.Add(t.pos(), "[save] has neither of the keys names and lazy")
	}
	d.spec.Save, d.spec.Lazy = t.texts("names"), t.texts("lazy")
	t.finish()
}

func (d *decoder) grad(n *node) {
	if n == nil || !d.isTable(n, "grad") {
		return
	}
	t := d.table(n, "[grad]")
	g := &Grad{Pos: t.pos(), Wrt: t.texts("wrt"), From: t.texts("from"), Name: t.text("name")}
	d.gradKernel(t, g)
	if g.Name.IsSet() && !isLowerIdent(g.Name.Value) {
		d.list.Add(g.Name.Pos(), "%q is no lower-case identifier, so it cannot name a gradient", g.Name.Value)
	}
	d.spec.Grad = g
	t.finish()
}

func (d *decoder) fuses(n *node) {
	if n == nil || !d.isTable(n, "fuses") {
		return
	}
	t := d.table(n, "[fuses]")
	d.spec.Pattern = t.need("pattern")
	t.finish()
}

// outputs reports a file without any output.
func (d *decoder) outputs(root *node) {
	for _, key := range []string{"out", "inout"} {
		if n := root.child(key); n != nil && (n.kind != tableNode || len(n.kids) > 0) {
			return
		}
	}
	d.list.AddHint(d.spec.Pos(), "declare [out.NAME] with shape and expr", "the spec %s has no output", d.spec.Name)
}
