package runtime

import (
	"context"
	"fmt"
	"runtime/trace"
	"time"
)

// Call records one call of a generated operation. Generated functions make it
// on their stack and use it in this order: Begin; In for each input; F32, I32,
// U32, U64 or Bool for each parameter; Free for each axis that the caller
// gives; OutType where no input fixes an output's type; Record; then Out and
// InOut for the results. Nothing is allocated. After an error, here or earlier
// in the batch, all of it does nothing.
type Call struct {
	b    *Batch
	op   *Op
	run  *run
	out  int32 // first result in run.args
	nOut int32
	nIn  int32
	ok   bool

	start  time.Time // while the device is traced
	region *trace.Region
}

// Begin starts a call of op in b.
func (c *Call) Begin(b *Batch, op *Op) {
	c.b, c.op, c.ok, c.run = b, op, false, nil
	if b.d != nil {
		c.start = b.d.traceTime()
		if trace.IsEnabled() {
			c.region = trace.StartRegion(context.Background(), "record "+op.Name)
		}
	}
	b.ins, b.params, b.types = b.ins[:0], b.params[:0], b.types[:0]
	b.free, b.frees, b.outs = b.free[:0], b.frees[:0], b.outs[:0]
}

// In gives the next input.
func (c *Call) In(h Handle) { c.b.ins = append(c.b.ins, h) }

// F32 gives the next parameter.
func (c *Call) F32(v float32) { c.scalar(ParamF32, ScalarOf(v)) }

// I32 gives the next parameter.
func (c *Call) I32(v int32) { c.scalar(ParamI32, ScalarOf(v)) }

// U32 gives the next parameter.
func (c *Call) U32(v uint32) { c.scalar(ParamU32, ScalarOf(v)) }

// U64 gives the next parameter.
func (c *Call) U64(v uint64) { c.scalar(ParamU64, ScalarOf(v)) }

// Bool gives the next parameter.
func (c *Call) Bool(v bool) { c.scalar(ParamBool, ScalarOf(v)) }

func (c *Call) scalar(t ParamType, v Scalar) {
	c.b.params = append(c.b.params, v)
	c.b.types = append(c.b.types, t)
}

// Free gives the extent of the next axis that the caller chooses, or the
// dimensions of the next such group.
func (c *Call) Free(dims ...int) {
	for _, n := range dims {
		c.b.free = append(c.b.free, int64(n))
	}
	c.b.frees = append(c.b.frees, int32(len(c.b.free)))
}

// OutType says the type of output i. It is needed only where variants differ in
// nothing else.
func (c *Call) OutType(i int, t DType) {
	for len(c.b.outs) <= i {
		c.b.outs = append(c.b.outs, InvalidDType)
	}
	c.b.outs[i] = t
}

// Record checks the arguments against the operation and appends the call to the
// batch. static names the static choices made.
func (c *Call) Record(static string) {
	b := c.b
	if b.d == nil {
		return
	}
	callers(&b.site)
	b.d.mu.Lock()
	r := b.current()
	c.run = r
	if r.err == nil && b.failed == nil {
		c.record(r, static)
	}
	b.d.mu.Unlock()
	if c.region != nil {
		c.region.End()
	}
}

func (c *Call) record(r *run, static string) {
	b := c.b
	if err := c.resolve(r); err != nil {
		b.refuse(r, c.located(err))
		return
	}
	if err := c.freeAxes(); err != nil {
		b.refuse(r, c.located(err.named(c.op.Name, "")))
		return
	}
	at, err := b.append(r, &request{
		op: c.op, static: static, ins: b.nodes, params: b.params, outs: b.outs, site: &b.site, start: c.start,
	})
	if err != nil {
		b.refuse(r, c.located(err))
		return
	}
	appended := &r.recs[at]
	c.out, c.nOut, c.nIn, c.ok = appended.arg+appended.nIn, appended.nOut, appended.nIn, true
}

// refuse makes err the first error of the run, or of the one call that the batch is
// for.
func (b *Batch) refuse(r *run, err *Error) {
	if !b.lone {
		r.fail(err)
		return
	}
	b.failed, b.poison = err, &value{state: statePoisoned, err: err}
}

// resolve checks the arguments one by one and finds the nodes of the inputs.
func (c *Call) resolve(r *run) *Error {
	b, op := c.b, c.op
	if len(b.ins) != len(op.Ins) {
		return opError(op.Name, ErrShape, "%d tensors given, want %d", len(b.ins), len(op.Ins))
	}
	if len(b.params) != len(op.Params) {
		return opError(op.Name, ErrType, "%d scalars given, want %d", len(b.params), len(op.Params))
	}
	for i := range op.Params {
		if b.types[i] != op.Params[i].Type {
			return opError(op.Name, ErrType, "%s is %s, given %s", op.Params[i].Name, op.Params[i].Type, b.types[i])
		}
	}
	b.nodes = b.nodes[:0]
	for i, h := range b.ins {
		v, err := b.operand(h)
		if err == nil {
			err = r.usable(v)
		}
		if err != nil {
			return err.named(op.Name, op.Ins[i].Name)
		}
		b.nodes = append(b.nodes, r.nodeFor(v))
	}
	return nil
}

// operand returns the value of an operand. A sketch takes tensors of real devices,
// too.
func (b *Batch) operand(h Handle) (*value, *refusal) {
	if s := b.d.sketch; s != nil && !b.d.closed && h.v != nil && h.v.dev != nil && h.v.dev != b.d {
		return s.adopt(h)
	}
	return h.resolve(b.d)
}

// usable says why a valid value cannot be an input of the run.
func (r *run) usable(v *value) *refusal {
	if v.run != r && v.private() {
		if v.run.recorded {
			return &refusal{ErrPending, fmt.Sprintf("is a pending result of batch %q: sync that batch first, or record the call there", v.run.batch)}
		}
		return &refusal{ErrPending, fmt.Sprintf("is a result of batch %q that was not kept: call Keep before Submit", v.run.batch)}
	}
	return nil
}

// freeAxes hands the caller's extents to the unifier.
func (c *Call) freeAxes() *refusal {
	b := c.b
	b.unify.begin(c.op)
	given, start := 0, int32(0)
	for _, a := range c.op.facts().free {
		if given == len(b.frees) {
			return &refusal{ErrShape, fmt.Sprintf("axis %s is not given", c.op.Axes[a].Name)}
		}
		end := b.frees[given]
		given++
		dims := b.free[start:end]
		start = end
		if err := c.freeAxis(int(a), dims); err != nil {
			return err
		}
	}
	if given != len(b.frees) {
		return &refusal{ErrShape, fmt.Sprintf("%d axes given, want %d", len(b.frees), given)}
	}
	return nil
}

func (c *Call) freeAxis(a int, dims []int64) *refusal {
	if c.op.Axes[a].Group {
		return c.b.unify.groupAxis(a, dims)
	}
	if len(dims) != 1 {
		return &refusal{ErrShape, fmt.Sprintf("axis %s is given as %v, want one extent", c.op.Axes[a].Name, dims)}
	}
	return c.b.unify.axis(a, dims[0])
}

// located adds the batch and the call site.
func (c *Call) located(e *Error) *Error {
	e.Batch, e.Site = c.b.name, c.b.site.caller()
	return e
}

// Out returns output i of the recorded call.
func Out[T Element](c *Call, i int) Tensor[T] { return Tensor[T]{c.result(i, TypeOf[T]())} }

// InOut returns the new version of input i, which the recorded call updates. The
// old handle is stale.
func InOut[T Element](c *Call, i int) Tensor[T] {
	n := int(c.nOut)
	for j := range c.op.Ins[:min(i, len(c.op.Ins))] {
		if c.op.Ins[j].InOut {
			n++
		}
	}
	return Tensor[T]{c.result(n, TypeOf[T]())}
}

// OutHandle returns output i of the recorded call, of whatever type it is.
func OutHandle(c *Call, i int) Handle { return c.result(i, InvalidDType) }

func (c *Call) result(i int, t DType) Handle {
	if c.run == nil { // the batch has no device
		return Handle{v: &value{state: statePoisoned, err: c.b.deviceless()}, dtype: t}
	}
	if !c.ok {
		if c.b.poison != nil {
			return Handle{v: c.b.poison, dtype: t}
		}
		return c.run.failed(t)
	}
	h := c.run.handle(c.run.args[c.out+int32(i)])
	if t != InvalidDType {
		h.dtype = t
	}
	return h
}
