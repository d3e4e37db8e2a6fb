package bind

import (
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/simt"
	"github.com/kernelgen/kgen/gen/plan"
)

// SplitForm is a matrix product in two launches on a GPU. Parts gives each of several
// groups a part of the depth and leaves their sums in a workspace; Join adds those up in
// the order of the parts, and computes what follows the product. Both number one axis
// and one tensor more than the op and the variant have: the axis counts the parts, the
// tensor is the workspace.
type SplitForm struct {
	Depth       []uint8 // axes
	Sums        []uint8 // axes of the workspace, which is of f32; the first counts the parts
	Parts, Join Kernel
}

// What the names of the functions of a split form end with.
const (
	partsForm = "_parts"
	joinForm  = "_join"
)

// leastPart and fewestParts bound the parts of a depth: shorter parts, or fewer, save
// less than the second launch and the workspace cost.
const (
	leastPart   = 256
	fewestParts = 4
)

// PartsFor is how many parts the depth of a kernel is cut into for the extents of an
// op's axes, 1 where it is not split. It chooses as the runtime does: as many parts as
// give each processor of a large card two small tiles.
func (k *Kernel) PartsFor(extent []int64) int64 {
	if k.Split == nil {
		return 1
	}
	n := k.GPU.Small.Groups(extent)
	tiles := n[0] * n[1] * n[2]
	if tiles == 0 {
		return 1
	}
	parts := min(2*processors/tiles, Product(extent, k.Split.Depth)/leastPart)
	if parts < fewestParts {
		return 1
	}
	return parts
}

// Functions lists the symbols of the GPU functions of a kernel.
func (k *Kernel) Functions() []string {
	list := k.forms()
	if k.Split != nil {
		list = append(list, k.Split.Parts.Symbol, k.Split.Join.Symbol)
	}
	return list
}

// forms lists the symbols of the GPU functions that are launched as the kernel is, in
// the order of Result.MSL.
func (k *Kernel) forms() []string {
	list := []string{k.Symbol}
	if k.GPU.Small != nil {
		list = append(list, k.Symbol+SmallForm)
	}
	if k.Wide != nil {
		list = append(list, k.Wide.Symbol)
	}
	return list
}

// split lowers the split form of a matrix product.
func (r *Result) split(pl *plan.Plan, k *plan.Kernel, sym string) *SplitForm {
	s := k.Split()
	with := pl.WithSplit(s)
	x := newIndex(with)
	out := &SplitForm{Depth: x.of(k.Red), Sums: x.of(s.Sums.Axes)}
	out.Parts = r.gpuOnly(with, s.Parts, sym+partsForm, simt.LowerSmall)
	out.Join = r.gpuOnly(with, s.Join, sym+joinForm, simt.Lower)
	return out
}

// gpuOnly lowers a kernel that has no C form, by the given function.
func (r *Result) gpuOnly(pl *plan.Plan, k *plan.Kernel, sym string, by func(*plan.Plan, *plan.Kernel, string, *lower.Block) (*simt.Kernel, error)) Kernel {
	out := Kernel{Symbol: sym}
	block := &lower.Block{}
	sk, err := by(pl, k, sym, block)
	if err != nil {
		r.unlowered(MSL, err)
		return out
	}
	x := newIndex(pl)
	f := sk.Func
	complete(f, block.Layout(), describe(k))
	out.Guarded, out.Faults, out.GPU = f.Guarded, faults(f), gpuLaunch(x, sk)
	out.Block, out.BlockBytes = blockOf(x, pl, block), block.Bytes
	for i, t := range lower.Tensors(k) {
		n := x.tensor(pl, t)
		number(f, i, n)
		out.Buffers = append(out.Buffers, Buffer{Tensor: n, Write: f.Buffers[i].Write})
	}
	r.MSL = append(r.MSL, f)
	return out
}
