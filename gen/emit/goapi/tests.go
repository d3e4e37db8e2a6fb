package goapi

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"
)

// optestPath is the import path of the package that tests generated operations.
const optestPath = RuntimePath + "/optest"

// Tests returns the test file of a spec: each operation, on the default device
// against the reference, and its gradient. Gradients are tested with the
// operations that they belong to. It is nil when no operation has C functions.
func Tests(f *File) ([]byte, error) {
	file := newFile(f.Package, f.Spec)
	file.ImportName(optestPath, "optest")
	tested := slices.DeleteFunc(slices.Clone(f.Funcs), func(fn *Func) bool {
		return fn.Gradient || slices.ContainsFunc(fn.Ops, func(op *Op) bool { return !op.hasC() })
	})
	if len(tested) == 0 {
		return nil, nil
	}
	for _, fn := range tested {
		comments(file, wrap(fmt.Sprintf("Test%s compares every variant of %s, and its gradient if it has one, with the reference.", fn.Name, fn.Name)))
		file.Func().Id("Test" + fn.Name).Params(jen.Id("t").Op("*").Qual("testing", "T")).BlockFunc(func(g *jen.Group) {
			for _, op := range fn.Ops {
				args := []jen.Code{jen.Id("t"), jen.Op("&").Id(op.Var)}
				for _, c := range f.Consts {
					args = append(args, jen.Qual(optestPath, "Default").Call(jen.Lit(c.Param.Name), jen.Id(c.Name)))
				}
				g.Qual(optestPath, "Check").Call(args...)
			}
		})
		file.Line()
	}
	return render(file)
}
