package lower

import (
	"fmt"
	"math"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

// interner gives equal expressions equal numbers and counts how often each is
// used as an operand.
type interner struct {
	byPtr map[expr.Expr]int
	byKey map[string]int
	uses  map[int]int
	names map[int]string
}

// name notes what the spec calls e.
func (in *interner) name(e expr.Expr, name string) { in.names[in.id(e)] = name }

func newInterner() *interner {
	return &interner{byPtr: map[expr.Expr]int{}, byKey: map[string]int{}, uses: map[int]int{}, names: map[int]string{}}
}

// id returns the number of e.
func (in *interner) id(e expr.Expr) int {
	if n, ok := in.byPtr[e]; ok {
		return n
	}
	var k strings.Builder
	k.WriteString(head(e))
	for _, c := range expr.Children(e) {
		fmt.Fprintf(&k, " %d", in.id(c))
	}
	n, ok := in.byKey[k.String()]
	if !ok {
		n = len(in.byKey)
		in.byKey[k.String()] = n
	}
	in.byPtr[e] = n
	return n
}

// count notes a use of e, and the uses below it the first time e is met.
func (in *interner) count(e expr.Expr) {
	n := in.id(e)
	in.uses[n]++
	if in.uses[n] > 1 {
		return
	}
	for _, c := range expr.Children(e) {
		in.count(c)
	}
}

// head is the part of e's identity that its operands do not hold.
func head(e expr.Expr) string {
	switch e := e.(type) {
	case *expr.Const:
		return fmt.Sprintf("const %d %x %d %d", e.K, math.Float64bits(e.F), e.I, e.U)
	case *expr.ParamRef:
		return "param " + e.P.Name
	case *expr.Index:
		return fmt.Sprintf("index %p", e.A)
	case *expr.Size:
		return fmt.Sprintf("size %p", e.A)
	case *expr.Flat:
		return fmt.Sprintf("flat %p", e.T)
	case *expr.Read:
		return fmt.Sprintf("read %p %t", e.T, e.Idx == nil)
	case *expr.Unary:
		return fmt.Sprintf("unary %d", e.Op)
	case *expr.Binary:
		return fmt.Sprintf("binary %d", e.Op)
	case *expr.Where:
		return "where"
	case *expr.Call:
		return fmt.Sprintf("call %d", e.Fn)
	case *expr.Convert:
		return fmt.Sprintf("convert %d %d", e.K, e.Round)
	}
	return fmt.Sprintf("%T", e)
}
