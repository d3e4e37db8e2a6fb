package simt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

const (
	simdWidth = 32 // threads in a SIMD group
	// maxShared is the shared memory that every target has for a group.
	maxShared = 32 << 10
)

// MaxExtent is the largest number of elements that a tensor, or the product of
// the axes of a grid's dimension, may have where index arithmetic is 32 bits wide: a
// group's threads look up to a run beyond the end. Beyond it the host takes 64 bits.
const MaxExtent = 1<<31 - 1<<20

// Kernel is a lowered kernel: its function and how it is launched.
type Kernel struct {
	Func *ir.Func
	// Grid has the threadgroups in at most three dimensions, fastest first: one
	// group for each tile of a dimension. No dimension means one group.
	Grid    []Dim
	Threads int // in each group, at most
	// A group has as many threads, a multiple of 32 and at most Threads, as give each
	// PerThread elements of the product of the Row axes; all of them where there is no
	// Row.
	PerThread int64
	Row       []*expr.Axis
	// Where the wide form can run, which is launched as the other one is.
	Aligned  []*expr.Tensor // whose memory must begin at a multiple of 16 bytes
	Multiple []Dim          // products of axes that must be multiples
	// Small is another form of the kernel, with smaller tiles, for results that would
	// be few large ones. Its function is named after it; nil if there is none.
	Small *Kernel
}

// SmallForm is what the name of a small form ends with.
const SmallForm = "_small"

// Dim is the product of some axes, cut into tiles.
type Dim struct {
	Axes []*expr.Axis
	Tile int64
}

// lowering is the state of lowering one kernel.
type lowering struct {
	*lower.Builder
	k     *plan.Kernel
	out   *Kernel
	small bool // the form with small tiles
	plain bool // for hardware whose matrix units do not multiply f32
	units bool // matrix units multiply f32
	// ordered says that the barriers of folds also keep reads of memory before them from
	// writes behind them.
	ordered bool
}

// WideSuffix ends the symbol of a kernel's wide form.
const WideSuffix = "_wide"

// Lower lowers kernel k of p. The block is shared with the kernel's other forms;
// its layout comes afterwards.
func Lower(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block) (*Kernel, error) {
	if k.Shape != plan.Contract {
		return newLowering(p, k, symbol, block).lower(false)
	}
	out, err := lowerProduct(p, k, symbol, block, false)
	if err != nil {
		return nil, err
	}
	out.Small, err = LowerSmall(p, k, symbol+SmallForm, block)
	return out, err
}

// lowerProduct lowers a matrix product with large or small tiles, with its plain form
// where it multiplies blocks of f32.
func lowerProduct(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block, small bool) (*Kernel, error) {
	l := newLowering(p, k, symbol, block)
	l.small = small
	out, err := l.lower(false)
	if err != nil || !l.units {
		return out, err
	}
	l = newLowering(p, k, symbol, block)
	l.small, l.plain = small, true
	plain, err := l.lower(false)
	if err != nil {
		return nil, err
	}
	out.Func.Plain = plain.Func
	return out, nil
}

// LowerSmall lowers the form of a matrix product that has small tiles.
func LowerSmall(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block) (*Kernel, error) {
	return lowerProduct(p, k, symbol, block, true)
}

// LowerWide lowers the wide form of kernel k, nil if it has none: where the memory of
// some tensors begins at a multiple of 16 bytes and some extents are multiples of a
// run, threads read and write runs of elements at once.
func LowerWide(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block) (*Kernel, error) {
	if k.Shape != plan.Map && (k.Shape != plan.Rows || len(k.Red) == 0) {
		return nil, nil
	}
	out, err := newLowering(p, k, symbol+WideSuffix, block).lower(true)
	if err != nil || len(out.Aligned) == 0 {
		return nil, err
	}
	return out, nil
}

func newLowering(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block) *lowering {
	f := &ir.Func{Symbol: symbol, SIMT: true}
	return &lowering{Builder: lower.New(p, k, f, block), k: k, out: &Kernel{Func: f}}
}

func (l *lowering) lower(wide bool) (*Kernel, error) {
	switch l.k.Shape {
	case plan.Map:
		l.mapKernel(wide)
	case plan.Rows:
		l.rows(wide)
	case plan.Partial:
		l.partial()
	case plan.Cols:
		l.cols()
	case plan.Contract:
		l.contract()
	case plan.Scatter:
		l.scatter()
	}
	return l.finish()
}

// finish checks the lowered kernel and gives its variables their names.
func (l *lowering) finish() (*Kernel, error) {
	f := l.out.Func
	if err := l.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Symbol, err)
	}
	if n := sharedBytes(f); n > maxShared {
		return nil, fmt.Errorf("%s: needs %d bytes of shared memory, a group has %d: split the steps over two specs", f.Symbol, n, maxShared)
	}
	f.Relax()
	prune(f)
	rename(f)
	l.out.Threads = f.Threads
	return l.out, nil
}

func sharedBytes(f *ir.Func) int64 {
	n := int64(0)
	for _, a := range f.Arrays {
		if !a.Private {
			n += a.Len * elemBytes(a.Type)
		}
	}
	return n
}

// elemBytes is the size of an element of an array.
func elemBytes(e ir.Elem) int64 {
	if e == ir.F16 || e == ir.BF16 {
		return 2
	}
	return 4
}

// shared adds an array that the group shares.
func (l *lowering) shared(name string, t ir.Elem, n int64) *ir.Array {
	a := &ir.Array{Name: l.Var(name, ir.Scalar(t)).Name, Type: t, Len: n}
	l.out.Func.Arrays = append(l.out.Func.Arrays, a)
	return a
}

// private adds an array of which each thread has its own.
func (l *lowering) private(name string, n int64) *ir.Array {
	a := l.shared(name, ir.F32, n)
	a.Private = true
	return a
}

// here is a position of the running thread, under a name.
func (l *lowering) here(id ir.ID, name string) ir.Expr {
	return l.Name(name, &ir.Here{ID: id})
}

// extent is the product of the axes' extents, under a name.
func (l *lowering) extent(name string, axes []*expr.Axis) ir.Expr {
	n := lower.Int(1)
	for _, a := range axes {
		n = lower.MulI(n, l.Size(a))
	}
	if len(axes) < 2 {
		return n
	}
	return l.Name(name, n)
}

// bind gives each of axes its position in their row-major product.
func (l *lowering) bind(axes []*expr.Axis, at ir.Expr) {
	for i := len(axes) - 1; i > 0; i-- {
		at = l.Name("at", at)
		l.Bind(axes[i], l.Name(axisName(axes[i]), lower.RemI(at, l.Size(axes[i]))))
		at = lower.DivI(at, l.Size(axes[i]))
	}
	if len(axes) > 0 {
		l.Bind(axes[0], l.Name(axisName(axes[0]), at))
	}
}

// axisName is what the position along a is called in the output.
func axisName(a *expr.Axis) string { return strings.ToLower(a.Name) }

// posName is what the position in the product of axes is called.
func posName(axes []*expr.Axis) string {
	if len(axes) == 1 {
		return axisName(axes[0])
	}
	return "at"
}

// loop runs body for v = from, from+step, … below to.
func (l *lowering) loop(name string, from, to, step ir.Expr, body func(v ir.Expr)) {
	l.emitLoop(&ir.For{V: l.Var(name, ir.Scalar(ir.I64)), From: from, To: to, Step: step}, body)
}

// unrolled runs body for v = 0 … n-1, unrolled.
func (l *lowering) unrolled(name string, n int64, body func(v ir.Expr)) {
	f := &ir.For{V: l.Var(name, ir.Scalar(ir.I64)), From: lower.Int(0), To: lower.Int(n), Step: lower.Int(1), Unroll: true}
	l.emitLoop(f, body)
}

func (l *lowering) emitLoop(f *ir.For, body func(v ir.Expr)) {
	l.In(&f.Body, func() { body(lower.RefTo(f.V)) })
	l.Emit(f)
}

// when runs body where c holds.
func (l *lowering) when(c ir.Expr, body func()) {
	s := &ir.If{C: c}
	l.Guarded(&s.Then, body)
	l.Emit(s)
}

// stores writes what the given stores compute. Each sees the old value of an
// inout, so where there is one all values are there before the first is written.
func (l *lowering) stores(ss []*plan.Store) {
	inout := slices.ContainsFunc(ss, func(s *plan.Store) bool { return s.T.Role == expr.InOut })
	values := make([]ir.Expr, len(ss))
	for i, s := range ss {
		values[i] = l.Value(s.Expr)
		if inout && len(ss) > 1 {
			values[i] = l.Name(s.T.Name+"_new", values[i])
		}
	}
	for i, s := range ss {
		l.Store(s.T, values[i])
	}
}

// times is x * n, folded where x is constant.
func times(x ir.Expr, n int64) ir.Expr {
	if lit, ok := x.(*ir.Lit); ok {
		return lower.Int(lit.I * n)
	}
	return lower.MulI(x, lower.Int(n))
}

func bin(op ir.Op, x, y ir.Expr) ir.Expr { return &ir.Bin{Op: op, X: x, Y: y} }

func and(x, y ir.Expr) ir.Expr { return bin(ir.And, x, y) }

func less(x, y ir.Expr) ir.Expr { return bin(ir.Lt, x, y) }
