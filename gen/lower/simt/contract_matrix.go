package simt

import (
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// The tiles of products by matrix units.
var (
	matrixTile      = tile{side: 128, threads: 256, depth: ir.MatrixSide, chunk: 8, slices: 2}
	smallMatrixTile = tile{side: 64, threads: 128, depth: ir.MatrixSide, chunk: 8, slices: 2}
)

const (
	matrixColumns = 32 // of the results of a SIMD group
	matrixPad     = 16 // bytes between the lines of slices: rows of a block lie in different banks
)

// matrixProduct multiplies with the hardware's matrix units, which add up in f32: a SIMD
// group has 64 x 32 results, 4 x 2 blocks (32 x 32 of a small tile). Slices lie in shared
// memory as in the tensors: with a line for each depth, or for each row or column where
// the depth is innermost.
type matrixProduct struct {
	*product
	sum, left, right *ir.Matrix
	row, column      ir.Expr // the SIMD group's first ones
	rows             int64   // that a SIMD group has
}

func newMatrixProduct(t *product, e ir.Elem) *matrixProduct {
	t.tile = matrixTile
	if t.small {
		t.tile = smallMatrixTile
	}
	if e == ir.F32 {
		t.tile.slices = 1 // two do not fit
		t.units = true
	}
	groups := t.side / matrixColumns // along the columns
	m := &matrixProduct{product: t, rows: t.side * groups * simdWidth / t.threads}
	depth, pad := t.tile.slices*t.tile.depth, matrixPad/elemBytes(e)
	for _, s := range []*operand{&t.a, &t.b} {
		lines := t.side
		s.pitch = depth + pad
		if !s.alongK {
			lines = depth
			s.pitch = t.side + pad
		}
		t.arrays(s, e, lines*s.pitch)
	}
	m.left = t.blocks("a_blocks", e, m.rows/ir.MatrixSide)
	m.right = t.blocks("b_blocks", e, matrixColumns/ir.MatrixSide)
	m.sum = t.blocks("sums", ir.F32, m.left.Len*m.right.Len)
	simd := t.here(ir.SIMDGroup, "simd")
	m.row = t.Name("row", times(lower.DivI(simd, lower.Int(groups)), m.rows))
	m.column = t.Name("column", times(lower.RemI(simd, lower.Int(groups)), matrixColumns))
	return m
}

// blocks adds matrices that SIMD groups hold.
func (l *lowering) blocks(name string, t ir.Elem, n int64) *ir.Matrix {
	m := &ir.Matrix{Name: l.Var(name, ir.Scalar(t)).Name, Type: t, Len: n}
	l.out.Func.Blocks = append(l.out.Func.Blocks, m)
	return m
}

func (t *matrixProduct) clear() {
	t.unrolled("i", t.sum.Len, func(i ir.Expr) { t.Emit(&ir.MatrixClear{M: t.sum, I: i}) })
}

// where is the place in the slices of s of the position at and the depth k of the
// slice that begins at line.
func (t *matrixProduct) where(s *operand, at, line, k ir.Expr) ir.Expr {
	if s.alongK {
		return s.in(at, lower.AddI(line, k))
	}
	return s.in(lower.AddI(line, k), at)
}

func (t *matrixProduct) store(s *operand, line ir.Expr) {
	at := t.where(s, s.at, line, s.k)
	t.Emit(&ir.Spread{To: s.slices, At: at, A: s.next, I: lower.Int(0), N: t.chunk})
}

func (t *matrixProduct) multiply(line, _ ir.Expr) {
	t.unrolled("j", t.right.Len, func(j ir.Expr) { t.read(t.right, j, &t.b, t.column, line, true) })
	t.unrolled("i", t.left.Len, func(i ir.Expr) { t.read(t.left, i, &t.a, t.row, line, false) })
	t.unrolled("i", t.left.Len, func(i ir.Expr) {
		t.unrolled("j", t.right.Len, func(j ir.Expr) {
			t.Emit(&ir.MatrixMultiply{Sum: t.sum, I: t.at(i, j), Left: t.left, J: i, Right: t.right, K: j})
		})
	})
}

// read brings block i of the SIMD group's part of a slice into m.
func (t *matrixProduct) read(m *ir.Matrix, i ir.Expr, s *operand, first, line ir.Expr, right bool) {
	at := t.where(s, lower.AddI(first, lower.MulI(i, lower.Int(ir.MatrixSide))), line, lower.Int(0))
	t.Emit(&ir.MatrixLoad{M: m, I: i, A: s.slices, At: at, Pitch: s.pitch, Right: right, Across: s.alongK == right})
}

func (t *matrixProduct) at(i, j ir.Expr) ir.Expr {
	return lower.AddI(lower.MulI(i, lower.Int(t.right.Len)), j)
}

// columns goes by the columns of the blocks of sums: of each block a thread has four,
// two beside each other and two 8 further, and in each of those two rows, 8 apart.
func (t *matrixProduct) columns(body func(col ir.Expr, rows func(func(row, sum ir.Expr)))) {
	row := t.Name("row_own", lower.AddI(t.row, &ir.Here{ID: ir.MatrixRow}))
	column := t.Name("column_own", lower.AddI(t.column, &ir.Here{ID: ir.MatrixColumn}))
	side, two, eight := lower.Int(ir.MatrixSide), lower.Int(2), lower.Int(ir.MatrixSide/2)
	t.unrolled("j", t.right.Len, func(j ir.Expr) {
		t.unrolled("c", 4, func(c ir.Expr) {
			half, one := lower.DivI(c, two), lower.RemI(c, two)
			at := lower.AddI(lower.AddI(column, lower.MulI(j, side)), lower.AddI(lower.MulI(half, eight), one))
			body(at, func(result func(row, sum ir.Expr)) {
				t.unrolled("i", t.left.Len, func(i ir.Expr) {
					t.unrolled("r", 2, func(r ir.Expr) {
						at := lower.AddI(lower.AddI(row, lower.MulI(i, side)), lower.MulI(r, eight))
						e := lower.AddI(lower.MulI(half, lower.Int(4)), lower.AddI(lower.MulI(r, two), one))
						result(at, &ir.Cell{M: t.sum, I: t.at(i, j), E: e})
					})
				})
			})
		})
	})
}
