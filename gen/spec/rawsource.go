package spec

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/internal/tomltree"
)

// The endings of the sources of a kernel written by hand. That of the Go
// reference keeps the go command from seeing a package.
const (
	extC     = ".c"
	extMetal = ".metal"
	extCUDA  = ".cu"
	extGo    = ".go.txt"
)

// addSources reads the sources beside a spec with [raw]. C and the reference
// must be there; a target without a source has no kernels.
func (set *Set) addSources(fsys fs.FS, s *Spec) diag.List {
	var list diag.List
	for _, x := range []struct {
		ext, what string
		to        **RawSource
	}{
		{extC, "the C source", &s.Raw.C},
		{extGo, "the reference in Go", &s.Raw.Go},
		{extMetal, "", &s.Raw.Metal},
		{extCUDA, "", &s.Raw.CUDA},
	} {
		file := strings.TrimSuffix(s.File, ".toml") + x.ext
		data, err := fs.ReadFile(fsys, file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && x.what == "":
		case errors.Is(err, fs.ErrNotExist):
			list.AddHint(s.Raw.Pos, "write "+path.Base(file), "%s of a kernel with [raw] is not there: %s", x.what, file)
		case err != nil:
			list.Add(diag.Pos{File: file}, "cannot read the file: %v", cause(err))
		default:
			text, wrong := tomltree.NewSource(file, data)
			set.sources[file] = text
			if list = append(list, wrong...); len(wrong) == 0 {
				*x.to = &RawSource{File: file, Text: text.Text}
			}
		}
	}
	if r := s.Raw; r.C != nil {
		list = append(list, r.functions(r.C)...)
	}
	for _, gpu := range []*RawSource{s.Raw.Metal, s.Raw.CUDA} {
		if gpu != nil {
			list = append(list, s.Raw.functions(gpu)...)
			list = append(list, s.Raw.groups(gpu)...)
		}
	}
	return list
}

// Sources returns the sources that there are, C first.
func (r *Raw) Sources() []*RawSource {
	var list []*RawSource
	for _, s := range []*RawSource{r.C, r.Metal, r.CUDA, r.Go} {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// functions reports launches that a source has no function for, as far as a
// look at its text tells: the compiler would report a place in generated code.
func (r *Raw) functions(s *RawSource) diag.List {
	var list diag.List
	for _, l := range r.Launches {
		name := l.Name.Value
		if !regexp.MustCompile(`\b` + name + `\s*\(`).MatchString(s.Text) {
			list.AddHint(diag.Pos{File: s.File, Line: 1, Col: 1}, "or drop [raw."+name+"]", "the source has no function %s, which is launched", name)
		}
	}
	return list
}

// groups reports launches that do not say how the GPU of a source launches them.
func (r *Raw) groups(s *RawSource) diag.List {
	var list diag.List
	for _, l := range r.Launches {
		if len(l.Groups) == 0 {
			list.AddHint(l.Name.Pos(), "there is "+s.File, "[raw.%s] lacks the keys groups and threads", l.Name.Value)
		}
	}
	return list
}
