package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kernelgen/kgen/gen/out"
)

// The directories of a module that hold specs and generated files.
const (
	SpecDir   = "specs"
	opsDir    = "generated/ops"
	shaderDir = "msl"
)

// schemaFile describes spec files to editors.
const schemaFile = SpecDir + "/schema.json"

// toolPath is the import path of the command, as a tool line of go.mod names it.
const toolPath = "github.com/kernelgen/kgen/cmd/kgen"

// Module is a Go module whose specs are compiled.
type Module struct {
	Root string // directory of go.mod
	Path string // module path
	// HasTool says that go.mod names kgen as a tool of the module, so that
	// `go tool kgen` runs it.
	HasTool bool
}

// Open returns the module that holds dir, which may lie anywhere below the
// module's root or be a link to such a place.
func Open(dir string) (*Module, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, ok := findRoot(abs)
	if !ok {
		// The directory may be a link into a module.
		real, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return nil, err
		}
		if root, ok = findRoot(real); !ok {
			return nil, fmt.Errorf("no go.mod in %s or above it: run kgen inside a Go module", abs)
		}
	}
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	mod := parseGoMod(string(data))
	if mod.path == "" {
		return nil, fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
	}
	return &Module{Root: root, Path: mod.path, HasTool: mod.hasTool}, nil
}

// findRoot returns the nearest directory at or above dir that holds a go.mod.
func findRoot(dir string) (string, bool) {
	for {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// OpsPath returns the import path of the generated Go package.
func (m *Module) OpsPath() string { return m.Path + "/" + opsDir }

// Tree returns what of the module belongs to the generator.
func (m *Module) Tree() out.Tree {
	return out.Tree{Root: m.Root, Owned: []string{"generated", shaderDir}, Files: []string{schemaFile}}
}

// Command returns how the module runs the given kgen command.
func (m *Module) Command(name string) string {
	if m.HasTool {
		return "go tool kgen " + name
	}
	return "kgen " + name
}

// SpecFiles resolves paths given on a command line, relative to dir, to slash
// paths below the module's spec directory. Each must be a spec file, or a
// folder that holds some.
func (m *Module) SpecFiles(dir string, paths []string) ([]string, error) {
	var list []string
	var errs []error
	for _, p := range paths {
		rel, err := m.specFile(dir, p)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p, err))
			continue
		}
		list = append(list, rel)
	}
	return list, errors.Join(errs...)
}

func (m *Module) specFile(dir, p string) (string, error) {
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	if _, err := os.Stat(p); err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return "", err
	}
	for _, root := range []string{m.Root, real(m.Root)} {
		for _, name := range []string{filepath.Clean(p), real(p)} {
			rel, err := filepath.Rel(root, name)
			rel = filepath.ToSlash(rel)
			if err == nil && (rel == SpecDir || strings.HasPrefix(rel, SpecDir+"/")) {
				return rel, nil
			}
		}
	}
	return "", fmt.Errorf("is not below the module's folder %s", SpecDir)
}

// real returns name with its links followed, where that can be done.
func real(name string) string {
	if r, err := filepath.EvalSymlinks(name); err == nil {
		return r
	}
	return name
}
