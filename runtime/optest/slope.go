package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernelgen/kgen/runtime"
)

// slope compares the gradient with central differences along random
// directions, on the reference device and for f32, in which differences are
// still exact enough.
func (c *checker) slope(t reporter, op *runtime.Op) {
	variant := slices.IndexFunc(op.Variants, func(v runtime.Variant) bool {
		return !slices.ContainsFunc(append(slices.Clone(v.Ins), v.Outs...), func(t runtime.DType) bool {
			return t == runtime.F16 || t == runtime.BF16
		})
	})
	if variant < 0 {
		return // parity has compared the gradient of every variant that there is
	}
	tried := 0
	for round := range 2 {
		a, ok := newArguments(op, variant, round, c.params)
		if !ok {
			continue
		}
		tried++
		if err := c.slopeAt(t, a); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	if tried == 0 {
		t.Errorf("%s: found no arguments that meet its conditions", op.Name)
	}
}

// slopeAt compares at the arguments, or, where a result is not finite there, at
// their absolute values: roots and logarithms want those.
func (c *checker) slopeAt(t reporter, a *arguments) error {
	outs, err := a.run(c.ref)
	if err == nil && !finite(outs) {
		a = a.positive()
		outs, err = a.run(c.ref)
	}
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seedOf(a.op.Name), rounds+1))
	cotangents := a.cotangents(rng, outs)
	g := a.gradient(outs, cotangents)
	if g.variant == nil {
		return fmt.Errorf("%s has no variant for these types", g.op.Name)
	}
	grads, err := g.run(c.ref)
	if err != nil {
		return err
	}
	for range 2 {
		if err := c.alongDirection(t, rng, a, outs, cotangents, grads); err != nil {
			return err
		}
	}
	return nil
}

// alongDirection compares the slope of sum(cotangent*output) along a random
// direction with what the gradient says it is.
func (c *checker) alongDirection(t reporter, rng *rand.Rand, a *arguments, outs, cotangents, grads []array) error {
	direction := make([][]float64, len(a.ins))
	var says, scale float64
	for k, i := range a.op.Grad.Outs {
		direction[i] = make([]float64, len(a.ins[i].data))
		for j := range direction[i] {
			direction[i][j] = rng.NormFloat64()
			term := direction[i][j] * grads[k].data[j]
			says += term
			scale += math.Abs(term)
		}
	}
	const h = 0x1p-9
	up, err := a.along(direction, h).run(c.ref)
	if err != nil {
		return err
	}
	down, err := a.along(direction, -h).run(c.ref)
	if err != nil {
		return err
	}
	var ahead, behind, noise float64
	for i, ct := range cotangents {
		for j, w := range ct.data {
			at := outs[i].data[j]
			ahead += w * (up[i].data[j] - at) / h
			behind += w * (at - down[i].data[j]) / h
			noise += math.Abs(w*at) * 0x1p-23 / h
		}
	}
	// The slopes on both sides differ by what a finite step, or a kink nearby,
	// does to them.
	is, bend := (ahead+behind)/2, math.Abs(ahead-behind)
	if gap := math.Abs(is - says); !(gap <= 0.01*scale+bend+noise+1e-4) {
		t.Errorf("%s: the gradient says that the slope is %v, it is %v", a, says, is)
	}
	return nil
}

// cotangents makes one for each output: random where the gradient takes one,
// zero elsewhere.
func (a *arguments) cotangents(rng *rand.Rand, outs []array) []array {
	cts := make([]array, len(a.op.Outs))
	for i := range cts {
		cts[i] = array{dtype: outs[i].dtype, shape: outs[i].shape, data: make([]float64, len(outs[i].data))}
	}
	for _, in := range a.op.Grad.Ins {
		if in.From == runtime.FromCotangent {
			for j := range cts[in.Index].data {
				cts[in.Index].data[j] = float64(float32(rng.NormFloat64()))
			}
		}
	}
	return cts
}

// gradient returns the arguments of the gradient; without a variant if it has
// none for these types.
func (a *arguments) gradient(outs, cotangents []array) *arguments {
	g := &arguments{op: a.op.Grad.Op}
	for _, in := range a.op.Grad.Ins {
		switch in.From {
		case runtime.FromIn:
			g.ins = append(g.ins, a.ins[in.Index])
		case runtime.FromOut:
			g.ins = append(g.ins, outs[in.Index])
		case runtime.FromCotangent:
			g.ins = append(g.ins, cotangents[in.Index])
		}
	}
	for _, p := range a.op.Grad.Params {
		g.params = append(g.params, a.params[p])
	}
	for i := range g.op.Variants {
		if v := &g.op.Variants[i]; g.fits(v, a) {
			g.variant = v
			break
		}
	}
	for _, axis := range g.op.Axes {
		g.dims = append(g.dims, a.dimsOf(axis.Name))
	}
	return g
}

// fits reports whether v is the variant for the gradient's inputs and for the
// types of the forward inputs.
func (g *arguments) fits(v *runtime.Variant, forward *arguments) bool {
	for i, in := range g.ins {
		if v.Ins[i] != in.dtype {
			return false
		}
	}
	for k, i := range forward.op.Grad.Outs {
		if v.Outs[k] != forward.variant.Ins[i] {
			return false
		}
	}
	return true
}

// dimsOf returns the dimensions of the axis of the given name.
func (a *arguments) dimsOf(name string) []int {
	for i, axis := range a.op.Axes {
		if axis.Name == name {
			return a.dims[i]
		}
	}
	return []int{1}
}

// along returns the arguments moved by h times a direction.
func (a *arguments) along(direction [][]float64, h float64) *arguments {
	m := *a
	m.ins = slices.Clone(a.ins)
	for i, d := range direction {
		if d == nil {
			continue
		}
		data := make([]float64, len(d))
		for j := range d {
			data[j] = a.ins[i].data[j] + h*d[j]
		}
		m.ins[i].data = data
	}
	return &m
}

// positive returns the arguments with every float moved away from zero.
func (a *arguments) positive() *arguments {
	m := *a
	m.ins = slices.Clone(a.ins)
	for i, in := range a.ins {
		if !isFloat(in.dtype) {
			continue
		}
		data := make([]float64, len(in.data))
		for j, v := range in.data {
			data[j] = math.Abs(v) + 0.5
		}
		m.ins[i].data = data
	}
	return &m
}

func finite(list []array) bool {
	return !slices.ContainsFunc(list, func(a array) bool {
		return slices.ContainsFunc(a.data, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	})
}
