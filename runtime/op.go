package runtime

import (
	"sync/atomic"
	"unsafe"
)

// DType is the element type of a tensor.
type DType uint8

// The element types.
const (
	InvalidDType DType = iota
	F32
	F16
	BF16
	I32
	U8
)

// An Op describes one spec, or one derived gradient, as data: shapes over named
// axes, scalar parameters, and for each binding of its types and static choices
// the kernels that compute it on each backend. Ops are generated and immutable;
// generated functions hand them to a Batch, which is how this package runs code
// of any module without registration.
type Op struct {
	Name  string // spec name, as in errors: "layernorm"
	Hash  uint64 // of the spec
	Built uint64 // the hash that the C source carries, which must be the same; 0 without cgo
	// CUDA is the source of all kernels of the op in CUDA C++, nil without one. Ops
	// whose sources are equal share what is compiled.
	CUDA *string
	// Metal is the same in the Metal Shading Language.
	Metal    *string
	Axes     []Axis
	Ins      []Arg // inputs and inouts in call order
	Outs     []Arg // outputs; an inout's new version is not among them
	Params   []Param
	Require  []Require
	Variants []Variant
	Grad     *Grad // nil when the op has no gradient
	// Package tells what the ops of the generated package do for each other; nil
	// when they do nothing.
	Package Package
	// Accumulate is the generated op that adds two tensors of one shape; set
	// in ops that are gradients, for summing the cotangents of a tensor that
	// is used more than once.
	Accumulate *Op

	found unsafe.Pointer // *facts
}

// facts are what was found out about an op once, so that not every call does. They
// do not change: what is found later makes new ones.
type facts struct {
	free      []uint8 // axes that the caller gives
	inouts    []uint8
	matchings []*matching // those made so far, see unifier
}

// facts returns what is known of the op.
func (op *Op) facts() *facts {
	if f := (*facts)(atomic.LoadPointer(&op.found)); f != nil {
		return f
	}
	f := &facts{}
	for a := range op.Axes {
		if op.Axes[a].Free {
			f.free = append(f.free, uint8(a))
		}
	}
	for i := range op.Ins {
		if op.Ins[i].InOut {
			f.inouts = append(f.inouts, uint8(i))
		}
	}
	op.learn(nil, f)
	return f
}

// learn puts new facts in the place of old ones. Of what is found twice at once one
// is forgotten, and found again.
func (op *Op) learn(old, f *facts) {
	atomic.CompareAndSwapPointer(&op.found, unsafe.Pointer(old), unsafe.Pointer(f))
}

// Named returns the op under another name, for errors.
func (op Op) Named(name string) Op {
	op.Name = name
	return op
}

// Axis is a named axis of an Op. Its extent comes from the input shapes unless
// one of Free, Extent or Chunk says otherwise. A group axis stands for any
// number of dimensions; its extent is their product.
type Axis struct {
	Name  string
	Group bool
	Free  bool // the caller gives it: an int, or a shape for a group
	// Extent computes the extent from the extents of earlier axes and the
	// parameters. A negative result is an error.
	Extent func(size []int64, param []Scalar) int64
	// ChunkOf and Chunk make the axis ceil(product of ChunkOf / Chunk). Of Blocks, a GPU
	// has as many as fill it: its kernels divide ChunkOf by their number.
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
	Lazy  bool // an output for the gradient alone: no caller gets it, and kernels store it only where the program reads it
}

// Param is a scalar argument of an Op.
type Param struct {
	Name string
	Type ParamType
}

// ParamType is the type of a scalar argument.
type ParamType uint8

// The parameter types.
const (
	ParamF32 ParamType = iota
	ParamI32
	ParamU32
	ParamU64
	ParamBool
)

// Scalar is the value of a scalar argument: the bits of a float32, or the
// integer, in the low end.
type Scalar uint64

// Require is a condition on the arguments, checked when the op is recorded.
type Require struct {
	Cond func(size []int64, param []Scalar) bool
	Text string // what must hold, with the spec's own words
}

// Variant is an Op for one binding of types and static choices.
type Variant struct {
	Static string  // e.g. "nt"; "" when the spec has no choices
	Ins    []DType // storage type of each input
	Outs   []DType
	Temps  []Temp   // workspace between the kernels
	Kernel []Kernel // in order
	// Reshape says that the only output holds the elements of an input in their
	// order: it is one more than the input's index, 0 where it is not so.
	Reshape uint8
	// Ref computes the whole variant in Go, in float64, from the checked
	// expression: the reference device, and every device without cgo.
	Ref func(*RefCall)
}

// Temp is a workspace tensor of a Variant.
type Temp struct {
	Type DType
	Axes []uint8
}

// Kernel is one launch of a Variant.
type Kernel struct {
	Symbol string // C symbol, MSL entry point and CUDA kernel
	// Buffers lists the tensors in slot order. Index i < len(Ins) is input i;
	// then come the outputs, then the temps.
	Buffers []Buffer
	Block   []Field // layout of the parameter block
	// BlockBytes is the size of the block, a multiple of 8.
	BlockBytes int
	CPU        CPULaunch
	GPU        GPULaunch
	Wide       *WideForm  // nil without one
	Split      *SplitForm // nil without one
	Flops      []Term     // float operations, an intrinsic counting as one: the sum of the terms
	// Product says what a library may do in the kernel's place, nil for other kernels.
	Product *Product
	// C is the generated C function, nil without cgo. Its signature is
	// void (const kg_call *, int64_t lo, int64_t hi).
	C unsafe.Pointer
	// Guarded kernels write an inout: once the program's fault word is set
	// they do nothing.
	Guarded bool
	// Faults says that the kernel may find a value out of bounds, and set the
	// fault word.
	Faults bool
}

// Product is C[Batch, M, N] = E(sum over K of A[Batch, M, K] · B[Batch, K, N]), with
// row-major tensors of one type, where E adds a bias[N], applies the tanh form of GELU,
// or does both in this order. Other outputs of such a kernel are lazy, and the Product
// is all of it only where they are not wanted.
type Product struct {
	Type           DType
	A, B, C        uint8   // slots
	Bias           uint8   // its slot plus one, 0 without a bias
	Batch, M, N, K []uint8 // axes
	TransA, TransB bool    // A is [Batch, K, M], B is [Batch, N, K]
	GELU           bool
}

// Buffer is a tensor bound to a slot.
type Buffer struct {
	Tensor uint8
	Write  bool
	// InPlace holds the slots of inputs in whose memory the C function may compute
	// an output: it reads each of their elements before it writes the output's
	// element there, and never again. It says nothing of Metal and CUDA, which
	// take different arguments as apart.
	InPlace []uint8
}

// Field is a member of the parameter block: the product of axis extents as an
// int64, a parameter in its own type (bool as int32), or an int32 that is 1 where
// a lazy output has memory.
type Field struct {
	Offset int
	Size   []uint8 // axes; nil for the others
	Param  uint8
	Wanted uint8 // the output's number, as in Buffer.Tensor; 0 for the others
}

// CPULaunch gives the independent work items of a kernel: the product over
// Grid of ceil(extent/Tile). Items may be split over workers in any way without
// changing a bit of the result.
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

// flops returns the float operations of all kernels for the extents of an op's axes.
func (v *Variant) flops(size []int64) int64 {
	sum := int64(0)
	for _, k := range v.Kernel {
		for _, t := range k.Flops {
			sum += t.of(size)
		}
	}
	return sum
}

// of returns the value of the term for the extents of an op's axes.
func (t Term) of(size []int64) int64 {
	n := t.Coef
	for _, a := range t.Axes {
		n *= size[a]
	}
	return n
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
	// name is the kernel's with _small behind it; nil if there is none.
	Small *GPULaunch
}

// WideForm is a second function of a GPU kernel, launched as the first, that reads and
// writes 16 bytes at a time where the tensors allow it. It computes the same bits.
type WideForm struct {
	Symbol   string
	Aligned  []uint8   // slots of buffers that must begin at a multiple of 16 bytes
	Multiple []GridDim // products of axes that must be multiples of Tile
}

// SplitForm is a matrix product in two launches on a GPU, for a result of few tiles and a
// long sum. Parts gives each of several groups a part of the depth and leaves their sums
// in a workspace; Join adds those up in the order of the parts, so that the bits depend
// on their number alone, and computes what follows the product. Both number one axis and
// one tensor more than the Op and the Variant have: the axis counts the parts, the tensor
// is the workspace.
type SplitForm struct {
	Depth       []uint8 // axes
	Sums        []uint8 // axes of the workspace, which is of F32; the first counts the parts
	Parts, Join Kernel
}

// Grad says how the gradient of an Op is computed: by which op, from what.
type Grad struct {
	Op     *Op
	Ins    []GradIn // one for each of Op.Ins
	Params []uint8  // parameter of the forward op for each of Op.Params
	Outs   []uint8  // the forward input whose cotangent each of Op.Outs is
}

// GradIn is the source of a gradient's input.
type GradIn struct {
	From  GradFrom
	Index uint8
}

// GradFrom says where an input of a gradient comes from.
type GradFrom uint8

// The sources: an input or an output of the forward op, or the cotangent of
// one of its outputs.
const (
	FromIn GradFrom = iota
	FromOut
	FromCotangent
)

// RefCall is what a generated reference function works on.
type RefCall struct {
	Size  []int64  // extents of Op.Axes
	Param []Scalar // values of Op.Params
	// Buf holds the inputs and then the outputs. An inout is at its input's
	// place and is written there, after everything that reads it.
	Buf   []unsafe.Pointer
	Len   []int // elements of each buffer
	Fault Fault // the first bad value found, if any
}

// Fault describes a value that a device found to be out of bounds.
type Fault struct {
	Set    bool
	Tensor uint8 // index as in Kernel.Buffers
	Pos    int64 // row-major element position
	Value  int64
	Bound  int64 // values must lie in [0, Bound)
}

// Package is a generated package as its ops know it. Its values are comparable.
type Package interface {
	// Fusions returns the ops that do the work of several others of the package.
	Fusions() []*Fusion
}

// A Fusion says which calls one call of Op does the work of: a tree, in which
// each result but the last call's is an operand of one later call. Neither Op nor
// what it replaces updates a tensor, has conditions, or has axes that the caller
// gives.
type Fusion struct {
	Op     *Op
	Calls  []FusedCall  // each after those whose results it takes
	Params []FusedParam // for each of Op.Params, whose scalar it is
	Outs   []FusedOut   // for each of Op.Outs, whose output it is
	// Again says that the fused kernel computes an operand of a product for each
	// tile of the product anew, where separate calls compute it once.
	Again bool
}

// FusedCall is a call that a fused one replaces.
type FusedCall struct {
	Op  *Op
	Ins []FusedIn // one for each of Op.Ins
}

// FusedIn is an operand of a FusedCall: an output of an earlier one of the
// Fusion's Calls, or where Call is negative an input of the fused Op.
type FusedIn struct {
	Call  int8
	Index uint8
}

// FusedParam is a parameter of one of the Fusion's Calls.
type FusedParam struct {
	Call, Index uint8
}

// FusedOut is an output of one of the Fusion's Calls; Call is negative for one
// that only the fused call has.
type FusedOut struct {
	Call  int8
	Index uint8
}
