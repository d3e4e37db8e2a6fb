package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/kernelgen/kgen/gen/bench"
)

type benchCmd struct {
	Names   []string `arg:"" optional:"" name:"name" help:"Specs, or derived gradients, to measure; all if left out."`
	JSON    bool     `name:"json" help:"Print a JSON array, with seconds, bytes and float operations in plain numbers."`
	Threads int      `help:"Threads that share the work of a kernel; those of the machine if left out."`
}

// Help is shown by kgen bench --help.
func (benchCmd) Help() string {
	return `Measures the generated C kernels on this machine: every kernel and gradient, in
each element type, at a size that stays in the cache and at one that does not.

A kernel that moves memory is compared with memcpy, a matrix product with what the
processor can do in multiply-adds. Both are measured in the same run, with the
same number of threads and, for memcpy, as much memory in use. The column "of"
says which, SHARE how near the kernel comes to it. Bytes count every argument
once, read or written: what a perfect kernel would move, so a kernel that computes
much or reads its inputs twice has a small share.

The program that measures is built inside the module and removed at the end.`
}

// Run measures kernels and prints a row for each.
func (c *benchCmd) Run(e *env) error {
	m, res, err := e.compile()
	if err != nil {
		return err
	}
	cases, err := res.BenchCases(c.Names)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	o := bench.Options{Threads: c.Threads, Seconds: 0.2}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Threads < 1 || o.Threads > mostThreads {
		return fmt.Errorf("bench: %d threads, must be in [1, %d]", o.Threads, mostThreads)
	}
	if c.JSON {
		list := []bench.Measurement{}
		err := m.Bench(e.ctx, res, cases, o, func(m bench.Measurement) error {
			list = append(list, m)
			return nil
		})
		if err != nil {
			return err
		}
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	return m.Bench(e.ctx, res, cases, o, newBenchTable(e, cases))
}

// mostThreads is what the program that measures has room for.
const mostThreads = 256

// newBenchTable prints the head of a table and returns what prints its rows, one
// by one as they are measured.
func newBenchTable(e *env, cases []bench.Case) func(bench.Measurement) error {
	name, dtype, size := len("NAME"), len("DTYPE"), len("SIZE")
	for _, c := range cases {
		name = max(name, len(label(c.Op, c.Static)))
		dtype = max(dtype, len(orDash(c.DType)))
		size = max(size, len(c.Size()))
	}
	row := func(cells ...any) error {
		_, err := fmt.Fprintf(e.stdout, "%-*s  %-*s  %-*s  %11s  %9s  %9s  %9s  %9s  %7s  %s\n",
			append([]any{name, cells[0], dtype, cells[1], size}, cells[2:]...)...)
		return err
	}
	headed := false
	return func(m bench.Measurement) error {
		if !headed {
			headed = true
			if err := row("NAME", "DTYPE", "SIZE", "TIME[µs]", "MB", "MFLOP", "GB/s", "GFLOP/s", "SHARE", "OF"); err != nil {
				return err
			}
		}
		return row(label(m.Name, m.Static), orDash(m.DType), m.Size(),
			fmt.Sprintf("%.1f", 1e6*m.Seconds), fmt.Sprintf("%.2f", 1e-6*float64(m.Bytes)), fmt.Sprintf("%.2f", 1e-6*float64(m.Flops)),
			fmt.Sprintf("%.1f", 1e-9*float64(m.Bytes)/m.Seconds), fmt.Sprintf("%.1f", 1e-9*float64(m.Flops)/m.Seconds),
			fmt.Sprintf("%.0f %%", 100*m.Share), m.Limit)
	}
}

// label names an op with its static choices.
func label(name, static string) string {
	if static == "" {
		return name
	}
	return name + " " + static
}
