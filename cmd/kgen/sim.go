package main

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/sim"
)

type simCmd struct {
	Name     string `arg:"" optional:"" help:"Spec, or derived gradient, to run."`
	Check    bool   `help:"Compile every Metal source against the stand-in for Apple's compiler, and run nothing."`
	Bytes    bool   `help:"Count the bytes that each launch moves between device memory and threads, beside the least possible."`
	Sanitize string `default:"none" enum:"none,thread,address,undefined" help:"Watch the run for races, bad addresses or undefined behaviour: ${enum}."`
}

// Help is shown by kgen sim --help.
func (simCmd) Help() string {
	return `kgen sim --check reads every Metal source that the specs give as Apple's compiler
would. kgen sim NAME runs the kernels of one spec, every thread a fibre with real
barriers and SIMD groups, and compares what they give with the reference.
kgen sim NAME --bytes counts what they load and store. All need clang.`
}

// Run checks all Metal sources or runs one.
func (c *simCmd) Run(e *env) error {
	if c.Check == (c.Name != "") {
		return errors.New("sim: give either --check or the name of a spec")
	}
	if c.Bytes && (c.Check || c.Sanitize != "none") {
		return errors.New("sim: --bytes goes with the name of a spec alone")
	}
	_, res, err := e.compile()
	if err != nil {
		return err
	}
	switch {
	case c.Check:
		return checkShaders(e, res)
	case c.Bytes:
		return c.measure(e, res)
	}
	return c.run(e, res)
}

func checkShaders(e *env, res *gen.Result) error {
	files := res.Shaders()
	results, err := gen.CheckShaders(e.ctx, files)
	if err != nil {
		return err
	}
	bad := 0
	for _, r := range results {
		if sim.Judge(r.Findings) != sim.Accepted {
			bad++
		}
		for _, f := range r.Findings {
			fmt.Fprintln(e.stdout, sim.Place(r.Path, f.File, f.String()))
		}
	}
	if bad > 0 {
		fmt.Fprintf(e.stderr, "kgen: %d of %s not accepted\n", bad, count(len(files), "Metal source"))
		return errFindings
	}
	fmt.Fprintf(e.stdout, "%s accepted\n", count(len(files), "Metal source"))
	return nil
}

var sanitizers = map[string]sim.Sanitizer{"thread": sim.Thread, "address": sim.Address, "undefined": sim.Undefined}

func (c *simCmd) run(e *env, res *gen.Result) error {
	dir, err := sim.CacheDir()
	if err != nil {
		return err
	}
	found := false
	err = res.Simulate(e.ctx, c.Name, dir, sanitizers[c.Sanitize], func(s gen.Simulation) {
		found = found || !s.Outcome.Clean()
		printSimulation(e, s)
	})
	if err == nil && found {
		err = errFindings
	}
	return err
}

func (c *simCmd) measure(e *env, res *gen.Result) error {
	dir, err := sim.CacheDir()
	if err != nil {
		return err
	}
	return res.Measure(e.ctx, c.Name, dir, func(t *gen.Traffic) {
		fmt.Fprintf(e.stdout, "%s %s, %s: %d bytes", t.Op, t.DType, t.Extents, t.Moved())
		if t.Least > 0 {
			fmt.Fprintf(e.stdout, ", %.2f of the least possible", float64(t.Moved())/float64(t.Least))
		}
		fmt.Fprintln(e.stdout)
		for _, l := range t.Launches {
			fmt.Fprintf(e.stdout, "\t%s: %d loaded, %d stored\n", l.Function, l.Loaded, l.Stored)
		}
	})
}

func printSimulation(e *env, s gen.Simulation) {
	verdict := "agrees with the reference"
	if !s.Outcome.Clean() {
		verdict = "fails"
	}
	fmt.Fprintf(e.stdout, "%s %s: %s: %s\n", s.Op, s.DType, count(s.Outcome.Calls, "call"), verdict)
	for _, r := range s.Outcome.Reports {
		fmt.Fprintf(e.stdout, "\t%s\n", sim.Place(s.Shader, r.File, r.String()))
	}
	for _, d := range s.Outcome.Differences {
		fmt.Fprintf(e.stdout, "\t%s\n", d)
	}
}
