package runtime_test

import (
	"math"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

func TestMisusedHandles(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, []float32{1, 2}, 2)
		closed := from(t, d, []float32{1, 2}, 2)
		closed.Close()
		foreign := from(t, open(t, runtime.Reference()), []float32{1, 2}, 2)
		other := d.Batch("other")
		pending := testops.ScaleDeferred(other, x, 1)
		defer other.Discard()
		integers := from(t, d, []int32{1, 2}, 2)
		short := from(t, d, []float32{1}, 1)

		for _, c := range []struct {
			name string
			arg  tensor
			kind error
			text string
		}{
			{"zero", tensor{}, runtime.ErrStale, "mul: b is the zero Tensor"},
			{"closed", closed, runtime.ErrStale, "mul: b is stale: it was closed"},
			{"foreign", foreign, runtime.ErrDevice, "mul: b is on another device"},
			{"pending", pending, runtime.ErrPending, `mul: b is a pending result of batch "other"`},
			{"integers", runtime.As[float32](integers.Untyped()), runtime.ErrType, "mul: b holds i32, not f32"},
			{"short", short, runtime.ErrShape, "mul: b has shape [1], axes P of a are [2]"},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := d.Batch("wrong")
				y := testops.MulDeferred(b, x, c.arg)
				z := testops.ScaleDeferred(b, y, 2) // nothing happens
				w := testops.SGDDeferred(b, x, z, 1)
				r := runtime.Read(b, z)
				b.Keep(w)
				g := runtime.GradOf(b, testops.SumDeferred(b, z), x)
				wantError(t, b.Err(), c.kind)
				_, err := r.Value()
				wantError(t, err, runtime.ErrNotSynced)
				for range 2 { // the second time nothing is recorded
					err = b.Sync(background)
					if err == nil {
						break
					}
					wantError(t, err, c.kind, c.text, `batch "wrong"`, "handle_test.go:")
				}
				_, err = r.Value()
				wantError(t, err, c.kind)
				_, err = z.Read()
				wantError(t, err, c.kind)
				_, err = testops.Scale(g, 1)
				wantError(t, err, c.kind)
				wantEqual(t, "x", contents(t, x), []float32{1, 2})
			})
		}
	})
}

func TestReplacedHandleNamesItsReplacement(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w, g := from(t, d, []float32{1, 2}, 2), from(t, d, []float32{1, 1}, 2)
		b := d.Batch("twice")
		testops.SGDDeferred(b, w, g, 1)
		testops.SGDDeferred(b, w, g, 1)
		wantError(t, b.Sync(background), runtime.ErrStale, "sgd: w was replaced by sgd (", "handle_test.go:")
		wantEqual(t, "w", contents(t, w), []float32{1, 2})
	})
}

func TestHostAccessErrors(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(6), 2, 3)
		wantError(t, x.ReadInto(make([]float32, 5)), runtime.ErrShape, "read: the tensor with shape [2 3] has 6 elements, the slice 5")
		wantError(t, x.Write(nil), runtime.ErrShape)
		for _, c := range []struct {
			n     int
			shape []int
			text  string
		}{
			{5, []int{2, 3}, "5 elements given, shape [2 3] has 6"},
			{1, []int{-1}, "negative"},
			{2, nil, "2 elements given, shape [] has 1"},
			{0, []int{1 << 32, 1 << 32}, "more bytes than an int64 holds"},
			{0, []int{math.MaxInt, 1}, "more bytes than an int64 holds"},
			{1, make([]int, 9), "9 dimensions"},
		} {
			_, err := runtime.FromSlice(d, make([]float32, c.n), c.shape...)
			wantError(t, err, runtime.ErrShape, "from slice: ", c.text)
		}
		for _, c := range [][]int{{-1, 1}, {7, 0}, {5, 2}, {math.MaxInt, 1}, {0, 1 << 40}} {
			_, err := x.View(c[0], c[1])
			wantError(t, err, runtime.ErrShape, "view: ")
		}
		b := d.Batch("pending")
		y := testops.ScaleDeferred(b, x, 1)
		_, err := y.Read()
		wantError(t, err, runtime.ErrPending, `batch "pending"`)
		wantError(t, y.Write(sequence(6)), runtime.ErrPending)
		b.Discard()
		_, err = y.Read()
		wantError(t, err, runtime.ErrStale)
	})
}

func TestWriteBetweenRecordAndSync(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(8), 8)
		left, _ := x.View(0, 4)
		right, _ := x.View(4, 4)
		b := d.Batch("late")
		r := runtime.Read(b, testops.ScaleDeferred(b, left, 1))
		if err := right.Write(repeat(9, 4)); err != nil { // does not matter
			t.Fatal(err)
		}
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "left", value(t, r), sequence(4))

		r = runtime.Read(b, testops.ScaleDeferred(b, left, 1))
		if err := left.Write(repeat(7, 4)); err != nil {
			t.Fatal(err)
		}
		wantError(t, b.Sync(background), runtime.ErrOverwritten, "shape [4]")
		r = runtime.Read(b, testops.ScaleDeferred(b, x, 1))
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "x", value(t, r), []float32{7, 7, 7, 7, 9, 9, 9, 9})
	})
}

// Another batch that updates what this one has recorded a use of.
func TestUpdateByAnotherBatch(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w, g := from(t, d, sequence(4), 4), from(t, d, repeat(1, 4), 4)
		a, b := d.Batch("a"), d.Batch("b")
		r := runtime.Read(a, testops.ScaleDeferred(a, w, 1))
		w2 := testops.SGDDeferred(b, w, g, 1)
		testops.ScaleDeferred(a, g, 1)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantError(t, a.Sync(background), runtime.ErrOverwritten)
		_, err := r.Value()
		wantError(t, err, runtime.ErrOverwritten)
		wantEqual(t, "w2", contents(t, w2), []float32{-1, 0, 1, 2})
	})
}

// A recorded update of a view is seen by what comes after it: an immediate call
// runs it first, and reading the base is an error until it has run.
func TestUpdateOfAViewIsPending(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		all, g := from(t, d, sequence(4), 4), from(t, d, repeat(1, 2), 2)
		left, right := view(t, all, 0, 2), view(t, all, 2, 2)
		b := d.Batch("update")
		left = testops.SGDDeferred(b, left, g, 1)
		_, err := all.Read()
		wantError(t, err, runtime.ErrPending, `batch "update"`)
		wantEqual(t, "right", contents(t, right), []float32{2, 3})
		z, err := testops.Scale(all, 2)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "z", contents(t, z), []float32{-2, 0, 4, 6})
		wantEqual(t, "all", contents(t, all), []float32{-1, 0, 2, 3})
		mustSync(t, b)
		wantEqual(t, "left", contents(t, left), []float32{-1, 0})
	})
}

func TestZeroSizes(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, []float32{}, 0)
		ids := from(t, d, []int32{}, 0)
		w := from(t, d, sequence(6), 3, 2)
		b := d.Batch("nothing")
		y := testops.MulDeferred(b, x, x)
		s := testops.SumDeferred(b, y)
		e := testops.EmbeddingDeferred(b, ids, w)
		loss := testops.SumDeferred(b, e)
		g := runtime.GradOf(b, loss, w)
		b.Keep(y, e)
		ry, rs, rg := runtime.Read(b, y), runtime.Read(b, s), runtime.Read(b, g)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "y", value(t, ry), []float32{})
		wantEqual(t, "sum over nothing", value(t, rs), []float32{0})
		wantEqual(t, "gradient", value(t, rg), repeat(0, 6))
		wantEqual(t, "kept y", contents(t, y), []float32{})
		wantEqual(t, "shape", e.Shape(), []int{0, 2})
	})
}

func TestTensorsOverlapping(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		all := from(t, d, sequence(6), 6)
		a, _ := all.View(0, 4)
		c, _ := all.View(2, 4)
		b := d.Batch("alias")
		// w -= w shifted by two: reads see the old values.
		a2 := testops.SGDDeferred(b, a, c, 1)
		r := runtime.Read(b, all)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		want := []float32{-2, -2, -2, -2, 4, 5}
		wantEqual(t, "all", value(t, r), want)
		wantEqual(t, "a", contents(t, a2), want[:4])
		wantEqual(t, "c", contents(t, c), want[2:])

		self := testops.SGDDeferred(b, a2, a2, 0.5) // w -= w/2
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "self", contents(t, self), repeat(-1, 4))
	})
}

// A reused buffer shows nothing of its past.
func TestReusedBuffer(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		old := from(t, d, repeat(9, 1000), 1000)
		old.Close()
		z, err := runtime.Zeros[float32](d, 1000)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "zeros", contents(t, z), repeat(0, 1000))
		z.Close()
		x := from(t, d, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10)
		b := d.Batch("sum")
		r := runtime.Read(b, testops.SumDeferred(b, x))
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "sum", value(t, r), []float32{55})
		if got := contents(t, x); len(got) != 10 {
			t.Errorf("%d elements, want 10", len(got))
		}
		if s := d.Stats().Pool; s.Hits == 0 || s.Live != 64 {
			t.Errorf("pool %+v: want hits, and one small block in use", s)
		}
	})
}

func TestInvalidHandlesHaveNoShape(t *testing.T) {
	d := open(t, runtime.Reference())
	x := from(t, d, sequence(6), 1, 2, 3)
	scalar, err := x.View(5)
	if err != nil || scalar.Rank() != 0 || scalar.Len() != 1 {
		t.Errorf("a view without dimensions: %v, %v", scalar.Shape(), err)
	}
	if x.Rank() != 3 || x.Dim(1) != 2 || x.Dim(-1) != 3 || x.Dim(3) != -1 || x.Len() != 6 || x.Err() != nil {
		t.Errorf("%v %d %d %d", x.Shape(), x.Rank(), x.Dim(-1), x.Len())
	}
	x.Close()
	for _, bad := range []tensor{x, {}} {
		if bad.Shape() != nil || bad.Rank() != -1 || bad.Dim(0) != -1 || bad.Len() != -1 || bad.Err() == nil {
			t.Errorf("%v %d %d %d %v", bad.Shape(), bad.Rank(), bad.Dim(0), bad.Len(), bad.Err())
		}
	}
	wantEqual(t, "the view", contents(t, scalar), []float32{5})
}

// A batch that no device made refuses everything.
func TestBatchWithoutDevice(t *testing.T) {
	var none *runtime.Device
	for _, b := range []*runtime.Batch{{}, none.Batch("nil")} {
		y := testops.FillDeferred(b, 1, 2)
		z := testops.ScaleDeferred(b, y, 2)
		r := runtime.Read(b, z)
		b.Keep(z)
		g := runtime.GradOf(b, z, y)
		wantError(t, b.Sync(background), runtime.ErrDevice)
		wantError(t, b.Submit().Wait(background), runtime.ErrDevice)
		b.Discard()
		_, err := r.Value()
		wantError(t, err, runtime.ErrDevice)
		_, err = testops.Scale(g, 1)
		wantError(t, err, runtime.ErrDevice)
	}
	_, err := testops.Fill(none, 1, 2)
	wantError(t, err, runtime.ErrDevice)
	_, err = runtime.FromSlice(none, []float32{1}, 1)
	wantError(t, err, runtime.ErrDevice)
}
