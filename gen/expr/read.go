package expr

import (
	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// index checks x[i, j]: a read of a tensor at another place.
func (e *env) index(a *astIndex) Expr {
	d := e.in.u.decl(a.name)
	if d == nil {
		if e.in.bad[a.name] {
			return nil
		}
		return e.failHint(a.at, e.similar(a.name), "%q is no tensor", a.name)
	}
	idx := make([]Expr, len(a.idx))
	for i, x := range a.idx {
		if idx[i] = e.want(x, Int); idx[i] == nil {
			return nil
		}
	}
	if len(idx) == 0 {
		return e.fail(a.at, "%s[] has no index; a name alone is a read at the tensor's own axes", a.name)
	}
	return e.read(a.at, d, idx)
}

// read checks a read of d, at its own axes when idx is nil.
func (e *env) read(at diag.Pos, d *decl, idx []Expr) Expr {
	in := e.in
	switch {
	case in.bad[d.name]:
		return nil
	case e.host != "":
		return e.fail(at, "%s is computed from parameters and extents only, it cannot read %s", e.host, d.name)
	case d.Kind == spec.Out:
		return e.failHint(at, "put the value into a let and read that", "the output %s cannot be read", d.name)
	case !in.present(d):
		return e.failHint(at, "read it inside where(has("+d.name+"), ..., ...)", "%s is optional and absent here", d.name)
	}
	if l := in.lists[d.name]; l != nil {
		return e.readList(at, l, idx)
	}
	t := in.tensors[d.name]
	if t == nil {
		return e.failHint(at, "steps read earlier lets only", "the let %s is not computed yet", d.name)
	}
	if !e.checkIndex(at, t, idx) {
		return nil
	}
	return &Read{Node{in.kind(t), at}, t, idx}
}

// kind returns the kind of a value read from t.
func (in *instance) kind(t *Tensor) Kind {
	if t.Role == Let && t.Type == U8 {
		return Bool
	}
	return dtypeKind(t.Type)
}

// checkIndex checks the number of indices and that each is inside its axis, or
// that the tensor says what lies outside.
func (e *env) checkIndex(at diag.Pos, t *Tensor, idx []Expr) bool {
	if idx == nil {
		return true
	}
	if len(idx) != len(t.Axes) {
		e.failHint(at, "its axes are "+axisNames(t.Axes), "%s has %d axes, but the read gives %d", t.Name, len(t.Axes), len(idx))
		return false
	}
	if t.Fill != nil {
		return true
	}
	ok := true
	for i, x := range idx {
		ok = e.inside(t, t.Axes[i], x) && ok
	}
	return ok
}

func axisNames(axes []*Axis) string {
	s := ""
	for i, a := range axes {
		if i > 0 {
			s += " "
		}
		s += a.Name
	}
	if s == "" {
		return "none"
	}
	return s
}

// inside reports an index that may lie outside axis a.
func (e *env) inside(t *Tensor, a *Axis, x Expr) bool {
	f := e.in.facts
	if r, ok := x.(*Read); ok && (r.T.Bounds != nil || f.lets[r.T] != nil) {
		if r.T.Bounds != nil && f.atMost(r.T.Bounds, a) || f.lets[r.T] == a {
			return true
		}
		if r.T.Bounds != nil {
			e.failHint(x.Pos(), `bounds = "size(`+a.Name+`)"`, "the bounds of %s are not known to be within the axis %s of %s", r.T.Name, a.Name, t.Name)
			return false
		}
	}
	if f.inside(x, a) {
		return true
	}
	hint := "give " + t.Name + " a fill, or a condition in [require]"
	if r, ok := x.(*Read); ok && r.T.Role != Let {
		hint = "give " + r.T.Name + ` bounds = "size(` + a.Name + `)", or ` + t.Name + " a fill"
	}
	e.failHint(x.Pos(), hint, "this index may lie outside the axis %s of %s", a.Name, t.Name)
	return false
}

// readList reads the piece that holds the position along the list's axis.
func (e *env) readList(at diag.Pos, l *listInput, idx []Expr) Expr {
	if idx == nil {
		for _, a := range l.shape.Axes {
			idx = append(idx, &Index{Node{Int, at}, a})
		}
	}
	if !e.checkIndex(at, l.shape, idx) {
		return nil
	}
	k := 0
	for l.shape.Axes[k] != l.along {
		k++
	}
	return pieceRead(at, l.pieces, idx, k)
}

// pieceRead reads the first piece if index k lies before its end, else the
// others with what is left of the index.
func pieceRead(at diag.Pos, pieces []*Tensor, idx []Expr, k int) Expr {
	first := pieces[0]
	r := &Read{Node{dtypeKind(first.Type), at}, first, idx}
	if len(pieces) == 1 {
		return r
	}
	size := &Size{Node{Int, at}, first.Axes[k]}
	rest := append([]Expr(nil), idx...)
	rest[k] = &Binary{Node{Int, at}, Sub, idx[k], size}
	return &Where{
		Node{r.K, at},
		&Binary{Node{Bool, at}, Lt, idx[k], size},
		r,
		pieceRead(at, pieces[1:], rest, k),
	}
}
