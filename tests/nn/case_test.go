package nn_test

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

//go:embed golden/*.json
var files embed.FS

func load(t *testing.T, name string) *golden.File {
	t.Helper()
	data, err := files.ReadFile("golden/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := golden.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// open opens the device that is tested, for the time of a test.
func open(t testing.TB, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	return openWith(t, append(opts, standard()...)...)
}

func openWith(t testing.TB, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	d, err := runtime.Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// subject is a layer or model made as a case says.
type subject[T nn.Float] struct {
	nn.Module
	forward  func() (runtime.Tensor[T], error)
	deferred func(b *runtime.Batch) runtime.Tensor[T]
	inputs   map[string]runtime.Operand // that have gradients, by name
}

// trial is a case on a device, in a type.
type trial[T nn.Float] struct {
	t *testing.T
	d *runtime.Device
	golden.Case
}

func (c *trial[T]) int(name string) int {
	v, _ := c.Params[name].(float64)
	return int(v)
}

func (c *trial[T]) is(name string) bool { return c.Params[name] == true }

func tensor[E runtime.Element](d *runtime.Device, t *testing.T, v golden.Tensor, to func(float64) E) runtime.Tensor[E] {
	t.Helper()
	data := make([]E, len(v.Data))
	for i, x := range v.Data {
		data[i] = to(x)
	}
	x, err := runtime.FromSlice(d, data, v.Shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// in returns an input of the case, the zero Tensor where it has none.
func (c *trial[T]) in(name string) runtime.Tensor[T] {
	v, ok := c.Ins[name]
	if !ok {
		return runtime.Tensor[T]{}
	}
	return tensor(c.d, c.t, v, func(x float64) T { return nn.Round[T]([]float32{float32(x)})[0] })
}

func (c *trial[T]) ids(name string) runtime.Tensor[int32] {
	return tensor(c.d, c.t, c.Ins[name], func(x float64) int32 { return int32(x) })
}

func (c *trial[T]) mask() runtime.Tensor[uint8] {
	v, ok := c.Ins["mask"]
	if !ok {
		return runtime.Tensor[uint8]{}
	}
	return tensor(c.d, c.t, v, func(x float64) uint8 { return uint8(x) })
}

// must returns what a constructor gave.
func must[M any](t testing.TB) func(M, error) M {
	return func(m M, err error) M {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// layer is what most layers are.
type layer[T nn.Float] interface {
	nn.Layer[T]
	Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error)
}

func (c *trial[T]) layer(m layer[T]) subject[T] {
	x := c.in("x")
	return subject[T]{
		m,
		func() (runtime.Tensor[T], error) { return m.Forward(x) },
		func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, x) },
		map[string]runtime.Operand{"x": x},
	}
}

// makers make the subject of a case, by the name of its file.
func makers[T nn.Float]() map[string]func(c *trial[T]) subject[T] {
	r := nn.NewRand(1)
	return map[string]func(c *trial[T]) subject[T]{
		"linear": func(c *trial[T]) subject[T] { return c.layer(c.linear()) },
		"conv1d": func(c *trial[T]) subject[T] {
			return c.layer(must[*nn.Conv1D[T]](c.t)(nn.NewConv1D[T](c.d, r, nn.Conv1DConfig{
				In: c.int("in"), Out: c.int("out"), Kernel: c.int("kernel"), Dilation: c.int("dilation"), Stride: c.int("stride"),
				PadLeft: c.int("left"), PadRight: c.int("right"), Causal: c.is("causal"), NoBias: !c.is("bias"),
			})))
		},
		"layernorm": func(c *trial[T]) subject[T] {
			return c.layer(must[*nn.LayerNorm[T]](c.t)(nn.NewLayerNorm[T](c.d, c.int("width"))))
		},
		"rmsnorm": func(c *trial[T]) subject[T] {
			return c.layer(must[*nn.RMSNorm[T]](c.t)(nn.NewRMSNorm[T](c.d, c.int("width"))))
		},
		"gelu": func(c *trial[T]) subject[T] { return c.layer(nn.GELU[T]{}) },
		"embedding": func(c *trial[T]) subject[T] {
			m := must[*nn.Embedding[T]](c.t)(nn.NewEmbedding[T](c.d, r, c.int("rows"), c.int("width")))
			ids := c.ids("x")
			return subject[T]{
				m,
				func() (runtime.Tensor[T], error) { return m.Forward(ids) },
				func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, ids) },
				nil,
			}
		},
		"lora": func(c *trial[T]) subject[T] {
			l := c.linear()
			a := must[*nn.LoRA[T]](c.t)(nn.NewLoRA[T](c.d, r, c.int("in"), c.int("out"), c.int("rank"), float32(c.int("alpha"))))
			if err := l.Attach(a); err != nil {
				c.t.Fatal(err)
			}
			s := c.layer(l)
			s.Module = both{l, a}
			return s
		},
		"residual": func(c *trial[T]) subject[T] {
			return c.layer(nn.NewResidual[T](must[*nn.Linear[T]](c.t)(nn.NewLinear[T](c.d, r, c.int("width"), c.int("width")))))
		},
		"tcn_block": func(c *trial[T]) subject[T] {
			m := must[*models.TCNBlock[T]](c.t)(models.NewTCNBlock[T](c.d, r, models.BlockConfig{
				Width: c.int("width"), Hidden: c.int("hidden"), Kernel: c.int("kernel"), Dilation: c.int("dilation")}))
			x, mask := c.in("x"), c.mask()
			return subject[T]{
				m,
				func() (runtime.Tensor[T], error) { return m.Forward(x, mask) },
				func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, x, mask) },
				map[string]runtime.Operand{"x": x},
			}
		},
		"text_encoder": func(c *trial[T]) subject[T] {
			m := must[*models.TextEncoder[T]](c.t)(models.NewTextEncoder[T](c.d, models.EncoderConfig{
				Vocab: c.int("vocab"), StackConfig: c.stack(), Out: c.int("out"), Tanh: c.is("tanh")}, 1))
			ids, mask := c.ids("ids"), c.mask()
			return subject[T]{
				m,
				func() (runtime.Tensor[T], error) { return m.Forward(ids, mask) },
				func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, ids, mask) },
				nil,
			}
		},
		"text_decoder": func(c *trial[T]) subject[T] {
			m := must[*models.TextDecoder[T]](c.t)(models.NewTextDecoder[T](c.d, models.DecoderConfig{
				Vocab: c.int("vocab"), StackConfig: c.stack(), Cond: c.int("cond")}, 1))
			ids, cond, mask := c.ids("ids"), c.in("cond"), c.mask()
			return subject[T]{
				m,
				func() (runtime.Tensor[T], error) { return m.Forward(ids, cond, mask) },
				func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, ids, cond, mask) },
				map[string]runtime.Operand{"cond": cond},
			}
		},
	}
}

func (c *trial[T]) linear() *nn.Linear[T] {
	c.t.Helper()
	make := nn.NewLinear[T]
	if !c.is("bias") {
		make = nn.NewLinearNoBias[T]
	}
	return must[*nn.Linear[T]](c.t)(make(c.d, nn.NewRand(1), c.int("in"), c.int("out")))
}

func (c *trial[T]) stack() models.StackConfig {
	return models.StackConfig{Width: c.int("width"), Hidden: c.int("hidden"), Kernel: c.int("kernel"), Dilations: c.Free["dilations"]}
}

// both is two modules as one.
type both struct{ a, b nn.Module }

func (m both) Params() []nn.Named { return append(m.a.Params(), m.b.Params()...) }

// weigh gives a subject the weights of the case: all of them, of the same shape.
func (c *trial[T]) weigh(m nn.Module) {
	c.t.Helper()
	var weights []nn.Weight[float32]
	for _, p := range m.Params() {
		v, ok := c.Ins[p.Name]
		if !ok {
			c.t.Fatalf("%s: no weight %s", c.Name, p.Name)
		}
		data := make([]float32, len(v.Data))
		for i, x := range v.Data {
			data[i] = float32(x)
		}
		weights = append(weights, nn.Weight[float32]{Name: p.Name, Shape: v.Shape, Data: data})
	}
	if err := nn.Load(m.Params(), weights); err != nil {
		c.t.Fatalf("%s: %v", c.Name, err)
	}
}

// results returns what the deferred form gives and the gradients, by name.
func (c *trial[T]) results(s subject[T]) map[string][]float32 {
	c.t.Helper()
	b := c.d.Batch("golden")
	y := s.deferred(b)
	cotangent := tensor(c.d, c.t, c.Cotangents["y"], func(x float64) T { return nn.Round[T]([]float32{float32(x)})[0] })
	var names []string
	var wrt []runtime.Operand
	for _, p := range s.Params() {
		names, wrt = append(names, p.Name), append(wrt, p.Operand())
	}
	for name, x := range s.inputs {
		if _, ok := c.Grads[name]; ok {
			names, wrt = append(names, name), append(wrt, x)
		}
	}
	reads := map[string]*runtime.Readback[T]{"y": runtime.Read(b, y)}
	for i, h := range b.Grad(ops.DotDeferred(b, y, cotangent), wrt...) {
		reads[names[i]] = runtime.Read(b, runtime.As[T](h))
	}
	if err := b.Sync(context.Background()); err != nil {
		c.t.Fatalf("%s: %v", c.Name, err)
	}
	got := map[string][]float32{}
	for name, r := range reads {
		got[name] = nn.Widen(must[[]T](c.t)(r.Value()))
	}
	return got
}

// away says how far got is from want, in the norm of want, the largest of what was
// added up where that is more: a number that should be of the size of a rounding.
func away(got []float32, want golden.Tensor, size float64) float64 {
	var diff, norm float64
	for i, w := range want.Data {
		d := float64(got[i]) - w
		diff += d * d
		norm += w * w
	}
	if diff == 0 {
		return 0
	}
	return math.Sqrt(diff) / math.Max(math.Sqrt(norm), size)
}

// largest returns the largest norm among the tensors that a case wants.
func (c *trial[T]) largest() float64 {
	most := 0.0
	for _, list := range []map[string]golden.Tensor{c.Outs, c.Grads} {
		for _, v := range list {
			sum := 0.0
			for _, x := range v.Data {
				sum += x * x
			}
			most = max(most, math.Sqrt(sum))
		}
	}
	return most
}

// label names the type of a trial.
func label[T nn.Float]() string { return fmt.Sprint(runtime.TypeOf[T]()) }

func sameBits[T nn.Float](a, b []T) bool { return slices.Equal(nn.Widen(a), nn.Widen(b)) }
