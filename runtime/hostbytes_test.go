package runtime_test

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

func TestBytes(t *testing.T) {
	noError := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		f := from(t, d, []float32{1, -2}, 2)
		i := from(t, d, []int32{7, -1, 0}, 3)
		h := from(t, d, []runtime.BFloat16{0x3f80, 0xc000}, 2)
		for _, c := range []struct {
			x    runtime.Handle
			want []byte
		}{
			{f.Untyped(), []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
			{i.Untyped(), []byte{7, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0}},
			{h.Untyped(), []byte{0x80, 0x3f, 0, 0xc0}},
		} {
			// One byte off, so that no element is aligned.
			got := make([]byte, len(c.want)+1)[1:]
			noError(t, c.x.ReadBytes(got))
			if !slices.Equal(got, c.want) {
				t.Errorf("%s reads as % x, want % x", c.x.DType(), got, c.want)
			}
			slices.Reverse(got)
			noError(t, c.x.WriteBytes(got))
			again := make([]byte, len(got))
			noError(t, c.x.ReadBytes(again))
			if !slices.Equal(got, again) {
				t.Errorf("%s reads as % x after % x was written", c.x.DType(), again, got)
			}
		}
		empty := from(t, d, []float32{}, 0)
		noError(t, empty.Untyped().ReadBytes(nil))
		noError(t, empty.Untyped().WriteBytes(nil))

		wantError(t, f.Untyped().ReadBytes(make([]byte, 2)), runtime.ErrShape, "read: the tensor with shape [2] of f32 has 8 bytes, the slice 2")
		wantError(t, f.Untyped().WriteBytes(make([]byte, 9)), runtime.ErrShape, "write: the tensor with shape [2] of f32 has 8 bytes, the slice 9")
		wantError(t, runtime.As[int32](f.Untyped()).Untyped().ReadBytes(make([]byte, 8)), runtime.ErrType, "read: the tensor holds f32, not i32")
		noError(t, f.Close())
		wantError(t, f.Untyped().ReadBytes(make([]byte, 8)), runtime.ErrStale, "read: the tensor is stale")
		wantError(t, runtime.Handle{}.WriteBytes(nil), runtime.ErrStale, "write: the tensor is the zero Tensor")
	})
}
