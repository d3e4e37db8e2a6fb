package spec

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/internal/tomltree"
)

// Load reads all files GROUP/NAME.toml below dir of fsys, in order of their
// paths, and the sources beside those with [raw]. It reports one syntax error
// for each file, and every other mistake of every file; the Set holds all files
// that are valid TOML. Other files are left alone, hidden ones included.
func Load(fsys fs.FS, dir string) (*Set, diag.List) {
	set := &Set{sources: map[string]*tomltree.Source{}}
	files, list := findFiles(fsys, dir)
	for _, f := range files {
		src, err := fs.ReadFile(fsys, f)
		if err != nil {
			list.Add(diag.Pos{File: f}, "cannot read the file: %v", cause(err))
			continue
		}
		list = append(list, set.add(f, src)...)
	}
	for _, s := range set.Specs {
		if s.Raw != nil {
			list = append(list, set.addSources(fsys, s)...)
		}
	}
	if len(files) == 0 && len(list) == 0 {
		list.AddHint(diag.Pos{File: dir}, "put a kernel into "+path.Join(dir, "GROUP", "NAME.toml"),
			"no specs: the folder holds no .toml file")
	}
	return set, append(list, checkNames(set.Specs)...)
}

func findFiles(fsys fs.FS, dir string) ([]string, diag.List) {
	var files []string
	var list diag.List
	err := fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			list.Add(diag.Pos{File: p}, "cannot read specs: %v", cause(err))
			return nil
		case p != dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && strings.EqualFold(path.Ext(p), ".toml"):
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		list.Add(diag.Pos{File: dir}, "cannot read specs: %v", cause(err))
	}
	slices.Sort(files)
	return slices.DeleteFunc(files, func(f string) bool { return !checkPath(&list, dir, f) }), list
}

// cause leaves out the path that the diagnostic already shows.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func checkPath(list *diag.List, dir, file string) bool {
	pos := diag.Pos{File: file, Line: 1, Col: 1}
	group, base := path.Split(strings.TrimPrefix(strings.TrimPrefix(file, dir), "/"))
	group = strings.TrimSuffix(group, "/")
	name, ext := strings.TrimSuffix(base, path.Ext(base)), path.Ext(base)
	n := len(*list)
	switch {
	case group == "" || strings.Contains(group, "/"):
		list.AddHint(pos, "move it to "+path.Join(dir, "GROUP", base), "a spec must lie in a folder of %s, its group", dir)
	case !isLowerIdent(group):
		list.Add(pos, "the folder name %q is no lower-case identifier, so it cannot name a group", group)
	}
	switch {
	case ext != ".toml":
		list.Add(pos, "the file name ends in %s, not in .toml", ext)
	case !isLowerIdent(name):
		list.Add(pos, "the file name %q is no lower-case identifier, so it cannot name a spec", name)
	}
	return len(*list) == n
}

// Parse reads one spec file; its path names spec and group. The Spec is nil
// when the text is not valid TOML; else it holds what is right in the file.
func Parse(file string, src []byte) (*Spec, diag.List) {
	s, _, list := parse(file, src)
	return s, list
}

// ParseSet reads one spec file into a set of its own.
func ParseSet(file string, src []byte) (*Set, diag.List) {
	set := &Set{sources: map[string]*tomltree.Source{}}
	list := set.add(file, src)
	return set, append(list, checkNames(set.Specs)...)
}

func (set *Set) add(file string, src []byte) diag.List {
	s, text, list := parse(file, src)
	set.sources[file] = text
	if s == nil {
		set.Broken = append(set.Broken, specName(file))
	} else {
		set.Specs = append(set.Specs, s)
	}
	return list
}

func specName(file string) string { return strings.TrimSuffix(path.Base(file), ".toml") }

func parse(file string, src []byte) (*Spec, *tomltree.Source, diag.List) {
	root, text, list := tomltree.Parse(file, src)
	if root == nil {
		return nil, text, list
	}
	group := path.Base(path.Dir(file))
	s := &Spec{File: file, Group: group, Name: specName(file)}
	d := &decoder{spec: s}
	d.file(root)
	return s, text, d.list
}
