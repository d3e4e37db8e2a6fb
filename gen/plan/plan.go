package plan

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// Shape is the form of a kernel, by which it is lowered.
type Shape uint8

// The shapes.
const (
	// Map computes each element of its outputs on its own.
	Map Shape = iota
	// Rows reduces along the innermost axes of its operands, then computes
	// elementwise along the same row.
	Rows
	// Cols reduces along outer axes; neighbouring results lie side by side.
	Cols
	// Partial reduces fixed chunks of the whole index space, one result each.
	Partial
	// Contract is a sum of products over shared axes: a matrix product.
	Contract
	// Scatter adds rows to places named by an id.
	Scatter
)

var shapeNames = [...]string{"map", "rows", "cols", "reduce", "matmul", "scatter"}

func (s Shape) String() string { return shapeNames[s] }

// ChunkSize is the number of elements that one item of a Partial kernel
// reduces. It is fixed, so that the result does not depend on the number of
// workers.
const ChunkSize = 16384

// Plan is the kernel sequence of one Program.
type Plan struct {
	Program *expr.Program
	Kernels []*Kernel
	Temps   []*expr.Tensor // workspaces between the kernels, Role Let
	// Chunks are the axes that the plan adds: the chunks of a full reduction and
	// the blocks of rows whose columns are summed.
	Chunks []*Chunk
	// Names are the lets that were inlined, for naming values in the output.
	Names []Named

	prover *expr.Prover
}

// Prover decides conditions by what the host guarantees for the program.
func (p *Plan) Prover() *expr.Prover {
	if p.prover == nil {
		p.prover = expr.NewProver(p.Program)
	}
	return p.prover
}

// Named is the expression that a let of the spec stood for.
type Named struct {
	Name string
	Expr expr.Expr
}

// Chunk is an axis that counts the chunks of Size positions of other axes. On a GPU Blocks
// of rows have the size that the host gives them, by their number.
type Chunk struct {
	Axis   *expr.Axis
	Of     []*expr.Axis
	Size   int64
	Blocks bool
}

// Kernel is one launch.
type Kernel struct {
	Shape Shape
	Par   []*expr.Axis // result axes: one work item, or element, for each index
	Red   []*expr.Axis // reduced axes, innermost last
	// Stages are the reductions in order; each sees the results of those before
	// it as reads of their tensors.
	Stages []*Stage
	Stores []*Store
	// Sums are added up along the rows of a block, by a Rows kernel: each result
	// is a workspace of one row for each of the Chunk's blocks.
	Sums  []*Stage
	Chunk *Chunk     // of a Partial, and of Sums
	Prod  *Product   // of a Contract
	Place *ScatterOp // of a Scatter
}

// Stage reduces Expr over the kernel's Red axes.
type Stage struct {
	Let    *expr.Tensor
	Reduce expr.ReduceOp
	Expr   expr.Expr
}

// Store computes the elements of T, over T's axes.
type Store struct {
	T    *expr.Tensor
	Expr expr.Expr
	Lazy bool // only where something after the plan reads T
}

// lazyStores marks the stores of lazy outputs that no kernel of the plan reads.
func (b *builder) lazyStores() {
	for _, k := range b.plan.Kernels {
		for _, s := range k.Stores {
			s.Lazy = s.T.Lazy && !slices.ContainsFunc(b.plan.Kernels, func(k *Kernel) bool { return slices.Contains(k.Reads(), s.T) })
		}
	}
}

// Lazy reports whether k stores t only where something after the plan reads it.
func (k *Kernel) Lazy(t *expr.Tensor) bool {
	return slices.ContainsFunc(k.Stores, func(s *Store) bool { return s.T == t && s.Lazy })
}

// Product is Acc[Batch, M, N] = sum over K (the kernel's Red) of A·B. A does
// not vary over N, nor B over M.
type Product struct {
	Acc         *expr.Tensor
	A, B        expr.Expr
	Batch, M, N []*expr.Axis
}

// ScatterOp adds Value, over the kernel's Red axes and the axes of Acc but Axis,
// at the position ID along Axis, where Cond (if any) holds.
type ScatterOp struct {
	Acc   *expr.Tensor
	Axis  *expr.Axis
	ID    expr.Expr
	Cond  expr.Expr
	Value expr.Expr
}

// Local reports whether t is computed by k itself, not read from memory.
func (k *Kernel) Local(t *expr.Tensor) bool {
	for _, s := range k.Stages {
		if s.Let == t {
			return true
		}
	}
	return k.Prod != nil && k.Prod.Acc == t
}

// Exprs returns every expression that k evaluates.
func (k *Kernel) Exprs() []expr.Expr {
	var es []expr.Expr
	for _, s := range k.Stages {
		es = append(es, s.Expr)
	}
	if p := k.Prod; p != nil {
		es = append(es, p.A, p.B)
	}
	for _, s := range k.Sums {
		es = append(es, s.Expr)
	}
	if s := k.Place; s != nil {
		es = append(es, s.ID, s.Value)
		if s.Cond != nil {
			es = append(es, s.Cond)
		}
	}
	for _, s := range k.Stores {
		es = append(es, s.Expr)
	}
	return es
}

// Reads returns the tensors that k loads from memory, in the order of use.
func (k *Kernel) Reads() []*expr.Tensor {
	var ts []*expr.Tensor
	for _, e := range k.Exprs() {
		for _, t := range expr.Reads(e) {
			if !k.Local(t) && !slices.Contains(ts, t) {
				ts = append(ts, t)
			}
		}
	}
	return ts
}

// Writes returns the tensors that k stores.
func (k *Kernel) Writes() []*expr.Tensor {
	var ts []*expr.Tensor
	if k.Place != nil {
		ts = append(ts, k.Place.Acc)
	}
	for _, s := range k.Sums {
		ts = append(ts, s.Let)
	}
	for _, s := range k.Stores {
		ts = append(ts, s.T)
	}
	return ts
}

// RowStores parts the stores of a row program: those of one value for each row,
// and those of one for each element.
func (k *Kernel) RowStores() (perRow, perElement []*Store) {
	for _, s := range k.Stores {
		if len(s.T.Axes) > len(k.Par) {
			perElement = append(perElement, s)
		} else {
			perRow = append(perRow, s)
		}
	}
	return perRow, perElement
}

// New plans p. The error says which step has no kernel shape.
func New(p *expr.Program) (*Plan, error) {
	b, err := place(p, p.Steps)
	if err == nil && b.readsOverwritten() {
		b, err = place(p, inOutsLast(p))
	}
	if err != nil {
		return nil, err
	}
	if b.readsOverwritten() {
		return nil, fmt.Errorf("%s: %w", p.Name, errOverwritten)
	}
	b.joinColumns()
	b.splitColumns()
	b.lazyStores()
	if p.Family != "" && !b.hasFamily(p.Family) {
		return nil, fmt.Errorf("%s: family is pinned to %q, but the kernels are %s", p.Name, p.Family, b.shapes())
	}
	return b.plan, nil
}
