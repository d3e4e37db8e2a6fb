package lower

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/plan"
)

// ErrVector says that an expression cannot be evaluated for several lanes at
// once; the caller lowers the kernel again without a vector axis.
var ErrVector = errors.New("lower: expression does not vectorise")

// Builder makes the body of one kernel. Values are asked for in the innermost
// scope and land in the outermost one that has everything they depend on.
type Builder struct {
	Func   *ir.Func
	Plan   *plan.Plan
	Kernel *plan.Kernel
	Block  *Block

	scopes []*scope
	ids    *interner
	bufs   map[*expr.Tensor]*ir.Buffer
	names  map[string]int
	units  []*expr.Axis
	rough  bool // of what is computed now the last bits do not count
	err    error
}

// scope is a block of statements with the axes and values that it binds.
type scope struct {
	body  *[]ir.Stmt
	index map[*expr.Axis]ir.Expr
	lanes *expr.Axis // the axis of which this scope holds several positions
	base  *expr.Axis // stands for the first of them
	n     ir.Expr    // how many, nil for a full vector
	local map[*expr.Tensor]ir.Expr
	memo  map[int]ir.Expr
	level map[int]int
	guard bool // runs under a condition: what the scope around it would hold stays inside
}

// New starts the kernel k of p. The buffers are k's tensors in slot order:
// those it reads, then those it only writes. The block is shared by all forms of
// the kernel.
func New(p *plan.Plan, k *plan.Kernel, f *ir.Func, block *Block) *Builder {
	b := &Builder{
		Func: f, Plan: p, Kernel: k, Block: block,
		ids:   newInterner(),
		bufs:  map[*expr.Tensor]*ir.Buffer{},
		names: map[string]int{},
	}
	writes := k.Writes()
	for _, t := range Tensors(k) {
		buf := &ir.Buffer{Name: t.Name, Slot: len(f.Buffers), Type: t.Type, Write: slices.Contains(writes, t)}
		b.names[t.Name]++
		b.bufs[t] = buf
		f.Buffers = append(f.Buffers, buf)
		f.Guarded = f.Guarded || buf.Write && t.Role == expr.InOut
	}
	for _, e := range k.Exprs() {
		b.ids.count(e)
	}
	for _, n := range p.Names {
		b.ids.name(n.Expr, n.Name)
	}
	b.scopes = []*scope{newScope(&f.Body)}
	return b
}

// Tensors returns the tensors of k in slot order.
func Tensors(k *plan.Kernel) []*expr.Tensor {
	ts := k.Reads()
	for _, t := range k.Writes() {
		if !slices.Contains(ts, t) {
			ts = append(ts, t)
		}
	}
	return ts
}

func newScope(body *[]ir.Stmt) *scope {
	return &scope{
		body:  body,
		index: map[*expr.Axis]ir.Expr{},
		local: map[*expr.Tensor]ir.Expr{},
		memo:  map[int]ir.Expr{},
		level: map[int]int{},
	}
}

// Err returns the first error met.
func (b *Builder) Err() error { return b.err }

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Unit runs f where the extent of a is known to be one.
func (b *Builder) Unit(a *expr.Axis, f func()) {
	b.units = append(b.units, a)
	f()
	b.units = b.units[:len(b.units)-1]
}

// Rough runs f, in which the last bits of what functions give do not count.
func (b *Builder) Rough(f func()) {
	was := b.rough
	b.rough = true
	f()
	b.rough = was
}

// Emit appends statements to the innermost scope.
func (b *Builder) Emit(s ...ir.Stmt) {
	top := b.scopes[len(b.scopes)-1]
	*top.body = append(*top.body, s...)
}

// In runs f with body as the innermost scope.
func (b *Builder) In(body *[]ir.Stmt, f func()) {
	b.scopes = append(b.scopes, newScope(body))
	f()
	b.scopes = b.scopes[:len(b.scopes)-1]
}

// Guarded runs f with body as an innermost scope that runs under a condition:
// what it needs alone is computed inside.
func (b *Builder) Guarded(body *[]ir.Stmt, f func()) {
	b.In(body, func() {
		b.scopes[len(b.scopes)-1].guard = true
		f()
	})
}

// Bind gives the position along an axis in the innermost scope.
func (b *Builder) Bind(a *expr.Axis, x ir.Expr) {
	b.scopes[len(b.scopes)-1].index[a] = x
}

// BindLanes makes the innermost scope hold the positions first, first+1, … of
// an axis: n of them, or a full vector when n is nil.
func (b *Builder) BindLanes(a *expr.Axis, first, n ir.Expr) {
	top := b.scopes[len(b.scopes)-1]
	top.lanes, top.n = a, n
	top.base = &expr.Axis{Name: a.Name + "'"}
	top.index[top.base] = first
}

// LanesAt is the position of the first of the lanes at hand.
func (b *Builder) LanesAt() ir.Expr {
	s := b.lanes()
	return s.index[s.base]
}

// Known gives the value of e in the innermost scope, in which it is read again
// and again.
func (b *Builder) Known(e expr.Expr, x ir.Expr) {
	id := b.ids.id(e)
	name, named := b.ids.names[id]
	if !named {
		name = nameFor(e)
	}
	b.scopes[len(b.scopes)-1].memo[id] = b.Name(name, x)
}

// Number is the same for equal expressions.
func (b *Builder) Number(e expr.Expr) int { return b.ids.id(e) }

// Local gives the value of a tensor that the kernel computes itself.
func (b *Builder) Local(t *expr.Tensor, x ir.Expr) {
	b.scopes[len(b.scopes)-1].local[t] = x
}

// Var makes a fresh variable with a name like the given one.
func (b *Builder) Var(name string, t ir.Type) *ir.Var {
	return &ir.Var{Name: b.fresh(name), Type: t}
}

// Mut makes a fresh variable that is assigned more than once.
func (b *Builder) Mut(name string, t ir.Type) *ir.Var {
	v := b.Var(name, t)
	v.Mut = true
	return v
}

// Array makes an array with a name of its own, of n elements.
func (b *Builder) Array(name string, t ir.Elem, n int64) *ir.Array {
	a := &ir.Array{Name: b.fresh(name), Type: t, Len: n}
	b.Func.Arrays = append(b.Func.Arrays, a)
	return a
}

func (b *Builder) fresh(name string) string {
	unique := name
	for b.names[unique] > 0 {
		b.names[name]++
		unique = fmt.Sprintf("%s_%d", name, b.names[name])
	}
	b.names[unique]++
	return unique
}

// Buffer returns the buffer of t.
func (b *Builder) Buffer(t *expr.Tensor) *ir.Buffer { return b.bufs[t] }

// Int is an index constant.
func Int(n int64) ir.Expr { return &ir.Lit{T: ir.Scalar(ir.I64), I: n} }

// AddI, SubI, MulI, DivI, RemI, MinI and MaxI are index arithmetic; AddI and MulI
// drop the neutral element.
func AddI(x, y ir.Expr) ir.Expr {
	if isLit(x, 0) {
		return y
	}
	if isLit(y, 0) {
		return x
	}
	return &ir.Bin{Op: ir.Add, X: x, Y: y}
}

// SubI is x - y.
func SubI(x, y ir.Expr) ir.Expr { return &ir.Bin{Op: ir.Sub, X: x, Y: y} }

// MulI is x * y.
func MulI(x, y ir.Expr) ir.Expr {
	if isLit(x, 1) {
		return y
	}
	if isLit(y, 1) {
		return x
	}
	return &ir.Bin{Op: ir.Mul, X: x, Y: y}
}

// DivI is x / y for y > 0 and x >= 0.
func DivI(x, y ir.Expr) ir.Expr {
	if isLit(y, 1) {
		return x
	}
	return &ir.Bin{Op: ir.Quo, X: x, Y: y}
}

// RemI is x % y for y > 0 and x >= 0.
func RemI(x, y ir.Expr) ir.Expr { return &ir.Bin{Op: ir.Mod, X: x, Y: y} }

// MinI is the lesser of x and y.
func MinI(x, y ir.Expr) ir.Expr {
	return &ir.Select{C: &ir.Bin{Op: ir.Lt, X: x, Y: y}, A: x, B: y}
}

// MaxI is the greater of x and y.
func MaxI(x, y ir.Expr) ir.Expr {
	return &ir.Call{Fn: expr.FnMax, Args: []ir.Expr{x, y}, T: ir.Scalar(ir.I64)}
}

// CeilDiv is ceil(x / n).
func CeilDiv(x ir.Expr, n int64) ir.Expr {
	if n == 1 {
		return x
	}
	return DivI(AddI(x, Int(n-1)), Int(n))
}

func isLit(e ir.Expr, n int64) bool {
	l, ok := e.(*ir.Lit)
	return ok && l.T.Elem == ir.I64 && l.I == n
}

// RefTo is the value of v.
func RefTo(v *ir.Var) ir.Expr { return &ir.Ref{V: v} }

// Name declares a variable with the value x in the innermost scope, unless x is
// a name already.
func (b *Builder) Name(name string, x ir.Expr) ir.Expr {
	switch x.(type) {
	case *ir.Ref, *ir.Lit:
		return x
	}
	v := b.Var(name, x.Type())
	b.Emit(&ir.Decl{V: v, X: x})
	return RefTo(v)
}
