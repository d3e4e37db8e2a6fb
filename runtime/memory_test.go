package runtime_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/backend"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// small is a reference backend with little memory.
type small struct {
	backend.Backend
	mu    sync.Mutex
	left  int64
	sizes map[unsafe.Pointer]int64
}

func (b *small) Alloc(bytes int64) unsafe.Pointer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.left {
		return nil
	}
	p := b.Backend.Alloc(bytes)
	b.left -= bytes
	b.sizes[p] = bytes
	return p
}

func (b *small) Free(p unsafe.Pointer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += b.sizes[p]
	delete(b.sizes, p)
	b.Backend.Free(p)
}

// Out of memory is an error with the sizes; nothing is lost, and the work fits
// after something was closed.
func TestOutOfMemory(t *testing.T) {
	b := &small{Backend: runtime.NewReferenceBackend(), left: 1 << 20, sizes: map[unsafe.Pointer]int64{}}
	d := runtime.OpenReferenceOn(b)
	x, extra := from(t, d, sequence(1<<16), 1<<16), from(t, d, sequence(1<<16), 1<<16)
	_, err := runtime.Zeros[float32](d, 1<<18)
	var oom *runtime.MemoryError
	if !errors.As(err, &oom) || oom.Asked != 1<<20 || oom.Held != 1<<19 {
		t.Errorf("got %v", err)
	}
	batch := d.Batch("large")
	program := func() (tensor, *runtime.Readback[float32]) {
		y := testops.ScaleDeferred(batch, x, 2)
		z := testops.ScaleDeferred(batch, x, 3)
		batch.Keep(y)
		return y, runtime.Read(batch, z)
	}
	for range 3 {
		y, r := program()
		err = batch.Sync(background)
		if !errors.As(err, &oom) {
			t.Fatalf("got %v", err)
		}
		wantError(t, err, oom, `batch "large"`, "out of memory: asked for ")
		if _, err := r.Value(); !errors.As(err, &oom) {
			t.Errorf("readback: %v", err)
		}
		if y.Err() == nil {
			t.Error("the result is valid")
		}
	}
	if s := d.Stats().Pool; s.Live != 1<<19 {
		t.Errorf("%+v", s)
	}
	extra.Close()
	z := testops.ScaleDeferred(batch, x, 2)
	r := runtime.Read(batch, z)
	mustSync(t, batch)
	if v := value(t, r); v[5] != 10 {
		t.Error(v[5])
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if b.left != 1<<20 || len(b.sizes) != 0 {
		t.Errorf("after Close %d bytes are held", 1<<20-b.left)
	}
}

// Many goroutines use the same weights, read and write tensors, and one closes
// the device: every call gives its result or an error.
func TestEverythingAtOnce(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w := from(t, d, repeat(2, 100), 100)
		shared := from(t, d, repeat(1, 100), 100)
		var wg sync.WaitGroup
		for id := range 8 {
			wg.Go(func() {
				b := d.Batch(fmt.Sprint(id))
				for i := range 100 {
					y := testops.MulDeferred(b, w, w)
					b.Keep(y)
					f := b.Submit()
					z, err := testops.Scale(y, float32(i))
					if err == nil {
						got, rerr := z.Read()
						if rerr == nil && got[7] != float32(4*i) || rerr != nil && !errors.Is(rerr, runtime.ErrClosed) {
							t.Errorf("got %v, %v", got, rerr)
						}
					}
					shared.Write(repeat(float32(id), 100))
					if got, err := shared.Read(); err == nil && got[0] != got[99] {
						t.Errorf("half of a write: %v", got)
					}
					if ferr := f.Wait(background); ferr != nil || err != nil {
						if !errors.Is(ferr, runtime.ErrClosed) && !errors.Is(err, runtime.ErrClosed) {
							t.Errorf("got %v, %v", ferr, err)
						}
						return
					}
					y.Close()
					z.Close()
					if id == 0 && i == 80 {
						if err := d.Close(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestGuards(t *testing.T) {
	for _, c := range [][]runtime.Option{{runtime.WithGuards()}, {runtime.WithGuards(), runtime.Reference()}} {
		d := open(t, c...)
		x, w := from(t, d, sequence(10), 10), from(t, d, sequence(10), 10)
		b := d.Batch("guarded")
		for range 2 {
			y := testops.SumDeferred(b, testops.MulDeferred(b, x, x))
			w = testops.SGDDeferred(b, w, x, 0)
			r := runtime.Read(b, y)
			mustSync(t, b)
			wantEqual(t, "y", value(t, r), []float32{285})
		}
		for _, keep := range []bool{false, true} {
			y := testops.OverrunDeferred(b, x)
			r := runtime.Read(b, y)
			if keep {
				b.Keep(y)
			}
			wantError(t, b.Sync(background), runtime.ErrGuard, "overrun: ", "byte 0 behind it", "memory_test.go:")
			_, err := r.Value()
			wantError(t, err, runtime.ErrGuard)
		}
		wantEqual(t, "w", contents(t, w), sequence(10))
	}
}
