package optim

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// Accumulate records in b, the batch that computes loss, that its gradient is added to
// what the next step goes by. Up to that step weights and loss scale stay what they are.
// A loss need not depend on all parameters, if another one of the step does.
func (o *Optimizer) Accumulate(b *runtime.Batch, loss runtime.Tensor[float32]) error {
	grads, err := o.gradients(b, loss)
	if err != nil {
		return err
	}
	for i, p := range o.params {
		if grads[i].IsZero() {
			continue
		}
		sum := widen(b, grads[i])
		if p.accumulated() {
			sum = ops.AddDeferred(b, p.sum, sum)
			p.drop()
		}
		b.Keep(sum)
		p.sum = sum
	}
	return nil
}

// ZeroGrad drops the gradients that were accumulated since the last step.
func (o *Optimizer) ZeroGrad() {
	for _, p := range o.params {
		p.drop()
	}
}

func (p *param) accumulated() bool { return !p.sum.Untyped().IsZero() }

// drop releases the accumulated gradient once no program uses it.
func (p *param) drop() {
	p.sum.Close() // an error where there is none, or its batch has failed
	p.sum = runtime.Tensor[float32]{}
}

// gradients records those of the scaled loss, of the types that the parameters are read
// in; the zero Handle for parameters that the loss does not depend on.
func (o *Optimizer) gradients(b *runtime.Batch, loss runtime.Tensor[float32]) ([]runtime.Handle, error) {
	if o.step == nil {
		return nil, errors.New("optim: the optimiser is closed")
	}
	operands := make([]runtime.Operand, len(o.params))
	for i, p := range o.params {
		if p.accumulated() && p.sum.Err() != nil {
			return nil, fmt.Errorf("optim: the accumulated gradient of %s is lost with a batch that failed: call ZeroGrad and begin the step anew: %w", p.Name, p.sum.Err())
		}
		operands[i] = p.Operand()
	}
	if o.scaler != nil {
		loss = ops.MulDeferred(b, loss, o.scaler.scale.now())
	}
	return b.GradOrNone(loss, operands...), nil
}

// withAccumulated records the gradients of a whole step, given those of its last
// micro-batch. Where gradients were accumulated they are of float32.
func (o *Optimizer) withAccumulated(b *runtime.Batch, grads []runtime.Handle) error {
	var none []string
	for i, p := range o.params {
		switch last := grads[i]; {
		case last.IsZero() && !p.accumulated():
			none = append(none, p.Name)
		case last.IsZero():
			grads[i] = p.sum.Untyped()
		case p.accumulated():
			grads[i] = ops.AddDeferred(b, p.sum, widen(b, last)).Untyped()
		}
	}
	if len(none) > 0 {
		return fmt.Errorf("optim: %d of %d parameters have no gradient, since no loss of this step depends on them: %q: leave them out of New, or give them an optimiser of their own", len(none), len(o.params), none)
	}
	return nil
}

// widen records a gradient in float32.
func widen(b *runtime.Batch, g runtime.Handle) runtime.Tensor[float32] {
	switch g.DType() {
	case runtime.F16:
		return ops.CastDeferred[float32](b, runtime.As[runtime.Float16](g))
	case runtime.BF16:
		return ops.CastDeferred[float32](b, runtime.As[runtime.BFloat16](g))
	}
	return runtime.As[float32](g)
}

// sumOfSquares records the square of the norm of all gradients.
func sumOfSquares(b *runtime.Batch, grads []runtime.Handle) runtime.Tensor[float32] {
	var total runtime.Tensor[float32]
	for _, g := range grads {
		switch g.DType() {
		case runtime.F16:
			total = addSquares(b, runtime.As[runtime.Float16](g), total)
		case runtime.BF16:
			total = addSquares(b, runtime.As[runtime.BFloat16](g), total)
		default:
			total = addSquares(b, runtime.As[float32](g), total)
		}
	}
	return total
}

// addSquares records the squares of a gradient, added to those before it.
func addSquares[T nn.Float](b *runtime.Batch, g runtime.Tensor[T], total runtime.Tensor[float32]) runtime.Tensor[float32] {
	if total.Untyped().IsZero() {
		return ops.GlobalNormSqDeferred(b, g)
	}
	return ops.GlobalNormSqWithTotalDeferred(b, g, total)
}
