package plan

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// Split is a matrix product in two kernels, for a result of few tiles and a long sum:
// groups that each add up a part of the depth keep more of a GPU busy than tiles alone.
type Split struct {
	Axis  *expr.Axis   // counts the parts; the host chooses how many there are
	Sums  *expr.Tensor // workspace of f32: what each part adds up to
	Parts *Kernel      // leaves Sums
	Join  *Kernel      // adds them up in the order of the parts, and stores what follows the product
}

// Split returns the two kernels that do together what the matrix product k does.
func (k *Kernel) Split() *Split {
	p := *k.Prod
	axis := &expr.Axis{Name: k.Red[0].Name + "_parts", Pos: k.Red[0].Pos}
	parts := []*expr.Axis{axis}
	p.Batch = concat(parts, p.Batch)
	sums := &expr.Tensor{Name: p.Acc.Name + "_parts", Role: expr.Let, Type: expr.F32, Pos: p.Acc.Pos, Axes: concat(parts, k.Par)}
	return &Split{
		Axis: axis, Sums: sums,
		Parts: &Kernel{
			Shape: Contract, Par: sums.Axes, Red: k.Red, Chunk: &Chunk{Axis: axis, Of: k.Red},
			Prod: &p, Stores: []*Store{{T: sums, Expr: read(p.Acc)}},
		},
		Join: &Kernel{
			Shape: Cols, Par: k.Par, Red: parts,
			Stages: []*Stage{{Let: p.Acc, Reduce: expr.Sum, Expr: read(sums)}}, Stores: k.Stores,
		},
	}
}

// WithSplit is the plan as the kernels of s see it, with its axis and its workspace
// after all others.
func (p *Plan) WithSplit(s *Split) *Plan {
	with := *p
	with.Chunks = append(slices.Clone(p.Chunks), s.Parts.Chunk)
	with.Temps = append(slices.Clone(p.Temps), s.Sums)
	return &with
}
