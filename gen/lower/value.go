package lower

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// Value returns e at the position that the scopes bind.
func (b *Builder) Value(e expr.Expr) ir.Expr {
	id := b.ids.id(e)
	if x := b.atHand(id); x != nil {
		return x
	}
	top, at := len(b.scopes)-1, b.home(e)
	all := b.scopes
	b.scopes = all[:at+1]
	x := b.build(e)
	name, named := b.ids.names[id]
	if !named {
		name = nameFor(e)
	}
	if named || at < top || b.ids.uses[id] > 1 {
		switch v := x.(type) {
		case *ir.Get:
			if v.F.Type == ir.F32 {
				x = b.Name(name, x)
			}
		case *ir.Run:
			x = &ir.Run{Base: b.Name(name, v.Base)}
		default:
			x = b.Name(name, x)
		}
	}
	b.scopes[at].memo[id] = x
	b.scopes = all
	return x
}

// atHand is the value with a number if it has been computed, else nil.
func (b *Builder) atHand(id int) ir.Expr {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if x, ok := b.scopes[i].memo[id]; ok {
			return x
		}
	}
	return nil
}

// nameFor is what a value without a name of its own is called: a loaded element
// after its tensor, an offset "at".
func nameFor(e expr.Expr) string {
	if r, ok := e.(*expr.Read); ok {
		return r.T.Name
	}
	if e.Kind() == expr.Int {
		return "at"
	}
	return "t"
}

// Vec returns e as a vector.
func (b *Builder) Vec(e expr.Expr) ir.Expr { return Splat(b.Value(e)) }

// Splat makes a vector of a scalar.
func Splat(x ir.Expr) ir.Expr {
	t := x.Type()
	if t.Vec {
		return x
	}
	if t.Elem == ir.I64 {
		t.Elem = ir.I32
	}
	return &ir.Conv{T: ir.Vector(t.Elem), X: x}
}

// home is the scope in which e is computed.
func (b *Builder) home(e expr.Expr) int {
	at := b.levelOf(e)
	for at < len(b.scopes)-1 && b.scopes[at+1].guard {
		at++
	}
	return at
}

// levelOf is the outermost scope that has all that e depends on.
func (b *Builder) levelOf(e expr.Expr) int {
	id := b.ids.id(e)
	cache := b.scopes[len(b.scopes)-1].level
	if l, ok := cache[id]; ok {
		return l
	}
	l := 0
	axes := func(as []*expr.Axis) {
		for _, a := range as {
			l = max(l, b.scopeOf(a))
		}
	}
	switch e := e.(type) {
	case *expr.Index:
		l = b.scopeOf(e.A)
	case *expr.Flat:
		axes(e.T.Axes)
	case *expr.Read:
		if s := b.scopeOfLocal(e.T); s >= 0 {
			l = s
		} else if e.Idx == nil {
			axes(e.T.Axes)
		}
	}
	for _, c := range expr.Children(e) {
		l = max(l, b.levelOf(c))
	}
	cache[id] = l
	return l
}

func (b *Builder) scopeOf(a *expr.Axis) int {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		s := b.scopes[i]
		if _, ok := s.index[a]; ok || s.lanes == a {
			return i
		}
	}
	b.fail(fmt.Errorf("lower: axis %s has no position here", a.Name))
	return 0
}

func (b *Builder) scopeOfLocal(t *expr.Tensor) int {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if _, ok := b.scopes[i].local[t]; ok {
			return i
		}
	}
	return -1
}

// lanes returns the axis that is a vector here, if any, and its scope.
func (b *Builder) lanes() *scope {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if b.scopes[i].lanes != nil {
			return b.scopes[i]
		}
	}
	return nil
}

func (b *Builder) build(e expr.Expr) ir.Expr {
	switch e := e.(type) {
	case *expr.Const:
		return constant(e)
	case *expr.ParamRef:
		return b.Param(e.P)
	case *expr.Size:
		return b.Size(e.A)
	case *expr.Index:
		return b.position(e.A)
	case *expr.Read:
		return b.read(e, b.prover())
	case *expr.Flat:
		return b.flat(e)
	case *expr.Unary:
		op := ir.Neg
		if e.Op == expr.Not {
			op = ir.Not
		}
		return &ir.Un{Op: op, X: b.Value(e.X)}
	case *expr.Binary:
		if e.X.Kind() == expr.Uint64 {
			return b.counter(e)
		}
		if e.Op == expr.Div && e.K == expr.Float && b.Func.Rough() && b.home(e.Y) < b.home(e.X) && b.reduced(e.Y) {
			return b.overShared(e)
		}
		x, y := same(b.Value(e.X), b.Value(e.Y))
		return &ir.Bin{Op: binaryOps[e.Op], X: x, Y: y}
	case *expr.Where:
		return b.where(e, b.prover())
	case *expr.Call:
		return b.call(e)
	case *expr.Convert:
		return convert(e, b.Value(e.X))
	case *expr.Stop:
		return b.Value(e.X)
	}
	b.fail(fmt.Errorf("lower: %T has no lowering yet", e))
	return Int(0)
}

// reduced reports whether e is of what the kernel's own reductions give.
func (b *Builder) reduced(e expr.Expr) bool {
	return slices.ContainsFunc(expr.Reads(e), b.Kernel.Local)
}

// overShared is a quotient whose divisor many elements have: of it the reciprocal is taken
// once.
func (b *Builder) overShared(e *expr.Binary) ir.Expr {
	inverse := b.Value(&expr.Binary{Node: e.Node, Op: expr.Div, X: expr.Num(e.At, 1), Y: e.Y})
	return &ir.Bin{Op: ir.Mul, X: b.Value(e.X), Y: inverse}
}

var binaryOps = [...]ir.Op{
	expr.Add: ir.Add, expr.Sub: ir.Sub, expr.Mul: ir.Mul, expr.Div: ir.Div, expr.Rem: ir.Rem,
	expr.Lt: ir.Lt, expr.Le: ir.Le, expr.Gt: ir.Gt, expr.Ge: ir.Ge, expr.Eq: ir.Eq, expr.Ne: ir.Ne,
	expr.LogicAnd: ir.And, expr.LogicOr: ir.Or,
	expr.And: ir.And, expr.Or: ir.Or, expr.Xor: ir.Xor, expr.Shl: ir.Shl, expr.Shr: ir.Shr,
}

func constant(e *expr.Const) ir.Expr {
	switch e.K {
	case expr.Float:
		return &ir.Lit{T: ir.Scalar(ir.F32), F: e.F}
	case expr.Bool:
		return &ir.Lit{T: ir.Scalar(ir.Bool), I: e.I}
	case expr.Uint:
		return &ir.Lit{T: ir.Scalar(ir.U32), I: int64(e.U)}
	case expr.Uint64:
		return &ir.Lit{T: ir.Scalar(ir.U64), I: int64(e.U)}
	}
	return Int(e.I)
}

// position is the index along an axis: a scalar, or a vector where the axis has
// lanes.
func (b *Builder) position(a *expr.Axis) ir.Expr {
	s := b.scopes[b.scopeOf(a)]
	if x, ok := s.index[a]; ok {
		return x
	}
	return &ir.Bin{Op: ir.Add, X: Splat(s.index[s.base]), Y: &ir.Lanes{}}
}

// Position is the position along an axis that the innermost scope with one binds.
// Unlike a Value it is not kept for the scopes inside, which may bind another.
func (b *Builder) Position(a *expr.Axis) ir.Expr { return b.position(a) }

// same widens the narrower of two values.
func same(x, y ir.Expr) (ir.Expr, ir.Expr) {
	if x.Type().Vec != y.Type().Vec {
		x, y = Splat(x), Splat(y)
	}
	return x, y
}

func (b *Builder) where(e *expr.Where, p *expr.Prover) ir.Expr {
	c := b.Value(e.C)
	x, y := same(b.side(e.A, p.Given(e.C, true)), b.side(e.B, p.Given(e.C, false)))
	if c.Type().Vec {
		x, y = Splat(x), Splat(y)
	}
	return &ir.Select{C: c, A: x, B: y}
}

// Given is the value of e where c has been asked for and holds.
func (b *Builder) Given(e, c expr.Expr) ir.Expr { return b.side(e, b.prover().Given(c, true)) }

// prover knows what holds wherever the kernel runs: in SIMT targets the axes that its grid
// goes along have positions, since an empty grid is not launched.
func (b *Builder) prover() *expr.Prover {
	p := b.Plan.Prover()
	if !b.Func.SIMT {
		return p
	}
	for _, a := range b.Kernel.Par {
		some := &expr.Binary{Node: expr.Node{K: expr.Bool}, Op: expr.Gt, X: &expr.Size{Node: intNode(), A: a}, Y: &expr.Const{Node: intNode()}}
		p = p.Given(some, true)
	}
	return p
}

// side is the value of one side of a choice, where what p knows holds. In SIMT targets no
// more than one side is computed: a read that is computed in it, and nowhere else, does not
// ask for what the choice has asked for.
func (b *Builder) side(e expr.Expr, p *expr.Prover) ir.Expr {
	id := b.ids.id(e)
	elsewhere := b.ids.uses[id] > 1 || b.ids.names[id] != "" || b.atHand(id) != nil || b.home(e) < len(b.scopes)-1
	if !b.Func.SIMT || elsewhere {
		return b.Value(e)
	}
	switch e := e.(type) {
	case *expr.Where:
		return b.where(e, p)
	case *expr.Read:
		if e.T.Bounds == nil { // what has bounds is checked before the choice
			return b.read(e, p)
		}
	}
	return b.Value(e)
}

func (b *Builder) call(e *expr.Call) ir.Expr {
	if e.Fn == expr.FnPhilox {
		return b.philox(e)
	}
	args := make([]ir.Expr, len(e.Args))
	vec := false
	for i, a := range e.Args {
		args[i] = b.Value(a)
		vec = vec || args[i].Type().Vec
	}
	if vec {
		for i := range args {
			args[i] = Splat(args[i])
		}
	}
	t := args[0].Type()
	switch {
	case e.K == expr.Bool:
		t.Elem = ir.Bool
	case e.K == expr.Float:
		t.Elem = ir.F32
	}
	return &ir.Call{Fn: e.Fn, Args: args, T: t, Rough: b.rough}
}

// flat is the position in a tensor as a counter; along the lanes it must rise by
// one.
func (b *Builder) flat(e *expr.Flat) ir.Expr {
	var at ir.Load
	b.place(&at, e.T, ownIndex(e.T.Axes))
	base := &ir.Conv{T: ir.Scalar(ir.U64), X: at.Off}
	if !at.Vec {
		return base
	}
	if at.Stride != nil {
		b.fail(ErrVector)
	}
	return &ir.Run{Base: base}
}

// counter is arithmetic on U64 values, of which only sums with a scalar exist
// for several lanes.
func (b *Builder) counter(e *expr.Binary) ir.Expr {
	x, y := b.Value(e.X), b.Value(e.Y)
	op := binaryOps[e.Op]
	if _, run := y.(*ir.Run); run && op == ir.Add {
		x, y = y, x
	}
	r, run := x.(*ir.Run)
	if !run {
		return &ir.Bin{Op: op, X: x, Y: y}
	}
	if op != ir.Add || y.Type().Vec {
		b.fail(ErrVector)
		return x
	}
	return &ir.Run{Base: &ir.Bin{Op: op, X: r.Base, Y: y}}
}

// philox draws one number for each counter, by one key.
func (b *Builder) philox(e *expr.Call) ir.Expr {
	seed, counter := b.Value(e.Args[0]), b.Value(e.Args[1])
	t := ir.Type{Elem: ir.U32, Vec: counter.Type().Vec}
	if seed.Type().Vec {
		b.fail(ErrVector)
	}
	return &ir.Call{Fn: e.Fn, Args: []ir.Expr{seed, counter}, T: t}
}

func convert(e *expr.Convert, x ir.Expr) ir.Expr {
	from := x.Type()
	to := ir.Type{Vec: from.Vec}
	switch e.K {
	case expr.Float:
		to.Elem = ir.F32
	case expr.Bool:
		to.Elem = ir.Bool
	case expr.Uint:
		to.Elem = ir.U32
	case expr.Uint64:
		to.Elem = ir.U64
	default:
		to.Elem = ir.I64
		if to.Vec {
			to.Elem = ir.I32
		}
	}
	round := e.Round
	if round != expr.F16 && round != expr.BF16 {
		round = expr.InvalidDType
	}
	if from == to && round == expr.InvalidDType {
		return x
	}
	if from.Elem == ir.Bool {
		return boolTo(x, to)
	}
	return &ir.Conv{T: to, X: x, Round: round}
}

// boolTo is 1 or 0 of type t.
func boolTo(x ir.Expr, t ir.Type) ir.Expr {
	lit := func(n int64) ir.Expr {
		l := &ir.Lit{T: ir.Scalar(t.Elem), I: n, F: float64(n)}
		if t.Vec {
			return &ir.Conv{T: t, X: l}
		}
		return l
	}
	return &ir.Select{C: x, A: lit(1), B: lit(0)}
}

// SplatLike is x, as a vector if y is one.
func SplatLike(x, y ir.Expr) ir.Expr {
	if y.Type().Vec {
		return Splat(x)
	}
	return x
}

// Count is how many lanes of the current vector count, nil for all.
func (b *Builder) Count() ir.Expr {
	if s := b.lanes(); s != nil {
		return s.n
	}
	return nil
}
