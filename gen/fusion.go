package gen

import (
	"slices"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/emit/goapi"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/spec"
)

// fusions resolves the patterns of [fuses]: which ops of other specs each op
// does the work of.
func fusions(specs []*Spec, set *spec.Set) ([]*fusion, diag.List) {
	f := &fuser{specs: map[string]*Spec{}}
	for _, s := range specs {
		f.specs[s.Name] = s
		for _, name := range s.Also {
			f.specs[name] = s
		}
	}
	for _, s := range specs {
		if s.Pattern == nil {
			continue
		}
		f.pos = patternPos(set, s.File)
		mistakes := len(f.list)
		for _, op := range s.Ops {
			if len(f.list) > mistakes {
				break // the same for all of the spec's ops
			}
			f.fuse(s, op)
		}
	}
	return f.all, f.list
}

// fusion is a fusion with its op, which is planned later.
type fusion struct {
	*goapi.Fusion
	op *Op
}

// emittedFusions returns the fusions with what the plans of their ops say.
func (r *Result) emittedFusions() []*goapi.Fusion {
	var list []*goapi.Fusion
	for _, f := range r.fusions {
		f.Again = slices.ContainsFunc(f.op.Bound.Plans[0].Kernels, computesOperand)
		list = append(list, f.Fusion)
	}
	return list
}

// computesOperand reports whether k multiplies something that is no tensor in
// memory: each tile of the product computes its part of it.
func computesOperand(k *plan.Kernel) bool {
	if k.Prod == nil {
		return false
	}
	for _, e := range []expr.Expr{k.Prod.A, k.Prod.B} {
		if _, isRead := e.(*expr.Read); !isRead {
			return true
		}
	}
	return false
}

// patternPos returns where the file declares its pattern.
func patternPos(set *spec.Set, file string) diag.Pos {
	for _, s := range set.Specs {
		if s.File == file {
			return s.Pattern.Pos()
		}
	}
	return diag.Pos{File: file, Line: 1, Col: 1}
}

// fuser resolves one pattern after the other.
type fuser struct {
	specs map[string]*Spec
	pos   diag.Pos
	all   []*fusion
	list  diag.List
}

// pattern is a pattern on its way to a goapi.Fusion.
type pattern struct {
	*fuser
	spec  *Spec
	op    *Op
	calls []*Op
	out   *goapi.Fusion
	used  []bool // inputs of op
	bound []bool // parameters of op
}

func (f *fuser) fuse(s *Spec, op *Op) {
	program := op.Programs[0]
	p := &pattern{
		fuser: f, spec: s, op: op, out: &goapi.Fusion{Op: op.ident() + "Op", Params: make([]goapi.FusedArg, len(program.Params))},
		used: make([]bool, len(program.Ins)), bound: make([]bool, len(program.Params)),
	}
	if why := unfit(op); why != "" {
		f.list.Add(f.pos, "%s %s, so no pattern can stand for it", s.Name, why)
		return
	}
	before := len(f.list)
	if p.call(s.Pattern) < 0 {
		return
	}
	for i, used := range p.used {
		if !used {
			f.list.Add(f.pos, "the pattern leaves out the input %s of %s", program.Ins[i].Name, s.Name)
		}
	}
	for i, bound := range p.bound {
		if !bound {
			f.list.Add(f.pos, "no call of the pattern has a parameter for %s of %s: hand it on by name", program.Params[i].Name, s.Name)
		}
	}
	if len(f.list) == before {
		p.results()
		f.all = append(f.all, &fusion{p.out, op})
	}
}

// unfit says what keeps an op out of patterns.
func unfit(op *Op) string {
	p := op.Programs[0]
	switch {
	case slices.ContainsFunc(p.Ins, func(t *expr.Tensor) bool { return t.Role == expr.InOut }):
		return "updates a tensor"
	case slices.ContainsFunc(p.Ins, func(t *expr.Tensor) bool { return t.List > 0 }):
		return "takes a list"
	case slices.ContainsFunc(p.Axes, func(a *expr.Axis) bool { return a.Free }):
		return "has an extent that the caller gives"
	case len(p.Require) > 0:
		return "has a condition"
	}
	return ""
}

// call resolves one call of the pattern, those that it takes operands from first,
// and returns its number, -1 after a mistake.
func (p *pattern) call(c *expr.Pattern) int {
	op := p.callee(c)
	if op == nil {
		return -1
	}
	program := op.Programs[0]
	call := goapi.FusedCall{Op: op.ident() + "Op"}
	for i, arg := range c.Args[:len(program.Ins)] {
		if arg.Call {
			k := p.call(arg)
			if k < 0 {
				return -1
			}
			call.Ins = append(call.Ins, goapi.FusedArg{Call: k})
			continue
		}
		n := slices.IndexFunc(p.op.Programs[0].Ins, func(t *expr.Tensor) bool { return t.Name == arg.Name })
		if n < 0 || p.used[n] {
			p.list.Add(p.pos, "the pattern gives %s for %s of %s: it must be an input of %s that stands nowhere else", arg.Name, program.Ins[i].Name, op.Name, p.spec.Name)
			return -1
		}
		p.used[n] = true
		call.Ins = append(call.Ins, goapi.FusedArg{Call: -1, Index: n})
	}
	k := len(p.calls)
	p.calls, p.out.Calls = append(p.calls, op), append(p.out.Calls, call)
	for i, q := range program.Params {
		name := q.Name
		if at := len(program.Ins) + i; at < len(c.Args) {
			name = c.Args[at].Name
		}
		n := slices.IndexFunc(p.op.Programs[0].Params, func(own *expr.Param) bool { return own.Name == name && own.Type == q.Type })
		if n < 0 || p.bound[n] {
			p.list.Add(p.pos, "the pattern must give the parameter %s of %s: one of %s that no other call has", q.Name, op.Name, p.spec.Name)
			return -1
		}
		p.bound[n], p.out.Params[n] = true, goapi.FusedArg{Call: k, Index: i}
	}
	return k
}

// callee returns the op that a call of the pattern means: with the choices of the
// fusing op where names are the same, else with the first ones, and with as many
// optional tensors as there are operands.
func (p *pattern) callee(c *expr.Pattern) *Op {
	s := p.specs[c.Name]
	var best *Op
	for _, op := range s.Ops {
		if n := len(op.Programs[0].Ins); n <= len(c.Args) && p.chosen(s, op) && (best == nil || n > len(best.Programs[0].Ins)) {
			best = op
		}
	}
	switch {
	case best == nil:
		p.list.Add(p.pos, "the pattern calls %s with %d operands, which is none of its forms", c.Name, len(c.Args))
	case unfit(best) != "":
		p.list.Add(p.pos, "the pattern calls %s, which %s", c.Name, unfit(best))
		return nil
	}
	return best
}

// chosen reports whether the statics of op are those of the fusing op, or the
// first of their values.
func (p *pattern) chosen(s *Spec, op *Op) bool {
	for _, c := range op.Choices {
		if c.Kind != Static {
			continue
		}
		want := s.Choices[slices.IndexFunc(s.Choices, func(set expr.ChoiceSet) bool { return set.Name == c.Name })].Values[0]
		for _, own := range p.op.Choices {
			if own.Kind == Static && own.Name == c.Name {
				want = own.Value
			}
		}
		if c.Value != want {
			return false
		}
	}
	return true
}

// results says which outputs of the calls the op's outputs are: those of the last
// call in their order, and saved ones by name.
func (p *pattern) results() {
	last := len(p.calls) - 1
	p.calls[last].fusible = true
	for i, t := range p.op.Programs[0].Outs {
		from := goapi.FusedArg{Call: -1}
		if outs := p.calls[last].Programs[0].Outs; !t.Save && i < len(outs) {
			from = goapi.FusedArg{Call: last, Index: i}
		}
		for k, call := range p.calls {
			n := slices.IndexFunc(call.Programs[0].Outs, func(o *expr.Tensor) bool { return o.Save && o.Name == t.Name })
			if t.Save && n >= 0 {
				from = goapi.FusedArg{Call: k, Index: n}
			}
		}
		p.out.Outs = append(p.out.Outs, from)
	}
}
