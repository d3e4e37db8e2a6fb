package goref

import (
	"fmt"
	"go/format"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/expr"
)

// Raw is the package of a reference that is written by hand. Its source has the
// function
//
//	func reference(a *args)
//
// and the generated file beside it, RawArgs, the struct args and the exported
// function Run, which makes one of what it is given.
type Raw struct {
	Path string // import path
	Name string // package name
	Spec *expr.Spec
}

// Tensors lists all inputs and outputs that some instance has. The first
// instance has every optional tensor.
func (r *Raw) Tensors() []*expr.Tensor {
	p := r.Spec.Instances[0]
	return slices.Concat(p.Ins, p.Outs)
}

// Axes lists all axes that some instance has.
func (r *Raw) Axes() []*expr.Axis {
	var axes []*expr.Axis
	for _, p := range r.Spec.Instances {
		for _, a := range p.Axes {
			if !slices.ContainsFunc(axes, func(b *expr.Axis) bool { return b.Name == a.Name }) {
				axes = append(axes, a)
			}
		}
	}
	return axes
}

// isTensor reports whether a choice is that of an optional tensor.
func (r *Raw) isTensor(choice string) bool {
	_, ok := r.Spec.TypeNames[choice]
	return ok
}

// Func adds to f the function name, as the function Func does, which calls the
// reference that is written by hand for the instance p.
func (r *Raw) Func(f *jen.File, name string, p *expr.Program) error {
	e := newEmitter(p)
	body := e.rawBody(r)
	if e.err != nil {
		return e.err
	}
	f.ImportName(runtimePath, "runtime")
	f.ImportAlias(r.Path, "reference")
	f.Comment(strings.Replace(e.doc(name), " in float64, one loop nest for each step", " by the reference that is written by hand", 1))
	f.Func().Id(name).Params(jen.Id("c").Op("*").Qual(runtimePath, "RefCall")).Block(append(e.header(), body...)...)
	return nil
}

// rawBody returns the statements after the header: checks of ids, the values of
// the tensors, the call, and what becomes of the results.
func (e *emitter) rawBody(r *Raw) []jen.Code {
	var body []jen.Code
	e.block = &body
	for i, t := range e.p.Ins {
		if t.Bounds != nil {
			e.bounds(i, t)
		}
	}
	present := slices.Concat(e.p.Ins, e.p.Outs)
	for _, t := range present {
		e.add(let(t).Op(":=").Make(jen.Index().Add(arithmetic(expr.ValueKind(t))), jen.Len(e.tensor(t))))
		if t.Role != expr.Out {
			e.add(jen.For(jen.List(jen.Id("i"), jen.Id("v")).Op(":=").Range().Add(e.tensor(t))).Block(
				let(t).Index(jen.Id("i")).Op("=").Add(load(jen.Id("v"), t.Type))))
		}
	}
	args := []jen.Code{e.rawChoices(), e.rawSizes(r), e.rawParams()}
	for _, t := range r.Tensors() {
		if i := slices.IndexFunc(present, func(x *expr.Tensor) bool { return x.Name == t.Name }); i >= 0 {
			args = append(args, let(present[i]))
		} else {
			args = append(args, jen.Nil())
		}
	}
	e.add(jen.Qual(r.Path, "Run").Call(args...))
	for _, t := range present {
		if t.Role != expr.In {
			e.add(jen.For(jen.List(jen.Id("i"), jen.Id("v")).Op(":=").Range().Add(let(t))).Block(
				e.tensor(t).Index(jen.Id("i")).Op("=").Add(store(jen.Id("v"), expr.ValueKind(t), t.Type))))
		}
	}
	return body
}

func (e *emitter) rawChoices() *jen.Statement {
	var values []jen.Code
	for _, c := range e.p.Static {
		values = append(values, jen.Lit(c.Value))
	}
	return sliceOf(jen.String(), values)
}

// rawSizes lists the extents of all axes of the spec; one that the instance does
// not have is 0.
func (e *emitter) rawSizes(r *Raw) *jen.Statement {
	var values []jen.Code
	for _, a := range r.Axes() {
		if i := slices.IndexFunc(e.p.Axes, func(b *expr.Axis) bool { return b.Name == a.Name }); i >= 0 {
			values = append(values, jen.Id("c").Dot("Size").Index(jen.Lit(i)))
		} else {
			values = append(values, jen.Lit(0))
		}
	}
	return sliceOf(jen.Int64(), values)
}

func (e *emitter) rawParams() *jen.Statement {
	var values []jen.Code
	for i := range e.p.Params {
		values = append(values, jen.Uint64().Parens(jen.Id("c").Dot("Param").Index(jen.Lit(i))))
	}
	return sliceOf(jen.Uint64(), values)
}

// sliceOf is a literal; one without elements is nil.
func sliceOf(typ *jen.Statement, values []jen.Code) *jen.Statement {
	if len(values) == 0 {
		return jen.Nil()
	}
	return jen.Index().Add(typ).Values(values...)
}

// goTypes are the types of a value, and bits turns a scalar, which travels in 64
// bits, into one.
var (
	goTypes = map[expr.Kind]string{expr.Float: "float64", expr.Int: "int64", expr.Uint: "uint32", expr.Uint64: "uint64", expr.Bool: "bool"}
	bits    = map[expr.ParamType]string{
		expr.ParamF32: "float64(math.Float32frombits(uint32(param[%d])))", expr.ParamI32: "int64(int32(param[%d]))",
		expr.ParamU32: "uint32(param[%d])", expr.ParamU64: "param[%d]", expr.ParamBool: "param[%d] != 0",
	}
	paramKinds = map[expr.ParamType]expr.Kind{
		expr.ParamF32: expr.Float, expr.ParamI32: expr.Int, expr.ParamU32: expr.Uint, expr.ParamU64: expr.Uint64, expr.ParamBool: expr.Bool,
	}
)

// RawArgs returns the file beside the source, which begins with marker.
func (r *Raw) RawArgs(marker string) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage %s\n\n", marker, r.Name)
	params := r.Spec.Instances[0].Params
	if slices.ContainsFunc(params, func(p *expr.Param) bool { return p.Type == expr.ParamF32 }) {
		b.WriteString("import \"math\"\n\n")
	}
	fmt.Fprintf(&b, "// args is one call of %s: its choices, the extents of its axes, its scalars,\n// and its tensors, whose results are zero and are to be computed.\ntype args struct {\n", r.Spec.Name)
	var makes strings.Builder
	for i, c := range r.Spec.Choices {
		if !r.isTensor(c.Name) {
			fmt.Fprintf(&b, "%s string // %s\n", c.Name, strings.Join(c.Values, " or "))
			fmt.Fprintf(&makes, "%s: choice[%d],\n", c.Name, i)
		}
	}
	for i, a := range r.Axes() {
		fmt.Fprintf(&b, "size_%s int64\n", a.Name)
		fmt.Fprintf(&makes, "size_%s: size[%d],\n", a.Name, i)
	}
	for i, p := range params {
		fmt.Fprintf(&b, "%s %s %s\n", p.Name, goTypes[paramKinds[p.Type]], remark(p.Doc))
		fmt.Fprintf(&makes, "%s: "+bits[p.Type]+",\n", p.Name, i)
	}
	var sets strings.Builder
	for i, t := range r.Tensors() {
		typ := "[]" + goTypes[expr.ValueKind(t)]
		fmt.Fprintf(&b, "%s %s %s\n", t.Name, typ, remark(tensorRemark(r, t)))
		fmt.Fprintf(&sets, "a.%s, _ = tensor[%d].(%s)\n", t.Name, i, typ)
	}
	fmt.Fprintf(&b, `}

// Run computes one call. Choices, extents and scalars are in the order of the
// spec, inputs in call order before outputs; a tensor is a []float64 or []int64,
// and nil where it is left out.
func Run(choice []string, size []int64, param []uint64, tensor ...any) {
	a := &args{
%s}
%sreference(a)
}
`, makes.String(), sets.String())
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("goref: %s: %w", r.Spec.Name, err)
	}
	return text, nil
}

func remark(text string) string {
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return ""
	}
	return "// " + text
}

// tensorRemark gives the axes of a tensor and says what is special about it.
func tensorRemark(r *Raw, t *expr.Tensor) string {
	text := "[" + axisNames(t.Axes) + "]"
	switch {
	case t.Role == expr.InOut:
		text += " old values, to be replaced"
	case t.Role == expr.Out:
		text += " to be computed"
	}
	if slices.ContainsFunc(r.Spec.Choices, func(c expr.ChoiceSet) bool { return c.Name == t.Name }) {
		text += "; nil where it is left out"
	}
	return text
}
