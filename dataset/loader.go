package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Config says how samples become batches.
type Config struct {
	// Batch is the number of samples of a batch. The last of a width in an epoch may
	// have fewer.
	Batch int
	// Widths are the widths of batches, rising: a sample goes where it has room and is
	// padded least. None means one, that of the longest sample.
	Widths []int
	// Truncate cuts samples that are longer than the last width; else they are an
	// error.
	Truncate bool
	// Shuffle puts the samples into another order in each epoch, which Seed and the
	// number of the epoch fix. Else they come in the order of the source.
	Shuffle bool
	Seed    uint64
	// Pad is the id that samples are padded with.
	Pad int32
}

// A Batch is samples side by side. Its memory is reused by the next one.
type Batch struct {
	Rows, Width, Dim int
	IDs              []int32   // [Rows, Width]
	Mask             []uint8   // [Rows, Width], 0 for padding
	Target           []float32 // [Rows, Dim]
	Samples          []int     // the number of each row's sample

	sample Sample
}

// A Loader goes through a source, epoch after epoch. It is for one goroutine.
type Loader struct {
	src   Source
	cfg   Config
	order uint64 // what the order depends on, as a hash

	epoch   int
	next    int // batch of the epoch
	batches []batchPlan
}

// batchPlan is the samples of a batch and its width.
type batchPlan struct {
	width   int
	samples []int32
}

// State is where a Loader stands. It is plain data, to be saved beside a model.
type State struct {
	Epoch int    `json:"epoch"`
	Batch int    `json:"batch"` // the next one of the epoch
	Order uint64 `json:"order"` // a hash of the samples' lengths and the configuration
}

// NewLoader returns a loader at the first batch of the first epoch.
func NewLoader(src Source, cfg Config) (*Loader, error) {
	cfg.Widths = slices.Clone(cfg.Widths)
	if err := cfg.check(src); err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	l := &Loader{src: src, cfg: cfg}
	l.order = l.hash()
	l.plan()
	return l, nil
}

// check completes a configuration, or says what is wrong with it.
func (c *Config) check(src Source) error {
	if c.Batch < 1 {
		return fmt.Errorf("batches of %d samples", c.Batch)
	}
	if src.Len() == 0 {
		return errors.New("there are no samples")
	}
	if src.Len() > math.MaxInt32 {
		return fmt.Errorf("there are %d samples, the most is %d", src.Len(), math.MaxInt32)
	}
	longest, at := 0, 0
	for i := range src.Len() {
		if n := src.Tokens(i); n > longest {
			longest, at = n, i
		}
	}
	if len(c.Widths) == 0 {
		c.Widths = []int{max(longest, 1)}
	}
	for i, w := range c.Widths {
		if w < 1 || i > 0 && w <= c.Widths[i-1] {
			return fmt.Errorf("widths %v must be positive and rise", c.Widths)
		}
	}
	if last := c.Widths[len(c.Widths)-1]; longest > last && !c.Truncate {
		return fmt.Errorf("sample %d has %d ids, the widest batch is %d: give a wider one or truncate", at, longest, last)
	}
	return nil
}

// hash sums up what the order of the batches depends on.
func (l *Loader) hash() uint64 {
	h := fnv.New64a()
	put := func(v ...uint64) {
		for _, x := range v {
			h.Write(binary.LittleEndian.AppendUint64(nil, x))
		}
	}
	put(uint64(l.cfg.Batch), l.cfg.Seed, uint64(len(l.cfg.Widths)), uint64(l.src.Dim()))
	if l.cfg.Shuffle {
		put(1)
	}
	for _, w := range l.cfg.Widths {
		put(uint64(w))
	}
	for i := range l.src.Len() {
		put(uint64(l.src.Tokens(i)))
	}
	return h.Sum64()
}

// plan makes the batches of the epoch. Each width collects samples in their order
// and gives a batch when it has enough; at the end come those that have too few.
func (l *Loader) plan() {
	order := make([]int32, l.src.Len())
	for i := range order {
		order[i] = int32(i)
	}
	rng := rand.NewPCG(l.cfg.Seed, uint64(l.epoch))
	if l.cfg.Shuffle {
		shuffle(rng, order)
	}
	l.batches = l.batches[:0]
	open := make([]batchPlan, len(l.cfg.Widths))
	for i, w := range l.cfg.Widths {
		open[i].width = w
	}
	for _, i := range order {
		b := &open[l.bucket(l.src.Tokens(int(i)))]
		b.samples = append(b.samples, i)
		if len(b.samples) == l.cfg.Batch {
			l.batches = append(l.batches, *b)
			b.samples = nil
		}
	}
	for _, b := range open {
		if len(b.samples) > 0 {
			l.batches = append(l.batches, b)
		}
	}
	if l.cfg.Shuffle {
		shuffle(rng, l.batches)
	}
}

// bucket returns the first width that n ids have room in, or the last.
func (l *Loader) bucket(n int) int {
	i, _ := slices.BinarySearch(l.cfg.Widths, n)
	return min(i, len(l.cfg.Widths)-1)
}

// shuffle is the shuffle of Fisher and Yates. It is written out so that an order
// stays what it is when Go's changes.
func shuffle[T any](rng *rand.PCG, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		// The high word of the product is a number in [0, i]; its bias is below 2⁻³².
		j, _ := bits.Mul64(rng.Uint64(), uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
}

// Batches returns the number of batches of an epoch, which is the same for all.
func (l *Loader) Batches() int { return len(l.batches) }

// Next reads the next batch into b. At the end of each epoch it returns io.EOF
// once, and goes on with the next epoch. After another error it stands where it
// stood.
func (l *Loader) Next(b *Batch) error {
	if l.next == len(l.batches) {
		l.epoch++
		l.next = 0
		l.plan()
		return io.EOF
	}
	if err := l.read(l.batches[l.next], b); err != nil {
		return err
	}
	l.next++
	return nil
}

// read fills a batch.
func (l *Loader) read(p batchPlan, b *Batch) error {
	b.Rows, b.Width, b.Dim = len(p.samples), p.width, l.src.Dim()
	b.IDs, b.Mask, b.Target, b.Samples = b.IDs[:0], b.Mask[:0], b.Target[:0], b.Samples[:0]
	for _, i := range p.samples {
		if err := l.src.Read(int(i), &b.sample); err != nil {
			return err
		}
		n := min(len(b.sample.IDs), p.width)
		b.IDs = append(b.IDs, b.sample.IDs[:n]...)
		b.Mask = append(b.Mask, b.sample.Mask[:n]...)
		for range p.width - n {
			b.IDs, b.Mask = append(b.IDs, l.cfg.Pad), append(b.Mask, 0)
		}
		b.Target = append(b.Target, b.sample.Target...)
		b.Samples = append(b.Samples, int(i))
	}
	return nil
}

// State returns where the loader stands.
func (l *Loader) State() State { return State{l.epoch, l.next, l.order} }

// Restore puts the loader where a loader of the same samples and configuration
// stood: the same batches follow.
func (l *Loader) Restore(s State) error {
	if s.Order != l.order {
		return fmt.Errorf("dataset: the state is of other samples or another configuration (order %x, this is %x)", s.Order, l.order)
	}
	if s.Epoch < 0 || s.Batch < 0 || s.Batch > len(l.batches) {
		return fmt.Errorf("dataset: the state has epoch %d and batch %d, an epoch has %d", s.Epoch, s.Batch, len(l.batches))
	}
	l.epoch, l.next = s.Epoch, s.Batch
	l.plan()
	return nil
}
