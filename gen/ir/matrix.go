package ir

// MatrixSide is the number of rows, and of columns, of a Matrix.
const MatrixSide = 16

// Matrix is an array of square blocks that the threads of a SIMD group hold
// together, for the hardware's matrix units: factors of a 16-bit type or of F32, or sums
// of F32 (SIMT). Loops over it unroll. Who holds which elements is the target's
// business; of a block of sums each thread has MatrixOwn, the first of them at
// MatrixRow and MatrixColumn.
type Matrix struct {
	Name string
	Type Elem
	Len  int64
}

// MatrixOwn is the number of elements of a block of sums that a thread has. Element e
// lies e%4/2*8 rows below its first one, and e/4*8 + e%2 columns beside it.
const MatrixOwn = MatrixSide * MatrixSide / 32

// The expressions and statements of matrices, and those that move several elements
// at once (SIMT).
type (
	// Cell is a thread's element E of block I of a Matrix of sums.
	Cell struct {
		M    *Matrix
		I, E Expr
	}
	// MatrixClear sets block I of a Matrix of sums to zero.
	MatrixClear struct {
		M *Matrix
		I Expr
	}
	// MatrixLoad reads block I of factors from a shared array. Its element of row r
	// and column c lies at At + r*Pitch + c, or where Across holds at At + c*Pitch +
	// r. Right says which factor it is for, the left or the right one.
	MatrixLoad struct {
		M             *Matrix
		I             Expr
		A             *Array
		At            Expr
		Pitch         int64
		Right, Across bool
	}
	// MatrixMultiply adds to block I of Sum the product of block J of Left and block
	// K of Right, in the order of the hardware.
	MatrixMultiply struct {
		Sum, Left, Right *Matrix
		I, J, K          Expr
	}
	// Fetch fills the private array To with the elements of B that lie side by side
	// from Off on: with one access, where the hardware has one and they lie well.
	Fetch struct {
		To  *Array
		B   *Buffer
		Off Expr
	}
	// Spread copies N elements that lie side by side between a private array and a
	// shared one, in which I is a multiple of N.
	Spread struct {
		To *Array
		At Expr
		A  *Array
		I  Expr
		N  int64
	}
)

func (*MatrixClear) stmt()    {}
func (*MatrixLoad) stmt()     {}
func (*MatrixMultiply) stmt() {}
func (*Fetch) stmt()          {}
func (*Spread) stmt()         {}

// Type of an element of sums is F32.
func (e *Cell) Type() Type { return Scalar(e.M.Type) }

func matrixOperands(e Expr) []Expr {
	if e, ok := e.(*Cell); ok {
		return present(e.I, e.E)
	}
	return nil
}

func matrixExprs(s Stmt) []Expr {
	switch s := s.(type) {
	case *MatrixClear:
		return present(s.I)
	case *MatrixLoad:
		return present(s.I, s.At)
	case *MatrixMultiply:
		return present(s.I, s.J, s.K)
	case *Fetch:
		return present(s.Off)
	case *Spread:
		return present(s.At, s.I)
	}
	return nil
}
