package graph

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kernelgen/kgen/runtime"
)

// Tensor is a lazy tensor: a tensor whose device is a graph.
type Tensor[T runtime.Element] = runtime.Tensor[T]

// Graph holds lazy tensors and what was computed of them. Its methods, and calls on
// its tensors, may come from several goroutines.
type Graph struct {
	exec   *Executor
	sketch *runtime.Sketch
	name   string

	mu     sync.Mutex
	values map[runtime.Handle]*value // of lazy tensors
	closed bool
}

// value is what is known of a lazy tensor.
type value struct {
	host   any // the elements, where they came from the host
	upload func(d *runtime.Device) (runtime.Handle, error)
	made   []runtime.Handle // tensors that hold it, at most one on each device
}

// New returns an empty graph, whose tensors exec evaluates. The name is for errors.
// Close it when done.
func New(exec *Executor, name string) *Graph {
	g := &Graph{exec: exec, name: name, values: map[runtime.Handle]*value{}}
	g.sketch = runtime.NewSketch(name, g)
	return g
}

// Name returns the graph's name.
func (g *Graph) Name() string { return g.name }

// Batch returns a batch whose deferred calls, gradients among them, are lazy. It needs
// no Sync, and its first error is that of every later evaluation. It is for one
// goroutine at a time; others take one of their own.
func (g *Graph) Batch() *runtime.Batch { return g.sketch.Batch() }

// Device returns what the graph's tensors call their device, for generated functions
// without tensor operands. Nothing runs on it.
func (g *Graph) Device() *runtime.Device { return g.sketch.Device() }

// From returns a lazy tensor of these elements, which are copied. No dimensions means
// a scalar.
func From[T runtime.Element](g *Graph, data []T, shape ...int) (Tensor[T], error) {
	t, err := Declare[T](g, shape...)
	if err != nil {
		return t, err
	}
	if n := t.Len(); n != len(data) {
		t.Close()
		return Tensor[T]{}, fmt.Errorf("graph: from: %d elements given, shape %v has %d", len(data), shape, n)
	}
	own := slices.Clone(data)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.values[t.Untyped()] = &value{
		host: own,
		upload: func(d *runtime.Device) (runtime.Handle, error) {
			r, err := runtime.FromSlice(d, own, shape...)
			return r.Untyped(), err
		},
	}
	return t, nil
}

// Declare returns a lazy tensor that has a shape and no elements: what one asks
// Executor.ShouldUse with. Evaluating what needs it is an error.
func Declare[T runtime.Element](g *Graph, shape ...int) (Tensor[T], error) {
	h, err := g.sketch.Declare(runtime.TypeOf[T](), shape...)
	if err != nil {
		return Tensor[T]{}, err
	}
	return runtime.As[T](h), nil
}

// Of returns the graph of a lazy tensor, nil for another one.
func Of(t runtime.Operand) *Graph {
	s := runtime.SketchOf(t)
	if s == nil {
		return nil
	}
	return s.Owner.(*Graph)
}

// Close ends the graph: its tensors are stale, and the memory of what was computed is
// free. It does not wait for evaluations that go on; their results are dropped.
func (g *Graph) Close() error {
	err := g.sketch.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, v := range g.values {
		v.drop()
	}
	clear(g.values)
	return err
}

// drop closes the tensors that hold the value.
func (v *value) drop() {
	for _, h := range v.made {
		h.Close() // it may be gone with its device
	}
	v.made = nil
}

// known reports whether the value of a lazy tensor is there, or can be fetched.
func (g *Graph) known(h runtime.Handle) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.values[h]
	return v != nil && (v.upload != nil || v.usable() != nil)
}

// usable returns a tensor that holds the value, nil if there is none.
func (v *value) usable() *runtime.Handle {
	i := slices.IndexFunc(v.made, func(h runtime.Handle) bool { return h.Err() == nil && h.Device().Lost() == nil })
	if i < 0 {
		return nil
	}
	return &v.made[i]
}

// operand is a tensor that an evaluation reads.
type operand struct {
	tensor runtime.Handle
	moved  int64 // bytes that were moved for it
	once   bool  // it is closed afterwards
}

// on returns a tensor of device d with the value of a lazy tensor.
func (g *Graph) on(h runtime.Handle, d *runtime.Device) (operand, error) {
	if t, ok := g.sketch.Outside(h); ok { // it may have changed since the last time
		if t.Device() == d {
			return operand{tensor: t}, nil
		}
		return moved(t.CopyTo(d))
	}
	shape := h.Shape() // the graph's lock is taken after that of its sketch
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.values[h]
	if v == nil {
		return operand{}, fmt.Errorf("graph: eval: a tensor with shape %v was declared and has no elements: %w", shape, runtime.ErrLazy)
	}
	v.made = slices.DeleteFunc(v.made, func(t runtime.Handle) bool { return t.Err() != nil })
	if i := slices.IndexFunc(v.made, func(t runtime.Handle) bool { return t.Device() == d }); i >= 0 {
		return operand{tensor: v.made[i]}, nil
	}
	o, err := v.bring(d)
	o.once = false
	if err == nil {
		v.made = append(v.made, o.tensor)
	}
	return o, err
}

// bring makes a tensor of device d that holds the value.
func (v *value) bring(d *runtime.Device) (operand, error) {
	if v.upload != nil {
		return moved(v.upload(d))
	}
	from := v.usable()
	if from == nil {
		return operand{}, fmt.Errorf("graph: eval: an operand is no longer there: %w", runtime.ErrStale)
	}
	return moved(from.CopyTo(d))
}

func moved(t runtime.Handle, err error) (operand, error) {
	if err != nil {
		return operand{}, err
	}
	return operand{tensor: t, moved: int64(t.Len()) * t.DType().Size(), once: true}, nil
}

// away returns how many bytes must be moved before device d, nil for one that is not
// open, can read the value of a lazy tensor.
func (g *Graph) away(h runtime.Handle, d *runtime.Device) int64 {
	bytes := int64(h.Len()) * h.DType().Size()
	if t, ok := g.sketch.Outside(h); ok {
		if t.Device() == d {
			return 0
		}
		return bytes
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v := g.values[h]; v != nil && slices.ContainsFunc(v.made, func(t runtime.Handle) bool { return t.Device() == d }) {
		return 0
	}
	return bytes
}
