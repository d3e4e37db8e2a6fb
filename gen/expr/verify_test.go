package expr

import (
	"os"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/spec"
)

// TestVerifyCatalogue: every instance of every shipped spec keeps the contract
// of Program.
func TestVerifyCatalogue(t *testing.T) {
	set, list := spec.Load(os.DirFS("../.."), "specs")
	specs, more := Check(set)
	if err := append(list, more...).Err(); err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		for _, p := range s.Instances {
			if err := Verify(p); err != nil {
				t.Error(err)
			}
		}
	}
}

// broken is a row sum with room for mistakes.
type broken struct {
	p        *Program
	r, d     *Axis
	x, m, y  *Tensor
	mean     *Step
	out      *Step
	newAxis  *Axis
	newParam *Param
}

func newBroken() *broken {
	b := &broken{r: &Axis{Name: "R", Group: true}, d: &Axis{Name: "D"}, newAxis: &Axis{Name: "E"}, newParam: &Param{Name: "q"}}
	b.x = &Tensor{Name: "x", Role: In, Shape: []Dim{{b.r}, {b.d}}, Axes: []*Axis{b.r, b.d}, Type: F16}
	b.m = &Tensor{Name: "m", Role: Let, Shape: []Dim{{b.r}}, Axes: []*Axis{b.r}, Type: F32}
	b.y = &Tensor{Name: "y", Role: Out, Shape: []Dim{{b.r}, {b.d}}, Axes: []*Axis{b.r, b.d}, Type: F16}
	b.mean = &Step{Result: b.m, Over: []*Axis{b.d}, Reduce: Mean, Expr: b.read(b.x)}
	b.out = &Step{Result: b.y, Expr: SubOf(b.x.Pos, b.read(b.x), b.read(b.m))}
	b.p = &Program{Name: "centre", Axes: []*Axis{b.r, b.d}, Ins: []*Tensor{b.x}, Outs: []*Tensor{b.y}, Steps: []*Step{b.mean, b.out}}
	return b
}

func (b *broken) read(t *Tensor) Expr { return ReadOf(t.Pos, t) }

func TestVerifyFindsMistakes(t *testing.T) {
	if err := Verify(newBroken().p); err != nil {
		t.Fatalf("the sound program: %v", err)
	}
	for _, c := range []struct {
		want  string
		spoil func(b *broken)
	}{
		{"output y is computed by no step", func(b *broken) { b.p.Steps = b.p.Steps[:1] }},
		{"reads m before it is computed", func(b *broken) { b.p.Steps = []*Step{b.out, b.mean} }},
		{"is computed twice", func(b *broken) { b.p.Steps = append(b.p.Steps, b.mean) }},
		{"the same name", func(b *broken) { b.m.Name = "x" }},
		{"is not among the outputs", func(b *broken) { b.p.Outs = nil }},
		{"computes an input", func(b *broken) { b.out.Result = b.x }},
		{"axis D is not declared", func(b *broken) { b.p.Axes = b.p.Axes[:1] }},
		{"declared twice", func(b *broken) { b.p.Axes = append(b.p.Axes, b.d) }},
		{"differ from shape", func(b *broken) { b.x.Shape = b.x.Shape[:1] }},
		{"uses axis D, which it neither has nor reduces", func(b *broken) { b.mean.Over, b.mean.Reduce = nil, NoReduce }},
		{"reduces over R, which is a result axis", func(b *broken) { b.mean.Over = []*Axis{b.r, b.d} }},
		{"over which it does not vary", func(b *broken) { b.mean.Expr = Num(b.x.Pos, 1) }},
		{"does not go into storage type", func(b *broken) { b.y.Type = I32 }},
		{"a read of x gives float, not int", func(b *broken) { b.mean.Expr = &Read{Node: Node{K: Int}, T: b.x} }},
		{"with 1 indices for 2 axes", func(b *broken) {
			b.mean.Expr = &Read{Node: Node{K: Float}, T: b.x, Idx: []Expr{IndexOf(b.x.Pos, b.r)}}
		}},
		{"parameter q is not declared", func(b *broken) { b.mean.Expr = MulOf(b.x.Pos, b.read(b.x), &ParamRef{Node{K: Float}, b.newParam}) }},
		{"size of E is not known here", func(b *broken) { b.d.Extent = SizeOf(b.x.Pos, b.newAxis) }},
		{"kind", func(b *broken) { b.p.Require = []Require{{Name: "q", Cond: Whole(b.x.Pos, 1)}} }},
	} {
		b := newBroken()
		c.spoil(b)
		if err := Verify(b.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}
