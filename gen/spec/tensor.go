package spec

import (
	"strings"

	"github.com/kernelgen/kgen/internal/tomltree"
)

func (d *decoder) tensor(kind TensorKind, t *table) {
	x := Tensor{Kind: kind, Name: t.n.Key, Doc: t.text("doc")}
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
	}
	switch kind {
	case In:
		x.List = t.text("list")
	case InOut, Let, Out:
		x.Expr = t.text("expr") // refused with [raw] where that is read
	}
	if kind == Let || kind == Out {
		x.Over = t.text("over")
		x.Reduce = t.text("reduce")
	}
	d.spec.Tensors = append(d.spec.Tensors, x)
}

// shape reads a shape or, from a table, one for each static choice.
func (d *decoder) shape(t *table) Shape {
	n, _ := t.get("shape", shapeKind)
	switch {
	case n == nil:
		return Shape{}
	case n.Kind != tomltree.Table:
		return Shape{Pos: n.Val.Pos(), Text: stringOf(&d.list, n, "shape")}
	}
	s := Shape{Pos: n.Key.Pos()}
	n.RefuseCases(&d.list)
	for _, k := range n.Kids {
		v := stringOf(&d.list, k, "a shape")
		if v.IsSet() && d.condition(k.Key) {
			s.Cases = append(s.Cases, Entry{k.Key, v})
		}
	}
	if len(n.Kids) == 0 {
		d.list.Add(n.Val.Pos(), "%s has a shape without cases", t.name)
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
