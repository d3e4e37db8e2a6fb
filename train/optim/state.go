package optim

import (
	"errors"

	"github.com/kernelgen/kgen/runtime"
)

// State returns the tensors that a run needs to be continued, beside the masters of its
// parameters, each under a name that begins with prefix: step, the number of steps taken;
// scale and good_steps of the loss scaling; and for each parameter moment1.NAME and
// moment2.NAME (AdamW) or velocity.NAME (SGD). checkpoint.Save writes them and
// checkpoint.Load fills them. They are those of the present: a later step replaces them.
// Accumulated gradients are no part of it, so they must have gone into a step.
func (o *Optimizer) State(prefix string) (map[string]runtime.Handle, error) {
	if o.step == nil {
		return nil, errors.New("optim: the optimiser is closed")
	}
	state := map[string]runtime.Handle{prefix + "step": o.step.now().Untyped()}
	if o.scaler != nil {
		state[prefix+"scale"] = o.scaler.scale.now().Untyped()
		state[prefix+"good_steps"] = o.scaler.good.now().Untyped()
	}
	for _, p := range o.params {
		if p.accumulated() {
			return nil, errors.New("optim: gradients are accumulated, which the state does not hold: take the step first, or drop them with ZeroGrad")
		}
		for i, moment := range o.method.moments() {
			state[prefix+moment+"."+p.Name] = p.moments[i].now().Untyped()
		}
	}
	return state, nil
}
