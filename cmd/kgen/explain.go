package main

import (
	"fmt"

	"github.com/kernelgen/kgen/gen"
)

type explainCmd struct {
	Name   string `arg:"" help:"Name of the spec, or of a derived gradient."`
	Target string `default:"plan" enum:"spec,plan,ir,msl,cuda,c,go,ref" help:"What to show: ${enum}."`
	DType  string `name:"dtype" help:"Storage types of the type variables, such as f16 or f32/f16; the first of the spec if left out."`
	Static string `help:"Static choices, such as nt; the first if left out."`
}

// Run prints one stage of a kernel.
func (c *explainCmd) Run(e *env) error {
	_, res, err := e.compile()
	if err != nil {
		return err
	}
	text, err := res.Explain(c.Name, gen.Stage(c.Target), c.DType, c.Static)
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	_, err = e.stdout.Write(text)
	return err
}
