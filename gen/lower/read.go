package lower

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

func intNode() expr.Node { return expr.Node{K: expr.Int} }

// read is an element (or the elements of the lanes) of a tensor, where what p knows holds.
func (b *Builder) read(e *expr.Read, p *expr.Prover) ir.Expr {
	if s := b.scopeOfLocal(e.T); s >= 0 {
		return asKind(b.scopes[s].local[e.T], e.K)
	}
	buf, ok := b.bufs[e.T]
	if !ok {
		b.fail(fmt.Errorf("lower: %s is not at hand here", e.T.Name))
		return &ir.Lit{T: ir.Scalar(ir.F32)}
	}
	load := &ir.Load{B: buf}
	idx := e.Idx
	if idx == nil {
		idx = ownIndex(e.T.Axes)
	} else {
		idx = b.guard(load, e, p)
	}
	if load.Len != nil {
		load.Vec, load.Off = true, b.Value(offset(e.T.Axes, idx))
	} else {
		b.place(load, e.T, idx)
	}
	var x ir.Expr = load
	if e.T.Bounds != nil {
		x = b.checked(load, e.T)
	}
	return asKind(x, e.K)
}

// RunLoad is the load of the elements that a read names along axis a, from first on,
// which lie side by side (see Contiguous).
func (b *Builder) RunLoad(e *expr.Read, a *expr.Axis, first ir.Expr) *ir.Load {
	load := &ir.Load{B: b.bufs[e.T]}
	var body []ir.Stmt
	b.In(&body, func() {
		b.BindLanes(a, first, nil)
		idx := e.Idx
		if idx == nil {
			idx = ownIndex(e.T.Axes)
		} else {
			idx = b.guard(load, e, b.prover())
		}
		b.place(load, e.T, idx)
	})
	b.Emit(body...)
	load.Vec = false // the statement that takes it says how many elements
	return load
}

// Contiguous reports whether the elements that a read names along axis a lie side by
// side, and what stands for one that is outside is zero.
func Contiguous(e *expr.Read, a *expr.Axis) bool {
	n := len(e.T.Axes)
	if n == 0 || e.T.Axes[n-1] != a || slices.Contains(e.T.Axes[:n-1], a) {
		return false
	}
	if e.Idx == nil {
		return true
	}
	last, ok := e.Idx[n-1].(*expr.Index)
	others := slices.ContainsFunc(e.Idx[:n-1], func(x expr.Expr) bool { return expr.Uses(x, a) })
	fill := e.T.Fill != nil && (e.T.Fill.F != 0 || e.T.Fill.I != 0)
	return ok && last.A == a && !others && !fill
}

func ownIndex(axes []*expr.Axis) []expr.Expr {
	idx := make([]expr.Expr, len(axes))
	for i, a := range axes {
		idx[i] = &expr.Index{Node: intNode(), A: a}
	}
	return idx
}

// asKind turns a loaded value into the value of the given kind.
func asKind(x ir.Expr, k expr.Kind) ir.Expr {
	t := x.Type()
	switch {
	case k == expr.Int && t == ir.Scalar(ir.I32):
		return &ir.Conv{T: ir.Scalar(ir.I64), X: x}
	case k == expr.Bool && t.Elem == ir.I32:
		var zero ir.Expr = &ir.Lit{T: ir.Scalar(ir.I32)}
		if t.Vec {
			zero = Splat(zero)
		}
		return &ir.Bin{Op: ir.Ne, X: x, Y: zero}
	}
	return x
}

// place sets the offset of a load or store of t at idx, and its stride where an
// index runs along the lanes.
func (b *Builder) place(l *ir.Load, t *expr.Tensor, idx []expr.Expr) {
	s := b.lanes()
	along := -1
	for i, x := range idx {
		if s == nil || !expr.Uses(x, s.lanes) {
			continue
		}
		if ix, ok := x.(*expr.Index); !ok || ix.A != s.lanes || along >= 0 {
			b.fail(ErrVector)
			l.Off = Int(0)
			return
		}
		along = i
	}
	if along >= 0 {
		idx = slices.Clone(idx)
		idx[along] = &expr.Index{Node: intNode(), A: s.base}
		l.Vec, l.N = true, s.n
		if stride := b.extent(t.Axes[along+1:]); stride != nil {
			l.Stride = b.Value(stride)
		}
	}
	l.Off = b.Value(offset(t.Axes, idx))
}

// offset is the row-major element offset of idx.
func offset(axes []*expr.Axis, idx []expr.Expr) expr.Expr {
	if len(axes) == 0 {
		return &expr.Const{Node: intNode()}
	}
	off := idx[0]
	for i := 1; i < len(axes); i++ {
		off = &expr.Binary{Node: intNode(), Op: expr.Mul, X: off, Y: &expr.Size{Node: intNode(), A: axes[i]}}
		if c, ok := idx[i].(*expr.Const); ok && c.I == 0 {
			continue
		}
		off = &expr.Binary{Node: intNode(), Op: expr.Add, X: off, Y: idx[i]}
	}
	return off
}

// Place is the row-major element offset of t at idx, or at its own axes where idx
// is nil.
func Place(t *expr.Tensor, idx []expr.Expr) expr.Expr {
	if idx == nil {
		idx = ownIndex(t.Axes)
	}
	return offset(t.Axes, idx)
}

// OffsetOf is the element offset of t at the positions that the scopes bind.
func (b *Builder) OffsetOf(t *expr.Tensor) ir.Expr { return b.Value(offset(t.Axes, ownIndex(t.Axes))) }

// extent is the product of the axes' extents, nil where it is known to be one.
func (b *Builder) extent(axes []*expr.Axis) expr.Expr {
	var n expr.Expr
	for _, a := range axes {
		if slices.Contains(b.units, a) {
			continue
		}
		var s expr.Expr = &expr.Size{Node: intNode(), A: a}
		if n != nil {
			s = &expr.Binary{Node: intNode(), Op: expr.Mul, X: n, Y: s}
		}
		n = s
	}
	return n
}

// guard makes an indexed load conditional on each index being inside, unless it
// is the position along that very axis or p knows it, and returns the indices.
// Where the last one runs with the lanes, those that are outside get the fill, and
// the index returned is that of the row's beginning. Where an offset is computed
// before the read, an index outside counts as 0: SIMT index arithmetic has 32 bits,
// which an offset that nothing reads from must not pass. There what p knows of the
// side of a choice does not hold yet.
func (b *Builder) guard(l *ir.Load, e *expr.Read, p *expr.Prover) []expr.Expr {
	all := expr.Truth(e.At, true)
	and := func(c expr.Expr) { all = expr.AndOf(e.At, all, c) }
	idx := slices.Clone(e.Idx)
	for i, x := range e.Idx {
		a := e.T.Axes[i]
		if ix, ok := x.(*expr.Index); ok && ix.A == a {
			continue
		}
		if s := b.lanes(); s != nil && expr.Uses(x, s.lanes) {
			others := slices.ContainsFunc(e.Idx[:i], func(x expr.Expr) bool { return expr.Uses(x, s.lanes) })
			if i == len(e.Idx)-1 && !others && runsWith(x, s.lanes) {
				l.At = b.Value(replaced(x, s.lanes, s.base))
				l.Len = b.Size(a)
				continue
			}
			b.fail(ErrVector)
		}
		cmp := func(op expr.BinaryOp, y expr.Expr) expr.Expr {
			return &expr.Binary{Node: expr.Node{K: expr.Bool}, Op: op, X: x, Y: y}
		}
		zero := &expr.Const{Node: intNode()}
		inside := b.prover().Simplify(expr.AndOf(e.At, cmp(expr.Ge, zero), cmp(expr.Lt, &expr.Size{Node: intNode(), A: a})))
		and(p.Simplify(inside))
		if !expr.IsTruth(inside, true) && b.Func.SIMT && b.home(offset(e.T.Axes[:i+1], idx[:i+1])) < len(b.scopes)-1 {
			idx[i] = &expr.Where{Node: intNode(), C: inside, A: x, B: zero}
		}
	}
	if l.Len != nil {
		idx[len(idx)-1] = &expr.Const{Node: intNode()}
	}
	if !expr.IsTruth(all, true) {
		l.If = b.Value(all)
	}
	if l.If != nil || l.Len != nil {
		l.Else = fillOf(e.T, l)
	}
	return idx
}

// runsWith reports whether x rises by one with the position along a.
func runsWith(x expr.Expr, a *expr.Axis) bool {
	switch x := x.(type) {
	case *expr.Index:
		return x.A == a
	case *expr.Binary:
		with, without := runsWith(x.X, a), !expr.Uses(x.Y, a)
		return with && without && (x.Op == expr.Add || x.Op == expr.Sub) ||
			x.Op == expr.Add && !expr.Uses(x.X, a) && runsWith(x.Y, a)
	}
	return false
}

// replaced is x with the position along another axis.
func replaced(x expr.Expr, a, by *expr.Axis) expr.Expr {
	return expr.Rewrite(x, func(x expr.Expr) expr.Expr {
		if ix, ok := x.(*expr.Index); ok && ix.A == a {
			return &expr.Index{Node: ix.Node, A: by}
		}
		return x
	})
}

// fillOf is what a read of t outside it gives, of the kind that l loads.
func fillOf(t *expr.Tensor, l *ir.Load) ir.Expr {
	fill := 0.0
	if t.Fill != nil {
		fill = t.Fill.F
		if t.Fill.K == expr.Int {
			fill = float64(t.Fill.I)
		}
	}
	return &ir.Lit{T: ir.Scalar(l.Type().Elem), F: fill, I: int64(fill)}
}

// checked is a load of a tensor with bounds: a value outside them sets the fault
// word.
func (b *Builder) checked(l *ir.Load, t *expr.Tensor) ir.Expr {
	if l.Vec {
		b.fail(ErrVector)
		return l
	}
	v := b.Name(t.Name+"_value", &ir.Conv{T: ir.Scalar(ir.I64), X: l})
	bound := b.Value(t.Bounds)
	out := func(op ir.Op, y ir.Expr) ir.Expr { return &ir.Bin{Op: op, X: v, Y: y} }
	var bad ir.Expr = &ir.Bin{Op: ir.Or, X: out(ir.Lt, Int(0)), Y: out(ir.Ge, bound)}
	if t.Except != nil {
		bad = &ir.Bin{Op: ir.And, X: bad, Y: out(ir.Ne, b.Param(t.Except))}
	}
	if l.If != nil {
		bad = &ir.Bin{Op: ir.And, X: l.If, Y: bad}
	}
	b.Emit(&ir.If{C: bad, Then: []ir.Stmt{&ir.Fault{B: l.B, Pos: l.Off, Value: v, Bound: bound}}})
	return v
}

// Store writes x as the element (or the lanes' elements) of t at its own axes.
func (b *Builder) Store(t *expr.Tensor, x ir.Expr) {
	l := &ir.Load{B: b.bufs[t]}
	b.place(l, t, ownIndex(t.Axes))
	if l.Stride != nil {
		b.fail(ErrVector)
	}
	if x.Type().Elem == ir.Bool {
		x = boolTo(x, ir.Type{Elem: ir.I32, Vec: x.Type().Vec})
	}
	if l.Vec {
		x = Splat(x)
	}
	var store ir.Stmt = &ir.Store{B: l.B, Off: l.Off, X: x, Stride: l.Stride, N: l.N}
	if b.Kernel.Lazy(t) {
		store = &ir.If{C: b.Wanted(t), Then: []ir.Stmt{store}}
	}
	b.Emit(store)
}
