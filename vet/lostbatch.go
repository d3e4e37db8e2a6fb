package vet

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// LostBatch finds batches that are dropped with work recorded in them.
var LostBatch = &analysis.Analyzer{
	Name: "lostbatch",
	Doc: `find batches that are neither synced, submitted nor discarded

What is recorded in a batch runs with Sync or Submit; Discard drops it. A batch
that is left to itself does nothing, holds on to the tensors it uses, and the
tensors that it was to update are not valid. One is reported that its function
makes, does not give away, and leaves on some way to a return:

	b := dev.Batch("forward")
	b.Keep(ops.GELUDeferred(b, x))
	return nil // reported at Batch

Returns because of an error are not counted.`,
	Requires: []*analysis.Analyzer{summaries},
	Run:      lostBatch,
}

func lostBatch(pass *analysis.Pass) (any, error) {
	p := pass.ResultOf[summaries].(*program)
	for _, f := range p.funcs {
		for c := range calls(f) {
			call, ok := c.(*ssa.Call)
			if !ok {
				continue
			}
			for _, m := range p.made(call) {
				if m.kind != batch {
					continue
				}
				p.report(pass, call, lives(call, p.follow(m.v), records),
					"the batch is neither synced, submitted nor discarded")
			}
		}
	}
	return nil, nil
}

// report reports a value that is left as it must not be.
func (p *program) report(pass *analysis.Pass, start ssa.Instruction, l *life, fact string) {
	if l == nil {
		return
	}
	at := l.lost()
	if at == nil {
		return
	}
	d := analysis.Diagnostic{Pos: start.Pos()}
	switch {
	case at == start:
		d.Message = fact + " before the next one is made here"
	case at.Pos().IsValid():
		d.Message = fact + " before the return at " + line(pass, at)
		d.Related = []analysis.RelatedInformation{{Pos: at.Pos(), Message: "the return"}}
	default:
		d.Message = fact + " before the function ends"
	}
	pass.Report(d)
}
