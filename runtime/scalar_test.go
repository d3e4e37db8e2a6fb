package runtime

import (
	"math"
	"testing"
)

func TestScalarHoldsItsValue(t *testing.T) {
	if v := float32(-1e-5); ScalarOf(v).F32() != v || ScalarOf(v).Float() != float64(v) {
		t.Errorf("f32 %v comes back as %v", v, ScalarOf(v).F32())
	}
	if nan := float32(math.NaN()); !math.IsNaN(ScalarOf(nan).Float()) {
		t.Errorf("NaN comes back as %v", ScalarOf(nan).Float())
	}
	for _, v := range []int32{0, -1, math.MinInt32, math.MaxInt32} {
		if s := ScalarOf(v); s.I32() != v || s.Int() != int64(v) || s>>32 != 0 {
			t.Errorf("i32 %d comes back as %d, %d from %x", v, s.I32(), s.Int(), uint64(s))
		}
	}
	if s := ScalarOf(uint32(math.MaxUint32)); s.U32() != math.MaxUint32 {
		t.Errorf("u32 comes back as %d", s.U32())
	}
	if s := ScalarOf(uint64(math.MaxUint64)); s.U64() != math.MaxUint64 {
		t.Errorf("u64 comes back as %d", s.U64())
	}
	if !ScalarOf(true).Bool() || ScalarOf(false).Bool() {
		t.Error("bool does not come back")
	}
}

func TestFlooredDivision(t *testing.T) {
	for _, c := range []struct{ x, y, div, mod int64 }{
		{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1},
		{6, 3, 2, 0}, {-6, 3, -2, 0}, {0, 5, 0, 0}, {5, 0, 0, 0}, {-5, 0, 0, 0},
		{math.MaxInt64, -1, -math.MaxInt64, 0},
	} {
		if d, m := FloorDiv(c.x, c.y), FloorMod(c.x, c.y); d != c.div || m != c.mod {
			t.Errorf("%d / %d = %d rest %d, want %d rest %d", c.x, c.y, d, m, c.div, c.mod)
		}
	}
	if d, m := FloorDiv[uint32](math.MaxUint32, 2), FloorMod[uint32](math.MaxUint32, 2); d != math.MaxInt32 || m != 1 {
		t.Errorf("unsigned division gives %d rest %d", d, m)
	}
}

func TestWhere(t *testing.T) {
	if Where[int64](true, 1, 2) != 1 || Where[int64](false, 1, 2) != 2 {
		t.Error("Where takes the wrong branch")
	}
}
