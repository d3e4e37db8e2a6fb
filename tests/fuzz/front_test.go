//go:build proof

package fuzz

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/backward"
	"github.com/kernelgen/kgen/gen/spec"
)

// checked runs a spec's text through the front end.
func checked(text string) (*expr.Spec, error) {
	set, list := spec.ParseSet("specs/fuzz/drawn.toml", []byte(text))
	specs, wrong := expr.Check(set)
	if err := append(list, wrong...).Err(); err != nil {
		return nil, err
	}
	return specs[0], nil
}

// subject is a program that is compiled: an instance of a spec, or the gradient
// of one.
type subject struct {
	forward *expr.Program
	grad    *grad.Result // nil for the instance itself
	program *expr.Program
	bound   *bind.Result
}

// subjects compiles what a spec's text gives. The name makes its symbols its
// own. The error says which stage has failed that must not; a program that a
// lowering refuses is left without kernels.
func subjects(text, name string) (list []*subject, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, frames(string(debug.Stack())))
		}
	}()
	s, err := checked(text)
	if err != nil {
		return nil, err
	}
	for i, p := range s.Instances {
		list = append(list, &subject{forward: p, program: p})
		if s.Grad == nil {
			continue
		}
		g, wrong := grad.Derive(p, grad.Decl{Wrt: s.Grad.Wrt, From: s.Grad.From})
		if err := wrong.Err(); err != nil {
			return nil, fmt.Errorf("gradient of instance %d: %w", i, err)
		}
		list = append(list, &subject{forward: p, program: g.Program, grad: g})
	}
	for i, s := range list {
		if err := expr.Verify(s.program); err != nil {
			return nil, fmt.Errorf("%s: %w", s.program.Name, err)
		}
		s.bound, err = bind.Bind(bind.Input{
			ImportPath: fmt.Sprintf("example.com/%s/%d", name, i), Programs: []*expr.Program{s.program},
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// frames keeps the places of a stack inside the compiler, the innermost few.
func frames(stack string) string {
	var list []string
	for line := range strings.Lines(stack) {
		if _, place, ok := strings.Cut(strings.TrimSpace(line), "/gen/"); ok && strings.HasPrefix(line, "\t") && len(list) < 5 {
			list = append(list, "gen/"+place)
		}
	}
	return strings.Join(list, "\n")
}

// call returns the call of the subject that belongs to a forward call.
func (s *subject) call(forward oracle.Call, data uint64) (oracle.Call, error) {
	if s.grad == nil {
		return forward, nil
	}
	res, err := oracle.Run(s.forward, forward)
	if err != nil {
		return forward, err
	}
	rng := rand.New(rand.NewPCG(data, 0xC07A))
	cotangents := map[string]oracle.Array{}
	for i, t := range s.forward.Outs {
		c := oracle.NewArray(res.Outs[i].Shape...)
		for j := range c.Data {
			c.Data[j] = oracle.Round(float64(rng.IntN(65)-32)/16, t.Type)
		}
		cotangents[t.Name] = c
	}
	return backward.Call(s.grad, s.forward, forward, res, cotangents), nil
}
