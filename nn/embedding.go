package nn

import (
	"math/rand/v2"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// Embedding looks up a row of its weight for each id (Bengio et al., A Neural
// Probabilistic Language Model, 2003, section 2). An id outside [0, rows) is an error
// that names its position and value.
//
//	ids     [...]
//	weight  [rows, width]
//	→ y     [..., width]
type Embedding[T Float] struct{ weight *Param }

// NewEmbedding returns a layer with weights from N(0, 1), as PyTorch's has: what it gives
// has variance 1, which other layers expect and keep. Close it when done.
func NewEmbedding[T Float](d *runtime.Device, r *rand.Rand, rows, width int) (*Embedding[T], error) {
	if err := positive("embedding", extent{"rows", rows}, extent{"width", width}); err != nil {
		return nil, err
	}
	w, err := newParam[T](d, normal(r, 1, rows*width), []int{rows, width}, []int{rows, width})
	if err != nil {
		return nil, err
	}
	return &Embedding[T]{w}, nil
}

// Params lists weight.
func (l *Embedding[T]) Params() []Named { return []Named{{"weight", l.weight}} }

// Forward computes the layer.
func (l *Embedding[T]) Forward(ids runtime.Tensor[int32]) (runtime.Tensor[T], error) {
	return Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return l.ForwardDeferred(b, ids) }, ids)
}

// ForwardDeferred is Forward, recorded in b.
func (l *Embedding[T]) ForwardDeferred(b *runtime.Batch, ids runtime.Tensor[int32]) runtime.Tensor[T] {
	return ops.EmbeddingDeferred(b, ids, weight[T](l.weight))
}

// Close releases the layer's memory.
func (l *Embedding[T]) Close() error { return Close(l) }
