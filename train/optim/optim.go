package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// Config says how parameters are trained.
type Config struct {
	Method  Method
	Groups  []Group  // none: all parameters, factor 1, no weight decay
	MaxNorm float32  // to which the global norm of the gradients is clipped; 0 does not clip
	Scaling *Scaling // of the loss; nil for none, which is right for float32 and bfloat16
}

func (c *Config) check() error {
	var errs []error
	switch m := c.Method.(type) {
	case AdamW, SGD:
		errs = append(errs, m.check())
	default:
		errs = append(errs, fmt.Errorf("optim: the method is %T, must be AdamW, as from DefaultAdamW, or SGD", c.Method))
	}
	if !(c.MaxNorm >= 0) || math.IsInf(float64(c.MaxNorm), 0) {
		errs = append(errs, fmt.Errorf("optim: MaxNorm is %v, must not be negative; 0 does not clip", c.MaxNorm))
	}
	if c.Scaling != nil {
		errs = append(errs, c.Scaling.check())
	}
	return errors.Join(errs...)
}

// Optimizer trains parameters. It is for one goroutine at a time. Close it when done.
type Optimizer struct {
	method  Method
	maxNorm float32
	params  []*param
	step    *chain[int32]           // [], steps taken, without those that were skipped
	one     runtime.Tensor[float32] // []
	scaler  *scaler                 // nil without loss scaling
}

// param is a parameter with what the optimiser keeps for it.
type param struct {
	nn.Named
	group   *Group
	moments []*chain[float32]       // of the shape of the master
	sum     runtime.Tensor[float32] // of the gradients of micro-batches so far; the zero Tensor if there are none
}

// New returns an optimiser of parameters, which must have names of their own: nn.Under
// gives names to the parts of a model, and nn.Distinct drops what two models share.
func New(params []nn.Named, c Config) (*Optimizer, error) {
	groups, err := assign(params, c.Groups)
	err = errors.Join(c.check(), distinct(params), err)
	if err == nil {
		err = together(params)
	}
	if err != nil {
		return nil, err
	}
	o := &Optimizer{method: c.Method, maxNorm: c.MaxNorm}
	if err := o.allocate(params, groups, c.Scaling); err != nil {
		return nil, errors.Join(fmt.Errorf("optim: %w", err), o.Close())
	}
	return o, nil
}

// distinct returns what is wrong with a list of parameters.
func distinct(params []nn.Named) error {
	if len(params) == 0 {
		return errors.New("optim: there are no parameters to train")
	}
	var errs []error
	names, seen := map[string]bool{}, map[*nn.Param]string{}
	for i, p := range params {
		first, again := seen[p.Param]
		switch {
		case p.Param == nil:
			errs = append(errs, fmt.Errorf("optim: parameter %d, %q, is nil", i, p.Name))
			continue
		case again:
			errs = append(errs, fmt.Errorf("optim: %s is the parameter %s: list what is shared once, as nn.Distinct does", p.Name, first))
		case names[p.Name]:
			errs = append(errs, fmt.Errorf("optim: two parameters are called %s: give their parts names with nn.Under", p.Name))
		}
		names[p.Name], seen[p.Param] = true, p.Name
	}
	return errors.Join(errs...)
}

// together returns an error unless all parameters are there, on one device.
func together(params []nn.Named) error {
	d := params[0].Master().Device()
	var errs []error
	for _, p := range params {
		w := p.Master()
		if err := w.Err(); err != nil {
			errs = append(errs, fmt.Errorf("optim: %s: %w", p.Name, err))
		} else if w.Device() != d {
			errs = append(errs, fmt.Errorf("optim: %s and %s are on two devices: each needs an optimiser of its own", params[0].Name, p.Name))
		}
	}
	return errors.Join(errs...)
}

// allocate makes the state of an optimiser that has taken no step.
func (o *Optimizer) allocate(params []nn.Named, groups []*Group, s *Scaling) error {
	d := params[0].Master().Device()
	step, err := runtime.Zeros[int32](d)
	if err != nil {
		return err
	}
	o.step = newChain(step)
	if o.one, err = runtime.FromSlice(d, []float32{1}); err != nil {
		return err
	}
	if s != nil {
		if o.scaler, err = newScaler(d, s); err != nil {
			return err
		}
	}
	for i, named := range params {
		group := *groups[i]
		p := &param{Named: named, group: &group}
		o.params = append(o.params, p)
		for range o.method.moments() {
			m, err := runtime.Zeros[float32](d, p.Master().Shape()...)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			p.moments = append(p.moments, newChain(m))
		}
	}
	return nil
}

// Step records in b, the batch that computes loss, a step on the gradient of loss and of
// those that were accumulated, at a learning rate. A loss with several elements counts as
// their sum. Errors of calls are the batch's, as always. Step itself returns an error for a
// bad rate, for a parameter that no loss of the step depends on and for gradients that were
// lost with a failed batch: then there is no step, and the batch is to be discarded.
func (o *Optimizer) Step(b *runtime.Batch, loss runtime.Tensor[float32], rate float32) (*Report, error) {
	if !(rate >= 0) || math.IsInf(float64(rate), 0) {
		return nil, fmt.Errorf("optim: the learning rate is %v, must be finite and not negative", rate)
	}
	grads, err := o.gradients(b, loss)
	if err == nil {
		err = o.withAccumulated(b, grads)
	}
	if err != nil {
		return nil, err
	}
	scale, inverse := o.one, o.one
	if o.scaler != nil {
		scale = o.scaler.scale.now()
		inverse = ops.DivDeferred(b, o.one, scale)
	}
	normSq := sumOfSquares(b, grads)
	s := signals{inverse: inverse}
	s.clip, s.skip = ops.ClipFactorDeferred(b, normSq, inverse, o.maxNorm)
	r := &Report{
		Norm:    runtime.Read(b, ops.MulDeferred(b, ops.SqrtDeferred(b, normSq), inverse)),
		Scale:   runtime.Read(b, scale),
		Skipped: runtime.Read(b, s.skip),
		scaled:  o.scaler != nil,
	}
	if o.scaler != nil {
		o.scaler.next(b, s.skip)
	}
	s.step = ops.StepCountDeferred(b, s.skip, o.step.now())
	o.step.set(b, s.step)
	for i, p := range o.params {
		o.update(b, p, grads[i], s, rate)
	}
	o.ZeroGrad()
	return r, nil
}

// Close releases the optimiser's state, and leaves the parameters alone.
func (o *Optimizer) Close() error {
	o.ZeroGrad()
	if o.step != nil {
		o.step.close()
	}
	if o.scaler != nil {
		o.scaler.close()
	}
	for _, p := range o.params {
		for _, m := range p.moments {
			m.close()
		}
	}
	o.one.Close()
	o.params, o.step, o.scaler = nil, nil, nil
	return nil
}
