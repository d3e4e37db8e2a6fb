// Package backward runs derived gradients on the oracle. A checked spec, a call
// of one of its programs with its result, and the cotangents of outputs come
// in; the gradients of inputs go out, all by the names of the spec.
package backward

import (
	"fmt"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
)

// Run derives the gradient of program p of spec s and runs it on what call and
// res hold. Cotangents that are not given are zero.
func Run(s *expr.Spec, p *expr.Program, call oracle.Call, res *oracle.Result, cotangents map[string]oracle.Array) (map[string]oracle.Array, error) {
	if s.Grad == nil {
		return nil, fmt.Errorf("%s: the spec declares no gradient", s.Name)
	}
	d, list := grad.Derive(p, grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From})
	if len(list) > 0 {
		return nil, list.Err()
	}
	got, err := oracle.Run(d.Program, Call(d, p, call, res, cotangents))
	if err != nil {
		return nil, err
	}
	grads := map[string]oracle.Array{}
	for i, in := range d.Outs {
		grads[p.Ins[in].Name] = got.Outs[i]
	}
	return grads, nil
}

// Call returns the call of a derived gradient that follows a forward call.
func Call(d *grad.Result, p *expr.Program, call oracle.Call, res *oracle.Result, cotangents map[string]oracle.Array) oracle.Call {
	back := oracle.Call{Free: call.Free, Round: call.Round}
	for _, i := range d.Params {
		back.Params = append(back.Params, call.Params[i])
	}
	for _, src := range d.In {
		switch src.Kind {
		case grad.FromIn:
			back.Ins = append(back.Ins, call.Ins[src.Index])
		case grad.FromOut:
			back.Ins = append(back.Ins, res.Outs[src.Index])
		default:
			c, ok := cotangents[p.Outs[src.Index].Name]
			if !ok {
				c = oracle.NewArray(res.Outs[src.Index].Shape...)
			}
			back.Ins = append(back.Ins, c)
		}
	}
	return back
}
