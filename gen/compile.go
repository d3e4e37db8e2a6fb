package gen

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/out"
	"github.com/kernelgen/kgen/gen/spec"
)

// Result is a compiled module.
type Result struct {
	Specs    []*Spec // in the order of their paths
	fusions  []*fusion
	internal []*Spec    // what generated code needs beside them
	shared   []out.File // files that all specs give together
	source   func(file string) []byte
	module   *Module
}

// Spec is one spec with what the stages made of it.
type Spec struct {
	*expr.Spec
	Hash  uint64 // of the spec and of the specs that it inlines
	Ops   []*Op
	Files []out.File

	internal   bool   // part of the generator
	refPackage string // name of the package of a reference written by hand
}

// Source returns the text of a spec file, as positions count it; nil for any
// other file.
func (r *Result) Source(file string) []byte { return r.source(file) }

// Files returns every file that the module's specs give.
func (r *Result) Files() []out.File {
	files := r.sharedFiles()
	for _, s := range r.Specs {
		files = append(files, s.Files...)
	}
	return files
}

// sharedFiles returns the files that belong to no single spec.
func (r *Result) sharedFiles() []out.File {
	files := slices.Clone(r.shared)
	for _, s := range r.internal {
		files = append(files, s.Files...)
	}
	return files
}

// FilesOf returns the files that the specs at the given paths give, or those
// below them where a path is a folder, those of the other specs of their groups,
// which may run C functions of theirs, and the files that all specs share.
func (r *Result) FilesOf(paths []string) []out.File {
	var groups []string
	for _, s := range r.Specs {
		if slices.ContainsFunc(paths, func(p string) bool { return p == s.File || strings.HasPrefix(s.File, p+"/") }) {
			groups = append(groups, s.Group)
		}
	}
	files := r.sharedFiles()
	for _, s := range r.Specs {
		if slices.Contains(groups, s.Group) {
			files = append(files, s.Files...)
		}
	}
	return files
}

// Compile reads and checks every spec of the module and renders every file that
// they give. Mistakes in specs are in the list, all of them; then there are no
// files, and the Result serves to show the source lines. The error is for what
// kept Compile from reading the specs at all.
func (m *Module) Compile() (*Result, diag.List, error) {
	root := os.DirFS(m.Root)
	if err := hasSpecs(root); err != nil {
		return nil, nil, err
	}
	set, list := spec.Load(root, SpecDir)
	if len(set.Specs) == 0 && len(set.Broken) == 0 && !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Pos.IsValid() }) {
		return nil, nil, list.Err()
	}
	res := &Result{source: set.Source, module: m}
	checked, wrong := expr.Check(set)
	list = append(list, wrong...)
	res.Specs = make([]*Spec, len(checked))
	wrongs := make([]diag.List, len(checked))
	each(len(checked), func(i int) { res.Specs[i], wrongs[i] = newSpec(set, checked[i]) })
	for _, wrong := range wrongs {
		list = append(list, wrong...)
	}
	list = append(list, linkGradients(res.Specs, set.Has)...)
	list = append(list, checkNames(res.Specs)...)
	if len(list) == 0 {
		res.fusions, wrong = fusions(res.Specs, set)
		list = append(list, wrong...)
	}
	wrong, err := m.bindAll(res.Specs, func(file string) diag.Pos { return familyPos(set, file) })
	if list = append(list, wrong...); len(list) > 0 {
		return res, list, nil
	}
	if err == nil {
		err = m.addInternal(res)
	}
	if err == nil {
		err = m.render(res)
	}
	return res, nil, err
}

// addInternal adds what generated code needs beside the module's own specs: the
// sum of cotangents, where there are gradients.
func (m *Module) addInternal(res *Result) error {
	if !slices.ContainsFunc(res.Specs, func(s *Spec) bool { return s.Grad != nil }) {
		return nil
	}
	s, err := accumulate()
	if err != nil {
		return err
	}
	res.internal = append(res.internal, s)
	_, err = m.bindAll(res.internal, func(file string) diag.Pos { return diag.Pos{File: file} })
	return err
}

// hasSpecs returns an error when the module has no folder for specs, or none
// in it.
func hasSpecs(root fs.FS) error {
	info, err := fs.Stat(root, SpecDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the module has no folder %s: kgen new-kernel GROUP/NAME --family map makes a first spec", SpecDir)
	case err != nil:
		return fmt.Errorf("%s: %w", SpecDir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", SpecDir)
	}
	return nil
}

func newSpec(set *spec.Set, s *expr.Spec) (*Spec, diag.List) {
	c := &Spec{Spec: s, Hash: hashOf(set, s)}
	var list diag.List
	c.Ops, list = opsOf(s, gradPos(set, s.File))
	return c, append(list, c.checkRaw()...)
}

// gradPos returns where the file declares its gradient.
func gradPos(set *spec.Set, file string) diag.Pos {
	for _, s := range set.Specs {
		if s.File == file && s.Grad != nil {
			return s.Grad.Pos
		}
	}
	return diag.Pos{File: file, Line: 1, Col: 1}
}

// familyPos returns where the file pins its family.
func familyPos(set *spec.Set, file string) diag.Pos {
	for _, s := range set.Specs {
		if s.File == file && s.Family.IsSet() {
			return s.Family.Pos()
		}
	}
	return diag.Pos{File: file, Line: 1, Col: 1}
}

// hashOf returns the first eight bytes of the SHA-256 of the spec's text, of the
// texts of the specs that it inlines, in the order of their paths, and of its
// sources that are written by hand.
func hashOf(set *spec.Set, s *expr.Spec) uint64 {
	h := sha256.New()
	for _, file := range filesOf(s) {
		text := set.Source(file)
		fmt.Fprintf(h, "%s %d\n", file, len(text))
		h.Write(text)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// filesOf returns the files that the programs of s come from.
func filesOf(s *expr.Spec) []string {
	files := []string{s.File}
	for _, p := range s.Instances {
		for _, step := range p.Steps {
			expr.Walk(step.Expr, func(e expr.Expr) bool {
				if f := e.Pos().File; f != "" && !slices.Contains(files, f) {
					files = append(files, f)
				}
				return true
			})
		}
	}
	slices.Sort(files[1:])
	if s.Raw != nil {
		for _, src := range s.Raw.Sources() {
			files = append(files, src.File)
		}
	}
	return files
}
