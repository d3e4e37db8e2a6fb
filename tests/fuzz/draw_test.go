//go:build proof

package fuzz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// shapes are extents by axis; a group has any number of dimensions.
type shapes map[string][]int

func (s shapes) String() string {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	var parts []string
	for _, name := range names {
		parts = append(parts, name+"="+strings.Join(strings.Fields(strings.Trim(fmt.Sprint(s[name]), "[]")), "x"))
	}
	return strings.Join(parts, " ")
}

// mostWork bounds the elements of the largest step of a drawn call, and of its
// largest input.
const mostWork = 6000

// awkward are extents around the widths that targets work in.
var awkward = []int{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 257, 300}

// tries is how many calls are drawn until the conditions of a program hold.
const tries = 400

// drawn makes a call of p with awkward extents, and returns them and the number
// that with returns the same call for. Equal seeds give equal calls.
func drawn(p *expr.Program, seed uint64) (oracle.Call, shapes, uint64, error) {
	rng := rand.New(rand.NewPCG(seed, 0xCA11))
	for i := range uint64(tries) {
		data := seed*tries + i
		if call, ok := with(p, data, drawShapes(p, rng)); ok {
			return call, extents(p, call), data, nil
		}
	}
	return oracle.Call{}, nil, 0, fmt.Errorf("%s: no call found that its conditions accept", p.Name)
}

// with makes a call with the given extents, unless they are too many elements or
// not accepted.
func with(p *expr.Program, data uint64, s shapes) (oracle.Call, bool) {
	return callOf(p, rand.New(rand.NewPCG(data, 0xDA7A)), s)
}

// extents reads off a call what its axes are.
func extents(p *expr.Program, call oracle.Call) shapes {
	s := shapes{}
	sizes, err := oracle.Check(p, call)
	if err != nil {
		return s
	}
	for _, a := range p.Axes {
		if a.Extent == nil {
			s[a.Name] = sizes.Shape(&expr.Tensor{Shape: []expr.Dim{{a}}, Axes: []*expr.Axis{a}})
		}
	}
	return s
}

func drawShapes(p *expr.Program, rng *rand.Rand) shapes {
	s := shapes{}
	for _, a := range p.Axes {
		rank := 1
		if a.Group {
			rank = rng.IntN(3)
		}
		dims := make([]int, rank)
		for i := range dims {
			dims[i] = awkward[rng.IntN(len(awkward))]
			if dims[i] == 0 && rng.IntN(3) != 0 {
				dims[i] = 1 + rng.IntN(6)
			}
		}
		s[a.Name] = dims
	}
	return s
}

func callOf(p *expr.Program, rng *rand.Rand, s shapes) (oracle.Call, bool) {
	call := oracle.Call{Params: drawParams(p, rng), Free: map[string][]int{}, Round: true}
	size := func(a *expr.Axis) int64 {
		n := int64(1)
		for _, d := range s[a.Name] {
			n *= int64(d)
		}
		return n
	}
	for _, a := range p.Axes {
		if a.Free {
			call.Free[a.Name] = s[a.Name]
		}
	}
	for _, t := range p.Ins {
		shape := []int{}
		for _, d := range t.Shape {
			if len(d) == 1 {
				shape = append(shape, s[d[0].Name]...)
				continue
			}
			n := int64(1)
			for _, a := range d {
				n *= size(a)
			}
			shape = append(shape, int(n))
		}
		call.Ins = append(call.Ins, oracle.NewArray(shape...))
	}
	sizes, err := oracle.Check(p, call)
	if err != nil || work(p, sizes) > mostWork {
		return call, false
	}
	special := rng.IntN(12) == 0
	for i, t := range p.Ins {
		bound, err := oracle.Bound(p, sizes, call.Params, t)
		if err != nil || t.Bounds != nil && bound == 0 && len(call.Ins[i].Data) > 0 {
			return call, false
		}
		fillIn(rng, t, call.Ins[i].Data, bound, special)
	}
	return call, true
}

// work is the number of elements that the largest step computes, or that the
// largest input has: a gradient has as many.
func work(p *expr.Program, sizes *oracle.Sizes) int64 {
	most := int64(0)
	count := func(axes []*expr.Axis) {
		n := int64(1)
		for _, a := range axes {
			n *= sizes.Of(a)
		}
		most = max(most, n)
	}
	for _, t := range p.Ins {
		count(t.Axes)
	}
	for _, s := range p.Steps {
		count(slices.Concat(s.Result.Axes, s.Over))
	}
	return most
}

func drawParams(p *expr.Program, rng *rand.Rand) []oracle.Value {
	values := oracle.Defaults(p)
	for i, q := range p.Params {
		switch q.Type {
		case expr.ParamF32:
			values[i] = oracle.Float(float64(rng.IntN(128)-64) / 32)
		case expr.ParamI32:
			values[i] = oracle.Int(int64(rng.IntN(5) - 1))
		case expr.ParamBool:
			values[i] = oracle.Bool(rng.IntN(2) == 0)
		default:
			values[i] = oracle.Uint(rng.Uint64N(1 << 40))
		}
	}
	return values
}

// fillIn draws the elements of an input: numbers of few bits, of which many are
// equal, and where special is set some that are no numbers.
func fillIn(rng *rand.Rand, t *expr.Tensor, data []float64, bound int64, special bool) {
	coarse := rng.IntN(3) == 0
	for i := range data {
		switch {
		case t.Bounds != nil:
			data[i] = float64(rng.Int64N(bound))
		case t.Type == expr.I32:
			data[i] = float64(rng.IntN(9) - 4)
		case t.Type == expr.U8:
			data[i] = float64(rng.IntN(2) * (1 + rng.IntN(255)))
		case special && rng.IntN(10) == 0:
			data[i] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
		case coarse:
			data[i] = float64(rng.IntN(9)-4) / 2
		default:
			data[i] = oracle.Round(rng.NormFloat64(), t.Type)
		}
	}
}
