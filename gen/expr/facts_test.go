package expr

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
	"github.com/kernelgen/kgen/internal/tomltree"
)

const places = `
dtypes = ["f32"]
[param.a]
type = "i32"
[param.b]
type = "i32"
[in.x]
shape = "L"
[in.z]
shape = "M"
[axes]
S = "a"
V = "(size(L) - b)/2 + 1"
W = "size(L)*b"
[require]
b = "b > 0"
a = "a + b <= size(L)"
[out.y]
shape = "L M S V W"
expr = "x + z + S + V + W"
`

// TestInsideIsSound takes random indices; those that are said to lie inside an
// axis must do so for all small extents and parameters that the host lets pass.
func TestInsideIsSound(t *testing.T) {
	set, list := spec.ParseSet("specs/g/k.toml", []byte(places))
	c := newChecker(set)
	in := &instance{c: c, u: c.units[0], types: []DType{F32}, list: &diag.List{}}
	p := in.build()
	if list = append(append(list, c.units[0].list...), *in.list...); len(list) > 0 {
		t.Fatal(list.Err())
	}
	points := hostPoints(p)
	r := rand.New(rand.NewPCG(3, 4))
	proven := 0
	for range 3000 {
		text := randomIndex(r, 3)
		a, err := parseExpr(tomltree.NewText("index", text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		e := &env{in: in, list: &diag.List{}}
		x := e.want(a, Int)
		if x == nil {
			continue
		}
		for _, axis := range []*Axis{in.axes["L"], in.axes["W"]} {
			if in.facts.inside(x, axis) {
				proven++
				refute(t, text, x, axis, points)
			}
		}
	}
	if proven < 50 {
		t.Errorf("only %d indices are proven; the test has lost its sense", proven)
	}
}

// hostPoints returns all small values of parameters and extents that the host
// lets pass.
func hostPoints(p *Program) []map[string]int64 {
	var points []map[string]int64
	for n := range 7 * 7 * 5 * 3 {
		v := map[string]int64{
			"p:a": int64(n%7) - 2, "p:b": int64(n/7%7) - 2, "s:L": int64(n / 49 % 5), "s:M": int64(n / 245),
		}
		ok := true
		for _, a := range p.Axes {
			if a.Extent != nil {
				v["s:"+a.Name] = evalInt(a.Extent, v)
				ok = ok && v["s:"+a.Name] >= 0
			}
		}
		for _, q := range p.Require {
			ok = ok && evalInt(q.Cond, v) != 0
		}
		if ok {
			points = append(points, v)
		}
	}
	return points
}

// refute looks for positions at which x lies outside the axis.
func refute(t *testing.T, text string, x Expr, axis *Axis, points []map[string]int64) {
	t.Helper()
	used := UsedAxes(x)
	for _, v := range points {
		eachPosition(used, v, func() {
			if got := evalInt(x, v); got < 0 || got >= v["s:"+axis.Name] {
				t.Fatalf("%q is said to lie inside %s, but is %d at %v", text, axis.Name, got, v)
			}
		})
	}
}

func eachPosition(axes []*Axis, v map[string]int64, f func()) {
	if len(axes) == 0 {
		f()
		return
	}
	for i := range v["s:"+axes[0].Name] {
		v["i:"+axes[0].Name] = i
		eachPosition(axes[1:], v, f)
	}
}

// evalInt computes an int or bool expression by its definition.
func evalInt(e Expr, v map[string]int64) int64 {
	switch e := e.(type) {
	case *Const:
		return e.I
	case *ParamRef:
		return v["p:"+e.P.Name]
	case *Size:
		return v["s:"+e.A.Name]
	case *Index:
		return v["i:"+e.A.Name]
	case *Unary:
		if e.Op == Not {
			return 1 - evalInt(e.X, v)
		}
		return -evalInt(e.X, v)
	case *Where:
		if evalInt(e.C, v) != 0 {
			return evalInt(e.A, v)
		}
		return evalInt(e.B, v)
	case *Call:
		a, b := evalInt(e.Args[0], v), evalInt(e.Args[1], v)
		if e.Fn == FnMin {
			return min(a, b)
		}
		return max(a, b)
	case *Binary:
		return evalBinary(e.Op, evalInt(e.X, v), evalInt(e.Y, v))
	}
	panic(fmt.Sprintf("no value for %T", e))
}

func evalBinary(op BinaryOp, a, b int64) int64 {
	truth := func(c bool) int64 {
		if c {
			return 1
		}
		return 0
	}
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case Div, Rem:
		if b == 0 {
			return 0
		}
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		if op == Div {
			return q
		}
		return a - q*b
	case Lt:
		return truth(a < b)
	case Le:
		return truth(a <= b)
	case Gt:
		return truth(a > b)
	case Ge:
		return truth(a >= b)
	case LogicAnd:
		return a & b
	case LogicOr:
		return a | b
	}
	panic("no value for " + op.String())
}

func randomIndex(r *rand.Rand, depth int) string {
	leaves := strings.Fields("L L S V W M a b 1 2 size(L) size(W) size(S) size(V)")
	if depth == 0 || r.IntN(4) == 0 {
		return leaves[r.IntN(len(leaves))]
	}
	sub := func() string { return randomIndex(r, depth-1) }
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("min(%s, %s)", sub(), sub())
	case 1:
		return fmt.Sprintf("max(%s, %s)", sub(), sub())
	case 2:
		return fmt.Sprintf("where(%s < %s, %s, %s)", sub(), sub(), sub(), sub())
	case 3:
		return fmt.Sprintf("(%s) / (%s)", sub(), sub())
	case 4:
		return fmt.Sprintf("(%s) %% (%s)", sub(), sub())
	case 5:
		return fmt.Sprintf("(%s) * (%s)", sub(), sub())
	case 6:
		return fmt.Sprintf("(%s) - (%s)", sub(), sub())
	}
	return fmt.Sprintf("(%s) + (%s)", sub(), sub())
}
