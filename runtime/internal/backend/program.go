package backend

import "unsafe"

// Program is a planned program: commands that run in order, each seeing the
// memory effects of those before it.
type Program struct {
	Slots    int // memory slots; each run binds a base address to each
	Params   int // scalar parameters of a run
	Commands []Command
}

// Kind is what a command does.
type Kind uint8

// The commands.
const (
	Kernel Kind = iota // run a generated kernel
	Host               // call a Go function
	Copy               // Bufs[0] ← Bufs[1], Bytes long
	Fill               // Bufs[0] ← Pattern repeated, Bytes long
)

// Command is one step of a Program.
type Command struct {
	Kind    Kind
	Name    string // for messages and traces
	Op      int32  // position of the recorded call that the command belongs to
	Guarded bool   // does nothing once a fault is set
	Faults  bool   // a Kernel that may set one
	// OnFault commands run only after a fault was set: they restore what
	// commands before the fault had overwritten.
	OnFault bool

	Bufs []Buf

	Block   []byte  // Kernel: parameter block, a multiple of 8 bytes
	Patches []Patch // Kernel: scalars written into the block at each run

	// A Kernel on the CPU.
	Func    unsafe.Pointer // the C function
	Items   int64          // independent work items, at least 1
	Chunk   int64          // the fewest items that are worth handing to another worker
	Scratch int64          // bytes of scratch memory for each worker

	// A Kernel on a GPU: the function Name of a source in its language.
	Source  *string
	Grid    [3]int64 // threadgroups, x first; each at least 1
	Threads int      // of a threadgroup, along x
	Product *Product // what a library may do in the Kernel's place, nil if it is nothing that one has

	// HostFunc is the function of a Host command. param are the parameters of
	// the run.
	HostFunc func(bufs []unsafe.Pointer, param []uint64) Fault

	Bytes   int64  // Copy and Fill
	Pattern uint64 // Fill: the element, repeated to eight bytes
}

// Product is C[Batch, M, N] = E(sum over K of A[Batch, M, K] · B[Batch, K, N]) of
// row-major matrices, where E adds a bias[N], applies the tanh form of GELU, or does both
// in this order.
type Product struct {
	Type           Float
	A, B, C, Bias  int   // positions in Bufs; Bias is negative without one
	Batch, M, N, K int64 // at least 1
	TransA, TransB bool  // A is [Batch, K, M], B is [Batch, N, K]
	GELU           bool
	TF32           bool // elements of F32 may be rounded to 10 bits of mantissa before they are multiplied
}

// Float is the type of elements.
type Float uint8

// The types.
const (
	F32 Float = iota
	F16
	BF16
)

// Buf is a place in memory: an offset from the base of a slot.
type Buf struct {
	Slot  int32
	Off   int64
	Bytes int64 // that a Kernel may touch there; 0 if that is not known
	Write bool  // a Kernel may write there
}

// Patch copies a scalar parameter of the run into a parameter block.
type Patch struct {
	Off   int32
	Bytes int32 // 4 or 8
	Param int32
}
