package main

import (
	"fmt"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/diag"
)

// compile opens the module that e was started in and compiles its specs. The
// mistakes in them, if any, are printed and end the command.
func (e *env) compile() (*gen.Module, *gen.Result, error) {
	m, err := gen.Open(e.dir)
	if err != nil {
		return nil, nil, err
	}
	res, mistakes, err := m.Compile()
	if err != nil {
		return nil, nil, err
	}
	if len(mistakes) > 0 {
		return nil, nil, e.report(mistakes, res)
	}
	return m, res, nil
}

// report prints mistakes with their source lines.
func (e *env) report(mistakes diag.List, res *gen.Result) error {
	mistakes = mistakes.Sorted()
	if err := diag.Render(e.stderr, mistakes, res.Source); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "kgen: %s in %s: nothing was written\n", count(len(mistakes), "mistake"), gen.SpecDir)
	return errFindings
}

// count formats a number of things: 1 file, 2 files.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
