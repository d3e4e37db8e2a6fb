package expr

import "github.com/kernelgen/kgen/gen/diag"

// DType is the storage type of a tensor.
type DType uint8

// The storage types. All arithmetic on the float types is done in f32 (in
// float64 by the oracle); I32 and U8 tensors are computed with as 32-bit ints.
const (
	InvalidDType DType = iota
	F32
	F16
	BF16
	I32
	U8
)

// Kind is the type of a value inside an expression.
type Kind uint8

// The value kinds. Int is the index type: at least 32 bits wide on every
// target and wide enough for every element offset. Uint64 occurs as seed and
// counter of philox only.
const (
	InvalidKind Kind = iota
	Float
	Int
	Uint
	Uint64
	Bool
)

// Program is one checked instance of a spec: its type variables bound to
// storage types, its static choices made, calls of other specs inlined. Every
// later stage (the oracle, the gradient, planning) starts from it and treats
// it as read-only.
//
// A group of axes ("R...") is one Axis here: tensors are dense and row-major,
// so a kernel sees the group as a single axis whose extent is the product. A
// merged dimension "(C K)" is likewise two adjacent axes. Only the typed API
// and the shape check on the host look at Tensor.Shape; everything that
// computes looks at Tensor.Axes.
type Program struct {
	Name    string // spec name, in lower_snake_case; a derived gradient has the suffix "_grad"
	Doc     string
	Source  string   // where the formula comes from
	File    string   // spec path relative to the module root, slash-separated
	Types   []DType  // the binding of the spec's type variables, in their order
	Static  []Choice // the static choices made, in declaration order
	Family  string   // pinned family, "" when the planner is free
	Axes    []*Axis
	Params  []*Param
	Ins     []*Tensor // inputs and inouts in call order
	Outs    []*Tensor // outputs in declaration order, saved values last; inouts are not repeated here
	Steps   []*Step   // every let and every output or inout assignment, in order
	Require []Require
	Raw     *Raw // the kernels are written by hand: there are no steps; else nil
}

// Choice is one static choice of an instance: a declared [static] value, or
// "with" / "without" for an optional tensor, or the length of a list input.
type Choice struct {
	Name, Value string
}

// Axis is a named axis of the index space.
type Axis struct {
	Name   string
	Group  bool // "NAME...": stands for any number of axes, seen here as their product
	Free   bool // the caller gives the extent (an int argument; for a group a shape)
	Extent Expr // nil when an input's shape or the caller gives it; else an Int expression over params and sizes of earlier axes
	Pos    diag.Pos
}

// Param is a scalar argument passed by value.
type Param struct {
	Name    string
	Type    ParamType
	Default *Const // nil when the caller must say it
	Doc     string
	Pos     diag.Pos
}

// ParamType is the type of a scalar argument as the caller sees it.
type ParamType uint8

// The parameter types; the value kinds are Float, Int, Uint, Uint64 and Bool.
const (
	ParamF32 ParamType = iota
	ParamI32
	ParamU32
	ParamU64
	ParamBool
)

// Role says what a tensor is to the kernel.
type Role uint8

// The roles. An InOut tensor is an input whose final value one step replaces:
// reads of it in any step see the old value.
const (
	In Role = iota
	InOut
	Out
	Let
)

// Dim is one dimension of a tensor as the caller sees it: the product of its
// axes, or the dimensions of one group.
type Dim []*Axis

// Tensor is an input, an output or the value of a let.
type Tensor struct {
	Name  string
	Role  Role
	Shape []Dim   // as declared; empty for a device scalar
	Axes  []*Axis // the axes of Shape in row-major order
	Type  DType   // storage type; a let holds F32 (Float), I32 (Int) or U8 (Bool)
	Doc   string

	Fill   *Const // what an affine read outside the tensor gives; nil: such a read is refused by the checker unless it is provably inside
	Bounds Expr   // 0 <= value < Bounds for each element that is read, else a device fault; nil: unchecked
	Except *Param // a value that Bounds lets pass
	Save   bool   // an output kept for the gradient (its let has the same name)
	Lazy   bool   // of those, one that callers do not get: a kernel stores it only if the program reads it
	List   int    // for a member of a list input: its position plus one

	Pos diag.Pos
}

// ReduceOp is the operation of a reducing step.
type ReduceOp uint8

// The reductions. Mean divides the sum by the extent; over nothing Sum is 0,
// Mean is 0, Prod 1, Max -inf, Min +inf, Any false, All true, Argmax and Argmin
// 0. Max and Min give NaN if any element is NaN; Argmax and Argmin give the
// lowest index of the winner, and the first NaN wins.
const (
	NoReduce ReduceOp = iota
	Sum
	Mean
	Max
	Min
	Prod
	Any
	All
	Argmax
	Argmin
)

// Step computes one tensor: for every index of Result.Axes, the reduction of
// Expr over Over (or Expr itself when Reduce is NoReduce). Steps are in order:
// Expr reads inputs and the results of earlier lets only.
type Step struct {
	Result *Tensor // Role Let, Out or InOut
	Over   []*Axis // in declaration order; disjoint from Result.Axes
	Reduce ReduceOp
	Expr   Expr
	Pos    diag.Pos
}

// Require is a condition on params and sizes that the host checks at call time.
type Require struct {
	Name string
	Cond Expr // Bool
	Text string
}

// Expr is a checked expression. Every node carries its value kind and the
// place it came from; nodes are immutable and may be shared.
type Expr interface {
	Kind() Kind
	Pos() diag.Pos
}

// Node is the part that all expressions share.
type Node struct {
	K  Kind
	At diag.Pos
}

// Kind returns the kind of the value.
func (n Node) Kind() Kind { return n.K }

// Pos returns where the expression stands in its spec.
func (n Node) Pos() diag.Pos { return n.At }

// The expression nodes. Operands are already converted: both sides of a Binary
// have the same kind (the checker inserts Convert), an index is Int.
type (
	// Const is a literal: F for Float, I for Int and Bool (0 or 1), U for Uint and Uint64.
	Const struct {
		Node
		F float64
		I int64
		U uint64
	}
	// ParamRef is the value of a scalar argument.
	ParamRef struct {
		Node
		P *Param
	}
	// Index is the position along an axis (Int).
	Index struct {
		Node
		A *Axis
	}
	// Size is the extent of an axis (Int).
	Size struct {
		Node
		A *Axis
	}
	// Flat is the row-major position of the current index in tensor T's axes
	// (Uint64), all of which are axes of the step.
	Flat struct {
		Node
		T *Tensor
	}
	// Read is an element of T. With a nil Idx it is the element at T's own axes;
	// else Idx has one Int expression for each of T.Axes. A Float, I32 or U8
	// tensor gives a Float or Int value; a Bool let gives Bool. A read with an
	// index outside the tensor gives T.Fill (0 when nil).
	Read struct {
		Node
		T   *Tensor
		Idx []Expr
	}
	// Unary is -x or !x.
	Unary struct {
		Node
		Op UnaryOp
		X  Expr
	}
	// Binary is an arithmetic, comparison or logical operation.
	Binary struct {
		Node
		Op   BinaryOp
		X, Y Expr
	}
	// Where is C ? A : B; the branch not taken has no effect on the value, so
	// a NaN in it does not spread.
	Where struct {
		Node
		C, A, B Expr
	}
	// Call is an intrinsic.
	Call struct {
		Node
		Fn   Fn
		Args []Expr
	}
	// Convert changes the kind of X to K. When Round is not InvalidDType the
	// Float value is also rounded to that storage type (a cast such as f16(x)).
	Convert struct {
		Node
		X     Expr
		Round DType
	}
	// Stop is X, seen as a constant by differentiation.
	Stop struct {
		Node
		X Expr
	}
)

// UnaryOp is the operator of a Unary.
type UnaryOp uint8

// The unary operators.
const (
	Neg UnaryOp = iota
	Not
)

// BinaryOp is the operator of a Binary.
type BinaryOp uint8

// The binary operators. On Int, Div and Rem are floored (the remainder has the
// divisor's sign); by zero they give 0. Comparisons give Bool; LogicAnd and
// LogicOr take Bool; And, Or, Xor, Shl, Shr take Int or Uint.
const (
	Add BinaryOp = iota
	Sub
	Mul
	Div
	Rem
	Lt
	Le
	Gt
	Ge
	Eq
	Ne
	LogicAnd
	LogicOr
	And
	Or
	Xor
	Shl
	Shr
)

// Fn is an intrinsic function.
type Fn uint8

// The intrinsics. FnMin and FnMax take Float or Int and give NaN if either
// side is NaN; FnPow, FnFMA and the rest are Float. Round is to nearest even.
// Sign gives -1, 0 or 1 (NaN for NaN). IsNaN and IsInf give Bool. Philox takes
// (seed Uint64, counter Uint64) and gives the first word (Uint) of
// Philox4x32-10 at that counter. Uniform turns a Uint u into the Float
// (u >> 8) * 2^-24 in [0,1).
const (
	FnExp Fn = iota
	FnLog
	FnLog1p
	FnExpm1
	FnTanh
	FnErf
	FnSigmoid
	FnSqrt
	FnRsqrt
	FnAbs
	FnMin
	FnMax
	FnPow
	FnFMA
	FnFloor
	FnCeil
	FnRound
	FnSign
	FnIsNaN
	FnIsInf
	FnPhilox
	FnUniform
)
