package grad

import (
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

// assembly turns what builder collected into a Program of its own.
type assembly struct {
	b       *builder
	g       *expr.Program
	steps   []*expr.Step                  // forward lets that are computed again
	here    map[*expr.Tensor]*expr.Tensor // the gradient's tensor for each one that is read
	moved   map[*expr.Tensor]*expr.Tensor // the output from which a forward let is read
	again   map[*expr.Tensor]bool         // forward lets that are computed again
	wantIn  []bool                        // by forward input
	wantOut []bool                        // by forward output
}

// assemble makes the gradient's program.
func (b *builder) assemble(name string) *Result {
	outs := b.outputs()
	b.dropUnused(outs)
	a := &assembly{
		b: b,
		g: &expr.Program{
			Name: name, Doc: b.doc(outs), Source: b.p.Source, File: b.p.File,
			Types: b.p.Types, Static: b.p.Static, Outs: outs,
		},
		here:    map[*expr.Tensor]*expr.Tensor{},
		moved:   map[*expr.Tensor]*expr.Tensor{},
		again:   map[*expr.Tensor]bool{},
		wantIn:  make([]bool, len(b.p.Ins)),
		wantOut: make([]bool, len(b.p.Outs)),
	}
	for _, s := range b.steps {
		s.Expr = b.unrounded(s.Expr)
		a.want(s.Expr)
	}
	for _, s := range b.p.Steps {
		if a.again[s.Result] {
			a.steps = append(a.steps, s)
		}
	}
	a.shapes(outs)
	r := &Result{Program: a.g, Outs: b.wrt}
	a.inputs(r)
	for _, s := range append(a.steps, b.steps...) {
		own := *s
		own.Result = a.tensor(s.Result)
		own.Expr = a.expr(s.Expr)
		a.g.Steps = append(a.g.Steps, &own)
	}
	tidy(a.g, b)
	a.declare(r)
	return r
}

// doc says what the gradient gives.
func (b *builder) doc(outs []*expr.Tensor) string {
	var to, from []string
	for _, t := range outs {
		to = append(to, t.Name)
	}
	for i := range b.p.Outs {
		if t := b.cotIn[i]; t != nil {
			from = append(from, t.Name)
		}
	}
	return "Gradient of " + b.p.Name + ": " + strings.Join(to, ", ") + " from " + strings.Join(from, ", ") + "."
}

// outputs makes the d_NAME of each wrt input and the steps that compute them.
func (b *builder) outputs() []*expr.Tensor {
	var outs []*expr.Tensor
	for _, i := range b.wrt {
		in := b.p.Ins[i]
		out := &expr.Tensor{
			Name: "d_" + in.Name, Role: expr.Out, Shape: in.Shape, Axes: in.Axes,
			Type: in.Type, Doc: "cotangent of " + in.Name, List: in.List, Pos: in.Pos,
		}
		b.own[out] = true
		outs = append(outs, out)
	}
	values := make([]expr.Expr, len(outs))
	for k, i := range b.wrt {
		in := b.p.Ins[i]
		values[k] = expr.Expr(expr.Num(in.Pos, 0))
		if len(b.cot[in]) > 0 {
			values[k], _ = b.total(in)
		}
	}
	for k, out := range outs {
		if s := b.only(values, k); s != nil && len(minus(out.Axes, s.Result.Axes)) == 0 {
			s.Result = out
			continue
		}
		b.steps = append(b.steps, &expr.Step{Result: out, Expr: values[k], Pos: out.Pos})
	}
	return outs
}

// only returns the reducing step whose result is values[k] and is read nowhere
// else, so that it can be the output itself.
func (b *builder) only(values []expr.Expr, k int) *expr.Step {
	r, ok := values[k].(*expr.Read)
	if !ok || r.Idx != nil || r.T.Role != expr.Let {
		return nil
	}
	var step *expr.Step
	for _, s := range b.steps {
		if s.Result == r.T {
			step = s
		} else if slices.Contains(expr.Reads(s.Expr), r.T) {
			return nil
		}
	}
	for j, v := range values {
		if j != k && slices.Contains(expr.Reads(v), r.T) {
			return nil
		}
	}
	return step
}

// dropUnused removes the lets that no output depends on.
func (b *builder) dropUnused(outs []*expr.Tensor) {
	used := map[*expr.Tensor]bool{}
	for _, t := range outs {
		used[t] = true
	}
	var kept []*expr.Step
	for _, s := range slices.Backward(b.steps) {
		if !used[s.Result] {
			continue
		}
		for _, t := range expr.Reads(s.Expr) {
			used[t] = true
		}
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	b.steps = kept
}

// want notes what e reads of the forward program.
func (a *assembly) want(e expr.Expr) {
	for _, t := range expr.Reads(e) {
		switch {
		case a.b.own[t]:
		case t.Role == expr.Let:
			a.wantLet(t)
		case t.Role == expr.Out:
			a.wantOut[slices.Index(a.b.p.Outs, t)] = true
		default:
			a.wantIn[slices.Index(a.b.p.Ins, t)] = true
		}
	}
}

// wantLet reads let t from an output that holds it, or has it computed again.
func (a *assembly) wantLet(t *expr.Tensor) {
	if a.again[t] || a.moved[t] != nil {
		return
	}
	if out := a.b.holder(t); out != nil {
		a.moved[t] = out
		a.wantOut[slices.Index(a.b.p.Outs, out)] = true
		return
	}
	a.again[t] = true
	a.want(a.b.stepOf(t).Expr)
}

// holder returns the output that holds let t: a saved value, or an output that
// is t as it stands, if reading it is right (see worthReading).
func (b *builder) holder(t *expr.Tensor) *expr.Tensor {
	for _, s := range b.p.Steps {
		r, ok := s.Expr.(*expr.Read)
		if !ok || r.T != t || r.Idx != nil || s.Reduce != expr.NoReduce || s.Result.Role != expr.Out {
			continue
		}
		if !slices.Equal(s.Result.Axes, t.Axes) {
			continue // it repeats the value, or holds it in another order
		}
		exact := s.Result.Type == t.Type && expr.ValueKind(s.Result) == expr.ValueKind(t) && !slices.Contains(b.narrow, s.Result.Name)
		if s.Result.Save || exact || expr.ValueKind(t) == expr.Float && b.reduces[t] {
			return s.Result
		}
	}
	return nil
}

// inputs lists the inputs with their sources: forward inputs, then outputs,
// then cotangents.
func (a *assembly) inputs(r *Result) {
	add := func(t *expr.Tensor, kind SourceKind, i int) {
		r.Program.Ins = append(r.Program.Ins, t)
		r.In = append(r.In, Source{kind, i})
	}
	for i, t := range a.b.p.Ins {
		if a.wantIn[i] {
			add(a.tensor(t), FromIn, i)
		}
	}
	for i, t := range a.b.p.Outs {
		if a.wantOut[i] {
			add(a.tensor(t), FromOut, i)
		}
	}
	for i := range a.b.p.Outs {
		if t := a.b.cotIn[i]; t != nil {
			add(t, FromCotangent, i)
		}
	}
}

// tensor returns the gradient's tensor for t.
func (a *assembly) tensor(t *expr.Tensor) *expr.Tensor {
	if out := a.moved[t]; out != nil {
		t = out
	}
	if a.b.own[t] {
		return t
	}
	if own := a.here[t]; own != nil {
		return own
	}
	own := *t
	if own.Role != expr.Let {
		own.Role = expr.In
		own.Save, own.Lazy = false, false
	}
	a.here[t] = &own
	return &own
}

// expr is e over the gradient's tensors.
func (a *assembly) expr(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Read:
			if t := a.tensor(e.T); t != e.T {
				return &expr.Read{Node: expr.Node{K: expr.ValueKind(t), At: e.At}, T: t, Idx: e.Idx}
			}
		case *expr.Flat:
			return a.flat(e)
		case *expr.Stop:
			return e.X
		}
		return e
	})
}

// flat is the position of e in a tensor of the gradient that has the same axes,
// or written out.
func (a *assembly) flat(e *expr.Flat) expr.Expr {
	same := func(t *expr.Tensor) bool { return slices.Equal(t.Axes, e.T.Axes) }
	for _, ts := range [][]*expr.Tensor{a.g.Ins, a.g.Outs} {
		if i := slices.IndexFunc(ts, same); i >= 0 {
			return &expr.Flat{Node: e.Node, T: ts[i]}
		}
	}
	idx := make([]expr.Expr, len(e.T.Axes))
	for i, x := range e.T.Axes {
		idx[i] = expr.IndexOf(e.At, x)
	}
	return flat(e.At, e.T.Axes, idx)
}
