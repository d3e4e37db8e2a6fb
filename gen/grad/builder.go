package grad

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// builder collects the gradient of one program. Its expressions read forward
// tensors; assemble replaces them by the gradient's own at the end.
type builder struct {
	p       *expr.Program
	diags   *diag.List
	wrt     []int
	active  map[*expr.Tensor]bool // forward tensors that a wrt input has an influence on
	cot     map[*expr.Tensor][]term
	cotIn   map[int]*expr.Tensor // by forward output: the input that holds its cotangent
	values  []value
	prover  *expr.Prover
	steps   []*expr.Step // of the gradient, but recomputed forward lets
	own     map[*expr.Tensor]bool
	auto    map[*expr.Tensor]bool // lets whose name may still change
	names   map[string]bool
	fresh   []*expr.Axis // axes that only the gradient has
	reduces map[*expr.Tensor]bool
	narrow  []string // see Decl
}

// term is a contribution to the cotangent of a node or tensor: the sum of val
// over the axes of space that the node does not have, at the places where every
// condition of path holds.
type term struct {
	path  []cond
	val   expr.Expr
	space []*expr.Axis
}

// cond is a condition under which a term counts. A soft one only keeps an
// infinite factor from meeting a cotangent that is zero anyway, so it may go
// where no such factor is; about holds the keys of factors that are known to be
// harmless.
type cond struct {
	e     expr.Expr
	neg   bool
	soft  bool
	about []string
}

func (c cond) key() string {
	if c.neg {
		return "!" + expr.Key(c.e)
	}
	return expr.Key(c.e)
}

// bool returns the condition as an expression.
func (c cond) bool() expr.Expr {
	if c.neg {
		return expr.NotOf(c.e.Pos(), c.e)
	}
	return c.e
}

func newBuilder(p *expr.Program, wrt []int, narrow []string, diags *diag.List) *builder {
	b := &builder{
		p: p, diags: diags, wrt: wrt, narrow: narrow,
		active:  map[*expr.Tensor]bool{},
		cot:     map[*expr.Tensor][]term{},
		cotIn:   map[int]*expr.Tensor{},
		own:     map[*expr.Tensor]bool{},
		auto:    map[*expr.Tensor]bool{},
		names:   map[string]bool{},
		reduces: map[*expr.Tensor]bool{},
		prover:  expr.NewProver(p),
	}
	for _, t := range p.Ins {
		b.names[t.Name] = true
	}
	for _, t := range p.Outs {
		b.names[t.Name] = true
	}
	for _, i := range wrt {
		b.active[p.Ins[i]] = true
		b.names["d_"+p.Ins[i].Name] = true
	}
	for _, s := range p.Steps {
		b.names[s.Result.Name] = true
		b.active[s.Result] = differentiable(s.Reduce) && b.isActive(s.Expr)
		b.reduces[s.Result] = s.Reduce != expr.NoReduce || slices.ContainsFunc(expr.Reads(s.Expr), func(t *expr.Tensor) bool { return b.reduces[t] })
		b.offer(s)
	}
	return b
}

func differentiable(op expr.ReduceOp) bool {
	switch op {
	case expr.NoReduce, expr.Sum, expr.Mean, expr.Max, expr.Min, expr.Prod:
		return true
	}
	return false
}

// isActive reports whether the value of e depends on a wrt input in a way that
// has a derivative.
func (b *builder) isActive(e expr.Expr) bool {
	if e.Kind() != expr.Float {
		return false
	}
	switch e := e.(type) {
	case *expr.Read:
		return b.active[e.T]
	case *expr.Unary:
		return b.isActive(e.X)
	case *expr.Binary:
		return b.isActive(e.X) || b.isActive(e.Y)
	case *expr.Where:
		return b.isActive(e.A) || b.isActive(e.B)
	case *expr.Convert:
		return b.isActive(e.X)
	case *expr.Call:
		switch e.Fn {
		case expr.FnFloor, expr.FnCeil, expr.FnRound, expr.FnSign, expr.FnUniform:
			return false
		}
		return slices.ContainsFunc(e.Args, b.isActive)
	}
	return false
}

// seed makes the cotangent inputs.
func (b *builder) seed(from []int) {
	for _, i := range from {
		out := b.p.Outs[i]
		t := &expr.Tensor{
			Name: b.unique("d_" + out.Name), Role: expr.In, Shape: out.Shape, Axes: out.Axes,
			Type: out.Type, Doc: "cotangent of " + out.Name, Pos: out.Pos,
		}
		b.cotIn[i] = t
		b.own[t] = true
		b.cot[out] = []term{{val: expr.ReadOf(out.Pos, t), space: out.Axes}}
	}
}

// unique returns name, or name with the first number that makes it unique.
func (b *builder) unique(name string) string {
	return uniqueIn(b.names, name)
}

// uniqueIn returns name, or name with the first number that makes it new, and
// enters it.
func uniqueIn(names map[string]bool, name string) string {
	try := name
	for n := 2; names[try]; n++ {
		try = name + "_" + strconv.Itoa(n)
	}
	names[try] = true
	return try
}

// stepOf returns the forward step that computes let or output t, or nil.
func (b *builder) stepOf(t *expr.Tensor) *expr.Step {
	for _, s := range b.p.Steps {
		if s.Result == t && t.Role != expr.InOut {
			return s
		}
	}
	return nil
}

// order sorts axes as the gradient declares them.
func (b *builder) order(axes []*expr.Axis) []*expr.Axis {
	sorted := slices.Clone(axes)
	slices.SortFunc(sorted, func(x, y *expr.Axis) int { return b.rank(x) - b.rank(y) })
	return sorted
}

func (b *builder) rank(a *expr.Axis) int {
	if i := slices.Index(b.p.Axes, a); i >= 0 {
		return i
	}
	return len(b.p.Axes) + slices.Index(b.fresh, a)
}

// let returns the tensor that holds the reduction of e over the given axes, or
// e itself: an earlier step that computes the same, or a new one.
func (b *builder) let(name string, op expr.ReduceOp, over []*expr.Axis, e expr.Expr) *expr.Tensor {
	over = b.order(over)
	for _, s := range b.steps {
		if s.Reduce == op && slices.Equal(s.Over, over) && expr.Key(s.Expr) == expr.Key(e) {
			return s.Result
		}
	}
	t := &expr.Tensor{Name: b.unique(name), Role: expr.Let, Axes: b.order(minus(expr.UsedAxes(e), over)), Pos: e.Pos()}
	for _, a := range t.Axes {
		t.Shape = append(t.Shape, expr.Dim{a})
	}
	t.Type = letType(op, e.Kind())
	b.own[t] = true
	b.steps = append(b.steps, &expr.Step{Result: t, Over: over, Reduce: op, Expr: e, Pos: e.Pos()})
	return t
}

func letType(op expr.ReduceOp, k expr.Kind) expr.DType {
	switch {
	case op == expr.Argmax || op == expr.Argmin || k == expr.Int:
		return expr.I32
	case k == expr.Bool:
		return expr.U8
	}
	return expr.F32
}

// temp is let under a name that a final one may replace.
func (b *builder) temp(name string, op expr.ReduceOp, over []*expr.Axis, e expr.Expr) *expr.Tensor {
	n := len(b.steps)
	t := b.let(name, op, over, e)
	if len(b.steps) > n {
		b.auto[t] = true
	}
	return t
}

// label names e after the first tensor that it reads.
func label(e expr.Expr) string {
	for _, t := range expr.Reads(e) {
		return strings.TrimPrefix(t.Name, "d_")
	}
	return "value"
}

func minus(a, b []*expr.Axis) []*expr.Axis {
	var r []*expr.Axis
	for _, x := range a {
		if !slices.Contains(b, x) {
			r = append(r, x)
		}
	}
	return r
}

func meet(a, b []*expr.Axis) []*expr.Axis {
	var r []*expr.Axis
	for _, x := range a {
		if slices.Contains(b, x) {
			r = append(r, x)
		}
	}
	return r
}

func within(a, b []*expr.Axis) bool { return len(minus(a, b)) == 0 }
