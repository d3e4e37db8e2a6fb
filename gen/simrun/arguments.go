package simrun

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// rounds is how many shapes are tried for each variant.
const rounds = 4

// The extents that a round gives to the axes, in turn, and the dimensions that
// it gives to groups.
var (
	roundExtents = [rounds][]int{{4, 3, 5, 2}, {1}, {33, 70, 18, 7}, {6, 0, 3, 4}}
	roundGroups  = [rounds][][]int{{{2, 3}}, {{}}, {{5}, {3}}, {{3}}}
)

// newCall makes the arguments of a round for p, the same ones at each run. It
// reports false when none were found that meet the conditions of p.
func newCall(p *expr.Program, round int) (oracle.Call, *oracle.Sizes, bool) {
	return chooseArguments(p, uint64(round), turns(roundExtents[round], roundGroups[round]))
}

// Arguments makes a call of p whose axes have the given extents in turn, those of
// groups among them; other seeds give other parameters and values, and every fourth of
// them rows of -inf, as masks make them. It reports false when none was found that meets
// the conditions of p, and when a tensor would be too large to be run here.
func Arguments(p *expr.Program, extents []int, seed uint64) (oracle.Call, *oracle.Sizes, bool) {
	next := 0
	dims := func(bool) []int {
		next++
		return []int{extents[(next-1)%len(extents)]}
	}
	call, sizes, ok := chooseArguments(p, seed, func() func(group bool) []int { next = 0; return dims })
	if ok && seed%4 == 2 {
		maskRows(p, call)
	}
	return call, sizes, ok
}

// maskRows gives every third row of the floats, from the first, -inf.
func maskRows(p *expr.Program, call oracle.Call) {
	for i, t := range p.Ins {
		in := call.Ins[i]
		if t.Type == expr.I32 || t.Type == expr.U8 || len(in.Shape) == 0 {
			continue
		}
		width := in.Shape[len(in.Shape)-1]
		for j := range in.Data {
			if j/width%3 == 0 {
				in.Data[j] = math.Inf(-1)
			}
		}
	}
}

// turns gives extents to axes, and dimensions to groups, in turn.
func turns(extents []int, dims [][]int) func() func(group bool) []int {
	return func() func(bool) []int {
		axes, groups := -1, -1
		return func(group bool) []int {
			if group {
				groups++
				return dims[groups%len(dims)]
			}
			axes++
			return []int{extents[axes%len(extents)]}
		}
	}
}

// chooseArguments tries values until they meet the conditions of p. For each attempt,
// extents begins anew with the axes.
func chooseArguments(p *expr.Program, seed uint64, extents func() func(group bool) []int) (oracle.Call, *oracle.Sizes, bool) {
	h := fnv.New64a()
	h.Write([]byte(p.Name))
	rng := rand.New(rand.NewPCG(h.Sum64(), seed))
	const attempts = 1000
	for attempt := range attempts {
		call := oracle.Call{Params: chooseParams(rng, p, attempt, seed), Free: map[string][]int{}, Round: true}
		if !shapes(p, extents(), &call) {
			continue
		}
		sizes, err := oracle.Check(p, call)
		if err == nil && fill(rng, p, sizes, &call) == nil {
			return call, sizes, true
		}
	}
	return oracle.Call{}, nil, false
}

// chooseParams takes the defaults first, then random values. Odd seeds begin with random
// values for what is not a float, and every other one of them with random floats, too.
func chooseParams(rng *rand.Rand, p *expr.Program, attempt int, seed uint64) []oracle.Value {
	values := oracle.Defaults(p)
	for i, q := range p.Params {
		switch {
		case q.Default == nil || attempt >= 50 || q.Type != expr.ParamF32 && seed%2 == 1:
			values[i] = randomParam(rng, q.Type)
		case q.Type == expr.ParamF32 && seed%4 == 3:
			values[i] = oracle.Float([]float64{0.25, 0.5, 0.125}[rng.IntN(3)])
		}
	}
	return values
}

func randomParam(rng *rand.Rand, t expr.ParamType) oracle.Value {
	switch t {
	case expr.ParamF32:
		return oracle.Float([]float64{0.25, 0.5, 1, 2, 0.125, -1.5}[rng.IntN(6)])
	case expr.ParamI32:
		return oracle.Int([]int64{1, 2, 0, 3, 5, -1}[rng.IntN(6)])
	case expr.ParamU32:
		return oracle.Uint(rng.Uint64N(8))
	case expr.ParamU64:
		return oracle.Uint(rng.Uint64N(1 << 40))
	}
	return oracle.Bool(rng.IntN(2) == 1)
}

// maxElements is how many elements a tensor may have.
const maxElements = 1 << 20

// shapes gives every axis its extent, and with them the inputs their shapes. It
// reports false when the formula of an axis gives a negative extent, and when an input
// would be too large to be run here.
func shapes(p *expr.Program, extent func(group bool) []int, call *oracle.Call) bool {
	dims := map[*expr.Axis][]int{}
	size := func(a *expr.Axis) int64 { return int64(elements(dims[a])) }
	for _, a := range p.Axes {
		if a.Extent == nil {
			dims[a] = extent(a.Group)
		} else {
			n, err := oracle.Extent(p, a, call.Params, size)
			if err != nil || n < 0 {
				return false
			}
			dims[a] = []int{int(n)}
		}
		if a.Free {
			call.Free[a.Name] = dims[a]
		}
	}
	for _, t := range p.Ins {
		shape := []int{}
		for _, d := range t.Shape {
			if len(d) == 1 && d[0].Group {
				shape = append(shape, dims[d[0]]...)
				continue
			}
			n := 1
			for _, a := range d {
				n *= elements(dims[a])
			}
			shape = append(shape, n)
		}
		if elements(shape) > maxElements {
			return false
		}
		call.Ins = append(call.Ins, oracle.NewArray(shape...))
	}
	return true
}

// fill gives the inputs their values: floats around zero, bits, and integers within their
// bounds, or what the bounds except.
func fill(rng *rand.Rand, p *expr.Program, sizes *oracle.Sizes, call *oracle.Call) error {
	for i, t := range p.Ins {
		limit, err := oracle.Bound(p, sizes, call.Params, t)
		if err != nil {
			return err
		}
		except := slices.Index(p.Params, t.Except)
		none := limit <= 0 && except >= 0
		if limit <= 0 {
			limit = 4
		}
		for j := range call.Ins[i].Data {
			v := rng.NormFloat64()
			switch t.Type {
			case expr.I32:
				v = float64(rng.Int64N(limit))
				if except >= 0 && (none || rng.IntN(4) == 0) {
					v = float64(call.Params[except].I)
				}
			case expr.U8:
				v = float64(rng.IntN(2))
			}
			call.Ins[i].Data[j] = oracle.Round(v, t.Type)
		}
	}
	return nil
}

// moved returns the call with every f32 input moved to a neighbour.
func moved(rng *rand.Rand, p *expr.Program, call oracle.Call) oracle.Call {
	ins := make([]oracle.Array, len(call.Ins))
	for i, in := range call.Ins {
		ins[i] = in
		if p.Ins[i].Type != expr.F32 {
			continue
		}
		ins[i].Data = make([]float64, len(in.Data))
		for j, v := range in.Data {
			ins[i].Data[j] = v * (1 + (2*float64(rng.IntN(2))-1)*0x1p-23)
		}
	}
	call.Ins = ins
	return call
}
