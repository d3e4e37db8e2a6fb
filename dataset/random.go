package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
)

// RandomWindows draws batches of pieces of a long text, to learn what comes next: each
// row has the ids of a piece, which begins anywhere, and the one after them. Which ones
// is a matter of the seed and the number of the batch. It has no epochs: Next never
// returns io.EOF. It is for one goroutine.
type RandomWindows struct {
	ids          []int32
	length, rows int
	seed         uint64
	order        uint64 // what the pieces depend on, as a hash
	next         int
}

// NewRandomWindows returns batches of rows pieces of length ids each. It keeps ids,
// which must be more than length.
func NewRandomWindows(ids []int32, length, rows int, seed uint64) (*RandomWindows, error) {
	if length < 1 || rows < 1 || length >= math.MaxInt32/rows {
		return nil, fmt.Errorf("dataset: batches of %d windows of %d ids: must be positive, and fewer than 2^31 ids", rows, length)
	}
	if len(ids) <= length {
		return nil, fmt.Errorf("dataset: windows of %d ids and the one after them, the text has %d", length, len(ids))
	}
	h := fnv.New64a()
	for _, v := range []int{len(ids), length, rows, int(seed)} {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
	return &RandomWindows{ids: ids, length: length, rows: rows, seed: seed, order: h.Sum64()}, nil
}

// Next draws the next batch into b.
func (w *RandomWindows) Next(b *Batch) error {
	rng := rand.NewPCG(w.seed, uint64(w.next))
	b.Rows, b.Width, b.Dim = w.rows, w.length+1, 0
	b.IDs, b.Mask, b.Target, b.Samples = b.IDs[:0], b.Mask[:0], b.Target[:0], b.Samples[:0]
	for range w.rows {
		// The high word of the product is a number below the count of pieces.
		from, _ := bits.Mul64(rng.Uint64(), uint64(len(w.ids)-w.length))
		b.IDs = append(b.IDs, w.ids[from:int(from)+w.length+1]...)
		b.Samples = append(b.Samples, int(from))
	}
	for range b.IDs {
		b.Mask = append(b.Mask, 1)
	}
	w.next++
	return nil
}

// State returns where the draws stand. The epoch is always 0.
func (w *RandomWindows) State() State { return State{Batch: w.next, Order: w.order} }

// Restore goes on where draws from a text of the same length, in the same
// configuration, stood.
func (w *RandomWindows) Restore(s State) error {
	if s.Order != w.order {
		return fmt.Errorf("dataset: the state is of another text or configuration (order %x, this is %x)", s.Order, w.order)
	}
	if s.Epoch != 0 || s.Batch < 0 {
		return fmt.Errorf("dataset: the state has epoch %d and batch %d, random windows have no epochs", s.Epoch, s.Batch)
	}
	w.next = s.Batch
	return nil
}
