package goapi

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/kernelgen/kgen/gen/emit/goref"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/out"
)

// newFile returns an empty file of the package with the given first line.
func newFile(pkg, spec string) *jen.File {
	file := jen.NewFilePath(pkg)
	file.HeaderComment(strings.TrimSuffix(out.Marker(spec), "\n"))
	file.ImportName(RuntimePath, "runtime")
	return file
}

// Source returns the Go file of a spec: the typed functions and, below them,
// the descriptors that they hand to the runtime.
func Source(f *File) ([]byte, error) {
	file := newFile(f.Package, f.Spec)
	file.ImportName(f.Kernels, path.Base(f.Kernels))
	for _, fn := range f.Funcs {
		for _, op := range fn.Ops {
			if op.Home != nil {
				file.ImportName(op.Home.Kernels, path.Base(op.Home.Kernels))
			}
		}
	}
	for _, c := range f.Consts {
		defaultConst(file, c)
	}
	if !f.Internal {
		for _, fn := range f.Funcs {
			functions(file, fn)
		}
	}
	for _, fn := range f.Funcs {
		if err := descriptors(file, f, fn); err != nil {
			return nil, err
		}
	}
	return render(file)
}

// functions adds both forms of an operation, and those under its other names.
func functions(file *jen.File, fn *Func) {
	s := newSignature(fn)
	comments(file, docComment(fn, s))
	immediate(file, fn, s)
	file.Line()
	comments(file, wrap(fmt.Sprintf("%sDeferred is %s, recorded in %s. Its errors are those of %s: the batch keeps the first one, and Sync returns it.",
		fn.Name, fn.Name, s.batch, fn.Name)))
	deferred(file, fn, s)
	file.Line()
	for _, a := range fn.Also {
		other := fn.under(a)
		file.Comment(fmt.Sprintf("%s is %s.", other.Name, fn.Name))
		immediate(file, other, s)
		file.Line()
		file.Comment(fmt.Sprintf("%sDeferred is %sDeferred.", other.Name, fn.Name))
		deferred(file, other, s)
		file.Line()
	}
}

func comments(file *jen.File, lines []string) {
	for _, line := range lines {
		file.Comment(line)
	}
}

func render(file *jen.File) ([]byte, error) {
	var b bytes.Buffer
	if err := file.Render(&b); err != nil {
		return nil, fmt.Errorf("goapi: %w", err)
	}
	return groupImports(b.Bytes()), nil
}

// groupImports parts the imports of the standard library from the others, which
// the writer of the file puts into one list.
func groupImports(text []byte) []byte {
	const begin, end = "\nimport (\n", "\n)\n"
	head, rest, ok := bytes.Cut(text, []byte(begin))
	if !ok {
		return text
	}
	list, tail, _ := bytes.Cut(rest, []byte(end))
	var std, others []string
	for line := range strings.SplitSeq(string(list), "\n") {
		if strings.Contains(line, ".") {
			others = append(others, line)
		} else {
			std = append(std, line)
		}
	}
	groups := strings.Join(std, "\n") + "\n\n" + strings.Join(others, "\n")
	return slices.Concat(head, []byte(begin), []byte(strings.Trim(groups, "\n")), []byte(end), tail)
}

// Reference returns the Go file with the reference functions of a spec.
func Reference(f *File) ([]byte, error) {
	file := newFile(f.Package, f.Spec)
	for _, fn := range f.Funcs {
		for _, op := range fn.Ops {
			if op.Home != nil {
				continue
			}
			for i, v := range op.Bound.Variants {
				if err := reference(file, f, op.Refs[i], v.Program); err != nil {
					return nil, err
				}
				file.Line()
			}
		}
	}
	return render(file)
}

// reference adds the reference of a variant: the loops that its expressions
// mean, or a call of what is written by hand.
func reference(file *jen.File, f *File, name string, p *expr.Program) error {
	if p.Raw != nil {
		return f.Raw.Func(file, name, p)
	}
	return goref.Func(file, name, p)
}

// defaultConst adds the default of a parameter.
func defaultConst(file *jen.File, c Const) {
	file.Comment(fmt.Sprintf("%s is the default of %s's parameter %s.", c.Name, c.Op, c.Param.Name))
	value := jen.Op(literal(c.Param))
	file.Const().Id(c.Name).Add(scalarType(c.Param.Type)).Op("=").Add(value)
	file.Line()
}

// literal is the default of p as a Go constant expression.
func literal(p *expr.Param) string {
	switch p.Type {
	case expr.ParamF32:
		return strconv.FormatFloat(float64(float32(p.Default.F)), 'g', -1, 32)
	case expr.ParamI32:
		return strconv.FormatInt(p.Default.I, 10)
	case expr.ParamBool:
		return strconv.FormatBool(p.Default.I != 0)
	}
	return strconv.FormatUint(p.Default.U, 10)
}

// HasConst reports whether the default of p can be a Go constant: NaN and
// infinities cannot.
func HasConst(p *expr.Param) bool {
	return p.Default != nil && (p.Type != expr.ParamF32 || !math.IsNaN(p.Default.F) && !math.IsInf(p.Default.F, 0))
}

// descriptors adds the descriptors of a function's ops, the table of them where
// it has several, and both under its other names.
func descriptors(file *jen.File, f *File, fn *Func) error {
	for _, op := range fn.Ops {
		code, err := descriptor(f, op, fn.Static)
		if err != nil {
			return err
		}
		file.Comment(fmt.Sprintf("%s describes %s to the runtime.", op.Var, describeOp(op)))
		file.Add(code)
		file.Line()
	}
	descriptorTable(file, fn)
	for _, a := range fn.Also {
		other := fn.under(a)
		for i, op := range fn.Ops {
			file.Comment(fmt.Sprintf("%s describes %s under its other name.", a.Vars[i], describeOp(op)))
			file.Var().Id(a.Vars[i]).Op("=").Id(op.Var).Dot("Named").Call(jen.Lit(a.Op))
			file.Line()
		}
		descriptorTable(file, other)
	}
	return nil
}

// descriptorTable adds the table of the descriptors of a function with lists.
func descriptorTable(file *jen.File, fn *Func) {
	if len(fn.Lists) == 0 {
		return
	}
	file.Comment(fmt.Sprintf("%s holds the descriptors of %s by the lengths of its lists, less one.", tableName(fn), fn.Name))
	file.Var().Id(tableName(fn)).Op("=").Index(jen.Op("...")).Op("*").Add(rt("Op")).CustomFunc(
		jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, func(g *jen.Group) {
			for _, op := range fn.Ops {
				g.Op("&").Id(op.Var)
			}
		})
	file.Line()
}

func describeOp(op *Op) string {
	if op.Bound.Static == "" {
		return op.Bound.Name
	}
	return op.Bound.Name + " (" + op.Bound.Static + ")"
}
