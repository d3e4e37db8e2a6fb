package vet

import (
	"go/ast"
	"go/types"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/ssa"
)

// A summary says what a function does, as far as the rules ask.
type summary struct {
	Args  []effect // on each argument, the receiver first; missing ones are none
	Fresh []fresh  // what the results are, if it is known
	Runs  bool     // it may run some batch
	Pure  bool     // all it does is to record calls and to return their results
	Same  bool     // its result is its argument, in another type
}

// fresh is something that the caller of a function owns.
type fresh struct {
	Result int
	Kind   kind
	Batch  int // the argument that is the batch of a read-back
}

// A kind is a type of value that a rule follows.
type kind uint8

const (
	device kind = iota + 1
	batch
	readback
)

// AFact makes a summary a fact about a function.
func (*summary) AFact() {}

// arg returns the effect on an argument.
func (s *summary) arg(i int) effect {
	if i < len(s.Args) {
		return s.Args[i]
	}
	return 0
}

// add adds an effect on an argument and reports whether that is new.
func (s *summary) add(i int, e effect) bool {
	if s.arg(i)|e == s.arg(i) {
		return false
	}
	for len(s.Args) <= i {
		s.Args = append(s.Args, 0)
	}
	s.Args[i] |= e
	return true
}

// program is a package in the form that the rules work on.
type program struct {
	pass    *analysis.Pass
	funcs   []*ssa.Function
	summary map[*ssa.Function]*summary

	mu    sync.Mutex // the analyzers run side by side
	flows map[ssa.Value]*flow
}

// summaries computes the summary of every function of a package. Packages that
// do not use package runtime have none.
var summaries = &analysis.Analyzer{
	Name:       "kgensummary",
	Doc:        "sum up what functions do with the values of package runtime",
	Requires:   []*analysis.Analyzer{ctrlflow.Analyzer},
	ResultType: reflect.TypeFor[*program](),
	FactTypes:  []analysis.Fact{(*summary)(nil)},
	Run:        summarise,
}

func summarise(pass *analysis.Pass) (any, error) {
	p := &program{pass: pass, summary: map[*ssa.Function]*summary{}}
	if path(pass.Pkg) == runtimePath || !usesRuntime(pass.Pkg, map[*types.Package]bool{}) {
		return p, nil
	}
	p.build()
	for _, f := range p.funcs {
		p.summary[f] = &summary{Pure: mayBePure(f)}
	}
	p.fixpoint(p.refine)
	p.fixpoint(p.refineTakes)
	for _, f := range p.funcs {
		if obj, ok := f.Object().(*types.Func); ok {
			pass.ExportObjectFact(obj, p.summary[f])
		}
	}
	return p, nil
}

// build makes the SSA form. The buildssa pass would make it for each package of
// the standard library, too.
func (p *program) build() {
	prog := ssa.NewProgram(p.pass.Fset, 0)
	prog.SetNoReturn(p.pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs).NoReturn)
	for _, q := range p.pass.Pkg.Imports() {
		prog.CreatePackage(q, nil, nil, true)
	}
	pkg := prog.CreatePackage(p.pass.Pkg, p.pass.Files, p.pass.TypesInfo, false)
	pkg.Build()
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		p.funcs = append(p.funcs, f)
		for _, inner := range f.AnonFuncs {
			add(inner)
		}
	}
	add(pkg.Func("init")) // function literals in variables of the package
	for _, file := range p.pass.Files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				add(prog.FuncValue(p.pass.TypesInfo.Defs[d.Name].(*types.Func)))
			}
		}
	}
}

// fixpoint refines the summaries until they no longer change.
func (p *program) fixpoint(refine func(f *ssa.Function) bool) {
	for changed := true; changed; {
		changed = false
		p.flows = map[ssa.Value]*flow{}
		for _, f := range p.funcs {
			if refine(f) {
				changed = true
			}
		}
	}
}

// of returns what is known of the function that a call calls, nil if that is
// nothing.
func (p *program) of(c *ssa.CallCommon) *summary {
	f := callee(c)
	if s := p.summary[f]; s != nil {
		return s
	}
	obj := object(f)
	if obj == nil {
		return nil
	}
	if name := apiName(obj); name != "" {
		return api[name]
	}
	s := new(summary)
	if p.pass.ImportObjectFact(obj, s) {
		return s
	}
	return nil
}

// name returns the name in api of the function that a call calls.
func name(c *ssa.CallCommon) string { return apiName(object(callee(c))) }

// callee returns the function that a call calls, as it stands in the source; nil
// if it is not known, or the receiver of a method is not among the arguments.
func callee(c *ssa.CallCommon) *ssa.Function {
	f := c.StaticCallee()
	if f == nil || f.Synthetic != "" && len(f.FreeVars) > 0 {
		return nil
	}
	if o := f.Origin(); o != nil {
		return o
	}
	return f
}

// object returns what a function is declared as, nil for a function literal.
func object(f *ssa.Function) *types.Func {
	if f == nil {
		return nil
	}
	obj, _ := f.Object().(*types.Func)
	if obj == nil {
		return nil
	}
	return obj.Origin()
}

// refine computes everything in a summary but what it takes.
func (p *program) refine(f *ssa.Function) bool {
	s, changed := p.summary[f], false
	if !s.Runs && p.mayRun(f) {
		s.Runs, changed = true, true
	}
	if s.Pure && !p.isPure(f) {
		s.Pure, changed = false, true
	}
	for i, arg := range f.Params {
		switch _, basic := arg.Type().Underlying().(*types.Basic); {
		case f.Blocks == nil:
			changed = s.add(i, escapes) || changed
		case !basic:
			changed = s.add(i, p.follow(arg).effects()&^takes) || changed
		}
	}
	if updates(f) {
		for i, arg := range f.Params {
			if tensors(arg.Type()) {
				changed = s.add(i, escapes) || changed
			}
		}
	}
	if s.Fresh == nil {
		s.Fresh = p.makes(f)
		changed = changed || s.Fresh != nil
	}
	return changed
}

// followed reports whether values of a type are followed: devices, batches,
// read-backs and tensors.
func followed(t types.Type) bool {
	switch apiType(t) {
	case "Device", "Batch", "Readback":
		return true
	}
	return tensors(t)
}

// updates reports whether a function records an in-place update, after which
// another handle stands for the tensor.
func updates(f *ssa.Function) bool {
	for c := range calls(f) {
		if name(c.Common()) == "InOut" {
			return true
		}
	}
	return false
}
