package nn

import (
	"errors"
	"slices"
	"sync"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// Param is a weight that is trained. Its values are the float32 master. Layers that
// compute in another type read a packed weight, the master's rounding, which is made
// once for each version of the master and stays on the device. The methods may be
// called from several goroutines; a model is not to be updated in one while it
// computes in another.
type Param struct {
	shape []int
	dtype runtime.DType // that layers compute in

	mu      sync.Mutex
	masters []runtime.Tensor[float32] // the last is the master; the others are valid again if updates after them fail
	version uint64                    // from 1
	packed  runtime.Handle
	packing uint64 // the version that packed was made of

	aside   runtime.Tensor[float32] // the master that substitute replaced
	instead uint64                  // the version since then, 0 if there is none
}

// undoable is how many updates can be undone: of a batch that runs, and of one that is
// recorded meanwhile.
const undoable = 2

// newParam returns a parameter of layers that compute in T. shape is what Shape says,
// matrix the shape of the tensor, which layers may read as another one.
func newParam[T Float](d *runtime.Device, values []float32, shape, matrix []int) (*Param, error) {
	p := &Param{shape: shape, dtype: runtime.TypeOf[T](), version: 1}
	master, err := runtime.FromSlice(d, values, matrix...)
	if err != nil {
		return nil, err
	}
	p.masters = append(p.masters, master)
	if p.dtype == runtime.F32 {
		return p, nil
	}
	t, err := runtime.FromSlice(d, Round[T](values), matrix...)
	if err != nil {
		return nil, errors.Join(err, master.Close())
	}
	p.pack(t.Untyped())
	return p, nil
}

// Shape returns the extents, as a file of weights has them.
func (p *Param) Shape() []int { return slices.Clone(p.shape) }

// Len returns the number of elements.
func (p *Param) Len() int {
	n := 1
	for _, extent := range p.shape {
		n *= extent
	}
	return n
}

// DType returns the type that layers read the parameter in. The master is float32.
func (p *Param) DType() runtime.DType { return p.dtype }

// Version counts the changes of the master.
func (p *Param) Version() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	return p.version
}

// Master returns the tensor that an optimiser updates. It holds the elements of Shape
// in their order, perhaps under fewer axes.
func (p *Param) Master() runtime.Tensor[float32] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settle()
}

// Operand returns the tensor that layers read, of type DType: what Batch.Grad is asked
// for the gradient of. Where DType is float32 it is the master.
func (p *Param) Operand() runtime.Handle {
	p.mu.Lock()
	defer p.mu.Unlock()
	master := p.settle()
	if p.dtype == runtime.F32 {
		return master.Untyped()
	}
	if p.packing == p.version && p.packed.Err() == nil {
		return p.packed
	}
	b := master.Device().Batch("pack weights")
	h := p.cast(b, master)
	b.Keep(h)
	b.Submit() // nobody waits: programs of one device run in order
	p.pack(h)
	return h
}

// weight returns what layers that compute in T read.
func weight[T Float](p *Param) runtime.Tensor[T] { return runtime.As[T](p.Operand()) }

// View returns the master as a tensor of Shape: what a file of weights is written from,
// or read into, which Invalidate has to follow. It shares the master's memory. Close it
// when done.
func (p *Param) View() (runtime.Tensor[float32], error) { return p.Master().View(0, p.shape...) }

// Values returns a copy of the master's elements, in row-major order. It waits for
// submitted work.
func (p *Param) Values() ([]float32, error) { return p.Master().Read() }

// Set replaces the elements of the master. It waits for submitted work.
func (p *Param) Set(values []float32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	master := p.settle()
	p.version++
	return master.Write(values)
}

// Invalidate says that somebody has written to the master: layers pack it anew. Set and
// Update need no such call.
func (p *Param) Invalidate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
}

// Update makes a result of batch b the master: the new version that an optimiser gave,
// or another tensor of the same shape. rounding is the same in the type DType, such as
// the shadow that AdamW writes; the zero Handle has it recorded in b. Both are kept.
// If b fails, the parameter is again what it was.
func (p *Param) Update(b *runtime.Batch, master runtime.Tensor[float32], rounding runtime.Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.masters); n > undoable {
		p.masters[0].Close() // an error where an update in place has replaced it
		p.masters = slices.Delete(p.masters, 0, 1)
	}
	p.masters = append(p.masters, master)
	p.version++
	b.Keep(master)
	if p.dtype == runtime.F32 {
		return
	}
	if rounding.IsZero() {
		rounding = p.cast(b, master)
	}
	b.Keep(rounding)
	p.pack(rounding)
}

// settle goes back to before the updates that have failed, and returns the master. The
// caller holds p.mu, here and below. While an update is recorded, no master is valid,
// and the last one stays.
func (p *Param) settle() runtime.Tensor[float32] {
	last := len(p.masters) - 1
	for i := last; i >= 0; i-- {
		if p.masters[i].Err() != nil {
			continue
		}
		if i < last {
			p.masters = p.masters[:i+1]
			p.version++
		}
		return p.masters[i]
	}
	return p.masters[last]
}

// pack replaces the packed weight by that of the present version.
func (p *Param) pack(h runtime.Handle) {
	p.packed.Close() // an error where its batch has failed
	p.packed, p.packing = h, p.version
}

// cast records the rounding of a master.
func (p *Param) cast(b *runtime.Batch, master runtime.Tensor[float32]) runtime.Handle {
	if p.dtype == runtime.F16 {
		return ops.CastDeferred[runtime.Float16](b, master).Untyped()
	}
	return ops.CastDeferred[runtime.BFloat16](b, master).Untyped()
}

// substitute makes a resident tensor the master until restore.
func (p *Param) substitute(master runtime.Tensor[float32]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aside = p.settle()
	p.forget()
	p.masters = append(p.masters[:0], master)
	p.version++
	p.instead = p.version
}

// restore ends a substitution, to the bit.
func (p *Param) restore() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	master := p.settle()
	if p.version != p.instead {
		return errors.New("the weight was changed since Merge, and that would be lost")
	}
	p.masters, p.aside = append(p.masters[:0], p.aside), runtime.Tensor[float32]{}
	p.version++
	p.instead = 0
	return master.Close()
}

// forget releases the masters before the present one. Those that an update in place has
// replaced are gone already.
func (p *Param) forget() {
	for _, m := range p.masters[:len(p.masters)-1] {
		m.Close()
	}
}

// Close releases the parameter's memory. Closing it again does nothing.
func (p *Param) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	master := p.settle()
	p.forget()
	return release(master.Untyped(), p.aside.Untyped(), p.packed)
}

// release closes tensors that are there.
func release(list ...runtime.Handle) error {
	var errs []error
	for _, h := range list {
		if err := h.Close(); !errors.Is(err, runtime.ErrStale) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
