package optim_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
)

// wantError fails unless an error has each of the texts.
func wantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error is %v, want one with %q", err, text)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	d := open(t)
	l := linear[float32](t, d, 1, 4, 3)
	params := l.Params()
	closed, elsewhere := linear[float32](t, d, 1, 1, 1), linear[float32](t, open(t), 1, 1, 1)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	before := d.Stats().Tensors
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	good := optim.Config{Method: optim.DefaultAdamW()}
	for _, c := range []struct {
		params []nn.Named
		config optim.Config
		want   []string
	}{
		{nil, good, []string{"no parameters to train"}},
		{slices.Concat(params, params[:1]), good, []string{"weight is the parameter weight", "nn.Distinct"}},
		{[]nn.Named{params[0], {Name: "weight", Param: params[1].Param}}, good, []string{"two parameters are called weight", "nn.Under"}},
		{[]nn.Named{{Name: "weight"}}, good, []string{`parameter 0, "weight", is nil`}},
		{closed.Params(), good, []string{"optim: weight: ", "closed or replaced", "optim: bias: "}},
		{append(nn.Under("a", l), nn.Under("b", elsewhere)...), good, []string{"a.weight and b.weight are on two devices"}},
		{params, optim.Config{}, []string{"the method is <nil>", "DefaultAdamW"}},
		{params, optim.Config{Method: optim.AdamW{}}, []string{"Eps is 0", "DefaultAdamW"}},
		{params, optim.Config{Method: optim.AdamW{Beta1: 1, Beta2: -0.5, Eps: nan}}, []string{"Beta1 is 1", "Beta2 is -0.5", "Eps is NaN"}},
		{params, optim.Config{Method: optim.SGD{Momentum: 1}}, []string{"Momentum is 1"}},
		{params, optim.Config{Method: optim.SGD{Nesterov: true}}, []string{"set Momentum"}},
		{params, optim.Config{Method: optim.SGD{}, MaxNorm: inf}, []string{"MaxNorm is +Inf"}},
		{params, optim.Config{Method: optim.SGD{}, Scaling: &optim.Scaling{Initial: 3, Interval: 1}}, []string{"scale is 3", "power of two"}},
		{params, optim.Config{Method: optim.SGD{}, Scaling: &optim.Scaling{Initial: 2}}, []string{"after 0 steps"}},
		{params, optim.Config{Method: optim.SGD{}, Groups: []optim.Group{{Names: []string{"weight"}, Rate: 1}}}, []string{"bias is in no group", `"*"`}},
		{params, optim.Config{Method: optim.SGD{}, Groups: []optim.Group{{Names: []string{"*"}, Rate: 1}, {Names: []string{"*.bias"}, Rate: 1}}}, []string{`group 1, ["*.bias"], has no parameter`}},
		{params, optim.Config{Method: optim.SGD{}, Groups: []optim.Group{{Names: []string{"*", "["}, WeightDecay: nan}}}, []string{"rate is 0", "decay is NaN", `"[" is no pattern`}},
	} {
		o, err := optim.New(c.params, c.config)
		if o != nil {
			t.Errorf("%q: there is an optimiser", c.want)
		}
		wantError(t, err, c.want...)
	}
	if got := d.Stats().Tensors; got != before {
		t.Errorf("%d tensors are left", got-before)
	}
}

// A parameter is of the first group that names it.
func TestGroups(t *testing.T) {
	d := open(t)
	part, other := linear[float32](t, d, 1, 2, 2), linear[float32](t, d, 2, 2, 2)
	params := append(nn.Under("blocks.0", part), nn.Under("head", other)...)
	grads := map[string][]float32{}
	for _, p := range params {
		if err := p.Set(repeat(1, p.Len())); err != nil {
			t.Fatal(err)
		}
		grads[p.Name] = repeat(1, p.Len())
	}
	o := newOptimizer(t, params, optim.Config{Method: optim.SGD{}, Groups: []optim.Group{
		{Names: []string{"*.bias"}, Rate: 1},
		{Names: []string{"head.*", "tail.*"}, Rate: 0.5, WeightDecay: 1},
		{Names: []string{"*"}, Rate: 2},
	}})
	step[float32](t, o, params, grads, 0.125)
	for i, want := range []float32{0.75, 0.875, 1 - 0.0625*2, 0.875} { // in the order of params: weights and biases
		if got := must[[]float32](t)(params[i].Values()); !slices.Equal(got, repeat(want, params[i].Len())) {
			t.Errorf("%s is %v, want %v", params[i].Name, got, want)
		}
	}
}

// A step on two halves of a batch is that on the whole, up to rounding.
func TestAccumulate(t *testing.T) {
	t.Run("f32", func(t *testing.T) { accumulate[float32](t, nil, 1e-6) })
	t.Run("f16", func(t *testing.T) { accumulate[runtime.Float16](t, optim.DefaultScaling(), 1e-3) })
	t.Run("bf16", func(t *testing.T) { accumulate[runtime.BFloat16](t, nil, 1e-2) })
}

func accumulate[T nn.Float](t *testing.T, scaling *optim.Scaling, limit float64) {
	d := open(t)
	const rows, in, out = 12, 8, 5
	x := make([]float32, rows*in)
	for i := range x {
		x[i] = float32(math.Sin(float64(i * i)))
	}
	loss := func(b *runtime.Batch, l *nn.Linear[T], from, to int) runtime.Tensor[float32] {
		rows := must[runtime.Tensor[T]](t)(runtime.FromSlice(d, nn.Round[T](x[from*in:to*in]), to-from, in))
		return ops.MeanDeferred(b, ops.SquareDeferred(b, l.ForwardDeferred(b, rows)))
	}
	train := func(parts int) []float32 {
		l := linear[T](t, d, 1, in, out)
		o := newOptimizer(t, l.Params(), optim.Config{Method: optim.SGD{Momentum: 0.9}, MaxNorm: 0.5, Scaling: scaling})
		defer o.Close()
		b := d.Batch("micro-batch")
		for range 3 {
			before := d.Stats().Runs
			for i := range parts {
				part := ops.ScaleDeferred(b, loss(b, l, i*rows/parts, (i+1)*rows/parts), 1/float32(parts))
				if i < parts-1 {
					if err := o.Accumulate(b, part); err != nil {
						t.Fatal(err)
					}
				} else {
					must[*optim.Report](t)(o.Step(b, part, 0.125))
				}
				b.Submit()
			}
			must[[]float32](t)(l.Params()[0].Values()) // waits
			if got := d.Stats().Runs - before; got != int64(parts) {
				t.Errorf("%d micro-batches were %d programs", parts, got)
			}
		}
		return slices.Concat(must[[]float32](t)(l.Params()[0].Values()), must[[]float32](t)(l.Params()[1].Values()))
	}
	whole := train(1)
	want := make([]float64, len(whole))
	for i, v := range whole {
		want[i] = float64(v)
	}
	for _, parts := range []int{2, 3} {
		if far := away(train(parts), want); !(far <= limit) {
			t.Errorf("with %d micro-batches weights are off by %.2g", parts, far)
		} else if runtime.TypeOf[T]() != runtime.F32 {
			t.Logf("with %d micro-batches weights are off by %.2g", parts, far)
		}
	}
}

// Gradients that were accumulated are gone with a batch that failed, and do not go into a
// file; ZeroGrad begins anew.
func TestAccumulatedIsLost(t *testing.T) {
	d := open(t)
	l := linear[float32](t, d, 1, 2, 1)
	params := l.Params()
	grads := map[string][]float32{"weight": {1, 1}, "bias": {1}}
	o := newOptimizer(t, params, optim.Config{Method: optim.SGD{}})
	b := d.Batch("micro-batch")
	if err := o.Accumulate(b, pull[float32](t, b, params, grads)); err != nil {
		t.Fatal(err)
	}
	_, err := o.State("")
	wantError(t, err, "take the step first")
	b.Discard()
	_, err = o.Step(b, pull[float32](t, b, params, grads), 1)
	wantError(t, err, "accumulated gradient of weight is lost", "call ZeroGrad")
	b.Discard()
	o.ZeroGrad()
	before := must[[]float32](t)(params[1].Values())[0]
	step[float32](t, o, params, grads, 1)
	if got := must[[]float32](t)(params[1].Values())[0]; got != before-1 {
		t.Errorf("the bias went from %v to %v, want 1 less", before, got)
	}
}

// Recording a step waits for nothing, and the step is one program, whatever becomes of
// it: steps are recorded while the device is busy with something else.
func TestStepWaitsForNothing(t *testing.T) {
	d := open(t)
	l := linear[runtime.Float16](t, d, 1, 4, 3)
	params := l.Params()
	grads := map[string][]float32{"weight": repeat(1, 12), "bias": repeat(1, 3)} // 65536 is no float16, 32768 is one
	o := newOptimizer(t, params, optim.Config{Method: optim.DefaultAdamW(), MaxNorm: 1, Scaling: &optim.Scaling{Initial: 65536, Interval: 2}})
	step[runtime.Float16](t, o, params, grads, 0.125)
	before := d.Stats()
	first, second := d.Batch("first"), d.Batch("second")
	loss := pull[runtime.Float16](t, first, params, grads)
	more := must[runtime.Tensor[float32]](t)(runtime.Zeros[float32](d, 512, 512))
	busy := keepBusy(d, more)
	r1 := must[*optim.Report](t)(o.Step(first, loss, 0.125))
	f1 := first.Submit()
	sum := func(i int) runtime.Tensor[float32] {
		return ops.SumDeferred(second, runtime.As[runtime.Float16](params[i].Operand()))
	}
	r2 := must[*optim.Report](t)(o.Step(second, ops.AddDeferred(second, sum(0), sum(1)), 0.125))
	f2 := second.Submit()
	select {
	case <-busy.Done():
		t.Fatal("the device was done before the steps were recorded: give it more to do")
	default:
	}
	if got := d.Stats().Runs - before.Runs; got != 0 {
		t.Errorf("recording waited for %d programs", got)
	}
	for _, f := range []*runtime.Fence{busy, f1, f2} {
		if err := f.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Stats().Runs - before.Runs; got != 3 {
		t.Errorf("two steps beside other work were %d programs, want 3", got)
	}
	for i, r := range []*optim.Report{r1, r2} {
		if got := must[float32](t)(r.Scale.Scalar()); got != 32768 {
			t.Errorf("step %d has scale %v, want 32768", i, got)
		}
	}
}

// keepBusy gives the device work for a while.
func keepBusy(d *runtime.Device, x runtime.Tensor[float32]) *runtime.Fence {
	b := d.Batch("busy")
	for range 100 {
		x = ops.MatMulNNDeferred(b, x, x)
	}
	b.Keep(x)
	return b.Submit()
}

// Equal steps are planned once and leave nothing behind; closing gives all back.
func TestMemory(t *testing.T) {
	d := open(t)
	empty := d.Stats().Tensors
	l := linear[runtime.BFloat16](t, d, 1, 4, 3)
	params := l.Params()
	model := d.Stats().Tensors
	x := must[runtime.Tensor[runtime.BFloat16]](t)(runtime.FromSlice(d, nn.Round[runtime.BFloat16](repeat(1, 8)), 2, 4))
	o := newOptimizer(t, params, optim.Config{Method: optim.DefaultAdamW(), MaxNorm: 1, Scaling: optim.DefaultScaling()})
	b := d.Batch("step")
	loss := func() runtime.Tensor[float32] {
		return ops.SumDeferred(b, ops.SquareDeferred(b, l.ForwardDeferred(b, x)))
	}
	train := func() {
		for range 2 {
			if err := o.Accumulate(b, loss()); err != nil {
				t.Fatal(err)
			}
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		must[*optim.Report](t)(o.Step(b, loss(), 0.01))
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		train()
	}
	before := d.Stats()
	for range 10 {
		train()
	}
	after := d.Stats()
	if after.Tensors != before.Tensors || after.Pool.Live != before.Pool.Live {
		t.Errorf("%d tensors with %d bytes became %d with %d", before.Tensors, before.Pool.Live, after.Tensors, after.Pool.Live)
	}
	if got := after.Programs.Misses - before.Programs.Misses; got != 0 {
		t.Errorf("equal steps were planned %d times", got)
	}
	if err := errors.Join(o.Close(), o.Close(), x.Close()); err != nil {
		t.Error(err)
	}
	if got := d.Stats().Tensors; got != model {
		t.Errorf("%d tensors are left, the model has %d", got, model)
	}
	_, err := o.Step(b, loss(), 1)
	wantError(t, err, "closed")
	b.Discard()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if got := d.Stats().Tensors; got != empty {
		t.Errorf("%d tensors are left", got-empty)
	}
}

// A step on a loss that could not be recorded is an error of its batch, and changes
// nothing, however often it is tried.
func TestStepOnBrokenLoss(t *testing.T) {
	d := open(t)
	params := linear[runtime.BFloat16](t, d, 1, 2, 1).Params()
	grads := map[string][]float32{"weight": {1, 1}, "bias": {1}}
	o := newOptimizer(t, params, optim.Config{Method: optim.DefaultAdamW(), Scaling: optim.DefaultScaling()})
	step[runtime.BFloat16](t, o, params, grads, 0.5)
	before := snapshot(t, o, params)
	wrong := must[runtime.Tensor[float32]](t)(runtime.Zeros[float32](d, 3))
	for range 5 {
		b := d.Batch("step")
		loss := ops.AddDeferred(b, pull[runtime.BFloat16](t, b, params, grads), wrong)
		r := must[*optim.Report](t)(o.Step(b, loss, 0.5))
		if err := b.Sync(context.Background()); !errors.Is(err, runtime.ErrShape) {
			t.Errorf("the error is %v, want that of the shapes", err)
		}
		if r.Err() == nil {
			t.Error("the report has no error")
		}
		if names := differences(before, snapshot(t, o, params)); len(names) > 0 {
			t.Errorf("the step has changed %v", names)
		}
	}
	step[runtime.BFloat16](t, o, params, grads, 0.5)
	if got := scalar[int32](t, o, "step"); got != 2 {
		t.Errorf("%d steps are counted, want 2", got)
	}
}

// A parameter that no loss of a step depends on is an error; one that some of its
// micro-batches depend on has the gradient of those.
func TestParameterWithoutGradient(t *testing.T) {
	t.Run("f32", withoutGradient[float32])
	t.Run("f16", withoutGradient[runtime.Float16])
}

func withoutGradient[T nn.Float](t *testing.T) {
	d := open(t)
	l := linear[T](t, d, 1, 2, 1)
	params := l.Params()
	o := newOptimizer(t, params, optim.Config{Method: optim.SGD{}})
	before := snapshot(t, o, params)
	grads := map[string][]float32{"weight": {1, 2}, "bias": {4}}
	b := d.Batch("step")
	_, err := o.Step(b, pull[T](t, b, params[:1], grads), 1)
	wantError(t, err, `1 of 2 parameters have no gradient`, `["bias"]`, "leave them out of New")
	b.Discard()
	if names := differences(before, snapshot(t, o, params)); len(names) > 0 {
		t.Errorf("the refused step has changed %v", names)
	}
	for _, p := range params {
		if err := p.Set(repeat(0, p.Len())); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range [][]nn.Named{params[:1], params[1:], params[:1]} {
		if err := o.Accumulate(b, pull[T](t, b, part, grads)); err != nil {
			t.Fatal(err)
		}
		b.Submit()
	}
	must[*optim.Report](t)(o.Step(b, pull[T](t, b, params[:1], grads), 0.5))
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float32{{-1.5, -3}, {-2}} {
		if got := must[[]float32](t)(params[i].Values()); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", params[i].Name, got, want)
		}
	}
}

func TestRateIsChecked(t *testing.T) {
	d := open(t)
	params := linear[float32](t, d, 1, 2, 1).Params()
	o := newOptimizer(t, params, optim.Config{Method: optim.SGD{}})
	for _, rate := range []float64{math.NaN(), math.Inf(1), -1} {
		b := d.Batch("step")
		_, err := o.Step(b, pull[float32](t, b, params, map[string][]float32{"weight": {1, 1}, "bias": {1}}), float32(rate))
		wantError(t, err, "the learning rate is")
		b.Discard()
	}
}
