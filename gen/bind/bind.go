package bind

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/lower/simt"
)

// Op is one spec, or one derived gradient, for one combination of its static
// choices: everything that generated host code tells the runtime about it. It
// mirrors the runtime's Op with symbols as strings and extents as expressions.
//
// Axes, inputs, outputs and parameters are named by their position in the
// slices here. The variants of an Op differ in their storage types only.
type Op struct {
	Name     string // spec name: "matmul"
	Static   string // the static choices, joined: "nt"; "" when there are none
	Hash     uint64 // of the spec and of the specs that it inlines
	Axes     []Axis // the program's axes in their order, then those of the planner
	Ins      []Arg  // inputs and inouts in call order
	Outs     []Arg  // outputs; an inout is not repeated
	Params   []Param
	Require  []Require
	Variants []Variant
}

// Axis is a named axis of an Op. Its extent comes from the input shapes unless
// one of Free, Extent or Chunk says otherwise.
type Axis struct {
	Name  string
	Group bool
	Free  bool // the caller gives it
	// Extent is an Int expression over params and the sizes of earlier axes;
	// those are found by name, since each variant has its own program.
	Extent expr.Expr
	// ChunkOf and Chunk make the axis ceil(product of ChunkOf / Chunk), or on a GPU, of
	// Blocks, any number.
	ChunkOf []uint8
	Chunk   int64
	Blocks  bool
}

// Dim is one dimension of a declared shape: the product of the named axes, or
// all dimensions of one group axis.
type Dim []uint8

// Arg is a tensor argument of an Op.
type Arg struct {
	Name  string
	Shape []Dim // empty for a device scalar
	InOut bool
	Lazy  bool // an output that is stored only where the program reads it
}

// Param is a scalar argument of an Op.
type Param struct {
	Name string
	Type expr.ParamType
}

// Require is a condition on the arguments, checked when the op is recorded.
type Require struct {
	Cond expr.Expr // Bool, over params and sizes
	Text string
}

// Variant is an Op for one binding of its type variables.
type Variant struct {
	Program *expr.Program
	Ins     []expr.DType // storage type of each input
	Outs    []expr.DType
	Temps   []Temp   // workspace between the kernels
	Kernels []Kernel // in order; empty when no target lowers the program
	Reshape uint8    // one more than the input whose elements the only output holds in their order; 0: it does not
}

// Temp is a workspace tensor of a Variant.
type Temp struct {
	Type expr.DType
	Axes []uint8
}

// Kernel is one launch of a Variant.
type Kernel struct {
	Symbol string // MSL entry point
	C      string // symbol of its C function, which may be that of an equal kernel; "" without one
	// Buffers lists the tensors in slot order. Index i < len(Ins) is input i;
	// then come the outputs, then the temps.
	Buffers []Buffer
	Block   []Field // layout of the parameter block
	// BlockBytes is the size of the block, a multiple of 8.
	BlockBytes int
	CPU        CPULaunch
	GPU        GPULaunch
	Wide       *WideForm      // nil without one
	Split      *SplitForm     // nil without one
	Flops      []Term         // float operations: the sum of the terms
	Product    *MatrixProduct // what a library may do in its place, nil for other kernels
	// Guarded kernels write an inout: once the program's fault word is set
	// they do nothing.
	Guarded bool
	// Faults says that the kernel may find a value out of bounds, and set the
	// fault word.
	Faults bool
}

// Buffer is a tensor bound to a slot.
type Buffer struct {
	Tensor uint8
	Write  bool
	// InPlace holds the slots of inputs in whose memory the C function may
	// compute it.
	InPlace []uint8
}

// Field is a member of the parameter block: the product of axis extents as an
// int64, a parameter in its own type (bool as int32), or an int32 that is 1 where
// a lazy output has memory.
type Field struct {
	Offset int
	Size   []uint8 // axes; nil for the others
	Param  uint8
	Wanted uint8 // the output's number, as in Buffer; 0 for the others
}

// CPULaunch gives the independent work items of a kernel: the product over
// Grid of ceil(extent/Tile).
type CPULaunch struct {
	Grid []GridDim
	// An item costs about CostPer times the product of the Cost axes, in
	// nanoseconds per thousand.
	Cost    []uint8
	CostPer int64
	Scratch int64 // bytes of scratch memory each worker needs
}

// Term is Coef times the product of the extents of Axes.
type Term struct {
	Coef int64
	Axes []uint8
}

// GridDim is the product of some axes, cut into tiles.
type GridDim struct {
	Axes []uint8
	Tile int64
}

// GPULaunch gives the grid of threadgroups (one per tile of each dimension)
// and the threads of a group.
type GPULaunch struct {
	Grid    []GridDim // at most three, fastest first
	Threads int       // at most
	// Row is the product of some axes of which each thread of a group gets Tile at
	// most, as far as Threads go: a group has a multiple of 32 threads. Without axes it
	// has all of them.
	Row GridDim
	// Small is the launch of another form of the kernel, with smaller tiles, whose
	// name is the kernel's with SmallForm behind it; nil if there is none.
	Small *GPULaunch
}

// ThreadsFor is how many threads a group has, for the extents of an op's axes.
func (g *GPULaunch) ThreadsFor(extent []int64) int {
	if len(g.Row.Axes) == 0 {
		return g.Threads
	}
	n := (Product(extent, g.Row.Axes) + g.Row.Tile*32 - 1) / (g.Row.Tile * 32) * 32
	return int(min(max(n, 32), int64(g.Threads)))
}

// WideForm is a second function of a kernel, launched as the first, and says where it
// can be.
type WideForm struct {
	Symbol   string
	Aligned  []uint8   // slots of buffers that must begin at a multiple of 16 bytes
	Multiple []GridDim // products of axes that must be multiples of Tile
}

// Fits reports whether the extents of an op's axes allow the wide form.
func (w *WideForm) Fits(extent []int64) bool {
	return !slices.ContainsFunc(w.Multiple, func(d GridDim) bool { return Product(extent, d.Axes)%d.Tile != 0 })
}

// SmallForm is what the name of a form with smaller tiles ends with.
const SmallForm = simt.SmallForm

// Groups is the grid for the extents of an op's axes.
func (g *GPULaunch) Groups(extent []int64) [3]int64 {
	n := [3]int64{1, 1, 1}
	for i, d := range g.Grid {
		n[i] = (Product(extent, d.Axes) + d.Tile - 1) / d.Tile
	}
	return n
}

// Form returns the launch for the extents of an op's axes, and what the name of its
// form ends with. It chooses as the runtime does: a large tile takes the time of three
// small ones, and the processors of a large card work on one tile at a time.
func (g *GPULaunch) Form(extent []int64) (*GPULaunch, string) {
	if g.Small == nil {
		return g, ""
	}
	rounds := func(g *GPULaunch) int64 {
		n := g.Groups(extent)
		return (n[0]*n[1]*n[2] + processors - 1) / processors
	}
	if rounds(g.Small) < 3*rounds(g) {
		return g.Small, SmallForm
	}
	return g, ""
}

const processors = 128
