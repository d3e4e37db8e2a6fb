package exact

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/backward"
	"github.com/kernelgen/kgen/tests/golden"
)

// Terms returns for each element of each result and gradient of a case the sum
// over all elements x of float arguments of |x * d(result)/dx|: for a sum the
// sum of the absolute values of its terms, and for anything else what takes its
// place, the change for a relative change of 1 in every argument. The arguments
// of a gradient are what its kernel reads: saved results are among them. Its
// Outs and Grads hold numbers where a program is linear, estimates elsewhere.
func Terms(s *expr.Spec, p *expr.Program, c golden.Case, linear bool) (*Values, error) {
	call, err := Call(p, c)
	if err != nil {
		return nil, err
	}
	res, err := oracle.Run(p, call)
	if err != nil {
		return nil, err
	}
	if err := raise(p, call, res, linear); err != nil {
		return nil, err
	}
	v := &Values{Outs: res.Named(p)}
	if c.Grads == nil {
		return v, nil
	}
	d, list := grad.Derive(p, grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From})
	if len(list) > 0 {
		return nil, list.Err()
	}
	forward, err := oracle.Run(p, call)
	if err != nil {
		return nil, err
	}
	back := backward.Call(d, p, call, forward, Arrays(c.Cotangents))
	got, err := oracle.Run(d.Program, back)
	if err != nil {
		return nil, err
	}
	if err := raise(d.Program, back, got, linear); err != nil {
		return nil, err
	}
	v.Grads = map[string]oracle.Array{}
	for i, in := range d.Outs {
		v.Grads[p.Ins[in].Name] = got.Outs[i]
	}
	return v, nil
}

// raise replaces the results of a call by the sums of their terms.
func raise(p *expr.Program, call oracle.Call, res *oracle.Result, linear bool) error {
	if linear {
		all, err := oracle.Run(p, changed(p, call, math.Abs))
		if err == nil {
			*res = *all
		}
		return err
	}
	return sensitivity(p, call, res)
}

// sensitivity moves every argument by a relative step up or down at random, a
// few times.
func sensitivity(p *expr.Program, call oracle.Call, res *oracle.Result) error {
	const (
		step  = 0x1p-20
		moves = 8
		// Random signs let terms cancel: of k equal ones the root of k is left.
		uncancel = 4
	)
	at := append(append([]oracle.Array{}, res.Outs...), res.InOuts...)
	sums := make([][]float64, len(at))
	for i, a := range at {
		sums[i] = make([]float64, len(a.Data))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range moves {
		moved, err := oracle.Run(p, changed(p, call, func(v float64) float64 { return v * (1 + (2*float64(rng.IntN(2))-1)*step) }))
		if err != nil {
			return fmt.Errorf("%s with arguments moved by 2^-20 of themselves: %w", p.Name, err)
		}
		for i, a := range append(append([]oracle.Array{}, moved.Outs...), moved.InOuts...) {
			for j, v := range a.Data {
				if gap := uncancel * math.Abs(v-at[i].Data[j]) / step; gap > sums[i][j] {
					sums[i][j] = gap
				}
			}
		}
	}
	for i := range at {
		copy(at[i].Data, sums[i])
	}
	return nil
}

// changed returns the call with every element of its float inputs changed.
func changed(p *expr.Program, call oracle.Call, change func(float64) float64) oracle.Call {
	ins := make([]oracle.Array, len(call.Ins))
	for i, in := range call.Ins {
		ins[i] = in
		if t := p.Ins[i].Type; t == expr.I32 || t == expr.U8 {
			continue
		}
		ins[i].Data = make([]float64, len(in.Data))
		for j, v := range in.Data {
			ins[i].Data[j] = change(v)
		}
	}
	call.Ins = ins
	return call
}
