package main

import (
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/spec"
)

// templates holds one spec for each family, and the sources of that which is
// written by hand, with NAME in place of its name.
//
//go:embed template
var templates embed.FS

type newKernelCmd struct {
	Kernel string `arg:"" name:"group/name" help:"Group and name of the kernel: layers/swish."`
	Family string `required:"" enum:"map,rows,cols,reduce,matmul,gather,scatter,raw" help:"What to start from: ${enum}."`
}

// Help is shown by kgen new-kernel --help.
func (newKernelCmd) Help() string {
	return `The new spec is complete: it generates, compiles and passes its generated tests
as it stands. Change it to what you need.`
}

// Run writes specs/GROUP/NAME.toml, and for the family raw the sources beside
// it. It never replaces a file.
func (c *newKernelCmd) Run(e *env) error {
	m, err := gen.Open(e.dir)
	if err != nil {
		return err
	}
	group, name, ok := strings.Cut(c.Kernel, "/")
	if !ok || !isName(group) || !isName(name) {
		return fmt.Errorf("new-kernel: %q is not GROUP/NAME with names of lower-case letters, digits and underscores", c.Kernel)
	}
	entries, err := templates.ReadDir("template")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		ext, ok := strings.CutPrefix(entry.Name(), c.Family+".")
		if !ok {
			continue
		}
		text, err := templates.ReadFile("template/" + entry.Name())
		if err != nil {
			return err
		}
		file := path.Join(gen.SpecDir, group, name+"."+ext)
		if err := writeNew(filepath.Join(m.Root, filepath.FromSlash(file)), strings.ReplaceAll(string(text), "NAME", name)); err != nil {
			return fmt.Errorf("new-kernel: %w", err)
		}
		fmt.Fprintf(e.stdout, "create %s\n", file)
	}
	fmt.Fprintf(e.stdout, "next: edit it, then run %s\n", m.Command("generate"))
	return nil
}

func isName(s string) bool { return spec.IsIdent(s) && s == strings.ToLower(s) }

// writeNew writes a file that must not exist yet.
func writeNew(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}
