package expr

import (
	"slices"
	"strconv"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

var reduceOps = map[string]ReduceOp{
	"": NoReduce, "sum": Sum, "mean": Mean, "max": Max, "min": Min, "prod": Prod,
	"any": Any, "all": All, "argmax": Argmax, "argmin": Argmin,
}

// step checks a let, output or inout and appends its step.
func (in *instance) step(d *decl) {
	if d.over != nil && !d.Reduce.IsSet() {
		in.bad[d.name] = true // package spec has reported the reduction
		return
	}
	s := &Step{Reduce: reduceOps[d.Reduce.Value], Pos: d.Name.Pos()}
	s.Over = in.over(d)
	e := &env{in: in, list: in.list, step: d.name}
	s.Expr = e.smallInts(e.reduced(s.Reduce, e.check(d.expr)))
	if d.Kind == spec.Let {
		in.letStep(d, s)
		return
	}
	s.Result = in.tensors[d.name]
	if s.Expr == nil || s.Result == nil || s.Result.Type == InvalidDType {
		return
	}
	if in.outAxes(d, s) {
		in.outStep(e, s)
	}
}

// over resolves the axes that a step reduces, in declaration order.
func (in *instance) over(d *decl) []*Axis {
	named := map[*Axis]bool{}
	for _, a := range d.over {
		x := in.axes[a.name]
		switch {
		case x != nil:
			named[x] = true
		case in.u.names[a.name].what == "axis":
			in.list.Add(a.at, "the extent of the axis %s is not known: no input has it", a.name)
		default:
			in.list.Add(a.at, "over names %q, which is no axis", a.name)
		}
	}
	var over []*Axis
	for _, a := range in.prog.Axes {
		if named[a] {
			over = append(over, a)
		}
	}
	return over
}

// reduced converts the operand of a reduction to a kind that it takes.
func (e *env) reduced(op ReduceOp, x Expr) Expr {
	if x == nil || op == NoReduce {
		return x
	}
	switch op {
	case Any, All:
		return e.convert(x, Bool)
	case Mean:
		return e.convert(x, Float)
	}
	if k := x.Kind(); k != Float && k != Int {
		return e.failHint(x.Pos(), castHint(k, Float), "%s stands where a float or an int is reduced", aKind(k))
	}
	return x
}

// resultKind is the kind of what a step gives.
func resultKind(s *Step) Kind {
	switch s.Reduce {
	case Argmax, Argmin:
		return Int
	case Any, All:
		return Bool
	}
	return s.Expr.Kind()
}

var letTypes = map[Kind]DType{Float: F32, Int: I32, Bool: U8}

// letStep gives a let the axes that its expression uses, less the reduced ones.
func (in *instance) letStep(d *decl, s *Step) {
	if s.Expr == nil {
		in.bad[d.name] = true
		return
	}
	kind := resultKind(s)
	if letTypes[kind] == InvalidDType {
		in.list.AddHint(s.Expr.Pos(), "uniform(x) gives a float, i32(x) an int", "a let cannot hold %s", aKind(kind))
		in.bad[d.name] = true
		return
	}
	s.Result = in.let(d.name, kind, in.freeAxes(s), d.Name.Pos())
	s.Result.Doc = d.Doc.Value
	in.tensors[d.name] = s.Result
	in.prog.Steps = append(in.prog.Steps, s)
	if (s.Reduce == Argmax || s.Reduce == Argmin) && len(s.Over) == 1 {
		in.facts.lets[s.Result] = s.Over[0]
	}
}

func (in *instance) let(name string, kind Kind, axes []*Axis, at diag.Pos) *Tensor {
	t := &Tensor{Name: name, Role: Let, Axes: axes, Type: letTypes[kind], Pos: at}
	for _, a := range axes {
		t.Shape = append(t.Shape, Dim{a})
	}
	return t
}

// freeAxes returns the axes that the expression of s uses and does not reduce,
// in declaration order.
func (in *instance) freeAxes(s *Step) []*Axis {
	var axes []*Axis
	for _, a := range in.prog.Axes {
		if Uses(s.Expr, a) && !hasAxis(s.Over, a) {
			axes = append(axes, a)
		}
	}
	return axes
}

func hasAxis(axes []*Axis, a *Axis) bool {
	for _, x := range axes {
		if x == a {
			return true
		}
	}
	return false
}

// outAxes reports axes that an output's expression uses and does not have, and
// axes that it both has and reduces.
func (in *instance) outAxes(d *decl, s *Step) bool {
	n := len(*in.list)
	for _, a := range s.Over {
		if hasAxis(s.Result.Axes, a) {
			in.list.Add(d.Over.Pos(), "the axis %s is reduced, but %s has it in its shape", a.Name, d.name)
		}
	}
	for _, a := range UsedAxes(s.Expr) {
		if !hasAxis(s.Result.Axes, a) && !hasAxis(s.Over, a) {
			in.list.AddHint(d.Expr.Pos(), "reduce over it, or add it to the shape",
				"the expression of %s varies along the axis %s, which its shape does not have", d.name, a.Name)
		}
	}
	return len(*in.list) == n
}

// outStep converts the value to what the output stores and appends the step.
// A bool is stored as 0 or 1.
func (in *instance) outStep(e *env, s *Step) {
	kind, want := resultKind(s), dtypeKind(s.Result.Type)
	switch {
	case kind == Bool && want == Int && s.Reduce != NoReduce:
		in.outOfBool(s)
		return
	case kind == Bool && want == Int:
		s.Expr = boolToInt(s.Expr.Pos(), s.Expr)
	case kind == Int && want == Float && s.Reduce != Argmax && s.Reduce != Argmin:
		s.Expr = e.convert(s.Expr, Float)
	case kind == Int && want == Float:
		e.failHint(s.Pos, `type = "i32"`, "%s gives an int, but %s is %s", s.Reduce, s.Result.Name, s.Result.Type)
		return
	case kind != want:
		e.failHint(s.Expr.Pos(), castHint(kind, want), "%s is %s, so it holds no %s", s.Result.Name, s.Result.Type, kind)
		return
	}
	if s.Expr != nil {
		in.prog.Steps = append(in.prog.Steps, s)
	}
}

// outOfBool splits an output that reduces bools into a let and a choice.
func (in *instance) outOfBool(s *Step) {
	t := in.let(in.freshName(s.Result.Name+"_"+s.Reduce.String()), Bool, in.freeAxes(s), s.Pos)
	in.tensors[t.Name] = t
	at := s.Expr.Pos()
	in.prog.Steps = append(in.prog.Steps,
		&Step{Result: t, Over: s.Over, Reduce: s.Reduce, Expr: s.Expr, Pos: s.Pos},
		&Step{Result: s.Result, Pos: s.Pos, Expr: boolToInt(at, &Read{Node{Bool, at}, t, nil})})
}

// freshName returns a name for a let of the compiler that no other has.
func (in *instance) freshName(name string) string {
	fresh := name
	for n := 2; ; n++ {
		_, declared := in.u.names[fresh]
		if !declared && in.tensors[fresh] == nil {
			return fresh
		}
		fresh = name + "_" + strconv.Itoa(n)
	}
}

// addSaved appends the outputs that keep lets for the gradient.
func (in *instance) addSaved() {
	for i, t := range slices.Concat(in.u.spec.Save, in.u.spec.Lazy) {
		let := in.tensors[t.Value]
		if let == nil || let.Role != Let {
			continue
		}
		out := *let
		out.Role, out.Save, out.Lazy = Out, true, i >= len(in.u.spec.Save)
		in.prog.Outs = append(in.prog.Outs, &out)
		in.prog.Steps = append(in.prog.Steps, &Step{
			Result: &out, Pos: t.Pos(), Expr: in.savedValue(let, t.Pos()),
		})
	}
}

func (in *instance) savedValue(let *Tensor, at diag.Pos) Expr {
	r := &Read{Node{in.kind(let), at}, let, nil}
	if r.K == Bool {
		return boolToInt(at, r)
	}
	return r
}

// prune drops the lets that this instance does not need.
func (in *instance) prune() {
	needed := map[*Tensor]bool{}
	var kept []*Step
	for i := len(in.prog.Steps) - 1; i >= 0; i-- {
		s := in.prog.Steps[i]
		if s.Result.Role == Let && !needed[s.Result] {
			continue
		}
		Walk(s.Expr, func(x Expr) bool {
			switch x := x.(type) {
			case *Read:
				needed[x.T] = true
			case *Flat:
				needed[x.T] = true
			}
			return true
		})
		kept = append(kept, s)
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	in.prog.Steps = kept
}
