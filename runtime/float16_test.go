package runtime

import (
	"math"
	"testing"
)

func TestFloat16RoundTripsEveryValue(t *testing.T) {
	for i := 0; i < 1<<16; i++ {
		h := Float16(i)
		f := h.Float32()
		if f != f {
			if g := ToFloat16(f); g.Float32() == g.Float32() || g&0x8000 != h&0x8000 {
				t.Fatalf("%#04x: NaN became %#04x", i, g)
			}
			continue
		}
		if g := ToFloat16(f); g != h {
			t.Fatalf("%#04x is %g, back %#04x", i, f, g)
		}
	}
}

func TestFloat16RoundsToNearestEven(t *testing.T) {
	// Between each pair of neighbours: the midpoint goes to the even one, and
	// one float32 step to either side goes to the near one.
	for i := 0; i < 0x7bff; i++ {
		lo, hi := Float16(i), Float16(i+1)
		mid := float32((float64(lo.Float32()) + float64(hi.Float32())) / 2)
		even := lo
		if lo&1 == 1 {
			even = hi
		}
		if g := ToFloat16(mid); g != even {
			t.Fatalf("midpoint %g of %#04x: got %#04x", mid, i, g)
		}
		if g := ToFloat16(math.Nextafter32(mid, 0)); g != lo {
			t.Fatalf("below the midpoint of %#04x: got %#04x", i, g)
		}
		if g := ToFloat16(-math.Nextafter32(mid, 1e9)); g != hi|0x8000 {
			t.Fatalf("above the midpoint of %#04x: got %#04x", i, g)
		}
	}
}

func TestFloat16Ends(t *testing.T) {
	for _, c := range []struct {
		in   float32
		want Float16
	}{
		{0, 0}, {float32(math.Copysign(0, -1)), 0x8000}, {1, 0x3c00}, {-2, 0xc000},
		{65504, 0x7bff}, {65519.996, 0x7bff}, {65520, 0x7c00}, {1e30, 0x7c00},
		{float32(math.Inf(-1)), 0xfc00}, {5.9604645e-8, 1}, {2.9802322e-8, 0}, {2.9802326e-8, 1}, {1e-45, 0},
	} {
		if got := ToFloat16(c.in); got != c.want {
			t.Errorf("ToFloat16(%g) = %#04x, want %#04x", c.in, got, c.want)
		}
	}
}

func TestBFloat16(t *testing.T) {
	for i := 0; i < 1<<16; i++ {
		h := BFloat16(i)
		if f := h.Float32(); f == f && ToBFloat16(f) != h {
			t.Fatalf("%#04x is %g, back %#04x", i, f, ToBFloat16(f))
		}
	}
	for _, c := range []struct {
		bits uint32
		want BFloat16
	}{
		{0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, {0x3f807fff, 0x3f80},
		{0x7f7fffff, 0x7f80}, {0x7f800001, 0x7fc0}, {0xff800001, 0xffc0}, {1, 0},
	} {
		if got := ToBFloat16(math.Float32frombits(c.bits)); got != c.want {
			t.Errorf("ToBFloat16(%#08x) = %#04x, want %#04x", c.bits, got, c.want)
		}
	}
}
