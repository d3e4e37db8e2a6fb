package plan

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// The numbers of rows whose column sums a row program adds up on the CPU before it
// leaves them: beside what it has to do for each row, and when there is nothing else to
// do. The sums cost two passes over a row in so many, and so many fewer rows can be
// spread over workers. On a GPU the host chooses, so that the blocks fill it.
const (
	joinedRows = 16
	summedRows = 32
)

// joinColumns lets a row program sum along the columns of what it reads, instead
// of a kernel that reads it all again: the row kernel leaves the sums of each
// block of rows, and the column kernel adds those up. This is how the whole
// backward of a normalisation reads its operands once.
func (b *builder) joinColumns() {
	for _, c := range slices.Clone(b.plan.Kernels) {
		if !sumsColumns(c) {
			continue
		}
		for _, r := range b.plan.Kernels {
			if b.joins(r, c) {
				b.join(r, c)
				break
			}
		}
	}
}

// splitColumns makes two kernels of a sum over all rows of a matrix: one that goes
// along the rows, block by block, and one that adds up the blocks. A kernel that
// goes down the columns reads a little of every row at a time, and finds no more
// work to spread than there are columns.
func (b *builder) splitColumns() {
	for _, c := range slices.Clone(b.plan.Kernels) {
		if !sumsColumns(c) || !b.goesDown(c) {
			continue
		}
		rows := &Kernel{Shape: Rows, Par: c.Red, Red: c.Par, Chunk: b.chunk(Chunk{Of: c.Red, Size: summedRows, Blocks: true}, "sums")}
		b.plan.Kernels = slices.Insert(b.plan.Kernels, slices.Index(b.plan.Kernels, c), rows)
		b.join(rows, c)
	}
}

// goesDown reports whether c reads a tensor of which its results are the rows'
// elements, added up over all rows.
func (b *builder) goesDown(c *Kernel) bool {
	return len(c.Par) > 0 && slices.ContainsFunc(c.Reads(), func(t *expr.Tensor) bool {
		return slices.Equal(t.Axes, concat(c.Red, c.Par))
	}) && !slices.ContainsFunc(c.Red, b.plan.IsChunk)
}

// sumsColumns reports whether c adds up floats along columns, and no more.
func sumsColumns(c *Kernel) bool {
	if c.Shape != Cols || len(c.Passes()) != 1 || writesInOut(c) {
		return false
	}
	return !slices.ContainsFunc(c.Stages, func(s *Stage) bool {
		return s.Reduce != expr.Sum || s.Expr.Kind() != expr.Float
	})
}

func writesInOut(k *Kernel) bool {
	return slices.ContainsFunc(k.Writes(), func(t *expr.Tensor) bool { return t.Role == expr.InOut })
}

// joins reports whether the row program r can leave what c sums up: it goes over
// the same rows, reads a tensor that c reads, and computes or is later than all
// that c needs, nothing that it needs comes of c, and no kernel writes the new value
// of an inout that c reads.
func (b *builder) joins(r, c *Kernel) bool {
	if r.Shape != Rows || !slices.Equal(r.Par, c.Red) || !slices.Equal(r.Red, c.Par) || writesInOut(r) {
		return false
	}
	all := concat(r.Par, r.Red)
	shared := slices.ContainsFunc(c.Reads(), func(t *expr.Tensor) bool {
		return sameSet(t.Axes, all) && slices.Contains(r.Reads(), t)
	})
	at := slices.Index(b.plan.Kernels, r)
	for i, k := range b.plan.Kernels {
		for _, w := range k.Writes() {
			switch {
			case k == c && i < at && b.readBefore(at, w):
				return false
			case k == r && !r.Local(w) && b.stageReads(c, w), k != r && i > at && b.stageReads(c, w):
				return false
			case w.Role == expr.InOut && b.stageReads(c, w):
				return false
			}
		}
	}
	return shared
}

// readBefore reports whether a kernel up to number n reads t.
func (b *builder) readBefore(n int, t *expr.Tensor) bool {
	return slices.ContainsFunc(b.plan.Kernels[:n+1], func(k *Kernel) bool { return slices.Contains(k.Reads(), t) })
}

// stageReads reports whether a reduction of c reads t.
func (b *builder) stageReads(c *Kernel, t *expr.Tensor) bool {
	return slices.ContainsFunc(c.Stages, func(s *Stage) bool { return slices.Contains(expr.Reads(s.Expr), t) })
}

// join moves the terms of c's sums into r; c, after r, adds up the blocks.
func (b *builder) join(r, c *Kernel) {
	if r.Chunk == nil {
		r.Chunk = b.chunk(Chunk{Of: r.Par, Size: joinedRows, Blocks: true}, "blocks")
	}
	for _, s := range c.Stages {
		part := &expr.Tensor{
			Name: s.Let.Name + "_block", Role: expr.Let, Type: expr.F32, Pos: s.Let.Pos,
			Axes: concat([]*expr.Axis{r.Chunk.Axis}, c.Par),
		}
		r.Sums = append(r.Sums, &Stage{Let: part, Reduce: expr.Sum, Expr: s.Expr})
		s.Expr = read(part)
		b.plan.Temps = append(b.plan.Temps, part)
	}
	c.Red = []*expr.Axis{r.Chunk.Axis}
	ks := b.plan.Kernels
	if i, j := slices.Index(ks, c), slices.Index(ks, r); i < j {
		ks = slices.Insert(ks, j+1, c)
		b.plan.Kernels = slices.Delete(ks, i, i+1)
	}
	b.dropUnread()
}

// dropUnread drops the workspaces that nothing reads any more, and their stores.
func (b *builder) dropUnread() {
	b.plan.Temps = slices.DeleteFunc(b.plan.Temps, func(t *expr.Tensor) bool {
		if slices.ContainsFunc(b.plan.Kernels, func(k *Kernel) bool { return slices.Contains(k.Reads(), t) }) {
			return false
		}
		for _, k := range b.plan.Kernels {
			k.Stores = slices.DeleteFunc(k.Stores, func(s *Store) bool { return s.T == t })
		}
		return true
	})
}
