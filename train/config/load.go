package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/internal/tomltree"
)

// A Flag is a key as it was given on the command line.
type Flag struct{ Name, Value string }

// Load reads a file, if the path is not empty, and flags, which win over it. The error
// shows every mistake with the line that it stands in.
func Load(path string, flags []Flag) (*Config, error) {
	var data []byte
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	c, src, list := Parse(path, data, flags)
	if len(list) > 0 {
		var b strings.Builder
		if err := diag.Render(&b, list, func(string) []byte { return []byte(src.Text) }); err != nil {
			return nil, err
		}
		return nil, errors.New(strings.TrimSuffix(b.String(), "\n"))
	}
	return c, nil
}

// Parse reads the text of a file and flags. The list has all mistakes; if there are
// some, the Config is nil. The source is the text as positions count it.
func Parse(file string, data []byte, flags []Flag) (*Config, *tomltree.Source, diag.List) {
	root, src, list := tomltree.Parse(file, data)
	if root == nil {
		return nil, src, list
	}
	c := Default()
	r := &reader{c: &c, keys: c.keys(), list: list}
	r.file(root)
	// A key of the file must have a meaning in the file. If a flag takes it, that is no
	// mistake, unless the file needs flags to have any meaning.
	var idle diag.List
	alone := c.Kind != "" && c.Data.Train != ""
	if alone && len(r.list) == 0 {
		idle = r.meaning(diag.Pos.IsValid)
	}
	for _, f := range flags {
		r.flag(f)
	}
	if len(r.list) == 0 {
		r.missing(file)
	}
	if len(r.list) == 0 {
		idle = append(idle, r.meaning(func(p diag.Pos) bool { return !alone || !p.IsValid() })...)
		r.check()
	}
	r.list = append(r.list, idle...)
	if len(r.list) > 0 {
		return nil, src, r.list
	}
	return &c, src, nil
}

// reader sets the keys of a configuration and collects mistakes.
type reader struct {
	c    *Config
	keys []Key
	list diag.List
}

// file reads the keys and tables of a file.
func (r *reader) file(root *tomltree.Node) {
	root.RefuseCases(&r.list)
	for _, n := range root.Kids {
		name := n.Key.Value
		switch {
		case !r.isTable(name):
			r.entry("", n)
		case n.Kind != tomltree.Table:
			r.list.Add(n.Val.Pos(), "%s must be a table, not %s", name, n.Describe())
		default:
			n.RefuseCases(&r.list)
			for _, kid := range n.Kids {
				r.entry(name, kid)
			}
		}
	}
}

func (r *reader) isTable(name string) bool {
	return name != "" && slices.ContainsFunc(r.keys, func(k Key) bool { return k.Table == name })
}

// entry sets the key of a table, or reports that there is no such key.
func (r *reader) entry(table string, n *tomltree.Node) {
	name := n.Key.Value
	i := slices.IndexFunc(r.keys, func(k Key) bool { return k.Table == table && k.Name == name })
	if i < 0 {
		r.unknown(table, n)
		return
	}
	r.c.places[r.keys[i].path()] = n.Key.Pos()
	if err := r.keys[i].value.setNode(n); err != nil {
		r.list.Add(n.Val.Pos(), "%s %v", name, err)
	}
}

func (r *reader) unknown(table string, n *tomltree.Node) {
	name := n.Key.Value
	what := "[" + table + "]"
	if table == "" {
		what = "the file"
	}
	msg := fmt.Sprintf("unknown key %q in %s", name, what)
	if n.Kind == tomltree.Table {
		msg = fmt.Sprintf("unknown table %q", name)
	}
	r.list.AddHint(n.Key.Pos(), r.hint(table, n), "%s", msg)
}

// hint says which key was meant by an unknown one.
func (r *reader) hint(table string, n *tomltree.Node) string {
	var known []string
	for _, k := range r.keys {
		switch {
		case k.Table != table && k.Name == n.Key.Value && k.Table == "":
			return k.Name + " stands before the first table"
		case k.Table != table && k.Name == n.Key.Value:
			return k.Name + " is a key of [" + k.Table + "]"
		case k.Table == table && n.Kind != tomltree.Table:
			known = append(known, k.Name)
		}
	}
	if table == "" {
		for _, t := range Tables[1:] {
			known = append(known, t.Name)
		}
	}
	return tomltree.KeyHint(n.Key.Value, known)
}

// flag sets the key of a flag.
func (r *reader) flag(f Flag) {
	pos := diag.Pos{File: "flag -" + f.Name}
	i := slices.IndexFunc(r.keys, func(k Key) bool { return k.Name == f.Name })
	if i < 0 {
		var known []string
		for _, k := range r.keys {
			known = append(known, k.Name)
		}
		r.list.AddHint(pos, tomltree.KeyHint(f.Name, known), "there is no such flag")
		return
	}
	r.c.places[r.keys[i].path()] = pos
	if err := r.keys[i].value.setText(f.Value); err != nil {
		r.list.Add(pos, "%s %v", f.Name, err)
	}
}
