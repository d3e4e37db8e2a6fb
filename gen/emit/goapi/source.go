package goapi

import (
	"bytes"
	"fmt"
	"math"
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
	for _, c := range f.Consts {
		defaultConst(file, c)
	}
	for _, fn := range f.Funcs {
		s := newSignature(fn)
		for _, line := range docComment(fn, s) {
			file.Comment(line)
		}
		immediate(file, fn, s)
		file.Line()
		file.Comment(fmt.Sprintf("%sDeferred is %s, recorded in b. Errors are those of %s;", fn.Name, fn.Name, fn.Name))
		file.Comment("b keeps the first, and its Sync returns it.")
		deferred(file, fn, s)
		file.Line()
	}
	for _, fn := range f.Funcs {
		if err := descriptors(file, fn); err != nil {
			return nil, err
		}
	}
	return render(file)
}

func render(file *jen.File) ([]byte, error) {
	var b bytes.Buffer
	if err := file.Render(&b); err != nil {
		return nil, fmt.Errorf("goapi: %w", err)
	}
	return b.Bytes(), nil
}

// Reference returns the Go file with the reference functions of a spec.
func Reference(f *File) ([]byte, error) {
	file := newFile(f.Package, f.Spec)
	for _, fn := range f.Funcs {
		for _, op := range fn.Ops {
			for i, v := range op.Bound.Variants {
				if err := goref.Func(file, op.Refs[i], v.Program); err != nil {
					return nil, err
				}
				file.Line()
			}
		}
	}
	return render(file)
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

// descriptors adds the descriptors of a function's ops and, where it has
// several, the table of them.
func descriptors(file *jen.File, fn *Func) error {
	for _, op := range fn.Ops {
		code, err := descriptor(op)
		if err != nil {
			return err
		}
		file.Comment(fmt.Sprintf("%s describes %s to the runtime.", op.Var, describeOp(op)))
		file.Add(code)
		file.Line()
	}
	if len(fn.Lists) == 0 {
		return nil
	}
	file.Comment(fmt.Sprintf("%s holds the descriptors of %s by the lengths of its lists, less one.", tableName(fn), fn.Name))
	file.Var().Id(tableName(fn)).Op("=").Index(jen.Op("...")).Op("*").Add(rt("Op")).CustomFunc(
		jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, func(g *jen.Group) {
			for _, op := range fn.Ops {
				g.Op("&").Id(op.Var)
			}
		})
	file.Line()
	return nil
}

func describeOp(op *Op) string {
	if op.Bound.Static == "" {
		return op.Bound.Name
	}
	return op.Bound.Name + " (" + op.Bound.Static + ")"
}
