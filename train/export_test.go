package train

import (
	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// overflow multiplies the loss of one micro-batch by what overflows its gradients.
type overflow struct {
	objective
	after *int // micro-batches that are left before it
}

func (o overflow) record(b *runtime.Batch, m *dataset.Batch) (*recorded, error) {
	r, err := o.objective.record(b, m)
	if err == nil && *o.after == 0 {
		r.loss = ops.ScaleDeferred(b, ops.ScaleDeferred(b, r.loss, 3e38), 3e38)
	}
	*o.after--
	return r, err
}

// InjectOverflow makes the gradients of a micro-batch of the next step overflow.
func InjectOverflow(t *Trainer, micro int) {
	for _, p := range t.phases {
		p.objective = overflow{p.objective, &micro}
	}
}
