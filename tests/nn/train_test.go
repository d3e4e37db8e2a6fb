package nn_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
)

var shape = models.StackConfig{Width: 16, Hidden: 24, Kernel: 3, Dilations: []int{1, 2, 4}}

// lesson is a decoder with a condition, an encoder, and a batch of texts for them: the
// encoder's vectors are the decoder's conditions.
type lesson[T nn.Float] struct {
	d       *runtime.Device
	encoder *models.TextEncoder[T]
	decoder *models.TextDecoder[T]
	ids     runtime.Tensor[int32]
	targets runtime.Tensor[int32]
	mask    runtime.Tensor[uint8]
	zero    runtime.Tensor[int32]
	one     runtime.Tensor[float32]
	step    runtime.Tensor[int32]
	m, v    []runtime.Tensor[float32] // moments of the parameters
}

const (
	texts  = 4
	length = 20
	vocab  = 13
)

func newLesson[T nn.Float](t testing.TB, d *runtime.Device, seed uint64) *lesson[T] {
	t.Helper()
	c := &lesson[T]{d: d}
	c.encoder = must[*models.TextEncoder[T]](t)(models.NewTextEncoder[T](d, models.EncoderConfig{Vocab: vocab, StackConfig: shape, Out: 6, Tanh: true}, seed))
	c.decoder = must[*models.TextDecoder[T]](t)(models.NewTextDecoder[T](d, models.DecoderConfig{Vocab: vocab, StackConfig: shape, Cond: 6}, seed))
	var ids, targets []int32
	var mask []uint8
	for i := range texts {
		for l := range length {
			ids = append(ids, int32((i+l*l)%vocab))
			targets = append(targets, int32((i+(l+1)*(l+1))%vocab))
			mask = append(mask, 1)
			if i == 1 && l > 11 {
				mask[len(mask)-1], targets[len(targets)-1] = 0, ops.CrossEntropyMeanIgnoreIndex
			}
		}
	}
	c.ids = must[runtime.Tensor[int32]](t)(runtime.FromSlice(d, ids, texts, length))
	c.targets = must[runtime.Tensor[int32]](t)(runtime.FromSlice(d, targets, texts, length))
	c.mask = must[runtime.Tensor[uint8]](t)(runtime.FromSlice(d, mask, texts, length))
	c.zero = must[runtime.Tensor[int32]](t)(runtime.Zeros[int32](d))
	c.step = must[runtime.Tensor[int32]](t)(runtime.Zeros[int32](d))
	c.one = must[runtime.Tensor[float32]](t)(runtime.FromSlice(d, []float32{1}))
	for _, p := range c.params() {
		c.m = append(c.m, must[runtime.Tensor[float32]](t)(runtime.Zeros[float32](d, p.Master().Shape()...)))
		c.v = append(c.v, must[runtime.Tensor[float32]](t)(runtime.Zeros[float32](d, p.Master().Shape()...)))
	}
	return c
}

func (c *lesson[T]) params() []nn.Named {
	return append(nn.Under("encoder", c.encoder), nn.Under("decoder", c.decoder)...)
}

func (c *lesson[T]) loss(b *runtime.Batch) runtime.Tensor[float32] {
	cond := c.encoder.ForwardDeferred(b, c.ids, c.mask)
	logits := c.decoder.ForwardDeferred(b, c.ids, cond, c.mask)
	loss, _ := ops.CrossEntropyMeanDeferred(b, logits, c.targets, ops.CrossEntropyMeanIgnoreIndex, 0)
	return loss
}

func operands(list []nn.Named) []runtime.Operand {
	var o []runtime.Operand
	for _, p := range list {
		o = append(o, p.Operand())
	}
	return o
}

// train records a step of AdamW, and the loss before it.
func (c *lesson[T]) train(b *runtime.Batch) *runtime.Readback[float32] {
	loss := c.loss(b)
	list := c.params()
	grads := b.Grad(loss, operands(list)...)
	c.step = ops.StepCountDeferred(b, c.zero, c.step)
	for i, p := range list {
		g := runtime.As[T](grads[i])
		if p.DType() == runtime.F32 {
			var w runtime.Tensor[float32]
			w, c.m[i], c.v[i] = ops.AdamWDeferred(b, g, c.one, c.one, c.zero, c.step, p.Master(), c.m[i], c.v[i], 1e-2, 0.9, 0.99, 1e-8, 0)
			p.Update(b, w, runtime.Handle{})
			continue
		}
		shadow, w, m, v := ops.AdamWWithShadowDeferred(b, g, c.one, c.one, c.zero, c.step, p.Master(), c.m[i], c.v[i], 1e-2, 0.9, 0.99, 1e-8, 0)
		c.m[i], c.v[i] = m, v
		p.Update(b, w, shadow.Untyped())
	}
	return runtime.Read(b, loss)
}

func (c *lesson[T]) run(t testing.TB, b *runtime.Batch) float32 {
	t.Helper()
	r := c.train(b)
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	return must[float32](t)(r.Scalar())
}

// values returns the masters of all parameters, one after the other.
func values(t testing.TB, list []nn.Named) []float32 {
	t.Helper()
	var all []float32
	for _, p := range list {
		all = append(all, must[[]float32](t)(p.Values())...)
	}
	return all
}

// Each training step is one program, planned once, and the loss falls in each type.
func TestTrains(t *testing.T) {
	t.Run("f32", trains[float32])
	t.Run("f16", trains[runtime.Float16])
	t.Run("bf16", trains[runtime.BFloat16])
}

func trains[T nn.Float](t *testing.T) {
	for seed := range uint64(3) {
		d := open(t)
		c := newLesson[T](t, d, seed)
		b := d.Batch("step")
		first := c.run(t, b)
		before := d.Stats()
		last := float32(0)
		const n = 30
		for range n {
			last = c.run(t, b)
		}
		after := d.Stats()
		if got := after.Runs - before.Runs; got != n {
			t.Errorf("%d steps waited for %d programs", n, got)
		}
		if got := after.Programs.Misses - before.Programs.Misses; got > 1 {
			t.Errorf("%d equal steps were planned %d times", n, got)
		}
		if after.Tensors > before.Tensors+2 {
			t.Errorf("%d tensors after one step, %d after %d more", before.Tensors, after.Tensors, n)
		}
		if !(last < 0.5*first) {
			t.Errorf("seed %d: the loss went from %v to %v", seed, first, last)
		}
	}
}

// What layers read is the rounding of the master, after updates too.
func TestPackedWeightsFollow(t *testing.T) {
	d := open(t)
	c := newLesson[runtime.Float16](t, d, 1)
	b := d.Batch("step")
	for range 2 {
		c.run(t, b)
	}
	for _, p := range c.params() {
		packed := must[[]runtime.Float16](t)(runtime.As[runtime.Float16](p.Operand()).Read())
		if want := nn.Round[runtime.Float16](must[[]float32](t)(p.Values())); !slices.Equal(packed, want) {
			t.Errorf("%s: packed %v, want %v", p.Name, packed, want)
		}
	}
}

// A forward pass waits for nothing: it is one program of the batch, whatever the type.
func TestForwardIsOneProgram(t *testing.T) {
	t.Run("f32", oneProgram[float32])
	t.Run("f16", oneProgram[runtime.Float16])
}

func oneProgram[T nn.Float](t *testing.T) {
	d := open(t)
	c := newLesson[T](t, d, 1)
	before := d.Stats().Runs
	b := d.Batch("micro-batch")
	loss := c.loss(b)
	b.Grad(loss, operands(c.params())...)
	r := runtime.Read(b, loss)
	if got := d.Stats().Runs - before; got != 0 {
		t.Fatalf("recording ran %d programs", got)
	}
	if _, err := r.Value(); !errors.Is(err, runtime.ErrNotSynced) {
		t.Fatalf("the error is %v, want that the batch is not submitted", err)
	}
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := d.Stats().Runs - before; got != 1 {
		t.Errorf("the micro-batch took %d programs, want 1", got)
	}
}

// A weight that was written to from outside is packed anew, and nobody waits for it.
func TestInvalidate(t *testing.T) {
	d := open(t)
	l := must[*nn.Linear[runtime.Float16]](t)(nn.NewLinear[runtime.Float16](d, nn.NewRand(1), 2, 1))
	x := must[runtime.Tensor[runtime.Float16]](t)(runtime.FromSlice(d, nn.Round[runtime.Float16]([]float32{1, 10}), 1, 2))
	w := l.Params()[0]
	version := w.Version()
	if err := w.Master().Write([]float32{3, 0.5}); err != nil {
		t.Fatal(err)
	}
	l.Invalidate()
	if w.Version() == version {
		t.Error("Invalidate left the version as it was")
	}
	for range 2 {
		y := must[runtime.Tensor[runtime.Float16]](t)(l.Forward(x))
		if got := must[[]runtime.Float16](t)(y.Read()); got[0].Float32() != 8 {
			t.Errorf("gives %v, want 8", got)
		}
	}
}

// Every parameter has a gradient that is not zero, in each type.
func TestGradientsReachAll(t *testing.T) {
	t.Run("f32", reach[float32])
	t.Run("f16", reach[runtime.Float16])
	t.Run("bf16", reach[runtime.BFloat16])
}

func reach[T nn.Float](t *testing.T) {
	d := open(t)
	c := newLesson[T](t, d, 1)
	b := d.Batch("gradients")
	list := c.params()
	if want := 2*(1+3*6+2) + 2; len(list) != want {
		t.Errorf("%d parameters, want %d", len(list), want)
	}
	var reads []*runtime.Readback[T]
	for _, h := range b.Grad(c.loss(b), operands(list)...) {
		reads = append(reads, runtime.Read(b, runtime.As[T](h)))
	}
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i, r := range reads {
		sum := 0.0
		for _, g := range nn.Widen(must[[]T](t)(r.Value())) {
			sum += math.Abs(float64(g))
		}
		if !(sum > 0) || math.IsInf(sum, 0) {
			t.Errorf("%s: the gradient adds up to %v", list[i].Name, sum)
		}
	}
}

// A step that fails changes nothing, and the next one goes on from there.
func TestFailedStepIsUndone(t *testing.T) {
	t.Run("f32", undone[float32])
	t.Run("bf16", undone[runtime.BFloat16])
}

func undone[T nn.Float](t *testing.T) {
	d := open(t)
	c, same := newLesson[T](t, d, 1), newLesson[T](t, d, 1)
	b := d.Batch("step")
	good := must[[]int32](t)(c.ids.Read())
	bad := slices.Clone(good)
	bad[7] = vocab
	c.run(t, b)
	before := values(t, c.params())
	m, v, step := slices.Clone(c.m), slices.Clone(c.v), c.step
	if err := c.ids.Write(bad); err != nil {
		t.Fatal(err)
	}
	c.train(b)
	var fault *runtime.FaultError
	if err := b.Sync(context.Background()); !errors.As(err, &fault) {
		t.Fatalf("the error is %v, want that of the id", err)
	}
	if !sameBits(values(t, c.params()), before) {
		t.Error("the failed step changed weights")
	}
	if err := c.ids.Write(good); err != nil {
		t.Fatal(err)
	}
	c.m, c.v, c.step = m, v, step
	c.run(t, b)
	same.run(t, b)
	same.run(t, b)
	if !sameBits(values(t, c.params()), values(t, same.params())) {
		t.Error("after a failed step the next one is not what it was without it")
	}
}

// Of two steps in flight the first fails, and with it the second, which was recorded
// before that came out: both are undone.
func TestStepsInFlightAreUndone(t *testing.T) {
	d := open(t)
	c := newLesson[runtime.Float16](t, d, 1)
	first, second := d.Batch("first"), d.Batch("second")
	c.run(t, first)
	before := values(t, c.params())
	good := c.ids
	c.ids = must[runtime.Tensor[int32]](t)(runtime.FromSlice(d, slices.Repeat([]int32{-1}, texts*length), texts, length))
	busy := keepBusy(t, d)
	c.train(first)
	fence := first.Submit()
	c.ids = good
	c.train(second)
	select {
	case <-busy.Done():
		t.Fatal("the device was done before the second step was recorded: give it more to do")
	default:
	}
	if err := second.Sync(context.Background()); !errors.Is(err, runtime.ErrDepends) {
		t.Errorf("the error of a step on what a failed one gave is %v", err)
	}
	if err := fence.Wait(context.Background()); err == nil {
		t.Error("a step with a bad id has not failed")
	}
	if !sameBits(values(t, c.params()), before) {
		t.Error("the failed steps changed weights")
	}
	for _, p := range c.params() {
		packed := must[[]runtime.Float16](t)(runtime.As[runtime.Float16](p.Operand()).Read())
		if want := nn.Round[runtime.Float16](must[[]float32](t)(p.Values())); !slices.Equal(packed, want) {
			t.Errorf("%s: packed %v, want %v", p.Name, packed, want)
		}
	}
}

// keepBusy gives the device work for a while.
func keepBusy(t *testing.T, d *runtime.Device) *runtime.Fence {
	t.Helper()
	n := 512
	if d.Reference() {
		n = 128
	}
	x := must[runtime.Tensor[float32]](t)(runtime.Zeros[float32](d, n, n))
	b := d.Batch("busy")
	y := x
	for range 100 {
		y = ops.MatMulNNDeferred(b, y, y)
	}
	b.Keep(y)
	return b.Submit()
}

func double(b *runtime.Batch, x runtime.Tensor[float32]) runtime.Tensor[float32] {
	return ops.ScaleDeferred(b, x, 2)
}

// Updates that are new tensors, not in place, leave no more behind than can be undone.
func TestUpdatesOutOfPlace(t *testing.T) {
	d := open(t)
	l := must[*nn.Linear[runtime.BFloat16]](t)(nn.NewLinear[runtime.BFloat16](d, nn.NewRand(1), 4, 3))
	x := ramp[runtime.BFloat16](t, d, 2, 4)
	b := d.Batch("step")
	tensors := 0
	for i := range 10 {
		grads := b.Grad(ops.SumDeferred(b, l.ForwardDeferred(b, x)), operands(l.Params())...)
		for j, p := range l.Params() {
			g := ops.CastDeferred[float32](b, runtime.As[runtime.BFloat16](grads[j]))
			p.Update(b, ops.SubDeferred(b, p.Master(), ops.ScaleDeferred(b, g, 0.5)), runtime.Handle{})
		}
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		if i == 4 {
			tensors = d.Stats().Tensors
		}
	}
	if got := d.Stats().Tensors; got != tensors {
		t.Errorf("%d tensors after 5 steps, %d after 10", tensors, got)
	}
	packed := must[[]runtime.BFloat16](t)(runtime.As[runtime.BFloat16](l.Params()[0].Operand()).Read())
	if want := nn.Round[runtime.BFloat16](must[[]float32](t)(l.Params()[0].Values())); !slices.Equal(packed, want) {
		t.Errorf("packed %v, want %v", packed, want)
	}
	if err := errors.Join(l.Close(), x.Close()); err != nil {
		t.Error(err)
	}
	if s := d.Stats(); s.Tensors != 0 {
		t.Errorf("%d tensors are left", s.Tensors)
	}
}

// A discarded step is undone as well.
func TestDiscardedStepIsUndone(t *testing.T) {
	d := open(t)
	c := newLesson[float32](t, d, 1)
	before := values(t, c.params())
	b := d.Batch("step")
	c.train(b)
	b.Discard()
	if !sameBits(values(t, c.params()), before) {
		t.Error("a discarded step changed weights")
	}
}

// A seed fixes every bit, whatever the number of workers; another seed gives others.
func TestSeeds(t *testing.T) {
	run := func(seed uint64, workers int) []float32 {
		d := open(t, runtime.WithWorkers(workers))
		c := newLesson[float32](t, d, seed)
		b := d.Batch("step")
		for range 3 {
			c.run(t, b)
		}
		return values(t, c.params())
	}
	want := run(1, 1)
	for _, workers := range []int{1, 2, 3} {
		if !sameBits(run(1, workers), want) {
			t.Errorf("%d workers give other bits", workers)
		}
	}
	if sameBits(run(2, 1), want) {
		t.Error("two seeds give the same weights")
	}
	d := open(t)
	if !sameBits(values(t, newLesson[float32](t, d, 1).params()), values(t, newLesson[runtime.BFloat16](t, d, 1).params())) {
		t.Error("one seed gives other masters in another type")
	}
}

// Two models share a block: it is listed by both, and trains once.
func TestSharedBlock(t *testing.T) {
	d := open(t)
	c := newLesson[float32](t, d, 1)
	last := len(shape.Dilations) - 1
	if err := c.decoder.Stack.Blocks[last].Close(); err != nil {
		t.Fatal(err)
	}
	c.decoder.Stack.Blocks[last] = c.encoder.Stack.Blocks[last]
	list := c.params()
	if got, want := len(nn.Distinct(list)), len(list)-6; got != want {
		t.Errorf("%d distinct parameters, want %d", got, want)
	}
	if err := errors.Join(c.encoder.Close(), c.decoder.Close()); err != nil {
		t.Error(err)
	}
}

// Closing a model gives all of its memory back.
func TestClose(t *testing.T) {
	d := open(t)
	before := d.Stats()
	m := must[*models.TextDecoder[runtime.BFloat16]](t)(models.NewTextDecoder[runtime.BFloat16](d, models.DecoderConfig{Vocab: vocab, StackConfig: shape, Cond: 2}, 1))
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	if after := d.Stats(); after.Tensors != before.Tensors || after.Pool.Live != before.Pool.Live {
		t.Errorf("%d tensors with %d bytes are left", after.Tensors, after.Pool.Live)
	}
}
