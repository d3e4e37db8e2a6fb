package nn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// LoRA is an adapter of low rank: attached to a layer it makes of x·wᵀ
//
//	x·wᵀ + (alpha/rank)·(x·a)·b
//
// (Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, 2021, eq. 3 and
// section 4.1). In training, ask for the gradients of the adapter's parameters and
// not of the layer's, which stay as they are.
//
//	lora_a  [in, rank]
//	lora_b  [rank, out]
type LoRA[T Float] struct {
	in, out, rank int
	alpha         float32
	a, b          *Param
}

// NewLoRA returns an adapter of layers from in to out features, of a Conv1D from
// in·kernel. a is drawn from N(0, 1/in) and b is zero, so that an adapter that is not
// trained changes nothing (Hu et al., section 4.1). Close it when done.
func NewLoRA[T Float](d *runtime.Device, r *rand.Rand, in, out, rank int, alpha float32) (*LoRA[T], error) {
	if err := positive("lora", extent{"in", in}, extent{"out", out}, extent{"rank", rank}); err != nil {
		return nil, err
	}
	a := &LoRA[T]{in: in, out: out, rank: rank, alpha: alpha}
	var err error
	if a.a, err = newParam[T](d, normal(r, fanIn(in), in*rank), []int{in, rank}, []int{in, rank}); err != nil {
		return nil, err
	}
	if a.b, err = newParam[T](d, constant(0, rank*out), []int{rank, out}, []int{rank, out}); err != nil {
		return nil, errors.Join(err, a.a.Close())
	}
	return a, nil
}

// Params lists lora_a and lora_b.
func (a *LoRA[T]) Params() []Named { return []Named{{"lora_a", a.a}, {"lora_b", a.b}} }

// Close releases the adapter's memory. Detach it first.
func (a *LoRA[T]) Close() error { return Close(a) }

func (a *LoRA[T]) scale() float32 { return a.alpha / float32(a.rank) }

// add records product + bias + the correction of x, the last sum in the kernel of the
// last product.
func (a *LoRA[T]) add(b *runtime.Batch, x, product runtime.Tensor[T], bias *Param) runtime.Tensor[T] {
	down := ops.ScaleDeferred(b, ops.MatMulNNDeferred(b, x, weight[T](a.a)), a.scale())
	if bias == nil {
		return ops.ResidualAddDeferred(b, product, ops.MatMulNNDeferred(b, down, weight[T](a.b)))
	}
	return ops.MatMulBiasResidualNNDeferred(b, down, weight[T](a.b), weight[T](bias), product)
}

// Attach adds an adapter to the layer. It is an error if the layer has one: Switch
// replaces it.
func (l *affine[T]) Attach(a *LoRA[T]) error {
	if l.adapter != nil {
		return errors.New("attach: the layer has an adapter: Detach it, or Switch to the other one")
	}
	if err := l.fits(a); err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	l.adapter = a
	return nil
}

func (l *affine[T]) fits(a *LoRA[T]) error {
	if a.in != l.in || a.out != l.out {
		return fmt.Errorf("the adapter is from %d to %d features, the layer from %d to %d", a.in, a.out, l.in, l.out)
	}
	return nil
}

// Merge adds the adapter to the layer's weight, so that it costs nothing more: the
// master becomes w + (alpha/rank)·(a·b)ᵀ. What is trained and exported from there on is
// that weight; to merge what the adapter has learnt since, Detach it and begin again.
// Merge waits for the device.
func (l *affine[T]) Merge() error {
	a := l.adapter
	if a == nil {
		return errors.New("merge: the layer has no adapter: Attach one")
	}
	if l.merged {
		return nil
	}
	w := l.weight.Master()
	b := w.Device().Batch("merge adapter")
	sum := ops.ResidualAddDeferred(b, w, ops.ScaleDeferred(b, ops.MatMulTTDeferred(b, a.b.Master(), a.a.Master()), a.scale()))
	b.Keep(sum)
	if err := b.Sync(context.Background()); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	l.weight.substitute(sum)
	l.merged = true
	return nil
}

// Detach takes the adapter off. A weight that it was merged into gets back the bits
// that it had; it is an error if the weight has changed since.
func (l *affine[T]) Detach() error {
	if l.merged {
		if err := l.weight.restore(); err != nil {
			return fmt.Errorf("detach: %w", err)
		}
	}
	l.adapter, l.merged = nil, false
	return nil
}

// Switch puts an adapter in the place of the one that is attached, and merges it if
// that was merged.
func (l *affine[T]) Switch(a *LoRA[T]) error {
	if err := l.fits(a); err != nil {
		return fmt.Errorf("switch: %w", err)
	}
	merged := l.merged
	if err := l.Detach(); err != nil {
		return err
	}
	l.adapter = a
	if !merged {
		return nil
	}
	return l.Merge()
}
