package dataset

import (
	"errors"
	"fmt"
	"math"
)

// A Sample is a text as ids, with what a teacher says of it.
type Sample struct {
	IDs    []int32
	Mask   []uint8   // of each id, 1 if it counts and 0 if not
	Target []float32 // empty where there is none
}

// A Source is a list of samples that does not change. It may be read from several
// goroutines.
type Source interface {
	// Len returns the number of samples.
	Len() int
	// Tokens returns the number of ids of sample i, without reading it.
	Tokens(i int) int
	// Dim returns the number of elements of each target, 0 without targets.
	Dim() int
	// Read reads sample i into s, whose memory it reuses. The error says where in
	// which file the sample stands and what is wrong with it.
	Read(i int, s *Sample) error
}

// An Encoder appends the ids of a text to ids. It may be called from several
// goroutines.
type Encoder func(ids []int32, text string) []int32

// check returns what is wrong with a sample.
func (s *Sample) check(dim int) error {
	if len(s.Mask) != len(s.IDs) {
		return fmt.Errorf("the mask has %d elements, there are %d ids", len(s.Mask), len(s.IDs))
	}
	if len(s.Target) != dim {
		return fmt.Errorf("the target has %d elements, must be %d", len(s.Target), dim)
	}
	for i, id := range s.IDs {
		if id < 0 {
			return fmt.Errorf("ids[%d] is %d, must not be negative", i, id)
		}
	}
	for i, m := range s.Mask {
		if m > 1 {
			return fmt.Errorf("mask[%d] is %d, must be 0 or 1", i, m)
		}
	}
	for i, v := range s.Target {
		if d := float64(v); math.IsNaN(d) || math.IsInf(d, 0) {
			return fmt.Errorf("target[%d] is %v, must be finite", i, v)
		}
	}
	return nil
}

// mostErrors is how many errors of a file are listed.
const mostErrors = 10

// Verify reads all samples and returns what is wrong with them, the first ten
// errors. Ids must be less than vocab.
func Verify(src Source, vocab int) error {
	var errs []error
	var s Sample
	for i := 0; i < src.Len() && len(errs) < mostErrors; i++ {
		if err := src.Read(i, &s); err != nil {
			errs = append(errs, err)
			continue
		}
		for j, id := range s.IDs {
			if int(id) >= vocab {
				errs = append(errs, fmt.Errorf("dataset: sample %d: ids[%d] is %d, the vocabulary has %d", i, j, id, vocab))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// Part is samples from to to-1 of another source, such as those held out.
type Part struct {
	src      Source
	from, to int
}

// NewPart returns a part of a source; from and to are in [0, src.Len()].
func NewPart(src Source, from, to int) (*Part, error) {
	if from < 0 || from > to || to > src.Len() {
		return nil, fmt.Errorf("dataset: samples [%d, %d) of %d", from, to, src.Len())
	}
	return &Part{src, from, to}, nil
}

// Len returns the number of samples.
func (p *Part) Len() int { return p.to - p.from }

// Tokens returns the number of ids of sample i of the part.
func (p *Part) Tokens(i int) int { return p.src.Tokens(p.from + i) }

// Dim returns the number of elements of each target.
func (p *Part) Dim() int { return p.src.Dim() }

// Read reads sample i of the part.
func (p *Part) Read(i int, s *Sample) error { return p.src.Read(p.from+i, s) }
