package graph

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/kernelgen/kgen/runtime"
)

// Policy says when the CPU does the work of a device that cannot.
type Policy uint8

// The policies.
const (
	// None: a device that cannot be opened or fails is an error.
	None Policy = iota
	// OnUnavailable: the CPU does the work of a device that cannot be opened.
	OnUnavailable
	// OnError: that, and an evaluation that fails because of the device, and not of
	// what it was given, is done again: on the same device, opened again, where it was
	// lost; else, or when that fails too, on the CPU. Values that were lost with a
	// device are computed again from what the graph was given.
	OnError
)

// Option changes how Open sets up an executor.
type Option func(*Executor)

// WithFallback sets the policy. The default is None.
func WithFallback(p Policy) Option { return func(e *Executor) { e.policy = p } }

// WithModel lets each evaluation run where the model says that it is done first. The
// default is to run everything on the device.
func WithModel(m *Model) Option { return func(e *Executor) { e.model = m } }

// WithLog sets where events are logged: what changes where work runs as a warning,
// what the model sends to the CPU at the level of debugging. The default is
// slog.Default.
func WithLog(l *slog.Logger) Option { return func(e *Executor) { e.log = l } }

// WithCPU sets how the CPU is opened, when it is needed. The default is runtime.Open
// without options.
func WithCPU(open func() (*runtime.Device, error)) Option {
	return func(e *Executor) { e.openCPU = open }
}

// Executor evaluates graphs on a device and, where it is told to, on the CPU. Its
// methods may be called from several goroutines.
type Executor struct {
	open    func() (*runtime.Device, error) // nil where the device is the caller's
	openCPU func() (*runtime.Device, error)
	policy  Policy
	model   *Model
	log     *slog.Logger

	mu     sync.Mutex
	device *runtime.Device // nil when it cannot be opened
	cpu    *runtime.Device // nil until it is needed
	closed bool
	stats  Stats
}

// Stats count what an executor did.
type Stats struct {
	OnDevice    int64 // evaluations that the device completed
	OnCPU       int64 // evaluations that the CPU completed
	Routed      int64 // evaluations that the model sent to the CPU
	Unavailable int64 // times that the device could not be opened
	Lost        int64 // devices that were lost
	Reopened    int64 // devices that were opened in the place of lost ones
	Retried     int64 // evaluations that failed on the device and were done again on it
	Fallbacks   int64 // evaluations that failed on the device and were done on the CPU
	Cancelled   int64 // evaluations that were cancelled before they began
	Moved       int64 // bytes of operands that were moved to where they were read
}

// Open returns an executor on the device that open opens; with OnError it opens it
// again when it is lost. Close the executor when done.
func Open(open func() (*runtime.Device, error), opts ...Option) (*Executor, error) {
	e := newExecutor(opts)
	e.open = open
	d, err := open()
	if err != nil {
		if e.policy == None {
			return nil, fmt.Errorf("graph: the device cannot be opened: %w", err)
		}
		e.unavailable(err)
	}
	e.device = d
	return e, nil
}

// On returns an executor on a device that stays the caller's: Close does not close it,
// and it is not opened again.
func On(d *runtime.Device, opts ...Option) *Executor {
	e := newExecutor(opts)
	e.device = d
	return e
}

func newExecutor(opts []Option) *Executor {
	e := &Executor{log: slog.Default(), openCPU: func() (*runtime.Device, error) { return runtime.Open() }}
	for _, o := range opts {
		o(e)
	}
	return e
}

// Close closes the devices that the executor opened.
func (e *Executor) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errors.New("graph: the executor is closed already")
	}
	e.closed = true
	var errs []error
	if e.device != nil && e.open != nil {
		errs = append(errs, e.device.Close())
	}
	if e.cpu != nil {
		errs = append(errs, e.cpu.Close())
	}
	return errors.Join(errs...)
}

// Stats returns the executor's counters.
func (e *Executor) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

func (e *Executor) count(change func(*Stats)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.stats)
}

// unavailable notes that the device could not be opened. The caller holds e.mu, or is
// Open.
func (e *Executor) unavailable(err error) {
	e.stats.Unavailable++
	e.log.Warn("graph: the device cannot be opened, the CPU does its work", "error", err)
}

// theCPU opens the CPU if need be. The caller holds e.mu.
func (e *Executor) theCPU() (*runtime.Device, error) {
	if e.cpu == nil {
		d, err := e.openCPU()
		if err != nil {
			return nil, fmt.Errorf("graph: the CPU cannot be opened: %w", err)
		}
		e.cpu = d
	}
	return e.cpu, nil
}

// evaluate computes what of list is not known.
func (e *Executor) evaluate(ctx context.Context, g *Graph, list []runtime.Handle) error {
	d, part, err := e.place(g, list)
	if err != nil || part == nil {
		return err
	}
	err = e.attempt(ctx, g, part, d)
	if err == nil || e.policy != OnError || !ofDevice(err) && !e.replaced(d) {
		return err
	}
	again, err := e.replace(d, err, g)
	if err == nil && again != nil {
		if err = e.repeat(ctx, g, list, again); err == nil || !ofDevice(err) && !e.replaced(again) {
			return err
		}
	}
	cpu, failed := e.fallBack(g, d, err)
	if failed != nil {
		return failed
	}
	return e.repeat(ctx, g, list, cpu)
}

// place finds what is to be computed, nil if nothing is, and where.
func (e *Executor) place(g *Graph, list []runtime.Handle) (*runtime.Device, *runtime.Part, error) {
	part, err := g.part(list)
	if err != nil || part == nil {
		return nil, nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, fmt.Errorf("graph: the executor is closed: %w", runtime.ErrClosed)
	}
	d := e.device
	if d != nil && e.model != nil {
		if c := e.decide(g, part, list); !c.Device {
			e.stats.Routed++
			e.log.Debug("graph: routed to the CPU", "graph", g.name, "reason", c.Reason)
			d = nil
		}
	}
	if d == nil {
		d, err = e.theCPU()
	}
	return d, part, err
}

// part returns what has to be computed for list, nil if nothing has.
func (g *Graph) part(list []runtime.Handle) (*runtime.Part, error) {
	var todo []runtime.Handle
	for _, h := range list {
		if _, ok := g.sketch.Outside(h); !ok && !g.known(h) && !slices.Contains(todo, h) {
			todo = append(todo, h)
		}
	}
	if len(todo) == 0 {
		return nil, nil
	}
	return g.sketch.Part(todo, g.known)
}

// repeat computes what of list is not known on device d.
func (e *Executor) repeat(ctx context.Context, g *Graph, list []runtime.Handle, d *runtime.Device) error {
	part, err := g.part(list)
	if err != nil || part == nil {
		return err
	}
	return e.attempt(ctx, g, part, d)
}

// attempt runs a part of a graph on device d.
func (e *Executor) attempt(ctx context.Context, g *Graph, part *runtime.Part, d *runtime.Device) error {
	inputs := part.Inputs()
	bytes := int64(0)
	var once []runtime.Handle
	defer func() {
		for _, h := range once {
			h.Close()
		}
	}()
	for i, h := range inputs {
		o, err := g.on(h, d)
		if err != nil {
			return err
		}
		inputs[i] = o.tensor
		bytes += o.moved
		if o.once {
			once = append(once, o.tensor)
		}
	}
	b := d.Batch(g.name)
	made, err := part.Record(b, inputs)
	if err != nil {
		b.Discard()
		return err
	}
	if err := b.Sync(ctx); err != nil {
		for _, h := range made { // where ctx ended, the work goes on for nobody
			h.Close()
		}
		return err
	}
	g.keep(part.Made(), made)
	e.count(func(s *Stats) {
		s.Moved += bytes
		if d == e.cpu {
			s.OnCPU++
		} else {
			s.OnDevice++
		}
	})
	return nil
}

// keep notes the tensors that hold values of the graph.
func (g *Graph) keep(lazy, made []runtime.Handle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, h := range lazy {
		v := g.values[h]
		if v == nil {
			v = &value{}
			g.values[h] = v
		}
		if g.closed || v.usable() != nil { // computed by two evaluations at a time
			made[i].Close()
			continue
		}
		v.made = append(v.made, made[i])
	}
}

// ofDevice reports whether an evaluation failed because of the device, and might
// succeed on another one.
func ofDevice(err error) bool {
	var fault *runtime.FaultError
	if errors.As(err, &fault) {
		return false
	}
	for _, kind := range []error{
		runtime.ErrStale, runtime.ErrPending, runtime.ErrDevice, runtime.ErrShape, runtime.ErrType, runtime.ErrOverwritten,
		runtime.ErrLazy, runtime.ErrClosed, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, kind) {
			return false
		}
	}
	return true
}

// replaced reports whether another evaluation has found that d is lost and has closed
// it: then whatever failed on d failed because of the device.
func (e *Executor) replaced(d *runtime.Device) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return d != e.device && d != e.cpu && !e.closed
}

// replace opens a device in the place of d, on which an evaluation failed with err, if
// d was lost. It returns nil, and why, when there is no device to go on with.
func (e *Executor) replace(d *runtime.Device, err error, g *Graph) (*runtime.Device, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d == e.cpu || e.closed {
		return nil, err
	}
	if e.device == d {
		if d.Lost() == nil || e.open == nil {
			return nil, err
		}
		e.stats.Lost++
		e.log.Warn("graph: the device was lost and is opened again", "graph", g.name, "error", err)
		e.device = nil
		d.Close()
		next, failed := e.open()
		if failed != nil {
			e.unavailable(failed)
			return nil, err
		}
		e.device = next
		e.stats.Reopened++
	}
	if e.device != nil {
		e.stats.Retried++
	}
	return e.device, nil
}

// fallBack returns the CPU to do what failed on d with err.
func (e *Executor) fallBack(g *Graph, d *runtime.Device, err error) (*runtime.Device, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d == e.cpu || e.closed {
		return nil, err
	}
	cpu, failed := e.theCPU()
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	e.stats.Fallbacks++
	e.log.Warn("graph: the evaluation failed on the device and is done on the CPU", "graph", g.name, "error", err)
	return cpu, nil
}
