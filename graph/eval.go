package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/kernelgen/kgen/runtime"
)

// Eval computes a lazy tensor, with all that it needs and that is not computed yet, as
// one program, and returns its elements in row-major order. The result stays in the
// graph, and so does what other calls recorded so far read on the way to it: they are
// not computed again. If ctx ends first, Eval returns its error and the work goes on.
func Eval[T runtime.Element](ctx context.Context, t Tensor[T]) ([]T, error) {
	g, err := graphOf(t)
	if err != nil {
		return nil, err
	}
	if err := g.Eval(ctx, t); err != nil {
		return nil, err
	}
	return fetch(ctx, g, t)
}

// fetch returns the elements of a tensor that was evaluated. With OnError a value that
// was lost with its device meanwhile is computed again, a few times.
func fetch[T runtime.Element](ctx context.Context, g *Graph, t Tensor[T]) ([]T, error) {
	data, err := Value(t)
	for n := 0; errors.Is(err, errGone) && g.exec.policy == OnError && n < 8; n++ {
		if err = g.Eval(ctx, t); err != nil {
			return nil, err
		}
		data, err = Value(t)
	}
	return data, err
}

// errGone is why a value that was evaluated is not there.
var errGone = fmt.Errorf("it was lost with its device: %w", runtime.ErrLazy)

// Eval computes several lazy tensors, shared work once; see the function Eval. Value
// returns their elements afterwards.
func (g *Graph) Eval(ctx context.Context, tensors ...runtime.Operand) error {
	list, err := g.own(tensors)
	if err != nil {
		return err
	}
	return g.exec.evaluate(ctx, g, list)
}

// Value returns the elements of a lazy tensor that was evaluated. Before, it is an
// error that wraps runtime.ErrLazy.
func Value[T runtime.Element](t Tensor[T]) ([]T, error) {
	g, err := graphOf(t)
	if err != nil {
		return nil, err
	}
	if out, ok := g.sketch.Outside(t.Untyped()); ok {
		return runtime.As[T](out).Read()
	}
	g.mu.Lock()
	var at *runtime.Handle
	v := g.values[t.Untyped()]
	if v != nil {
		at = v.usable()
	}
	g.mu.Unlock()
	switch {
	case at != nil:
		data, err := runtime.As[T](*at).Read()
		if err != nil && (at.Device().Lost() != nil || errors.Is(err, runtime.ErrClosed)) {
			err = fmt.Errorf("graph: value: %w: call graph.Eval again", errGone)
		}
		return data, err
	case v != nil && v.host != nil:
		return slices.Clone(v.host.([]T)), nil
	}
	if err := t.Err(); err != nil {
		return nil, err
	}
	if v != nil {
		return nil, fmt.Errorf("graph: value: %w: call graph.Eval again", errGone)
	}
	return nil, fmt.Errorf("graph: value: the tensor with shape %v is not evaluated: call graph.Eval first: %w", t.Shape(), runtime.ErrLazy)
}

// graphOf returns the graph of a lazy tensor.
func graphOf(t runtime.Operand) (*Graph, error) {
	if g := Of(t); g != nil {
		return g, nil
	}
	if err := t.Untyped().Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("graph: the tensor with shape %v is on a device and not lazy: read it with Tensor.Read", t.Untyped().Shape())
}

// own returns the handles of tensors of g.
func (g *Graph) own(tensors []runtime.Operand) ([]runtime.Handle, error) {
	var list []runtime.Handle
	for _, t := range tensors {
		of, err := graphOf(t)
		if err != nil {
			return nil, err
		}
		if of != g {
			return nil, fmt.Errorf("graph: eval: a tensor belongs to graph %q, and this is graph %q", of.name, g.name)
		}
		list = append(list, t.Untyped())
	}
	return list, nil
}

// An Evaluation is work that EvalAsync began.
type Evaluation struct {
	g     *Graph
	list  []runtime.Handle
	state atomic.Int32
	done  chan struct{}
	err   error // valid once done is closed
}

const (
	queued int32 = iota
	started
)

// EvalAsync computes lazy tensors as Eval does, and returns at once.
func (g *Graph) EvalAsync(tensors ...runtime.Operand) *Evaluation {
	e := &Evaluation{g: g, done: make(chan struct{})}
	if e.list, e.err = g.own(tensors); e.err != nil {
		e.state.Store(started)
		close(e.done)
		return e
	}
	go e.run()
	return e
}

// run does the work, unless somebody has begun it or it was cancelled. Whoever waits
// for work that no goroutine has come to does it: a small graph costs no switch.
func (e *Evaluation) run() {
	if e.state.CompareAndSwap(queued, started) {
		e.finish(e.g.exec.evaluate(context.Background(), e.g, e.list))
	}
}

func (e *Evaluation) finish(err error) {
	e.err = err
	close(e.done)
}

// Cancel takes the evaluation back if it has not begun, and reports whether it did.
// Then Wait returns an error that wraps context.Canceled.
func (e *Evaluation) Cancel() bool {
	if !e.state.CompareAndSwap(queued, started) {
		return false
	}
	e.g.exec.count(func(s *Stats) { s.Cancelled++ })
	e.finish(fmt.Errorf("graph: the evaluation of graph %q was cancelled before it began: %w", e.g.name, context.Canceled))
	return true
}

// Done returns a channel that is closed when the evaluation has ended.
func (e *Evaluation) Done() <-chan struct{} { return e.done }

// Wait waits until the evaluation has ended and returns its error. If ctx ends first,
// it returns its error and the work goes on.
func (e *Evaluation) Wait(ctx context.Context) error {
	if ctx.Done() == nil {
		e.run()
	}
	select {
	case <-e.done:
		return e.err
	default:
	}
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
		return fmt.Errorf("graph: waiting for graph %q: %w; the work goes on", e.g.name, ctx.Err())
	}
}

// Future is the value of a lazy tensor that is being computed.
type Future[T runtime.Element] struct {
	*Evaluation
	t Tensor[T]
}

// EvalAsync computes a lazy tensor as Eval does, and returns at once.
func EvalAsync[T runtime.Element](t Tensor[T]) *Future[T] {
	g, err := graphOf(t)
	if err != nil {
		e := &Evaluation{done: make(chan struct{})}
		e.state.Store(started)
		e.finish(err)
		return &Future[T]{e, t}
	}
	return &Future[T]{g.EvalAsync(t), t}
}

// Value waits for the evaluation and returns the elements in row-major order; see
// Evaluation.Wait.
func (f *Future[T]) Value(ctx context.Context) ([]T, error) {
	if err := f.Wait(ctx); err != nil {
		return nil, err
	}
	return fetch(ctx, f.g, f.t)
}
