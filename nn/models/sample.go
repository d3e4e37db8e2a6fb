package models

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampling says how an id is chosen from logits. The zero Sampling takes the largest,
// the first of equals.
type Sampling struct {
	Temperature float64 // divides the logits; 0 takes the largest
	TopK        int     // draw from the largest TopK logits (Fan, Lewis and Dauphin, 2018, section 5.4); 0 from all
	// TopP draws from the fewest ids whose probabilities, after TopK, add up to TopP or
	// more (Holtzman et al., The Curious Case of Neural Text Degeneration, 2020, section
	// 3.1); 0 and 1 from all.
	TopP float64
	Seed uint64
}

func (s *Sampling) check() error {
	var errs []error
	if !(s.Temperature >= 0) || math.IsInf(s.Temperature, 0) {
		errs = append(errs, fmt.Errorf("sampling: the temperature is %v, must be at least 0", s.Temperature))
	}
	if s.TopK < 0 {
		errs = append(errs, fmt.Errorf("sampling: top-k is %d, must be at least 0", s.TopK))
	}
	if !(s.TopP >= 0 && s.TopP <= 1) {
		errs = append(errs, fmt.Errorf("sampling: top-p is %v, must be from 0 to 1", s.TopP))
	}
	return errors.Join(errs...)
}

// A Sampler chooses ids.
type Sampler struct {
	Sampling
	r    *rand.Rand
	pool []choice
}

// choice is an id with its weight, in proportion to its probability.
type choice struct {
	id     int32
	weight float64
}

// NewSampler returns a sampler that draws from the seed.
func NewSampler(s Sampling) (*Sampler, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return &Sampler{Sampling: s, r: rand.New(rand.NewPCG(s.Seed, 0))}, nil
}

// Next chooses one of the ids [0, len(logits)).
func (s *Sampler) Next(logits []float32) (int32, error) {
	best := 0
	for i, v := range logits {
		if math.IsNaN(float64(v)) {
			return 0, fmt.Errorf("sampling: the logit of id %d is NaN", i)
		}
		if v > logits[best] {
			best = i
		}
	}
	if len(logits) == 0 || math.IsInf(float64(logits[best]), 0) {
		return 0, errors.New("sampling: no logit is finite")
	}
	if s.Temperature == 0 {
		return int32(best), nil
	}
	s.weigh(logits, float64(logits[best]))
	s.cut()
	return s.draw(), nil
}

// weigh fills the pool with all ids; top is the largest logit.
func (s *Sampler) weigh(logits []float32, top float64) {
	s.pool = s.pool[:0]
	for i, v := range logits {
		s.pool = append(s.pool, choice{int32(i), math.Exp((float64(v) - top) / s.Temperature)})
	}
}

// cut leaves in the pool what TopK and TopP leave.
func (s *Sampler) cut() {
	all := s.TopP == 0 || s.TopP == 1
	if all && s.TopK == 0 {
		return
	}
	slices.SortStableFunc(s.pool, func(a, b choice) int { return cmp.Compare(b.weight, a.weight) })
	if s.TopK > 0 && s.TopK < len(s.pool) {
		s.pool = s.pool[:s.TopK]
	}
	if all {
		return
	}
	sum, limit := 0.0, s.TopP*s.total()
	for i, c := range s.pool {
		if sum += c.weight; sum >= limit {
			s.pool = s.pool[:i+1]
			return
		}
	}
}

func (s *Sampler) total() float64 {
	sum := 0.0
	for _, c := range s.pool {
		sum += c.weight
	}
	return sum
}

// draw takes an id with its probability.
func (s *Sampler) draw() int32 {
	u := s.r.Float64() * s.total()
	for _, c := range s.pool {
		if u -= c.weight; u < 0 {
			return c.id
		}
	}
	return s.pool[len(s.pool)-1].id
}
