package main

import (
	"fmt"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/out"
)

type checkCmd struct{}

// Help is shown by kgen check --help.
func (checkCmd) Help() string {
	return `Lists files that are missing, changed or orphaned (generated once, by a spec
that is gone), and the differences of those that changed. Exits with 0 when
there is nothing to list, with 1 when there is, with 2 when it could not tell.`
}

var states = [...]string{out.Create: "missing", out.Update: "changed", out.Remove: "orphaned"}

// Run compares the disk with what the specs give.
func (checkCmd) Run(e *env) error {
	m, res, changes, err := e.compare()
	if err != nil || len(changes) == 0 {
		return err
	}
	for _, c := range changes {
		fmt.Fprintf(e.stdout, "%-8s %s\n", states[c.Kind], c.Path)
	}
	for _, c := range changes {
		if c.Kind == out.Update {
			fmt.Fprintf(e.stdout, "\n%s", c.Diff())
		}
	}
	fmt.Fprintf(e.stderr, "kgen: %s not as the specs give them (%s in all): run %s\n",
		count(len(changes), "file"), count(len(res.Files()), "file"), m.Command("generate"))
	return errFindings
}

type diffCmd struct{}

// Help is shown by kgen diff --help.
func (diffCmd) Help() string {
	return `The diff is one that patch -p1 understands. Exits with 1 when there is one.`
}

// Run prints what generate would change and nothing else.
func (diffCmd) Run(e *env) error {
	_, _, changes, err := e.compare()
	if err != nil || len(changes) == 0 {
		return err
	}
	for _, c := range changes {
		if _, err := e.stdout.Write(c.Diff()); err != nil {
			return err
		}
	}
	return errFindings
}

// compare compiles the module and returns how the disk differs from it.
func (e *env) compare() (*gen.Module, *gen.Result, []out.Change, error) {
	m, res, err := e.compile()
	if err != nil {
		return nil, nil, nil, err
	}
	changes, err := m.Tree().Compare(res.Files())
	return m, res, changes, err
}
