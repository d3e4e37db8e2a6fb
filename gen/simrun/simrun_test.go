package simrun

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
	"github.com/kernelgen/kgen/gen/spec"
)

// norm has a reduction, a parameter, an integer and a bit mask.
const norm = `
doc    = "Divides rows by their sums, where bit is set, plus id."
dtypes = ["f32", "f16"]
[param.eps]
type = "f32"
[require]
eps = "eps > 0"
[in.x]
shape = "R... D"
[in.bit]
shape = "R..."
type  = "u8"
[in.id]
shape  = "R..."
type   = "i32"
bounds = "size(D)"
[let.s]
over   = "D"
reduce = "sum"
expr   = "x * x"
[out.y]
shape = "R... D"
expr  = "where(bit != 0, x / (s + eps), 0) + x[R, id]"
[out.count]
shape = "R..."
type  = "i32"
expr  = "2*id"
`

// lowered returns a bound spec and the text of its Metal source.
func lowered(t *testing.T, text string) (*bind.Op, string) {
	t.Helper()
	set, list := spec.ParseSet("specs/g/norm.toml", []byte(text))
	checked, wrong := expr.Check(set)
	if err := append(list, wrong...).Err(); err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(bind.Input{ImportPath: "example.com/ops", Programs: checked[0].Instances})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Unlowered[bind.MSL]; err != nil {
		t.Fatal(err)
	}
	shader, err := msl.Emit(&msl.File{Spec: "specs/g/norm.toml", Kernels: b.MSL})
	if err != nil {
		t.Fatal(err)
	}
	return b.Op, string(shader)
}

func check(t *testing.T, op *bind.Op, shader string, variant int) *Outcome {
	t.Helper()
	simtest.Need(t)
	p, err := sim.Build(context.Background(), t.TempDir(), "norm.metal", []byte(shader), 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Check(context.Background(), p, op, variant)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestKernelsAgreeWithTheOracle(t *testing.T) {
	op, shader := lowered(t, norm)
	for v := range op.Variants {
		if o := check(t, op, shader, v); !o.Clean() || o.Calls != rounds {
			t.Errorf("variant %d: %d calls, %q, %q", v, o.Calls, o.Reports, o.Differences)
		}
	}
}

func TestWrongKernelsAreFound(t *testing.T) {
	op, shader := lowered(t, norm)
	for name, edit := range map[string][2]string{
		"the division is a product": {" / ", " * "},
		"an id is counted wrong":    {"2 * ", "3 * "},
	} {
		if strings.Count(shader, edit[0]) == 0 {
			t.Fatalf("%s: the source does not hold %q:\n%s", name, edit[0], shader)
		}
		o := check(t, op, strings.ReplaceAll(shader, edit[0], edit[1]), 0)
		if len(o.Differences) == 0 || !strings.Contains(o.Differences[0], "the reference gives") {
			t.Errorf("%s: not found: %q", name, o.Differences)
		}
	}
}

func TestUnsetMemory(t *testing.T) {
	if n := unset(expr.F16, 3); len(n) != 6 || !math.IsNaN(oracle.Decode(expr.F16, n)[2]) {
		t.Errorf("unset memory is %x", n)
	}
}

func TestNear(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		got, want, spread float64
		near              bool
	}{
		{1.000009, 1, 0, true}, {1.00002, 1, 0, false}, {1.00002, 1, 1e-6, true},
		{inf, inf, 0, true}, {1e30, inf, 0, false}, {math.NaN(), 1, 0, false}, {1, math.NaN(), 0, false},
	} {
		if near(c.got, c.want, expr.F32, c.spread) != c.near {
			t.Errorf("near(%v, %v, %v) is not %v", c.got, c.want, c.spread, c.near)
		}
	}
}

func TestArgumentsMeetConditions(t *testing.T) {
	op, _ := lowered(t, norm)
	p := op.Variants[0].Program
	for round := range rounds {
		call, sizes, ok := newCall(p, round)
		if !ok {
			t.Fatalf("round %d: no arguments", round)
		}
		if _, err := oracle.Check(p, call); err != nil || !(call.Params[0].F > 0) {
			t.Errorf("round %d: %v, eps %v", round, err, call.Params[0].F)
		}
		for _, id := range call.Ins[2].Data {
			if limit := float64(sizes.Of(p.Axes[1])); limit > 0 && (id < 0 || id >= limit) {
				t.Errorf("round %d: id %v is not below %v", round, id, limit)
			}
		}
	}
}

// Every form of a kernel that fits is launched, and what a call stores is counted.
func TestLaunchesAndBytes(t *testing.T) {
	op, shader := lowered(t, norm)
	call, _, ok := Arguments(op.Variants[0].Program, []int{3, 8}, 0)
	if !ok {
		t.Fatal("no arguments")
	}
	list, err := Launches(op, 0, call, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, k := range op.Variants[0].Kernels {
		want = append(want, k.Symbol)
		if k.Wide != nil {
			want = append(want, k.Wide.Symbol)
		}
	}
	var got []string
	for _, l := range list {
		got = append(got, l.Job.Kernel)
	}
	if !slices.Equal(got, want) {
		t.Errorf("launches of %v, want %v", got, want)
	}
	simtest.Need(t)
	p, err := sim.Build(context.Background(), t.TempDir(), "norm.metal", []byte(shader), sim.Traffic)
	if err != nil {
		t.Fatal(err)
	}
	moved, err := Measure(context.Background(), p, op, 0, call)
	if err != nil {
		t.Fatal(err)
	}
	// Of x, bit and id each byte at least once for y; id again for count.
	if len(moved) != 2 || moved[0].Stored != 3*8*4 || moved[0].Loaded < 3*8*4+3+3*4 || moved[1] != (Bytes{moved[1].Function, 3 * 4, 3 * 4}) {
		t.Errorf("moved %+v", moved)
	}
	if broken, ok := BreakBounds(op.Variants[0].Program, call); !ok || broken.Ins[2].Data[0] >= 0 || call.Ins[2].Data[0] < 0 {
		t.Errorf("ids %v became %v", call.Ins[2].Data, broken.Ins[2].Data)
	}
}

// product has an operand that is computed, and an epilogue.
const product = `
doc    = "Multiplies matrices."
dtypes = ["f32", "f16"]
[in.a]
shape = "M K"
[in.b]
shape = "N K"
[in.c]
shape = "N"
[let.s]
over   = "K"
reduce = "sum"
expr   = "max(a, 0) * b"
[out.y]
shape = "M N"
expr  = "s + c"
`

// A deep product of few results runs in parts.
func TestDeepProductsAreSplit(t *testing.T) {
	op, shader := lowered(t, product)
	simtest.Need(t)
	program, err := sim.Build(t.Context(), t.TempDir(), "product.metal", []byte(shader), sim.Address|sim.Undefined)
	if err != nil {
		t.Fatal(err)
	}
	for v := range op.Variants {
		k := &op.Variants[v].Kernels[0]
		for _, c := range []struct {
			depth int
			want  []string
		}{
			{1023, []string{k.Symbol + bind.SmallForm}},
			{1300, []string{k.Split.Parts.Symbol, k.Split.Join.Symbol}},
		} {
			call, _, ok := Arguments(op.Variants[v].Program, []int{3, c.depth, 5}, 0)
			if !ok {
				t.Fatal("no arguments")
			}
			l, sizes, err := launched(t.Context(), program, op, v, call)
			if err != nil {
				t.Fatal(err)
			}
			var ran []string
			for _, m := range l.moved {
				ran = append(ran, m.Function)
			}
			if !slices.Equal(ran, c.want) || len(l.reports) > 0 {
				t.Errorf("depth %d: ran %v, want %v: %v", c.depth, ran, c.want, l.reports)
			}
			if diffs, err := l.compare(sizes, oracle.Run); err != nil || len(diffs) > 0 {
				t.Errorf("depth %d: %v %v", c.depth, diffs, err)
			}
		}
	}
}
