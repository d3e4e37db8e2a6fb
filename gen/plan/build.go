package plan

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// builder places one step after the other into kernels.
type builder struct {
	plan *Plan
	// where is the kernel that computes each reduced let.
	where map[*expr.Tensor]int
	// inline is the expression of each let that has no reduction of its own.
	inline map[*expr.Tensor]expr.Expr
}

// step places s: an elementwise let is remembered for inlining, a reduction
// becomes a stage, an output a store.
func (b *builder) step(s *expr.Step) error {
	e := b.expand(s.Expr)
	res := s.Result
	if s.Reduce == expr.NoReduce {
		if res.Role != expr.Let {
			return b.store(&Store{T: res, Expr: e})
		}
		if !b.worthKeeping(s, e) {
			b.inline[res] = e
			b.plan.Names = append(b.plan.Names, Named{res.Name, e})
			return nil
		}
		return b.store(&Store{T: res, Expr: e})
	}
	let := res
	if res.Role != expr.Let && s.Reduce == expr.Sum && res.Type == expr.F32 && findProduct(res, s.Over, e) == nil {
		if sc := findScatter(res, s.Over, e); sc != nil {
			return b.newKernel(&Kernel{Shape: Scatter, Par: res.Axes, Red: s.Over, Place: sc}, nil)
		}
	}
	if res.Role != expr.Let {
		let = &expr.Tensor{Name: res.Name + "_reduced", Role: expr.Let, Axes: res.Axes, Shape: res.Shape, Type: letType(e, s.Reduce), Pos: res.Pos}
	}
	if err := b.reduce(let, s.Reduce, s.Over, e); err != nil {
		return err
	}
	if let != res {
		return b.store(&Store{T: res, Expr: b.expand(read(let))})
	}
	return nil
}

// letType is the type that holds a reduction of e.
func letType(e expr.Expr, op expr.ReduceOp) expr.DType {
	switch {
	case op == expr.Any || op == expr.All:
		return expr.U8
	case op == expr.Argmax || op == expr.Argmin || e.Kind() == expr.Int:
		return expr.I32
	}
	return expr.F32
}

func read(t *expr.Tensor) expr.Expr {
	k := expr.Float
	switch t.Type {
	case expr.I32:
		k = expr.Int
	case expr.U8:
		k = expr.Bool
	}
	return &expr.Read{Node: expr.Node{K: k, At: t.Pos}, T: t}
}

// expand replaces reads of inlined lets by their expressions, moved to the
// place that is read.
func (b *builder) expand(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Stop:
			return e.X
		case *expr.Read:
			if body, ok := b.inline[e.T]; ok {
				return moveTo(body, e.T.Axes, e.Idx)
			}
		}
		return e
	})
}

// moveTo is e with each of axes replaced by the index expression beside it.
func moveTo(e expr.Expr, axes []*expr.Axis, idx []expr.Expr) expr.Expr {
	if idx == nil {
		return e
	}
	at := map[*expr.Axis]expr.Expr{}
	for i, a := range axes {
		at[a] = idx[i]
	}
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Index:
			if x, ok := at[e.A]; ok {
				return x
			}
		case *expr.Read:
			if e.Idx != nil {
				return e
			}
			moved := false
			own := make([]expr.Expr, len(e.T.Axes))
			for i, a := range e.T.Axes {
				own[i] = &expr.Index{Node: expr.Node{K: expr.Int, At: e.At}, A: a}
				if x, ok := at[a]; ok {
					own[i], moved = x, true
				}
			}
			if moved {
				return &expr.Read{Node: e.Node, T: e.T, Idx: own}
			}
		}
		return e
	})
}

// worthKeeping reports whether the elementwise let of s is computed once and
// kept in memory: it costs more than a load, a matrix product reads it and so
// does another step.
func (b *builder) worthKeeping(s *expr.Step, e expr.Expr) bool {
	costly := false
	expr.Walk(e, func(e expr.Expr) bool {
		if _, ok := e.(*expr.Call); ok {
			costly = true
		}
		return !costly
	})
	if !costly {
		return false
	}
	readers, products := 0, 0
	for _, other := range b.plan.Program.Steps {
		if !slices.Contains(expr.Reads(other.Expr), s.Result) {
			continue
		}
		readers++
		if matchProduct(s.Result, other) {
			products++
		}
	}
	return products > 0 && readers > 1
}

// matchProduct reports whether step reads t as a factor of a matrix product.
func matchProduct(t *expr.Tensor, s *expr.Step) bool {
	if s.Reduce != expr.Sum {
		return false
	}
	return findProduct(s.Result, s.Over, s.Expr) != nil
}

// reduce places the reduction of e over the given axes into let.
func (b *builder) reduce(let *expr.Tensor, op expr.ReduceOp, over []*expr.Axis, e expr.Expr) error {
	if op == expr.Mean {
		sum := *let
		sum.Name += "_sum"
		if err := b.reduce(&sum, expr.Sum, over, e); err != nil {
			return err
		}
		mean := meanOf(b.expand(read(&sum)), over)
		b.inline[let] = mean
		b.plan.Names = append(b.plan.Names, Named{let.Name, mean})
		return nil
	}
	if op == expr.Sum {
		if p := findProduct(let, over, e); p != nil {
			k := &Kernel{Shape: Contract, Par: let.Axes, Red: over, Prod: p}
			return b.newKernel(k, let)
		}
		if sc := findScatter(let, over, e); sc != nil {
			k := &Kernel{Shape: Scatter, Par: let.Axes, Red: over, Place: sc}
			return b.newKernel(k, let)
		}
	}
	shape := Cols
	if innermost(e, over, let.Axes) {
		shape = Rows
	}
	if shape == Rows && len(let.Axes) == 0 && len(over) == 1 && chunkable(op) && !b.plan.IsChunk(over[0]) {
		return b.full(let, op, over, e)
	}
	stage := &Stage{Let: let, Reduce: op, Expr: e}
	if k := b.find(shape, let.Axes, over, e); k >= 0 {
		b.plan.Kernels[k].Stages = append(b.plan.Kernels[k].Stages, stage)
		b.where[let] = k
		return nil
	}
	return b.newKernel(&Kernel{Shape: shape, Par: let.Axes, Red: over, Stages: []*Stage{stage}}, let)
}

func (b *builder) newKernel(k *Kernel, let *expr.Tensor) error {
	b.plan.Kernels = append(b.plan.Kernels, k)
	if let != nil {
		b.where[let] = len(b.plan.Kernels) - 1
	}
	return nil
}

// meanOf is sum divided by the number of elements, 0 over nothing.
func meanOf(sum expr.Expr, over []*expr.Axis) expr.Expr {
	at := expr.Node{K: expr.Int, At: sum.Pos()}
	var n expr.Expr
	for _, a := range over {
		var size expr.Expr = &expr.Size{Node: at, A: a}
		if n == nil {
			n = size
			continue
		}
		n = &expr.Binary{Node: at, Op: expr.Mul, X: n, Y: size}
	}
	f := func(e expr.Expr) expr.Expr {
		return &expr.Convert{Node: expr.Node{K: expr.Float, At: sum.Pos()}, X: e}
	}
	one := &expr.Const{Node: at, I: 1}
	atLeastOne := &expr.Call{Node: at, Fn: expr.FnMax, Args: []expr.Expr{n, one}}
	return &expr.Binary{Node: expr.Node{K: expr.Float, At: sum.Pos()}, Op: expr.Div, X: sum, Y: f(atLeastOne)}
}

func chunkable(op expr.ReduceOp) bool { return op != expr.Argmax && op != expr.Argmin }

// IsChunk reports whether a is an axis of chunks.
func (p *Plan) IsChunk(a *expr.Axis) bool {
	return slices.ContainsFunc(p.Chunks, func(c *Chunk) bool { return c.Axis == a })
}

// full reduces over the whole index space in two kernels: fixed chunks first,
// then the chunks' results.
func (b *builder) full(let *expr.Tensor, op expr.ReduceOp, over []*expr.Axis, e expr.Expr) error {
	c := b.chunk(Chunk{Of: over, Size: ChunkSize}, "chunks")
	part := &expr.Tensor{Name: let.Name + "_chunk", Role: expr.Let, Axes: []*expr.Axis{c.Axis}, Type: let.Type, Pos: let.Pos}
	stage := &Stage{Let: part, Reduce: op, Expr: e}
	k := b.find(Partial, part.Axes, over, e)
	if k >= 0 {
		b.plan.Kernels[k].Stages = append(b.plan.Kernels[k].Stages, stage)
		b.where[part] = k
	} else if err := b.newKernel(&Kernel{Shape: Partial, Par: part.Axes, Red: over, Chunk: c, Stages: []*Stage{stage}}, part); err != nil {
		return err
	}
	return b.reduce(let, op, []*expr.Axis{c.Axis}, read(part))
}

// chunk returns c with its axis, which is one for all chunks of a size over the same axes.
func (b *builder) chunk(c Chunk, name string) *Chunk {
	for _, x := range b.plan.Chunks {
		if x.Size == c.Size && slices.Equal(x.Of, c.Of) {
			return x
		}
	}
	c.Axis = &expr.Axis{Name: c.Of[0].Name + "_" + name, Pos: c.Of[0].Pos}
	b.plan.Chunks = append(b.plan.Chunks, &c)
	return &c
}

// innermost reports whether a reduction of e runs along the axis that is
// innermost in memory: so it is in the widest operand that varies over a reduced
// axis.
func innermost(e expr.Expr, over, result []*expr.Axis) bool {
	if len(result) == 0 {
		return true
	}
	var widest []*expr.Axis
	expr.Walk(e, func(e expr.Expr) bool {
		r, ok := e.(*expr.Read)
		if !ok {
			return true
		}
		if axes := layout(r); len(axes) > len(widest) && slices.ContainsFunc(axes, func(a *expr.Axis) bool { return slices.Contains(over, a) }) {
			widest = axes
		}
		return true
	})
	return len(widest) == 0 || !slices.Contains(result, widest[len(widest)-1])
}

// layout returns the axes along which r moves through memory, innermost last;
// none if it does not move by single elements along one.
func layout(r *expr.Read) []*expr.Axis {
	if r.Idx == nil {
		return r.T.Axes
	}
	var axes []*expr.Axis
	for i, x := range r.Idx {
		ix, ok := x.(*expr.Index)
		if ok {
			axes = append(axes, ix.A)
		} else if i == len(r.Idx)-1 {
			return nil
		}
	}
	return axes
}

// find returns the kernel that the reduction of e can join: same shape, same
// axes, and everything that e reads is there by then.
func (b *builder) find(shape Shape, par, red []*expr.Axis, e expr.Expr) int {
	first := b.after(e)
	for i := max(first, 0); i < len(b.plan.Kernels); i++ {
		k := b.plan.Kernels[i]
		if k.Shape == shape && slices.Equal(k.Par, par) && slices.Equal(k.Red, red) && b.readable(e, i) && !b.overwrites(k, e) {
			return i
		}
	}
	return -1
}

// after is the last kernel whose results e reads.
func (b *builder) after(es ...expr.Expr) int {
	last := -1
	for _, e := range es {
		for _, t := range expr.Reads(e) {
			if k, ok := b.where[t]; ok {
				last = max(last, k)
			}
		}
	}
	return last
}

// readable reports whether e reads the values that kernel i computes only at
// the place where the kernel has them.
func (b *builder) readable(e expr.Expr, i int) bool {
	ok := true
	expr.Walk(e, func(e expr.Expr) bool {
		if r, is := e.(*expr.Read); is && r.Idx != nil {
			if k, computed := b.where[r.T]; computed && k == i {
				ok = false
			}
		}
		return ok
	})
	if !ok {
		return false
	}
	for _, t := range expr.Reads(e) {
		if k, computed := b.where[t]; computed && k == i && !b.plan.Kernels[i].Local(t) {
			return false
		}
	}
	return true
}

// overwrites reports whether k stores an inout that e reads.
func (b *builder) overwrites(k *Kernel, e expr.Expr) bool {
	for _, w := range k.Writes() {
		if w.Role == expr.InOut && slices.Contains(expr.Reads(e), w) {
			return true
		}
	}
	return false
}

// store places s into a kernel that has its operands, or a new map.
func (b *builder) store(s *Store) error {
	if err := b.checkInOut(s); err != nil {
		return err
	}
	first := max(b.after(s.Expr), 0)
	if s.T.Role == expr.InOut {
		first = max(first, b.lastReader(s.T))
	}
	for i := first; i < len(b.plan.Kernels); i++ {
		if k := b.plan.Kernels[i]; b.accepts(i, k, s) {
			k.Stores = append(k.Stores, s)
			if s.T.Role == expr.Let {
				b.where[s.T] = i
			}
			return nil
		}
	}
	k := &Kernel{Shape: Map, Par: s.T.Axes, Stores: []*Store{s}}
	var let *expr.Tensor
	if s.T.Role == expr.Let {
		let = s.T
		b.plan.Temps = append(b.plan.Temps, let)
	}
	return b.newKernel(k, let)
}

// accepts reports whether kernel i can also compute s: a map with the same
// axes, or a reduction whose results s reads, over its rows or one per row.
func (b *builder) accepts(i int, k *Kernel, s *Store) bool {
	if !b.readable(s.Expr, i) {
		return false
	}
	for _, w := range k.Stores {
		if w.T.Role == expr.InOut && w.T != s.T && slices.Contains(expr.Reads(s.Expr), w.T) && !ownPlace(s.Expr, w.T) {
			return false
		}
	}
	if s.T.Role == expr.InOut && readsElsewhere(k, s.T) {
		return false
	}
	depends := slices.ContainsFunc(expr.Reads(s.Expr), k.Local)
	switch k.Shape {
	case Map:
		return slices.Equal(k.Par, s.T.Axes) && !slices.ContainsFunc(k.Stores, func(o *Store) bool { return o.T.Role == expr.Let })
	case Rows:
		return depends && (slices.Equal(s.T.Axes, k.Par) || slices.Equal(s.T.Axes, concat(k.Par, k.Red)))
	case Cols:
		return depends && slices.Equal(s.T.Axes, k.Par)
	case Contract:
		return depends && sameSet(s.T.Axes, k.Par)
	}
	return false
}

// ownPlace reports whether e reads t at its own axes only.
func ownPlace(e expr.Expr, t *expr.Tensor) bool {
	own := true
	expr.Walk(e, func(e expr.Expr) bool {
		if r, ok := e.(*expr.Read); ok && r.T == t && r.Idx != nil {
			own = false
		}
		return own
	})
	return own
}

func concat(a, b []*expr.Axis) []*expr.Axis { return append(slices.Clone(a), b...) }

func sameSet(a, b []*expr.Axis) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

// lastReader is the last kernel that reads t.
func (b *builder) lastReader(t *expr.Tensor) int {
	last := 0
	for i, k := range b.plan.Kernels {
		if slices.Contains(k.Reads(), t) {
			last = i
		}
	}
	return last
}

func (b *builder) checkInOut(s *Store) error {
	if s.T.Role == expr.InOut && !ownPlace(s.Expr, s.T) {
		return errInOutElsewhere
	}
	return nil
}

// materialise gives a workspace to each value that another kernel than its own
// reads, unless an output holds the value as it is: then it is read from there.
func (b *builder) materialise() {
	for i, k := range b.plan.Kernels {
		for _, t := range k.Reads() {
			j, computed := b.where[t]
			if !computed || j == i || slices.Contains(b.plan.Temps, t) {
				continue
			}
			if out := b.plan.Kernels[j].holder(t); out != nil {
				k.replace(t, out)
				continue
			}
			b.plan.Temps = append(b.plan.Temps, t)
			if from := b.plan.Kernels[j]; from.Place == nil || from.Place.Acc != t {
				from.Stores = append(from.Stores, &Store{T: t, Expr: read(t)})
			}
		}
	}
}

// holder returns the output in which k stores t, which it computes, as it is.
func (k *Kernel) holder(t *expr.Tensor) *expr.Tensor {
	for _, s := range k.Stores {
		r, ok := s.Expr.(*expr.Read)
		if ok && r.T == t && r.Idx == nil && s.T.Role == expr.Out && s.T.Type == t.Type && slices.Equal(s.T.Axes, t.Axes) {
			return s.T
		}
	}
	return nil
}

// replace makes k read by where it reads t; both have the same axes and type.
func (k *Kernel) replace(t, by *expr.Tensor) {
	in := func(e expr.Expr) expr.Expr {
		if e == nil {
			return nil
		}
		return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			if r, ok := e.(*expr.Read); ok && r.T == t {
				return &expr.Read{Node: r.Node, T: by, Idx: r.Idx}
			}
			return e
		})
	}
	for _, s := range slices.Concat(k.Stages, k.Sums) {
		s.Expr = in(s.Expr)
	}
	if p := k.Prod; p != nil {
		p.A, p.B = in(p.A), in(p.B)
	}
	if s := k.Place; s != nil {
		s.ID, s.Cond, s.Value = in(s.ID), in(s.Cond), in(s.Value)
	}
	for _, s := range k.Stores {
		s.Expr = in(s.Expr)
	}
}
