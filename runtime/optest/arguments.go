package optest

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// arguments is one call of an op.
type arguments struct {
	op      *runtime.Op
	variant *runtime.Variant
	dims    [][]int // dimensions of each axis: one for an axis, any number for a group
	size    []int64 // extent of each axis
	params  []runtime.Scalar
	ins     []array
}

// rounds is how many shapes with short extents are tried for each variant.
const rounds = 5

// The extents that a round gives to the axes, in turn, and the dimensions that
// it gives to groups.
var (
	roundExtents = [rounds][]int{{4, 3, 5, 2}, {1}, {33, 70, 18, 7}, {6, 0, 3, 4}, {0, 5, 2, 3}}
	roundGroups  = [rounds][][]int{{{2, 3}}, {{}}, {{7, 7}, {3}}, {{3}}, {{2}, {0, 2}}}
)

// A stretch makes one axis long. Rounds that do so follow the others, for each
// axis in turn.
type stretch struct {
	extent int // of the long axis
	others int // of all other axes
}

// The long extents give several work items, tiles and blocks of a sum, with
// something left over, in kernels of every shape: one element more than whole
// vectors, in the row and in its last tile of 64, or one row more than whole tiles.
// Products of few rows have a way of their own, so that one stretch has more.
var stretches = [...]stretch{{extent: 169, others: 2}, {extent: 9041, others: 3}, {extent: 1025, others: 5}}

// wholeChunks come on top where a sum is cut into chunks: one chunk more than
// whole vectors.
const wholeChunks = 16

// roundsOf is how many rounds there are for an op; a short test has none with a long
// axis.
func roundsOf(op *runtime.Op) int {
	n := rounds
	if testing.Short() {
		return n
	}
	for _, axis := range op.Axes {
		if isChosen(axis) {
			n += len(stretches)
		}
	}
	return n
}

// isChosen reports whether the extent of an axis is free to choose.
func isChosen(axis runtime.Axis) bool { return axis.Extent == nil && axis.Chunk == 0 }

// stretched is the extent of axis i, which is the n-th that is chosen, in a
// round that makes an axis long.
func stretched(op *runtime.Op, i, n, round int) int {
	s := stretches[(round-rounds)%len(stretches)]
	if n != (round-rounds)/len(stretches) {
		return s.others
	}
	for _, axis := range op.Axes {
		if slices.Contains(axis.ChunkOf, uint8(i)) {
			return wholeChunks*int(axis.Chunk) + s.extent
		}
	}
	return s.extent
}

// newArguments makes the arguments of a round. It reports false when none were
// found that meet the op's conditions.
func newArguments(op *runtime.Op, variant, round int, params []Param) (*arguments, bool) {
	return argumentsOf(op, variant, params, uint64(round), func() func(int) []int { return roundDims(op, round) })
}

// argumentsOf makes arguments whose axes have the dimensions that the function which
// dims returns gives to one after the other.
func argumentsOf(op *runtime.Op, variant int, params []Param, seed uint64, dims func() func(axis int) []int) (*arguments, bool) {
	rng := rand.New(rand.NewPCG(seedOf(op.Name), seed))
	a := &arguments{op: op, variant: &op.Variants[variant]}
	const attempts = 2000
	for attempt := range attempts {
		a.params = chooseParams(rng, op, params, attempt)
		if a.chooseSizes(dims()) && a.allowed() {
			a.fill(rng)
			return a, true
		}
	}
	return nil, false
}

func seedOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// chooseParams takes the preferred values first, then random ones.
func chooseParams(rng *rand.Rand, op *runtime.Op, preferred []Param, attempt int) []runtime.Scalar {
	var values []runtime.Scalar
	for _, p := range op.Params {
		v := randomParam(rng, p.Type)
		for _, q := range preferred {
			if q.name == p.Name && attempt < 50 {
				v = q.value
			}
		}
		values = append(values, v)
	}
	return values
}

func randomParam(rng *rand.Rand, t runtime.ParamType) runtime.Scalar {
	switch t {
	case runtime.ParamF32:
		return runtime.ScalarOf([]float32{0.25, 0.5, 1, 2, 0.125, -1.5}[rng.IntN(6)])
	case runtime.ParamI32:
		return runtime.ScalarOf([]int32{1, 2, 0, 3, 5, -1}[rng.IntN(6)])
	case runtime.ParamU32:
		return runtime.ScalarOf(rng.Uint32N(8))
	case runtime.ParamU64:
		return runtime.ScalarOf(rng.Uint64N(1 << 40))
	}
	return runtime.ScalarOf(rng.IntN(2) == 1)
}

// roundDims returns the dimensions that a round gives to the axes that are free to
// choose, asked for in order.
func roundDims(op *runtime.Op, round int) func(axis int) []int {
	axes, groups := 0, 0
	return func(i int) []int {
		if round < rounds && op.Axes[i].Group {
			groups++
			return roundGroups[round][(groups-1)%len(roundGroups[round])]
		}
		axes++
		if round < rounds {
			return []int{roundExtents[round][(axes-1)%len(roundExtents[round])]}
		}
		return []int{stretched(op, i, axes-1, round)}
	}
}

// chooseSizes gives every axis its extent; choose gives the dimensions of those that
// are free to choose. It reports false when the formula of an axis gives a negative
// extent.
func (a *arguments) chooseSizes(choose func(axis int) []int) bool {
	a.dims, a.size = nil, nil
	for i, axis := range a.op.Axes {
		var dims []int
		switch {
		case axis.Extent != nil:
			n := axis.Extent(a.size, a.params)
			if n < 0 {
				return false
			}
			dims = []int{int(n)}
		case axis.Chunk != 0:
			dims = []int{1} // the runtime computes it
		default:
			dims = choose(i)
		}
		a.dims = append(a.dims, dims)
		a.size = append(a.size, int64(count(dims)))
	}
	return true
}

// allowed reports whether the op's conditions hold.
func (a *arguments) allowed() bool {
	for _, r := range a.op.Require {
		if !r.Cond(a.size, a.params) {
			return false
		}
	}
	return true
}

// shape returns the dimensions of a declared shape.
func (a *arguments) shape(declared []runtime.Dim) []int {
	shape := []int{}
	for _, d := range declared {
		if len(d) == 1 && a.op.Axes[d[0]].Group {
			shape = append(shape, a.dims[d[0]]...)
			continue
		}
		n := 1
		for _, axis := range d {
			n *= int(a.size[axis])
		}
		shape = append(shape, n)
	}
	return shape
}

// fill makes the inputs: floats around zero, bits, and small integers, which as
// ids lie within the smallest extent there is.
func (a *arguments) fill(rng *rand.Rand) {
	smallest := 4
	for _, n := range a.size {
		if n > 0 {
			smallest = min(smallest, int(n))
		}
	}
	a.ins = nil
	for i, arg := range a.op.Ins {
		in := array{dtype: a.variant.Ins[i], shape: a.shape(arg.Shape)}
		in.data = make([]float64, count(in.shape))
		for j := range in.data {
			switch in.dtype {
			case runtime.I32:
				in.data[j] = float64(rng.IntN(smallest))
			case runtime.U8:
				in.data[j] = float64(rng.IntN(2))
			default:
				in.data[j] = float64(float32(rng.NormFloat64()))
			}
		}
		a.ins = append(a.ins, in)
	}
}
