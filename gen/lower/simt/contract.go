package simt

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// tile says how a group computes its square part of a product's results.
type tile struct {
	side    int64 // rows and columns of the part
	threads int64
	depth   int64 // of the slices of the operands that are multiplied at a time
	chunk   int64 // elements that lie side by side, which a thread brings of each slice
	slices  int64 // of each operand that there is room for in shared memory, 1 or 2
}

// multiplier is how the threads of a group multiply slices of the operands.
type multiplier interface {
	// clear sets the sums to zero.
	clear()
	// store leaves the thread's chunk of an operand in shared memory, in the slice that
	// begins at line.
	store(s *operand, line ir.Expr)
	// multiply adds the product of the slices that begin at line, the last ones of
	// depths below end.
	multiply(line, end ir.Expr)
	// columns runs body for each column of the tile in which the thread has results:
	// rows runs its own body for each of them, with the row and the sum.
	columns(body func(col ir.Expr, rows func(func(row, sum ir.Expr))))
}

// contract lowers a matrix product: a group computes a square part of the result
// from slices of both operands in shared memory. Each thread brings a chunk of 16
// bytes of each slice, or 32, along the axis that is innermost in memory, computing its
// prologue on the way. While the threads multiply one slice they have the next one
// under way in registers. Where shared memory has room for two, the one that is read and
// the one that is written, one barrier for each slice will do. Of a split form a group
// has a part of the depth. Positions beyond the operand's side are those of its last row
// or column, whose results nobody stores; depths beyond the end count as zeros.
func (l *lowering) contract() {
	p := l.k.Prod
	t := &product{lowering: l, thread: l.here(ir.Thread, "thread"), begin: lower.Int(0), end: l.extent("depth", l.k.Red)}
	m := t.choose()
	l.out.Func.Threads = int(t.threads)
	l.out.Grid = []Dim{{p.N, t.side}, {p.M, t.side}}
	if len(p.Batch) > 0 {
		l.out.Grid = append(l.out.Grid, Dim{p.Batch, 1})
		l.bind(p.Batch, &ir.Here{ID: ir.GroupZ})
	}
	if l.k.Chunk != nil {
		t.part(l.k.Chunk.Axis)
	}
	t.place(&t.a, ir.GroupY, "row")
	t.place(&t.b, ir.GroupX, "column")
	m.clear()
	l.In(&l.out.Func.Body, func() { t.sums(m) })
	t.epilogue(m)
}

// part narrows the depth to the part that the group has, of as many whole slices as
// that of any other group but the last ones.
func (t *product) part(parts *expr.Axis) {
	n := t.Size(parts)
	slices := lower.CeilDiv(t.end, t.tile.depth)
	part := t.Name("part", times(lower.DivI(lower.AddI(slices, lower.SubI(n, lower.Int(1))), n), t.tile.depth))
	t.begin = t.Name("begin", lower.MulI(t.Value(&expr.Index{Node: expr.Node{K: expr.Int}, A: parts}), part))
	t.end = t.Name("end", lower.MinI(t.Name("end", lower.AddI(t.begin, part)), t.end))
}

// sums forms the sums of the results. Of two slices in shared memory one begins at
// line 0, the other at the line after it, and slices go to them in turn; a single one is
// read by all threads before the next takes its place. What is computed for the rows and
// columns of a chunk says nothing of those of a result, so it has a scope of its own.
func (t *product) sums(m multiplier) {
	t.chunks(&t.a)
	t.chunks(&t.b)
	step := lower.Int(t.tile.depth)
	t.loop("k_from", t.begin, lower.AddI(t.end, step), step, func(kFrom ir.Expr) {
		more := t.Name("more", less(kFrom, t.end))
		line, last := lower.Int(0), lower.Int(0)
		if t.tile.slices == 2 {
			line = t.Name("line", bin(ir.And, kFrom, lower.Int(2*t.tile.depth-1)))
			last = bin(ir.Xor, line, step)
		}
		t.when(more, func() {
			t.load(&t.a, kFrom)
			t.load(&t.b, kFrom)
		})
		t.when(bin(ir.Gt, kFrom, t.begin), func() {
			m.multiply(t.Name("last", last), kFrom)
		})
		if t.tile.slices == 1 {
			t.Emit(&ir.Barrier{})
		}
		t.when(more, func() {
			m.store(&t.a, line)
			m.store(&t.b, line)
		})
		t.Emit(&ir.Barrier{})
	})
}

// choose gives the operands their arrays and returns how they are multiplied: as the
// 16-bit type that both are tensors of, which loses nothing, else as f32, which not all
// hardware has matrix units for.
func (t *product) choose() multiplier {
	p := t.k.Prod
	t.a = operand{axes: p.M, expr: p.A, name: "a"}
	t.b = operand{axes: p.N, expr: p.B, name: "b"}
	for _, s := range []*operand{&t.a, &t.b} {
		s.alongK = t.alongDepth(s)
		s.plain = t.sideBySide(s)
	}
	if e, ok := halves(p.A, p.B); ok {
		return newMatrixProduct(t, e)
	}
	if t.plain {
		return newPlainProduct(t)
	}
	return newMatrixProduct(t, ir.F32)
}

// halves returns the type of matrices that hold both operands as they are.
func halves(a, b expr.Expr) (ir.Elem, bool) {
	x, ok := a.(*expr.Read)
	y, ok2 := b.(*expr.Read)
	if !ok || !ok2 || x.T.Type != y.T.Type {
		return 0, false
	}
	switch x.T.Type {
	case expr.F16:
		return ir.F16, true
	case expr.BF16:
		return ir.BF16, true
	}
	return 0, false
}

// product is one tile of a product.
type product struct {
	*lowering
	tile
	thread     ir.Expr
	begin, end ir.Expr // of the depths that the group adds up
	a, b       operand
}

// operand is one factor: the axes that only it varies over, and the thread's chunk
// of its slices.
type operand struct {
	axes    []*expr.Axis
	expr    expr.Expr
	name    string
	alongK  bool         // chunks run along the depth
	plain   *expr.Tensor // whose elements a chunk is, side by side; nil if it is none's
	from, n ir.Expr      // of the group's tile; of the whole operand
	at, k   ir.Expr      // of the chunk's first element in a slice
	pos     ir.Expr      // its position in the whole operand, where the chunk runs along that
	slices  *ir.Array    // in shared memory
	next    *ir.Array    // the thread's chunk of the slice to come
	pitch   int64        // distance of the lines of slices
}

// alongDepth reports whether the operand lies in memory along the depth.
func (t *product) alongDepth(s *operand) bool { return slices.Contains(t.k.Red, innermostAxis(s.expr)) }

// innermostAxis is the axis that is innermost in the widest operand of e.
func innermostAxis(e expr.Expr) *expr.Axis {
	var widest *expr.Tensor
	for _, t := range expr.Reads(e) {
		if len(t.Axes) > 0 && (widest == nil || len(t.Axes) > len(widest.Axes)) {
			widest = t
		}
	}
	if widest == nil {
		return nil
	}
	return widest.Axes[len(widest.Axes)-1]
}

// sideBySide returns the tensor that the operand is, if the positions of a chunk lie
// side by side in it: its last axes are those that the chunk runs along.
func (t *product) sideBySide(s *operand) *expr.Tensor {
	r, ok := s.expr.(*expr.Read)
	if !ok || r.Idx != nil || r.T.Bounds != nil || t.Buffer(r.T) == nil {
		return nil
	}
	along := s.axes
	if s.alongK {
		along = t.k.Red
	}
	if first := len(r.T.Axes) - len(along); first < 0 || !slices.Equal(r.T.Axes[first:], along) {
		return nil
	}
	return r.T
}

// place names the part of the operand that the group has.
func (t *product) place(s *operand, group ir.ID, name string) {
	s.from = t.Name(name+"_from", times(&ir.Here{ID: group}, t.side))
	s.n = t.extent(name+"s", s.axes)
}

// chunks says which chunk of the operand is the thread's. Neighbouring threads have
// chunks that lie side by side.
func (t *product) chunks(s *operand) {
	line := t.side
	if s.alongK {
		line = t.tile.depth
	}
	across := lower.DivI(t.thread, lower.Int(line/t.chunk))
	along := lower.MulI(lower.RemI(t.thread, lower.Int(line/t.chunk)), lower.Int(t.chunk))
	if s.alongK {
		s.at, s.k = t.Name(s.name+"_at", across), t.Name(s.name+"_k", along)
		t.bind(s.axes, t.inside(s, lower.AddI(s.from, s.at)))
		return
	}
	s.k, s.at = t.Name(s.name+"_k", across), t.Name(s.name+"_at", along)
	s.pos = t.Name(s.name+"_pos", lower.AddI(s.from, s.at))
}

// inside is the position pos of the operand, or its last one.
func (t *product) inside(s *operand, pos ir.Expr) ir.Expr {
	return t.Name(s.name+"_pos", lower.MinI(t.Name(s.name+"_at", pos), lower.SubI(s.n, lower.Int(1))))
}

// load brings the thread's chunk of the slice at depth kFrom into registers.
func (t *product) load(s *operand, kFrom ir.Expr) {
	k := t.Name("k_pos", lower.AddI(kFrom, s.k))
	if !s.alongK {
		t.bind(t.k.Red, k)
		t.choice(less(k, t.end), func() { t.loadAcross(s) }, func() { t.zero(s) })
		return
	}
	one := func() {
		t.unrolled("i", t.chunk, func(i ir.Expr) {
			t.choice(less(lower.AddI(k, i), t.end), func() {
				t.bind(t.k.Red, t.Name("k_pos", lower.AddI(k, i)))
				t.put(s, i)
			}, func() { t.Emit(&ir.Put{A: s.next, I: i, X: zero()}) })
		})
	}
	if s.plain == nil {
		one()
		return
	}
	t.choice(bin(ir.Le, lower.AddI(k, lower.Int(t.chunk)), t.end), func() {
		t.bind(t.k.Red, k)
		t.fetch(s)
	}, one)
}

// loadAcross brings a chunk along the operand's side.
func (t *product) loadAcross(s *operand) {
	one := func() {
		t.unrolled("i", t.chunk, func(i ir.Expr) {
			t.bind(s.axes, t.inside(s, lower.AddI(s.pos, i)))
			t.put(s, i)
		})
	}
	if s.plain == nil {
		one()
		return
	}
	t.choice(bin(ir.Le, lower.AddI(s.pos, lower.Int(t.chunk)), s.n), func() {
		t.bind(s.axes, s.pos)
		t.fetch(s)
	}, one)
}

func (t *product) put(s *operand, i ir.Expr) {
	t.Emit(&ir.Put{A: s.next, I: i, X: t.Value(s.expr)})
}

func (t *product) fetch(s *operand) {
	t.Emit(&ir.Fetch{To: s.next, B: t.Buffer(s.plain), Off: t.OffsetOf(s.plain)})
}

func (t *product) zero(s *operand) {
	t.unrolled("i", t.chunk, func(i ir.Expr) { t.Emit(&ir.Put{A: s.next, I: i, X: zero()}) })
}

// choice runs yes where c holds and no elsewhere.
func (t *product) choice(c ir.Expr, yes, no func()) {
	s := &ir.If{C: c}
	t.Guarded(&s.Then, yes)
	t.Guarded(&s.Else, no)
	t.Emit(s)
}

// arrays gives an operand its slices of so many elements, and the registers of a
// chunk.
func (t *product) arrays(s *operand, e ir.Elem, n int64) {
	s.slices = t.shared(s.name+"_slices", e, n)
	s.slices.Wide = true
	s.next = t.private(s.name+"_next", t.chunk)
	s.next.Type = e
}

// in is the place in the slices of an element of a line.
func (s *operand) in(line, at ir.Expr) ir.Expr {
	return lower.AddI(lower.MulI(line, lower.Int(s.pitch)), at)
}

// epilogue stores the thread's results with what follows the product. What depends on
// the column alone is computed once for all of its rows.
func (t *product) epilogue(m multiplier) {
	p := t.k.Prod
	m.columns(func(c ir.Expr, rows func(func(row, sum ir.Expr))) {
		col := t.Name("column_pos", lower.AddI(t.b.from, c))
		t.when(less(col, t.b.n), func() {
			t.bind(p.N, col)
			rows(func(r, sum ir.Expr) {
				row := t.Name("row_pos", lower.AddI(t.a.from, r))
				t.when(less(row, t.a.n), func() {
					t.bind(p.M, row)
					t.Local(p.Acc, t.Name(p.Acc.Name, sum))
					t.stores(t.k.Stores)
				})
			})
		})
	})
}

func zero() ir.Expr { return &ir.Lit{T: ir.Scalar(ir.F32)} }
