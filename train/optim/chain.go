package optim

import (
	"slices"

	"github.com/kernelgen/kgen/runtime"
)

// undoable is how many updates can be undone: of a batch that runs, and of one that is
// recorded meanwhile. It is that of nn.Param.
const undoable = 2

// chain is a tensor of the optimiser's state with what it was before the last updates,
// which counts again if their batches fail.
type chain[T runtime.Element] struct{ versions []runtime.Tensor[T] }

func newChain[T runtime.Element](t runtime.Tensor[T]) *chain[T] {
	return &chain[T]{[]runtime.Tensor[T]{t}}
}

// now returns the last version that has not failed.
func (c *chain[T]) now() runtime.Tensor[T] {
	last := len(c.versions) - 1
	for i := last; i >= 0; i-- {
		if c.versions[i].Err() == nil {
			c.versions = c.versions[:i+1]
			return c.versions[i]
		}
	}
	return c.versions[last]
}

// set makes a result of batch b the present version.
func (c *chain[T]) set(b *runtime.Batch, t runtime.Tensor[T]) {
	b.Keep(t)
	if len(c.versions) > undoable {
		c.versions[0].Close() // an error where an update in place has replaced it
		c.versions = slices.Delete(c.versions, 0, 1)
	}
	c.versions = append(c.versions, t)
}

// close releases all versions; those that were replaced in place are gone already.
func (c *chain[T]) close() {
	c.now()
	for _, t := range c.versions {
		t.Close()
	}
}
