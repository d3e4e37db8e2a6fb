package oracle_test

import (
	"math"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// Values of a storage type come back from its bytes as they are.
func TestStorage(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		t      expr.DType
		values []float64
	}{
		{expr.F32, []float64{0, 1, -1.5, 0x1p-149, 0x1.fffffep127, inf, -inf, nan}},
		{expr.F16, []float64{0, 1, -1.5, 0x1p-24, 0x1p-14, 65504, inf, -inf, nan}},
		{expr.BF16, []float64{0, 1, -1.5, 0x1p-133, 0x1.fep127, inf, -inf, nan}},
		{expr.I32, []float64{0, 1, -1, math.MinInt32, math.MaxInt32}},
		{expr.U8, []float64{0, 1, 255}},
	} {
		b := oracle.Encode(c.t, c.values)
		if len(b) != len(c.values)*c.t.Bytes() {
			t.Errorf("%s: %d values take %d bytes", c.t, len(c.values), len(b))
		}
		for i, got := range oracle.Decode(c.t, b) {
			if v := c.values[i]; got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
				t.Errorf("%s %v comes back as %v", c.t, v, got)
			}
		}
	}
}
