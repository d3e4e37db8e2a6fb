package ir

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// Elem is the type of a value's elements.
type Elem uint8

// The element types. I64 is for offsets and extents and never a vector. F16 and BF16
// are those of arrays and matrices only, whose elements are rounded as they are put.
const (
	F32 Elem = iota
	I32
	I64
	U32
	U64
	Bool
	F16
	BF16
	numElems
)

// NumElems is the number of element types.
const NumElems = int(numElems)

// Type is the type of a value: one element, or a vector of the native width.
type Type struct {
	Elem Elem
	Vec  bool
}

// Scalar and Vector give the two types of an element.
func Scalar(e Elem) Type { return Type{Elem: e} }

// Vector gives the vector type of e.
func Vector(e Elem) Type { return Type{Elem: e, Vec: true} }

// Func is one kernel.
type Func struct {
	Symbol  string
	Doc     string // one line for the emitted comment
	SIMT    bool
	Buffers []*Buffer // in slot order
	Fields  []*Field  // the parameter block
	Arrays  []*Array  // shared by a threadgroup (SIMT), or a worker's own scratch (VEC)
	Blocks  []*Matrix // held by SIMD groups (SIMT)
	Threads int       // threads in a group (SIMT)
	// Resident is how many groups a multiprocessor should hold at a time, by how many
	// registers a thread takes; 0 leaves it to the compiler (SIMT).
	Resident int
	Guarded  bool // does nothing once the fault word is set
	Body     []Stmt
	// Plain is the same for hardware whose matrix units do not multiply F32 as it is,
	// launched as this one; nil where this one asks for no such thing (SIMT).
	Plain *Func
}

// Rough reports whether all results of f are floats of 16 bits, which have no use for the
// last bits of a float that f computes (SIMT). Where some are, Relax finds what goes to them.
func (f *Func) Rough() bool {
	return f.SIMT && !slices.ContainsFunc(f.Buffers, func(b *Buffer) bool { return b.Write && !narrow(b) })
}

// MayAlias reports whether b may be the same memory as another buffer of f.
func (f *Func) MayAlias(b *Buffer) bool {
	return len(b.InPlace) > 0 || slices.ContainsFunc(f.Buffers, func(o *Buffer) bool { return slices.Contains(o.InPlace, b.Slot) })
}

// Buffer is a tensor argument.
type Buffer struct {
	Name  string // unique in the Func; emitters mangle it
	Slot  int
	Arg   int // the tensor's number among the op's, by which a fault names it
	Type  expr.DType
	Write bool
	// InPlace holds the slots of buffers that may be the same memory as this one:
	// each element of theirs is loaded for the last time before the element of this
	// one that lies there is stored.
	InPlace []int
}

// Field is a member of the parameter block.
type Field struct {
	Name   string
	Type   Elem
	Offset int
}

// Array is a fixed-size array of elements.
type Array struct {
	Name    string
	Type    Elem
	Len     int64
	Private bool // each thread's own, in registers where loops over it unroll (SIMT)
	Wide    bool // shared, and begins where accesses of 16 bytes may (SIMT)
}

// Var is a local variable; it is assigned once unless Mut.
type Var struct {
	Name string
	Type Type
	Mut  bool
}

// Op is an operator.
type Op uint8

// The operators. On integers Div and Rem are floored, and 0 by zero; Quo and Mod
// are the same for x >= 0 and y > 0. On Bool, And and Or are logical, and so is
// Not.
const (
	Neg Op = iota
	Not
	Add
	Sub
	Mul
	Div
	Rem
	Quo
	Mod
	Lt
	Le
	Gt
	Ge
	Eq
	Ne
	And
	Or
	Xor
	Shl
	Shr
)

// ID is a position of the running work item.
type ID uint8

// The positions: VEC items are numbered from ItemLo to ItemHi; SIMT threads
// know their group (three dimensions), their index in it, their lane, their SIMD
// group, how many threads the group has, and the row and column of their first element
// in a Matrix of sums.
const (
	ItemLo ID = iota
	ItemHi
	GroupX
	GroupY
	GroupZ
	Thread
	Lane
	SIMDGroup
	Threads
	MatrixRow
	MatrixColumn
)

// Fold is an operation across the lanes of a vector or of a SIMD group.
type Fold uint8

// The folds. FoldMin and FoldMax give NaN if any element is NaN.
const (
	FoldSum Fold = iota
	FoldProd
	FoldMin
	FoldMax
	FoldAny
	FoldAll
)

// Expr is a value.
type Expr interface{ Type() Type }

// The expressions.
type (
	// Lit is a constant: F for F32, I for the rest.
	Lit struct {
		T Type
		F float64
		I int64
	}
	// Ref is the value of a variable.
	Ref struct{ V *Var }
	// Get is the value of a block field.
	Get struct{ F *Field }
	// At is an element of an Array at a scalar offset.
	//
	// With Vec it is the vector of consecutive elements from there.
	At struct {
		A   *Array
		I   Expr
		Vec bool
	}
	// Here is a position (I64).
	Here struct{ ID ID }
	// Lanes is the vector 0, 1, 2, … (I32).
	Lanes struct{}
	// Run is the vector Base, Base+1, … of U64: counters of a random stream.
	Run struct{ Base Expr }
	// Un applies Neg or Not.
	Un struct {
		Op Op
		X  Expr
	}
	// Bin applies a binary operator to two values of one type.
	Bin struct {
		Op    Op
		X, Y  Expr
		Rough bool // the last bits do not count (SIMT)
	}
	// Select is C ? A : B; C is a Bool of the same width.
	Select struct{ C, A, B Expr }
	// Call applies an intrinsic of the spec language.
	Call struct {
		Fn    expr.Fn
		Args  []Expr
		T     Type
		Rough bool // the last bits do not count (SIMT)
	}
	// Conv converts between element types (and splats a scalar when T.Vec and
	// X is a scalar). With Round it rounds an F32 to that storage type.
	Conv struct {
		T     Type
		X     Expr
		Round expr.DType
	}
	// Load reads a buffer at element offset Off, converting to F32 or I32. A
	// vector load reads consecutive elements, or every Stride-th; N limits it to
	// the first N lanes, the others being zero.
	//
	// With Len, Off is that of a row of Len elements, of which a vector load reads
	// those at At, At+1, …; lanes outside the row are Else.
	//
	// Where If (a scalar Bool) does not hold nothing is read and the value is
	// Else.
	Load struct {
		B      *Buffer
		Off    Expr
		Vec    bool
		Stride Expr
		N      Expr
		At     Expr
		Len    Expr
		If     Expr
		Else   Expr
	}
	// First is the vector mask of lanes below N.
	First struct{ N Expr }
	// Horizontal folds a vector to a scalar (VEC), or the values of the lanes of
	// a SIMD group (SIMT).
	Horizontal struct {
		Fold Fold
		X    Expr
	}
	// Shuffle is the value of X in the lane Mask away (xor), SIMT only.
	Shuffle struct {
		X    Expr
		Mask int
	}
	// Winner is the index that goes with the best of the lanes of a vector: the
	// greatest (the least when Min) value, NaN before any, the lowest index among
	// equals (VEC).
	Winner struct {
		Best, Index Expr
		Min         bool
	}
	// Better reports whether X takes the place of Best in a search for the
	// greatest (the least when Min) value: it is greater, or NaN where Best is not.
	Better struct {
		X, Best Expr
		Min     bool
	}
	// Width is the number of lanes of a vector (I64).
	Width struct{}
)

// Stmt is a statement.
type Stmt interface{ stmt() }

// The statements.
type (
	// Decl declares a variable with its first value.
	Decl struct {
		V *Var
		X Expr
	}
	// Assign sets a Mut variable.
	Assign struct {
		V *Var
		X Expr
	}
	// For runs Body for V = From, From+Step, … while V < To (all I64). Unroll
	// asks for full unrolling of a loop with constant bounds.
	For struct {
		V        *Var
		From, To Expr
		Step     Expr
		Unroll   bool
		Body     []Stmt
	}
	// If runs Then where the scalar C holds, else Else.
	If struct {
		C    Expr
		Then []Stmt
		Else []Stmt
	}
	// Store writes X at element offset Off, rounding to the buffer's type. A
	// vector is stored to consecutive elements, or to every Stride-th; N limits
	// it to the first N lanes.
	Store struct {
		B      *Buffer
		Off    Expr
		X      Expr
		Stride Expr
		N      Expr
	}
	// Move copies Rows rows of Cols elements as they are from one buffer to another
	// of the same type (VEC). Elements of B lie side by side from Off on, its rows
	// LD apart; those of Src begin at From, RowStep from row to row and ColStep
	// from column to column.
	Move struct {
		B                      *Buffer
		Off, LD                Expr
		Src                    *Buffer
		From, RowStep, ColStep Expr
		Rows, Cols             Expr
	}
	// Repeat stores the scalar X, rounded to the buffer's type, in Rows rows of
	// Cols elements that begin at Off and lie LD apart (VEC).
	Repeat struct {
		B          *Buffer
		Off, LD    Expr
		X          Expr
		Rows, Cols Expr
	}
	// Put writes an element of an Array; a vector fills consecutive elements, of
	// which N limits it to the first.
	Put struct {
		A *Array
		I Expr
		X Expr
		N Expr
	}
	// LoadRun puts N consecutive elements into a private Array from At on (SIMT): those
	// of the buffer of X from its offset on, which lie at a multiple of 16 bytes. Where
	// X.If does not hold they are zero.
	LoadRun struct {
		A  *Array
		At Expr
		X  *Load
		N  int64
	}
	// Ahead is what may be done for what comes later: a language has it, or leaves it
	// out. It is done where the scalar C holds.
	Ahead struct {
		C    Expr
		Body []Stmt
	}
	// Prefetch asks for the memory at element offset Off (SIMT).
	Prefetch struct {
		B   *Buffer
		Off Expr
	}
	// StoreRun writes the N elements of a private Array, rounded to the buffer's type,
	// from element offset Off on, which lies at a multiple of 16 bytes (SIMT).
	StoreRun struct {
		B   *Buffer
		Off Expr
		A   *Array
		At  Expr
		N   int64
	}
	// Barrier waits for all threads of the group and orders their shared arrays,
	// and with Device their buffers too.
	Barrier struct{ Device bool }
	// Fault records that the element Pos of buffer B has a Value outside
	// [0, Bound).
	Fault struct {
		B                 *Buffer
		Pos, Value, Bound Expr
	}
	// Multiply puts the product of packed panels into a tile of scratch memory
	// (VEC): C[Rows][Cols] = A[Rows][K]·B[K][Cols] where First holds, += elsewhere.
	// Rows of C are LDC elements apart.
	Multiply struct {
		A, B, C       *Array
		Rows, Cols, K Expr
		LDC           int64
		First         Expr
	}
	// Pack writes one element of a packed operand of Multiply, of which Depth is
	// the K: row (a column where Right) At and depth K. A vector goes along K
	// where AlongK holds, else along At; N limits it to the first N lanes.
	Pack struct {
		A      *Array
		Right  bool
		AlongK bool
		At     Expr
		K      Expr
		Depth  Expr
		X      Expr
		N      Expr
	}
	// PackBlock packs Count rows (columns where Right) by Depth of a plain matrix,
	// its first element at Off of B: into panels for Multiply, or as Rows one after
	// another for MultiplyPlain. Rows of memory are LD apart and run along K where
	// AlongK holds, else along the other side.
	PackBlock struct {
		A             *Array
		Right, AlongK bool
		Rows          bool
		B             *Buffer
		Off, LD       Expr
		Count, Depth  Expr
	}
	// MultiplyPlain is Multiply of A, Rows rows of K elements one after another,
	// and a plain matrix, its first element at Off of B: rows of memory are LD
	// apart and run along K where AlongK holds, else along the columns.
	MultiplyPlain struct {
		A, C          *Array
		B             *Buffer
		Off, LD       Expr
		AlongK        bool
		Rows, Cols, K Expr
		LDC           int64
		First         Expr
	}
	// Note is a comment line.
	Note struct{ Text string }
)

func (*Decl) stmt()          {}
func (*Assign) stmt()        {}
func (*For) stmt()           {}
func (*If) stmt()            {}
func (*Store) stmt()         {}
func (*Move) stmt()          {}
func (*Repeat) stmt()        {}
func (*Put) stmt()           {}
func (*LoadRun) stmt()       {}
func (*Ahead) stmt()         {}
func (*Prefetch) stmt()      {}
func (*StoreRun) stmt()      {}
func (*Barrier) stmt()       {}
func (*Fault) stmt()         {}
func (*Multiply) stmt()      {}
func (*Pack) stmt()          {}
func (*PackBlock) stmt()     {}
func (*MultiplyPlain) stmt() {}
func (*Note) stmt()          {}

// Type of each expression.
func (e *Lit) Type() Type        { return e.T }
func (e *Ref) Type() Type        { return e.V.Type }
func (e *Get) Type() Type        { return Scalar(e.F.Type) }
func (e *At) Type() Type         { return Type{Elem: e.A.Type, Vec: e.Vec} }
func (e *Here) Type() Type       { return Scalar(I64) }
func (e *Lanes) Type() Type      { return Vector(I32) }
func (e *Run) Type() Type        { return Vector(U64) }
func (e *Un) Type() Type         { return e.X.Type() }
func (e *Select) Type() Type     { return e.A.Type() }
func (e *Call) Type() Type       { return e.T }
func (e *Conv) Type() Type       { return e.T }
func (e *First) Type() Type      { return Vector(Bool) }
func (e *Horizontal) Type() Type { return Scalar(e.X.Type().Elem) }
func (e *Shuffle) Type() Type    { return e.X.Type() }
func (e *Width) Type() Type      { return Scalar(I64) }
func (e *Winner) Type() Type     { return Scalar(I32) }
func (e *Better) Type() Type     { return Type{Elem: Bool, Vec: e.X.Type().Vec} }

// Type of a comparison is Bool; of the rest, that of the operands.
func (e *Bin) Type() Type {
	t := e.X.Type()
	if e.Op >= Lt && e.Op <= Ne {
		t.Elem = Bool
	}
	return t
}

// Type of a load is F32 for float buffers and I32 for the others.
func (e *Load) Type() Type {
	t := Type{Elem: I32, Vec: e.Vec}
	switch e.B.Type {
	case expr.F32, expr.F16, expr.BF16:
		t.Elem = F32
	}
	return t
}
