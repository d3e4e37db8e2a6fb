package vet

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Unclosed finds devices and kept tensors that are never closed.
var Unclosed = &analysis.Analyzer{
	Name: "unclosed",
	Doc: `find devices and kept tensors that are not closed

A device has threads and memory until it is closed; a tensor that a batch keeps,
memory, until it or its device is closed. Reported are a device that a function
opens, and a tensor that it keeps, makes with FromSlice or Zeros, if it does not
give them away and does not close them on some way to a return:

	dev, err := runtime.Open() // reported
	if err != nil {
		return err
	}
	return train(dev)

Returns because of an error are not counted. Tensors of a device that the same
function gets from somewhere end with it and are not reported, and neither are
tensors in tests.`,
	Requires: []*analysis.Analyzer{summaries},
	Run:      unclosed,
}

func unclosed(pass *analysis.Pass) (any, error) {
	p := pass.ResultOf[summaries].(*program)
	for _, f := range p.funcs {
		for c := range calls(f) {
			call, ok := c.(*ssa.Call)
			if !ok {
				continue
			}
			for _, m := range p.made(call) {
				if m.kind == device {
					p.report(pass, call, lives(call, p.follow(m.v), 0), "the device is not closed")
				}
			}
			if !inTest(pass, f.Pos()) {
				p.checkTensors(pass, call)
			}
		}
	}
	return nil, nil
}

// checkTensors reports the tensors that a call makes resident, if they are not
// closed.
func (p *program) checkTensors(pass *analysis.Pass, call *ssa.Call) {
	switch name(&call.Call) {
	case "FromSlice", "Zeros":
		if t := result(call, 0); t != nil && p.outlives(call.Call.Args[0]) {
			p.report(pass, call, lives(call, p.follow(t), 0), "the tensor is not closed")
		}
	case "Batch.Keep":
		if !p.batchOutlives(call.Call.Args[0]) {
			return
		}
		s, ok := call.Call.Args[1].(*ssa.Slice)
		if !ok {
			return
		}
		list, ok := s.X.(*ssa.Alloc)
		if !ok || !isList(list) {
			return
		}
		for _, elem := range elements(list) {
			if t := p.source(elem); isResult(t) {
				p.report(pass, call, lives(call, p.follow(t), 0), "the tensor that is kept is not closed")
			}
		}
	}
}

// isResult reports whether a value is a result of a call.
func isResult(v ssa.Value) bool {
	if e, ok := v.(*ssa.Extract); ok {
		v = e.Tuple
	}
	_, ok := v.(*ssa.Call)
	return ok
}

// batchOutlives reports whether the device of a batch is not the function's own.
func (p *program) batchOutlives(b ssa.Value) bool {
	b = p.source(b)
	if c, ok := b.(*ssa.Call); ok {
		return name(&c.Call) == "Device.Batch" && p.outlives(c.Call.Args[0])
	}
	return isOutside(b)
}

// outlives reports whether a device is not the function's own.
func (p *program) outlives(dev ssa.Value) bool { return isOutside(p.source(dev)) }

// isOutside reports whether a value is an argument, or in something that is one.
func isOutside(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Parameter:
		return true
	case *ssa.UnOp:
		field, ok := v.X.(*ssa.FieldAddr)
		return ok && isOutside(field.X)
	case *ssa.Field:
		return isOutside(v.X)
	}
	return false
}
