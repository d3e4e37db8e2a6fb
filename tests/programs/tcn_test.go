// Package programs tests what becomes of the programs of whole models.
package programs

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type tensor = runtime.Tensor[float32]

// sizes are those of a TCN: a batch of sequences of vectors, blocks of two causal
// convolutions with a wider vector between them.
type sizes struct{ blocks, batch, length, width, hidden int }

// tcn is a stack of blocks
//
//	y = x + conv2(gelu(conv1(layernorm(x))))
//
// where conv1 has 3 taps, twice as far apart in each block up to 32, and conv2 has one.
type tcn struct {
	sizes
	params []tensor // gamma, beta, w1, b1, w2, b2 of each block
}

// open opens a device for the test.
func open(t testing.TB, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	d, err := runtime.Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// values makes a tensor whose elements are those of f.
func values(t testing.TB, d *runtime.Device, f func(i int) float32, shape ...int) tensor {
	t.Helper()
	n := 1
	for _, extent := range shape {
		n *= extent
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = f(i)
	}
	x, err := runtime.FromSlice(d, data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func newTCN(t testing.TB, d *runtime.Device, s sizes) *tcn {
	t.Helper()
	m := &tcn{sizes: s}
	r := rand.New(rand.NewPCG(1, 2))
	add := func(scale float64, shape ...int) {
		m.params = append(m.params, values(t, d, func(int) float32 { return float32(scale * r.NormFloat64()) }, shape...))
	}
	for range s.blocks {
		add(1, s.width)
		add(0.1, s.width)
		add(0.05, 3*s.width, s.hidden)
		add(0.1, s.hidden)
		add(0.05, s.hidden, s.width)
		add(0.1, s.width)
	}
	return m
}

// input makes a batch of sequences.
func (m *tcn) input(t testing.TB, d *runtime.Device) tensor {
	t.Helper()
	return values(t, d, func(i int) float32 { return float32(i%7) - 3 }, m.batch, m.length, m.width)
}

// loss records the mean square of what the stack makes of x.
func (m *tcn) loss(b *runtime.Batch, x tensor) tensor {
	for i := range m.blocks {
		p := m.params[6*i:]
		h, _, _ := ops.LayerNormDeferred(b, x, p[0], p[1], ops.LayerNormEps)
		dilation := int32(1) << (i % 6)
		cols := ops.Im2ColDeferred(b, h, dilation, 1, 2*dilation, 0, 3)
		h = ops.MatMulBiasNNDeferred(b, cols, p[2], p[3])
		h = ops.GELUDeferred(b, h)
		h = ops.MatMulBiasNNDeferred(b, h, p[4], p[5])
		x = ops.ResidualAddDeferred(b, h, x)
	}
	return ops.MeanDeferred(b, ops.SquareDeferred(b, x))
}

// step records a step of gradient descent and keeps the new parameters.
func (m *tcn) step(t testing.TB, b *runtime.Batch, x tensor) *runtime.Readback[float32] {
	t.Helper()
	loss := m.loss(b, x)
	operands := make([]runtime.Operand, len(m.params))
	for i, p := range m.params {
		operands[i] = p
	}
	for i, h := range b.Grad(loss, operands...) {
		g := runtime.As[float32](h)
		m.params[i] = ops.SubDeferred(b, m.params[i], ops.ScaleDeferred(b, g, 0.3))
		b.Keep(m.params[i])
	}
	return runtime.Read(b, loss)
}

var memory = regexp.MustCompile(`(\d+) bytes while it runs \(at most (\d+) at a time\), (\d+) bytes kept`)

// plan returns the memory of the recorded program, and the least that its values
// need.
func plan(t testing.TB, b *runtime.Batch) (bytes, bound int64) {
	t.Helper()
	text, err := b.Explain()
	if err != nil {
		t.Fatal(err)
	}
	found := memory.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no memory in\n%s", text)
	}
	bytes, _ = strconv.ParseInt(found[1], 10, 64)
	bound, _ = strconv.ParseInt(found[2], 10, 64)
	return bytes, bound
}

// The values of a training step of a TCN of 12 blocks lie in at most a tenth more
// memory than are alive at one time.
func TestMemoryOfTCNStep(t *testing.T) {
	d := open(t)
	m := newTCN(t, d, sizes{blocks: 12, batch: 32, length: 128, width: 256, hidden: 512})
	x := m.input(t, d)
	b := d.Batch("step")
	m.step(t, b, x)
	bytes, bound := plan(t, b)
	t.Logf("12 blocks, batch 32, length 128, width 256, hidden 512: %.1f MiB, bound %.1f MiB, %.3f of it",
		float64(bytes)/(1<<20), float64(bound)/(1<<20), float64(bytes)/float64(bound))
	if bytes*10 > bound*11 {
		t.Errorf("the plan takes %d bytes, %d are in use at a time", bytes, bound)
	}
	b.Discard()
}

// A small stack learns: the plan of the step is found again, and its memory is that
// of the plan.
func TestTCNLearns(t *testing.T) {
	d := open(t)
	m := newTCN(t, d, sizes{blocks: 3, batch: 2, length: 16, width: 8, hidden: 16})
	x := m.input(t, d)
	b := d.Batch("step")
	first, last := float32(0), float32(0)
	for i := range 40 {
		old := append([]tensor(nil), m.params...)
		r := m.step(t, b, x)
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, p := range old {
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
		v, err := r.Scalar()
		if err != nil {
			t.Fatal(err)
		}
		last = v
		if i == 0 {
			first = last
		}
	}
	if !(last < 0.8*first) {
		t.Errorf("the loss went from %v to %v", first, last)
	}
	if s := d.Stats().Programs; s.Misses != 1 {
		t.Errorf("40 equal steps were planned %d times", s.Misses)
	}
}
