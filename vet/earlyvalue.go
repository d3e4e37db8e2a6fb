package vet

import (
	"fmt"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// EarlyValue finds read-backs that are taken before their batch has run.
var EarlyValue = &analysis.Analyzer{
	Name: "earlyvalue",
	Doc: `find values of read-backs that are taken before the batch is synced

Value and Scalar of a read-back are an error as long as its batch is neither
synced nor submitted. A call is reported if there is a way from Read to it on
which nothing can have run the batch:

	r := runtime.Read(b, y)
	v, err := r.Value() // reported
	err = b.Sync(ctx)

Where only the error of the call is used, nothing is reported.`,
	Requires: []*analysis.Analyzer{summaries},
	Run:      earlyValue,
}

func earlyValue(pass *analysis.Pass) (any, error) {
	p := pass.ResultOf[summaries].(*program)
	for _, f := range p.funcs {
		for c := range calls(f) {
			call, ok := c.(*ssa.Call)
			if !ok {
				continue
			}
			for _, m := range p.made(call) {
				if m.kind == readback {
					p.checkReadback(pass, call, m)
				}
			}
		}
	}
	return nil, nil
}

// checkReadback reports the first use of a read-back that comes too early.
func (p *program) checkReadback(pass *analysis.Pass, read *ssa.Call, m made) {
	f := p.follow(m.v)
	for _, u := range f.uses {
		if u.effect&takes == 0 || !p.early(read, m, f, u) {
			continue
		}
		pass.Report(analysis.Diagnostic{
			Pos:     u.instr.Pos(),
			Message: "the read-back is taken before its batch is synced: call Sync or Submit first",
			Related: []analysis.RelatedInformation{{Pos: read.Pos(), Message: "it is recorded here"}},
		})
		return
	}
}

// early reports whether a use of a read-back may come before its batch has run.
func (p *program) early(read *ssa.Call, m made, f *flow, u use) bool {
	at := u.instr
	if at.Parent() != read.Parent() {
		// In a function literal: it must be called by name, and come to the use
		// itself.
		c := closure(at.Parent())
		if c == nil || c.Parent() != read.Parent() || !p.fromStart(at) {
			return false
		}
		if at = runsAt(c); at == nil {
			return false
		}
		if _, ok := at.(*ssa.Call); !ok {
			return false
		}
		u.arg = m.v
	}
	r := &reach{from: read, flow: f, to: at, arg: u.arg, stop: func(instr ssa.Instruction) bool {
		return p.settles(instr, m.batch)
	}}
	return r.find(after(read))
}

// settles reports whether after an instruction a batch may have run.
func (p *program) settles(instr ssa.Instruction, batch ssa.Value) bool {
	if _, ok := instr.(*ssa.Defer); ok || !p.runs(instr) {
		return false
	}
	if c, ok := instr.(ssa.CallInstruction); ok {
		switch name(c.Common()) {
		case "Batch.Sync", "Batch.Submit", "Batch.Discard", "Finish":
			return !p.differ(c.Common().Args[0], batch)
		}
	}
	return true
}

// differ reports whether two batches cannot be the same.
func (p *program) differ(a, b ssa.Value) bool {
	a, b = p.source(a), p.source(b)
	return a != b && (p.isNew(a) && p.isKnown(b) || p.isNew(b) && p.isKnown(a))
}

// isNew reports whether a value is a batch that its function makes.
func (p *program) isNew(v ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	return ok && name(&c.Call) == "Device.Batch"
}

// isKnown reports whether it is known where a batch comes from.
func (p *program) isKnown(v ssa.Value) bool {
	_, param := v.(*ssa.Parameter)
	return param || p.isNew(v)
}

// fromStart reports whether a function comes to an instruction from its start
// with no batch run.
func (p *program) fromStart(instr ssa.Instruction) bool {
	r := &reach{flow: &flow{}, to: instr, stop: p.runs}
	return r.find(point{way{block: instr.Parent().Blocks[0]}, 0})
}

// refineTakes finds which read-backs a function takes before it has run a batch.
func (p *program) refineTakes(f *ssa.Function) bool {
	changed := false
	for i, arg := range f.Params {
		if apiType(arg.Type()) != "Readback" {
			continue
		}
		for _, u := range p.follow(arg).uses {
			if u.effect&takes != 0 && u.instr.Parent() == f && p.fromStart(u.instr) {
				changed = p.summary[f].add(i, takes) || changed
			}
		}
	}
	return changed
}

// line says where an instruction stands.
func line(pass *analysis.Pass, instr ssa.Instruction) string {
	return fmt.Sprintf("line %d", pass.Fset.Position(instr.Pos()).Line)
}
