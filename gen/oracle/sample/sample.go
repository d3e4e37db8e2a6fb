// Package sample draws inputs for checked programs, for tests that run every
// spec. A program and a seed come in, a call of the oracle that its conditions
// accept comes out; it knows no spec by name.
package sample

import (
	"fmt"
	"math/rand/v2"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// tries is how often sizes and parameters are drawn until the program's
// conditions hold.
const tries = 2000

// Call returns inputs for p: small awkward extents, zero now and then, and
// values that every float type holds exactly. Equal seeds give equal calls.
func Call(p *expr.Program, seed uint64) (oracle.Call, error) {
	s := &sampler{p: p, rng: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))}
	for range tries {
		if call, ok := s.shapes(); ok {
			return call, nil
		}
	}
	return oracle.Call{}, fmt.Errorf("%s: no sizes and parameters found in %d tries that its conditions accept", p.Name, tries)
}

type sampler struct {
	p   *expr.Program
	rng *rand.Rand
}

// shapes draws extents and parameters, and values for them when they are
// accepted.
func (s *sampler) shapes() (oracle.Call, bool) {
	call := oracle.Call{Params: s.params(), Free: map[string][]int{}}
	dims := map[*expr.Axis][]int{}
	for _, a := range s.p.Axes {
		dims[a] = s.extent(a)
		if a.Free {
			call.Free[a.Name] = dims[a]
		}
	}
	if !s.derive(dims, call.Params) {
		return call, false
	}
	for _, t := range s.p.Ins {
		call.Ins = append(call.Ins, oracle.NewArray(shape(t, dims)...))
	}
	sizes, err := oracle.Check(s.p, call)
	if err != nil {
		return call, false
	}
	for i, t := range s.p.Ins {
		bound, err := oracle.Bound(s.p, sizes, call.Params, t)
		if err != nil {
			return call, false
		}
		if t.Bounds != nil && bound == 0 && len(call.Ins[i].Data) > 0 {
			return call, false
		}
		s.fill(t, call, call.Ins[i].Data, bound)
	}
	return call, true
}

// derive replaces the extents that have a formula.
func (s *sampler) derive(dims map[*expr.Axis][]int, params []oracle.Value) bool {
	for _, a := range s.p.Axes {
		if a.Extent == nil {
			continue
		}
		n, err := oracle.Extent(s.p, a, params, func(b *expr.Axis) int64 { return product(dims[b]) })
		if err != nil || n < 0 || n > 64 {
			return false
		}
		dims[a] = []int{int(n)}
	}
	return true
}

func product(dims []int) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= int64(d)
	}
	return n
}

// extent draws the dimensions of one axis.
func (s *sampler) extent(a *expr.Axis) []int {
	rank := 1
	if a.Group {
		rank = s.rng.IntN(3)
	}
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = [...]int{1, 2, 3, 5, 7, 4, 9, 2, 3, 1}[s.rng.IntN(10)]
		if s.rng.IntN(24) == 0 {
			dims[i] = 0
		}
	}
	return dims
}

func shape(t *expr.Tensor, dims map[*expr.Axis][]int) []int {
	out := []int{}
	for _, dim := range t.Shape {
		if len(dim) == 1 && dim[0].Group {
			out = append(out, dims[dim[0]]...)
			continue
		}
		n := int64(1)
		for _, a := range dim {
			n *= product(dims[a])
		}
		out = append(out, int(n))
	}
	return out
}

// params draws parameters that f32 holds; half of those with a default keep it.
func (s *sampler) params() []oracle.Value {
	values := oracle.Defaults(s.p)
	for i, p := range s.p.Params {
		keep := p.Default != nil && s.rng.IntN(2) == 0
		switch {
		case p.Type == expr.ParamF32 && keep:
			values[i].F = float64(float32(values[i].F))
		case keep:
		case p.Type == expr.ParamF32:
			values[i] = oracle.Float(float64(s.rng.IntN(64)+1) / 64)
		case p.Type == expr.ParamI32:
			values[i] = oracle.Int(int64(s.rng.IntN(4)))
		case p.Type == expr.ParamU32:
			values[i] = oracle.Uint(uint64(s.rng.Uint32()))
		case p.Type == expr.ParamU64:
			values[i] = oracle.Uint(s.rng.Uint64())
		default:
			values[i] = oracle.Bool(s.rng.IntN(2) == 0)
		}
	}
	return values
}

// fill draws the elements of an input. Bound is 0 for tensors without bounds.
func (s *sampler) fill(t *expr.Tensor, call oracle.Call, data []float64, bound int64) {
	positive := s.rng.IntN(2) == 0
	for i := range data {
		switch {
		case t.Bounds != nil:
			data[i] = float64(s.rng.Int64N(bound))
			if t.Except != nil && s.rng.IntN(4) == 0 {
				data[i] = float64(except(s.p, call, t))
			}
		case t.Type == expr.I32:
			data[i] = float64(s.rng.IntN(4))
		case t.Type == expr.U8:
			data[i] = float64(s.rng.IntN(2) * (1 + s.rng.IntN(255)))
		default:
			data[i] = float64(s.rng.IntN(255)-127) / 32
			if positive && data[i] < 0 {
				data[i] = -data[i]
			}
		}
	}
}

func except(p *expr.Program, call oracle.Call, t *expr.Tensor) int64 {
	for i, param := range p.Params {
		if param == t.Except {
			return call.Params[i].I
		}
	}
	return 0
}
