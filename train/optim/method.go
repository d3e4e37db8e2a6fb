package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// Method is AdamW or SGD.
type Method interface {
	check() error
	moments() []string // names of what is kept for each parameter
}

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter, Decoupled Weight
// Decay Regularization, 2019, algorithm 2). For the n-th step that is not skipped, with
// the rate and the decay of the group:
//
//	m = Beta1·m + (1-Beta1)·g
//	v = Beta2·v + (1-Beta2)·g²
//	w = w - rate·(m/(1-Beta1ⁿ) / (√(v/(1-Beta2ⁿ)) + Eps) + decay·w)
type AdamW struct{ Beta1, Beta2, Eps float32 }

// DefaultAdamW returns AdamW with the usual constants: 0.9, 0.999 and 1e-8.
func DefaultAdamW() AdamW { return AdamW{ops.AdamWBeta1, ops.AdamWBeta2, ops.AdamWEps} }

func (m AdamW) check() error {
	var errs []error
	for _, beta := range []struct {
		name  string
		value float32
	}{{"Beta1", m.Beta1}, {"Beta2", m.Beta2}} {
		// log(0) in the correction gives -inf·step, whose expm1 is right.
		if !(beta.value >= 0 && beta.value < 1) {
			errs = append(errs, fmt.Errorf("optim: AdamW: %s is %v, must be in [0, 1)", beta.name, beta.value))
		}
	}
	if !(m.Eps > 0) || math.IsInf(float64(m.Eps), 0) {
		errs = append(errs, fmt.Errorf("optim: AdamW: Eps is %v, must be positive: DefaultAdamW has the usual constants", m.Eps))
	}
	return errors.Join(errs...)
}

func (AdamW) moments() []string { return []string{"moment1", "moment2"} }

// SGD is stochastic gradient descent with momentum (Sutskever et al., On the Importance
// of Initialization and Momentum in Deep Learning, 2013). The decay of a group is an L2
// penalty:
//
//	g = g + decay·w
//	v = Momentum·v + g
//	w = w - rate·v                  or, with Nesterov, w - rate·(g + Momentum·v)
//
// With Momentum 0 it is plain gradient descent.
type SGD struct {
	Momentum float32
	Nesterov bool
}

func (m SGD) check() error {
	if !(m.Momentum >= 0 && m.Momentum < 1) {
		return fmt.Errorf("optim: SGD: Momentum is %v, must be in [0, 1)", m.Momentum)
	}
	if m.Nesterov && m.Momentum == 0 {
		return errors.New("optim: SGD: Nesterov looks ahead along the momentum, which is 0: set Momentum, 0.9 is usual")
	}
	return nil
}

func (SGD) moments() []string { return []string{"velocity"} }

// signals are the device scalars that all updates of a step read.
type signals struct {
	inverse runtime.Tensor[float32] // of the loss scale
	clip    runtime.Tensor[float32]
	skip    runtime.Tensor[int32]
	step    runtime.Tensor[int32] // number of this step, from 1
}

// update records the step of one parameter on its gradient g, of the type that the
// parameter is read in, or of float32 where it was accumulated.
func (o *Optimizer) update(b *runtime.Batch, p *param, g runtime.Handle, s signals, rate float32) {
	switch g.DType() {
	case runtime.F16:
		updateShadowed[runtime.Float16](o.method, b, p, runtime.As[runtime.Float16](g), s, rate)
	case runtime.BF16:
		updateShadowed[runtime.BFloat16](o.method, b, p, runtime.As[runtime.BFloat16](g), s, rate)
	default:
		updateMaster(o.method, b, p, runtime.As[float32](g), s, rate)
	}
}

// updateShadowed records a step that writes the master and its rounding in one kernel.
func updateShadowed[T nn.Float](method Method, b *runtime.Batch, p *param, g runtime.Tensor[T], s signals, rate float32) {
	w, rate := p.Master(), rate*p.group.Rate
	var shadow runtime.Tensor[T]
	switch m := method.(type) {
	case AdamW:
		var m1, m2 runtime.Tensor[float32]
		shadow, w, m1, m2 = ops.AdamWWithShadowDeferred(b, g, s.inverse, s.clip, s.skip, s.step, w, p.moments[0].now(), p.moments[1].now(),
			rate, m.Beta1, m.Beta2, m.Eps, p.group.WeightDecay)
		p.moments[0].set(b, m1)
		p.moments[1].set(b, m2)
	case SGD:
		var v runtime.Tensor[float32]
		shadow, w, v = ops.SGDWithShadowDeferred(b, g, s.inverse, s.clip, s.skip, w, p.moments[0].now(),
			rate, m.Momentum, p.group.WeightDecay, m.Nesterov)
		p.moments[0].set(b, v)
	}
	p.Update(b, w, shadow.Untyped())
}

// updateMaster records a step that writes the master alone. Where the parameter is read
// in another type, Update has its rounding recorded.
func updateMaster(method Method, b *runtime.Batch, p *param, g runtime.Tensor[float32], s signals, rate float32) {
	w, rate := p.Master(), rate*p.group.Rate
	switch m := method.(type) {
	case AdamW:
		var m1, m2 runtime.Tensor[float32]
		w, m1, m2 = ops.AdamWDeferred(b, g, s.inverse, s.clip, s.skip, s.step, w, p.moments[0].now(), p.moments[1].now(),
			rate, m.Beta1, m.Beta2, m.Eps, p.group.WeightDecay)
		p.moments[0].set(b, m1)
		p.moments[1].set(b, m2)
	case SGD:
		var v runtime.Tensor[float32]
		w, v = ops.SGDDeferred(b, g, s.inverse, s.clip, s.skip, w, p.moments[0].now(),
			rate, m.Momentum, p.group.WeightDecay, m.Nesterov)
		p.moments[0].set(b, v)
	}
	p.Update(b, w, runtime.Handle{})
}
