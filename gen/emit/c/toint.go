package c

import (
	"fmt"

	"github.com/kernelgen/kgen/gen/ir"
)

// truncated prints the int of a float: towards zero, the ends of int32 for what
// lies beyond them, 0 for NaN. C leaves those conversions undefined.
func (p *printer) truncated(e *ir.Conv) string {
	if e.T.Vec {
		x := p.expr(e.X, additive)
		inside := fmt.Sprintf("kg_selecti(%s < 0x1p31f, kg_f2i(%s), kg_splati(INT32_MAX))", x, p.expr(e.X, loosest))
		inside = fmt.Sprintf("kg_selecti(%s >= -0x1p31f, %s, kg_splati(INT32_MIN))", x, inside)
		return fmt.Sprintf("kg_selecti(%s == %s, %s, kg_splati(0))", x, x, inside)
	}
	x := p.expr(e.X, additive)
	return fmt.Sprintf("(%s != %s ? 0 : %s >= 0x1p31f ? INT32_MAX : %s < -0x1p31f ? INT32_MIN : (%s)%s)",
		x, x, x, x, scalarTypes[e.T.Elem], p.expr(e.X, prefix))
}
