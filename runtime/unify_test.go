package runtime

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// shapeOp makes an op for the unifier. Axes are named by one letter, groups end
// in "..."; shapes are "x: R... D".
func shapeOp(axes string, args ...string) *Op {
	op := &Op{Name: "op"}
	number := map[string]uint8{}
	for i, name := range strings.Fields(axes) {
		free := strings.HasPrefix(name, "+")
		name = strings.TrimPrefix(name, "+")
		op.Axes = append(op.Axes, Axis{Name: strings.TrimSuffix(name, "..."), Group: strings.HasSuffix(name, "..."), Free: free})
		number[name] = uint8(i)
	}
	for _, a := range args {
		name, shape, _ := strings.Cut(a, ":")
		arg := Arg{Name: name}
		var open Dim
		for _, f := range strings.Fields(strings.NewReplacer("(", "( ", ")", " )").Replace(shape)) {
			switch {
			case f == "(":
				open = Dim{}
			case f == ")":
				arg.Shape = append(arg.Shape, open)
				open = nil
			case open != nil:
				open = append(open, number[f])
			default:
				arg.Shape = append(arg.Shape, Dim{number[f]})
			}
		}
		op.Ins = append(op.Ins, arg)
	}
	return op
}

// solveShapes unifies; the last argument of the op is the output.
func solveShapes(op *Op, shapes ...[]int64) ([]int64, *unifier, *refusal) {
	u := &unifier{}
	u.begin(op)
	for i, s := range shapes {
		u.argument(i, s)
	}
	if err := u.solve(); err != nil {
		return nil, u, err
	}
	out, err := u.appendShape(nil, &op.Ins[len(op.Ins)-1])
	return out, u, err
}

func TestUnifyShapes(t *testing.T) {
	s := func(n ...int64) []int64 { return n }
	for _, c := range []struct {
		axes string
		args []string
		in   [][]int64
		want []int64
	}{
		{"R... D", []string{"x: R... D", "g: D", "y: R... D"}, [][]int64{s(2, 3, 4), s(4)}, s(2, 3, 4)},
		{"R... D", []string{"x: R... D", "g: D", "y: R..."}, [][]int64{s(4), s(4)}, s()},
		{"P... S...", []string{"a: P... S...", "b: S...", "y: P... S..."}, [][]int64{s(2, 3, 4), s(3, 4)}, s(2, 3, 4)},
		{"P... S...", []string{"a: P... S...", "b: S...", "y: P..."}, [][]int64{s(2, 3, 4), s(3, 4)}, s(2)},
		{"P... S...", []string{"a: P... S...", "b: S...", "y: P... S..."}, [][]int64{s(), s()}, s()},
		{"Z... M K N", []string{"a: Z... M K", "b: Z... K N", "y: Z... M N"}, [][]int64{s(5, 2, 3), s(5, 3, 7)}, s(5, 2, 7)},
		{"B C K", []string{"x: B (C K)", "w: C", "y: B C K"}, [][]int64{s(2, 12), s(4)}, s(2, 4, 3)},
		{"C K", []string{"w: C K", "y: (C K)"}, [][]int64{s(3, 4)}, s(12)},
		{"B C K", []string{"x: B (C K)", "w: C", "y: B C K"}, [][]int64{s(2, 0), s(0)}, s(2, 0, 0)},
		{"P...", []string{"x: P...", "y: P..."}, [][]int64{s(0, 7)}, s(0, 7)},
	} {
		got, _, err := solveShapes(shapeOp(c.axes, c.args...), c.in...)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v with %v: got %v, %v; want %v", c.args, c.in, got, err, c.want)
		}
	}
}

func TestUnifyErrors(t *testing.T) {
	s := func(n ...int64) []int64 { return n }
	for _, c := range []struct {
		axes string
		args []string
		in   [][]int64
		want string
	}{
		{"R... D", []string{"x: R... D", "gamma: D", "y: D"}, [][]int64{s(4, 256), s(255)}, "gamma has 255 elements, axis D of x is 256"},
		{"R... D", []string{"x: R... D", "y: D"}, [][]int64{s()}, `x has shape [], want "R... D"`},
		{"M K N", []string{"a: M K", "b: K N", "y: M N"}, [][]int64{s(2, 3), s(4, 5)}, "axis K of b is 4, axis K of a is 3 (b has shape [4 5])"},
		{"P... S...", []string{"a: P... S...", "y: P..."}, [][]int64{s(2)}, "cannot be told apart"},
		{"P... S...", []string{"a: P... S...", "b: S...", "y: P..."}, [][]int64{s(2, 3), s(4)}, "axes S of b are [4]"},
		{"P... S...", []string{"a: P... S...", "b: S...", "y: P..."}, [][]int64{s(3), s(2, 3)}, `a has shape [3], want "P... S...", S... of b is [2 3]`},
		{"C K", []string{"x: (C K)", "w: C", "y: K"}, [][]int64{s(10), s(4)}, "dimension (C K) of 10, not a multiple of 4"},
		{"C K", []string{"w: C K", "x: (C K)", "y: K"}, [][]int64{s(2, 3), s(7)}, "dimension (C K) of 7, the axes make it 6"},
		{"C K", []string{"x: (C K)", "y: K"}, [][]int64{s(10)}, "axis C is not known"},
		{"P...", []string{"x: P...", "y: P..."}, [][]int64{s(1<<32, 1<<32)}, "more elements than an int64 holds"},
	} {
		_, _, err := solveShapes(shapeOp(c.axes, c.args...), c.in...)
		if err == nil || !errors.Is(err.kind, ErrShape) || !strings.Contains(err.text, c.want) {
			t.Errorf("%v with %v: got %+v, want %q", c.args, c.in, err, c.want)
		}
	}
}

func TestUnifyDerivedAxes(t *testing.T) {
	op := shapeOp("B L K O C", "x: B L", "w: K", "y: B O")
	op.Params = []Param{{Name: "stride", Type: ParamI32}}
	op.Axes[3].Extent = func(size []int64, p []Scalar) int64 { return FloorDiv(size[1]-size[2], p[0].Int()) + 1 }
	op.Axes[4].ChunkOf, op.Axes[4].Chunk = []uint8{0, 3}, 4
	solve := func(stride int32, known []int64, shapes ...[]int64) ([]int64, *unifier, *refusal) {
		u := &unifier{}
		u.begin(op)
		u.param = []Scalar{ScalarOf(stride)}
		for i, s := range shapes {
			u.argument(i, s)
		}
		if known != nil {
			u.argument(2, known)
		}
		if err := u.solve(); err != nil {
			return nil, u, err
		}
		out, err := u.appendShape(nil, &op.Ins[2])
		return out, u, err
	}
	out, u, err := solve(2, nil, []int64{3, 8}, []int64{3})
	if err != nil || !slices.Equal(out, []int64{3, 3}) || u.size[4] != 3 {
		t.Errorf("got %v, %v, %v", out, u.size, err)
	}
	_, _, err = solve(1, nil, []int64{3, 2}, []int64{9})
	if err == nil || !strings.Contains(err.text, "axis O would be -6 with the inputs x [3 2], w [9], stride = 1") {
		t.Errorf("got %+v", err)
	}
	_, _, err = solve(2, []int64{3, 5}, []int64{3, 8}, []int64{3})
	if err == nil || !strings.Contains(err.text, "axis O of y is 5, must be 3") {
		t.Errorf("got %+v", err)
	}
}

func TestProductsDoNotWrap(t *testing.T) {
	for _, c := range []struct {
		dims []int64
		want int64
		ok   bool
	}{
		{[]int64{524290, 64, 64, 1}, 2147491840, true},
		{[]int64{1 << 32, 1 << 32}, 0, false},
		{[]int64{math.MaxInt64, 2}, 0, false},
		{[]int64{1 << 40, 1 << 40, 0}, 0, true},
		{nil, 1, true},
	} {
		if n, ok := product(c.dims); ok != c.ok || ok && n != c.want {
			t.Errorf("%v: got %d, %v", c.dims, n, ok)
		}
	}
	if err := fits("y", []int64{1 << 31, 1 << 31}, F32); err == nil {
		t.Error("2^62 f32 elements accepted")
	}
	if err := fits("y", make([]int64, MaxRank+1), F32); err == nil {
		t.Error("too many dimensions accepted")
	}
}

func FuzzUnify(f *testing.F) {
	f.Add([]byte{2, 3, 4, 1, 4, 0, 2, 3, 4})
	ops := []*Op{
		shapeOp("R... D", "x: R... D", "g: D", "y: R... D"),
		shapeOp("P... S...", "a: P... S...", "b: S...", "y: P... S..."),
		shapeOp("B C K", "x: B (C K)", "w: C", "y: B C K"),
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, op := range ops {
			var shapes [][]int64
			rest := data
			for range 2 {
				var s []int64
				for len(rest) > 0 && len(s) < int(rest[0])%4 {
					s = append(s, int64(rest[len(rest)-1]))
					rest = rest[:len(rest)-1]
				}
				shapes = append(shapes, s)
			}
			out, u, err := solveShapes(op, shapes...)
			if err != nil {
				continue
			}
			for a, n := range u.size {
				if n < 0 {
					t.Errorf("%v: axis %d unknown without an error", shapes, a)
				}
			}
			if n, ok := product(out); ok && n < 0 {
				t.Errorf("%v: output %v", shapes, out)
			}
		}
	})
}
