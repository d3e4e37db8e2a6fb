package spec

import "strings"

func (d *decoder) tensor(kind TensorKind, n *node) {
	if !d.isTable(n, n.key.Value) {
		return
	}
	name := "[" + kind.String() + "." + n.key.Value + "]"
	t := d.table(n, name)
	x := Tensor{Kind: kind, Name: n.key, Doc: t.text("doc")}
	if kind != Let {
		x.Shape = d.shape(t)
		x.Type = t.text("type")
	}
	if kind != Let && kind != Temp {
		x.Optional = t.flag("optional")
	}
	if kind == In || kind == InOut {
		x.Fill = t.value("fill")
		x.Bounds = t.text("bounds")
		x.Except = t.text("except")
		d.together(t, "except", "bounds")
	}
	switch {
	case kind == In:
		x.List = t.text("list")
	case kind == Temp:
	case d.isRaw:
		x.Expr = t.text("expr") // refused where [raw] is read
	default:
		x.Expr = t.need("expr")
	}
	if kind == Let || kind == Out {
		x.Over = t.text("over")
		x.Reduce = d.oneOf(t.text("reduce"), "reduction", reductions)
		d.together(t, "over", "reduce")
		d.together(t, "reduce", "over")
	}
	t.finish()
	d.spec.Tensors = append(d.spec.Tensors, x)
}

// together reports key without other.
func (d *decoder) together(t *table, key, other string) {
	if k := t.n.child(key); k != nil && t.n.child(other) == nil {
		d.list.Add(k.key.Pos(), "%s has the key %s but not %s", t.name, key, other)
	}
}

// shape reads a shape or, from a table, one for each static choice.
func (d *decoder) shape(t *table) Shape {
	n := t.get("shape")
	switch {
	case n == nil:
		d.list.AddHint(t.pos(), `a device scalar has shape = ""`, "%s lacks the key shape", t.name)
		return Shape{}
	case n.kind != tableNode:
		return Shape{Pos: n.val.Pos(), Text: stringOf(&d.list, n, "shape")}
	}
	s := Shape{Pos: n.key.Pos()}
	refuseCases(&d.list, n)
	for _, k := range n.kids {
		v := stringOf(&d.list, k, "a shape")
		if v.IsSet() && d.condition(k.key) {
			s.Cases = append(s.Cases, Entry{k.key, v})
		}
	}
	if len(n.kids) == 0 {
		d.list.Add(n.val.Pos(), "%s has a shape without cases", t.name)
	}
	return s
}

// condition reports the condition of a shape that is not NAME=VALUE, or several
// of them with commas.
func (d *decoder) condition(c Text) bool {
	for part := range strings.SplitSeq(c.Value, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || !IsIdent(strings.TrimSpace(name)) || !IsIdent(strings.TrimSpace(value)) {
			d.list.AddHint(c.Pos(), `such as "ta=n" or "ta=n,tb=t"`, "%q is no condition on static choices", c.Value)
			return false
		}
	}
	return true
}
