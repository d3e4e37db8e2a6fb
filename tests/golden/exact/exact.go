// Package exact runs golden cases on the oracle. A checked program and a case
// come in; every result and gradient go out in full and in float64, after they
// agreed with PyTorch's values. It knows nothing of storage types, which the
// oracle does not round to, nor of devices.
package exact

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/backward"
	"github.com/kernelgen/kgen/tests/golden"
)

// Values are results by the names of outputs and inouts, and gradients by the
// names of inputs.
type Values struct {
	Outs, Grads map[string]oracle.Array
}

// Run runs a case of program p of spec s. An error says where the values are not
// those of the case.
func Run(s *expr.Spec, p *expr.Program, c golden.Case) (*Values, error) {
	v, err := run(s, p, c)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", p.Name, c.Name, err)
	}
	if err := agree(c.Outs, v.Outs); err != nil {
		return nil, fmt.Errorf("%s, %s: result %w", p.Name, c.Name, err)
	}
	if err := agree(c.Grads, v.Grads); err != nil {
		return nil, fmt.Errorf("%s, %s: gradient of %w", p.Name, c.Name, err)
	}
	return v, nil
}

func run(s *expr.Spec, p *expr.Program, c golden.Case) (*Values, error) {
	if p.Raw != nil {
		return runRaw(p, c)
	}
	call, err := Call(p, c)
	if err != nil {
		return nil, err
	}
	res, err := oracle.Run(p, call)
	if err != nil {
		return nil, err
	}
	v := &Values{Outs: res.Named(p)}
	if c.Grads != nil {
		v.Grads, err = backward.Run(s, p, call, res, Arrays(c.Cotangents))
	}
	return v, err
}

// agree wants every tensor of a case to be among the arrays. A result that the
// program leaves out, as an optional one, is not wanted.
func agree(want map[string]golden.Tensor, got map[string]oracle.Array) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		g, ok := got[name]
		if !ok {
			continue
		}
		if err := want[name].Check(g.Shape, g.Data); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	return nil
}

// Call returns the arguments of a case.
func Call(p *expr.Program, c golden.Case) (oracle.Call, error) {
	call := oracle.Call{Params: oracle.Defaults(p), Free: c.Free}
	for _, in := range p.Ins {
		v, ok := c.Ins[in.Name]
		if !ok {
			return call, fmt.Errorf("the case has no input %s", in.Name)
		}
		call.Ins = append(call.Ins, oracle.Array{Shape: v.Shape, Data: v.Data})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		i := slices.IndexFunc(p.Params, func(q *expr.Param) bool { return q.Name == name })
		if i < 0 {
			return call, fmt.Errorf("the spec has no parameter %s", name)
		}
		switch v := c.Params[name].(type) {
		case bool:
			call.Params[i] = oracle.Bool(v)
		case float64:
			call.Params[i] = oracle.Value{F: v, I: int64(v), U: uint64(max(v, 0))}
		}
	}
	return call, nil
}

// Arrays gives tensors to the oracle.
func Arrays(tensors map[string]golden.Tensor) map[string]oracle.Array {
	arrays := map[string]oracle.Array{}
	for name, v := range tensors {
		arrays[name] = oracle.Array{Shape: v.Shape, Data: v.Data}
	}
	return arrays
}

// Served returns the programs of a spec that a case serves, in all types.
func Served(s *expr.Spec, c golden.Case) []*expr.Program {
	var list []*expr.Program
	for _, p := range s.Instances {
		if Serves(p, c) {
			list = append(list, p)
		}
	}
	return list
}

// Serves reports whether a case has inputs and values for a program: those of
// its choices. A case with an optional output serves the choice without it, too.
func Serves(p *expr.Program, c golden.Case) bool {
	return !slices.ContainsFunc(p.Static, func(choice expr.Choice) bool {
		given, named := c.Static[choice.Name]
		_, isOut := c.Outs[choice.Name]
		return named && given != choice.Value && !(isOut && choice.Value == "without")
	})
}
