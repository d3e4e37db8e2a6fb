package gen

import (
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/emit/goapi"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/spec"
)

// apiFile describes the Go file of a spec to its emitter.
func (m *Module) apiFile(s *Spec) *goapi.File {
	file := &goapi.File{Name: s.Name, Spec: s.File, Package: m.OpsPath(), Kernels: m.kernelsPath(s.Group)}
	forward := s.Ops[0]
	for _, p := range forward.Programs[0].Params {
		if goapi.HasConst(p) {
			file.Consts = append(file.Consts, goapi.Const{Name: forward.ConstName(p.Name), Param: p, Op: s.Name})
		}
	}
	file.Internal, file.Raw = s.internal, m.rawReference(s)
	file.Funcs = append(m.funcs(s, s.Ops, s.Doc), m.funcs(s, s.gradients(), "")...)
	return file
}

// funcs groups ops into functions: those that differ only in the lengths of
// their lists are one.
func (m *Module) funcs(s *Spec, ops []*Op, doc string) []*goapi.Func {
	var list []*goapi.Func
	for _, op := range ops {
		name := op.FuncName()
		if n := len(list); n == 0 || list[n-1].Name != name {
			list = append(list, &goapi.Func{
				Name: name, Doc: s.docOf(op, doc), Static: StaticName(op.tensorChoices()), TypeVars: s.TypeVars, Lists: op.lists(),
				Gradient: op.isGradient, Also: s.aliases(op),
			})
		}
		f := list[len(list)-1]
		f.Ops = append(f.Ops, m.apiOp(op))
		for _, a := range f.Also {
			a.Vars = append(a.Vars, op.identOf(a.Name)+"Op")
		}
	}
	return list
}

// aliases returns op's function under the spec's other names.
func (s *Spec) aliases(op *Op) []*goapi.Alias {
	var list []*goapi.Alias
	if !op.isGradient {
		for _, name := range s.Also {
			list = append(list, &goapi.Alias{Name: spec.GoName(name) + strings.TrimPrefix(op.FuncName(), op.GoName), Op: name})
		}
	}
	return list
}

// lists returns the names of the list inputs.
func (op *Op) lists() []string {
	var names []string
	for _, c := range op.Choices {
		if c.Kind == List {
			names = append(names, c.Name)
		}
	}
	return names
}

// tensorChoices returns the op's choices but for the lengths of its lists.
func (op *Op) tensorChoices() []Choice {
	return slices.DeleteFunc(slices.Clone(op.Choices), func(c Choice) bool { return c.Kind == List })
}

// docOf returns the documentation of an op's function: what it computes, which
// choices it makes, where the formula comes from.
func (s *Spec) docOf(op *Op, doc string) []string {
	name := op.FuncName()
	if op.isGradient {
		doc = "computes the gradient of " + strings.TrimSuffix(s.GoName, ".") + ": the cotangents of its operands from those of its results."
	}
	doc = strings.TrimPrefix(doc, s.GoName+" ")
	pars := []string{name + " " + lowerWord(doc)}
	if choice := op.choiceText(); choice != "" {
		pars = append(pars, choice)
	}
	if s.Source != "" {
		pars = append(pars, "Source: "+s.Source)
	}
	return pars
}

// lowerWord puts the first letter of a sentence into lower case, unless its
// first word is an abbreviation.
func lowerWord(text string) string {
	if len(text) < 2 || text[1] >= 'A' && text[1] <= 'Z' {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// choiceText says in a sentence which choices an op has made.
func (op *Op) choiceText() string {
	var parts []string
	for _, c := range op.Choices {
		switch c.Kind {
		case Static:
			parts = append(parts, c.Name+" is "+c.Value)
		case Optional:
			parts = append(parts, c.Name+" is "+map[string]string{"with": "given", "without": "left out"}[c.Value])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Here " + strings.Join(parts, ", ") + "."
}

// ident returns an identifier for the op in the generated package: the name of
// its function, not exported, and the lengths of its lists.
func (op *Op) ident() string { return op.identOf(op.FuncName()) }

func (op *Op) identOf(id string) string {
	n := 0
	for n < len(id) && id[n] >= 'A' && id[n] <= 'Z' {
		n++
	}
	if n > 1 && n < len(id) && id[n] >= 'a' && id[n] <= 'z' {
		n-- // the last capital begins the next word
	}
	id = strings.ToLower(id[:n]) + id[n:]
	for _, c := range op.Choices {
		if c.Kind == List {
			id += c.Value
		}
	}
	return id
}

// refName is the Go function of the reference of variant i.
func (op *Op) refName(i int) string {
	types := goapi.TypedName(strings.ReplaceAll(DTypeName(op.Programs[i]), "/", "_"))
	return op.ident() + types + "Ref"
}

// apiOp describes an op to the emitter of Go code.
func (m *Module) apiOp(op *Op) *goapi.Op {
	kernels := op
	if op.home != nil {
		kernels = op.kernel
	}
	o := &goapi.Op{Bound: op.Bound.Op, Var: op.ident() + "Op", Fusible: op.fusible, CUDA: kernels.hasCUDA()}
	if kernels.hasMSL() {
		o.Metal = m.shadersPath()
	}
	for i := range op.Programs {
		if op.home != nil {
			o.Refs = append(o.Refs, op.kernel.refName(op.instances[i]))
		} else {
			o.Refs = append(o.Refs, op.refName(i))
		}
	}
	if op.home != nil {
		o.Home = &goapi.Home{Name: op.home.Name, Kernels: m.kernelsPath(op.home.Group)}
	}
	if op.Grad != nil {
		o.Grad = gradOf(op.Grad)
	}
	if op.isGradient {
		o.Accumulate = accumulateVar
	}
	return o
}

var gradSources = [...]goapi.GradFrom{
	grad.FromIn: goapi.FromIn, grad.FromOut: goapi.FromOut, grad.FromCotangent: goapi.FromCotangent,
}

func gradOf(g *Gradient) *goapi.Grad {
	d := &goapi.Grad{Op: g.Op.ident() + "Op", Params: uint8s(g.From.Params), Outs: uint8s(g.From.Outs)}
	for _, in := range g.From.In {
		d.Ins = append(d.Ins, goapi.GradIn{From: gradSources[in.Kind], Index: uint8(in.Index)})
	}
	return d
}

func uint8s(list []int) []uint8 {
	var bytes []uint8
	for _, v := range list {
		bytes = append(bytes, uint8(v))
	}
	return bytes
}
