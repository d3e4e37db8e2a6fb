package runtime_test

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// model is a batch next to what its tensors must hold: arrays that views share.
type model struct {
	t     *testing.T
	rand  *rand.Rand
	d     *runtime.Device
	b     *runtime.Batch
	live  []modelTensor // handles that are valid
	reads []modelRead
}

type modelTensor struct {
	h        tensor
	data     []float32 // a view shares the array of its base
	keep     bool
	resident bool
}

type modelRead struct {
	r    *runtime.Readback[float32]
	want []float32
}

func (m *model) pick() modelTensor { return m.live[m.rand.Intn(len(m.live))] }

// like returns a tensor with as many elements as x.
func (m *model) like(x modelTensor) modelTensor {
	for range 8 {
		if y := m.pick(); len(y.data) == len(x.data) && slices.Equal(y.h.Shape(), x.h.Shape()) {
			return y
		}
	}
	return x
}

func (m *model) add(h tensor, data []float32) {
	m.live = append(m.live, modelTensor{h: h, data: data})
}

func (m *model) step() {
	x := m.pick()
	switch m.rand.Intn(12) {
	case 0, 1, 2:
		y := m.like(x)
		z := make([]float32, len(x.data))
		for i := range z {
			z[i] = x.data[i] + y.data[i]
		}
		m.add(testops.AddDeferred(m.b, x.h, y.h), z)
	case 3:
		s := []float32{-0.5, 0.25, 0.5}[m.rand.Intn(3)]
		z := make([]float32, len(x.data))
		for i := range z {
			z[i] = s * x.data[i]
		}
		m.add(testops.ScaleDeferred(m.b, x.h, s), z)
	case 4, 5:
		m.update(x)
	case 6:
		m.reads = append(m.reads, modelRead{runtime.Read(m.b, x.h), slices.Clone(x.data)})
	case 7:
		if i := m.rand.Intn(len(m.live)); !m.live[i].resident {
			m.b.Keep(m.live[i].h)
			m.live[i].keep = true
		}
	case 8:
		off := m.rand.Intn(len(x.data))
		n := 1 + m.rand.Intn(len(x.data)-off)
		v, err := x.h.View(off, n)
		if err != nil {
			m.t.Fatal(err)
		}
		w := modelTensor{h: v, data: x.data[off : off+n : off+n], resident: x.resident}
		m.live = append(m.live, w)
	case 9, 10:
		m.add(testops.CopyDeferred(m.b, x.h), slices.Clone(x.data))
	case 11:
		if m.rand.Intn(4) > 0 {
			return
		}
		h, err := testops.Scale(x.h, 0.5) // runs what is recorded so far
		if err != nil {
			m.t.Fatal(err)
		}
		z := make([]float32, len(x.data))
		for i := range z {
			z[i] = 0.5 * x.data[i]
		}
		m.live = append(m.live, modelTensor{h: h, data: z, resident: true})
	}
}

// update does an in-place step; x is replaced by its new version.
func (m *model) update(x modelTensor) {
	g := m.like(x)
	old := slices.Clone(g.data)
	w := testops.SGDDeferred(m.b, x.h, g.h, 0.5)
	for i := range x.data {
		x.data[i] -= 0.5 * old[i]
	}
	for i := range m.live {
		if m.live[i].h == x.h {
			m.live[i].h = w
			m.live[i].keep = m.live[i].keep || m.live[i].resident
			m.live[i].resident = false // until the batch is done
		}
	}
}

// finish runs the batch and checks everything that is left of it.
func (m *model) finish() {
	if m.rand.Intn(4) == 0 {
		m.b.Submit()
	} else if err := m.b.Sync(background); err != nil {
		m.t.Fatal(err)
	}
	for _, r := range m.reads {
		if got := value(m.t, r.r); !slices.Equal(got, r.want) {
			m.t.Fatalf("read %v, want %v", got, r.want)
		}
	}
	m.reads = m.reads[:0]
	m.live = slices.DeleteFunc(m.live, func(x modelTensor) bool {
		if !x.keep && !x.resident {
			if _, err := x.h.Read(); err == nil {
				m.t.Fatal("a result that was not kept can be read")
			}
			return true
		}
		return false
	})
	for i := range m.live {
		x := &m.live[i]
		x.resident, x.keep = true, false
		if got := contents(m.t, x.h); !slices.Equal(got, x.data) {
			m.t.Fatalf("tensor holds %v, want %v", got, x.data)
		}
	}
	for len(m.live) > 8 { // close some
		i := m.rand.Intn(len(m.live))
		if err := m.live[i].h.Close(); err != nil {
			m.t.Fatal(err)
		}
		m.live = slices.Delete(m.live, i, i+1)
	}
}

// Random programs with views, copies, in-place updates, kept results and
// read-backs give what plain arrays give.
func TestRandomPrograms(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		for seed := range 60 {
			m := &model{t: t, rand: rand.New(rand.NewSource(int64(seed))), d: d, b: d.Batch("random")}
			for range 3 {
				data := sequence(4 + m.rand.Intn(3))
				m.live = append(m.live, modelTensor{h: from(t, d, data, len(data)), data: data, resident: true})
			}
			for range 6 {
				for range 5 + m.rand.Intn(30) {
					m.step()
				}
				m.finish()
			}
			for _, x := range m.live {
				x.h.Close()
			}
		}
		if s := d.Stats(); s.Tensors != 0 || s.Pool.Live != 0 {
			t.Errorf("left behind: %d tensors, %d bytes", s.Tensors, s.Pool.Live)
		}
	})
}
