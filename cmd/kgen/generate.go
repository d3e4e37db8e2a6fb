package main

import (
	"fmt"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/out"
)

type generateCmd struct {
	Path []string `arg:"" optional:"" help:"Write only the files of the groups of these specs or folders of specs, and the files that all specs share."`
}

// Help is shown by kgen generate --help.
func (generateCmd) Help() string {
	return `All specs of the module are read and checked; nothing is written when one of
them has a mistake. Files that hold the right bytes already are not touched, and
generated files that no spec gives any longer are removed.`
}

// Run writes what the specs give and prints a line for each file that changed.
func (c *generateCmd) Run(e *env) error {
	m, res, err := e.compile()
	if err != nil {
		return err
	}
	tree, files := m.Tree(), res.Files()
	if len(c.Path) > 0 {
		specs, err := m.SpecFiles(e.dir, c.Path)
		if err != nil {
			return err
		}
		tree.Partial, files = true, res.FilesOf(specs)
	}
	changes, err := tree.Apply(e.ctx, files)
	printChanges(e, changes)
	if err != nil {
		return err
	}
	for _, note := range res.Unlowered() {
		fmt.Fprintf(e.stderr, "kgen: note: %s\n", note)
	}
	fmt.Fprintf(e.stdout, "%s, %s: %s\n", count(len(res.Specs), "spec"), count(len(files), "file"), summary(changes))
	if tree.Partial {
		return c.others(e, m, res)
	}
	return nil
}

var verbs = [...]string{out.Create: "create", out.Update: "update", out.Remove: "remove"}

func printChanges(e *env, changes []out.Change) {
	for _, c := range changes {
		fmt.Fprintf(e.stdout, "%s %s\n", verbs[c.Kind], c.Path)
	}
}

// summary counts the changes by kind.
func summary(changes []out.Change) string {
	if len(changes) == 0 {
		return "up to date"
	}
	var n [len(verbs)]int
	for _, c := range changes {
		n[c.Kind]++
	}
	return fmt.Sprintf("%d created, %d updated, %d removed", n[out.Create], n[out.Update], n[out.Remove])
}

// others says how many files of specs that were not asked for are out of date.
func (c *generateCmd) others(e *env, m *gen.Module, res *gen.Result) error {
	changes, err := m.Tree().Compare(res.Files())
	if err != nil || len(changes) == 0 {
		return err
	}
	fmt.Fprintf(e.stdout, "%s of other specs out of date: run %s\n", count(len(changes), "file"), m.Command("generate"))
	return nil
}
