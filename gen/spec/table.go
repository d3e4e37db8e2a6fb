package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/internal/tomltree"
)

// table reads the keys of one TOML table.
type table struct {
	list  *diag.List
	n     *tomltree.Node
	name  string // as in messages: "[in.x]"
	keys  []key
	isRaw bool // the file has [raw]
}

// get returns the value of a key that has one, and reports one that is missing.
// It panics if the table has no such key of that kind, so that whatever is read
// stands in keys.go, and so in the schema.
func (t *table) get(name string, k kind) (*tomltree.Node, key) {
	i := slices.IndexFunc(t.keys, func(x key) bool { return x.name == name && x.kind == k })
	if i < 0 {
		panic(fmt.Sprintf("spec: %s has no key %s of kind %d", t.name, name, k))
	}
	n := t.n.Child(name)
	if n == nil && t.needs(t.keys[i]) {
		hint := ""
		if k == shapeKind {
			hint = `a device scalar has shape = ""`
		}
		t.list.AddHint(t.pos(), hint, "%s lacks the key %s", t.name, name)
	}
	return n, t.keys[i]
}

func (t *table) needs(k key) bool { return k.need == always || k.need == unlessRaw && !t.isRaw }

// text reads a string. One that is none of the words that it may be is reported
// and not set.
func (t *table) text(name string) Text {
	n, k := t.get(name, textKind)
	if n == nil {
		return Text{}
	}
	return k.word(t.list, stringOf(t.list, n, name))
}

// word reports a text that is none of the words of the key.
func (k key) word(list *diag.List, v Text) Text {
	if k.words == nil || !v.IsSet() || slices.Contains(k.words, v.Value) {
		return v
	}
	list.AddHint(v.Pos(), "one of "+strings.Join(k.words, " "), "unknown %s %q", k.what, v.Value)
	return Text{}
}

// pos returns where the table is named.
func (t *table) pos() diag.Pos {
	if t.n.Key.IsSet() {
		return t.n.Key.Pos()
	}
	return t.n.Val.Pos()
}

func stringOf(list *diag.List, n *tomltree.Node, what string) Text {
	if n.Kind != tomltree.String {
		list.Add(n.Val.Pos(), "%s must be a string, not %s", what, n.Describe())
		return Text{}
	}
	return n.Val
}

// texts reads a list of strings.
func (t *table) texts(name string) []Text {
	n, k := t.get(name, textsKind)
	if n == nil {
		return nil
	}
	return k.texts(t.list, n, name)
}

// texts reads the list of strings n.
func (k key) texts(list *diag.List, n *tomltree.Node, what string) []Text {
	all := stringsOf(list, n, what)
	var texts []Text
	for _, v := range all {
		if v = k.word(list, v); v.IsSet() {
			texts = append(texts, v)
		}
	}
	return texts
}

func stringsOf(list *diag.List, n *tomltree.Node, what string) []Text {
	if n.Kind != tomltree.Array {
		list.Add(n.Val.Pos(), "%s must be a list of strings, not %s", what, n.Describe())
		return nil
	}
	var texts []Text
	seen := map[string]bool{}
	for _, e := range n.Kids {
		v := stringOf(list, e, "an element of "+what)
		if !v.IsSet() {
			continue
		}
		if seen[v.Value] {
			list.Add(v.Pos(), "%s holds %q twice", what, v.Value)
			continue
		}
		seen[v.Value] = true
		texts = append(texts, v)
	}
	if len(n.Kids) == 0 {
		list.Add(n.Val.Pos(), "%s is an empty list", what)
	}
	return texts
}

func (t *table) flag(name string) bool {
	n, _ := t.get(name, flagKind)
	if n == nil {
		return false
	}
	b, ok := n.Data.(bool)
	if !ok {
		t.list.Add(n.Val.Pos(), "%s must be true or false, not %s", name, n.Describe())
	}
	return b
}

// value reads a number or a bool.
func (t *table) value(name string) *Value {
	n, _ := t.get(name, valueKind)
	if n == nil {
		return nil
	}
	return valueOf(t.list, n, name)
}

// whole reads an integer between the limits of its key.
func (t *table) whole(name string) *Value {
	n, k := t.get(name, wholeKind)
	if n == nil {
		return nil
	}
	v := valueOf(t.list, n, name)
	if v == nil {
		return nil
	}
	if _, err := v.AsInt(k.lo, k.hi); err != nil {
		t.list.Add(v.Pos(), "%s: %v", name, err)
		return nil
	}
	return v
}

func valueOf(list *diag.List, n *tomltree.Node, what string) *Value {
	switch v := n.Data.(type) {
	case int64:
		return &Value{Text: n.Val, Kind: IntValue, Int: v}
	case float64:
		return &Value{Text: n.Val, Kind: FloatValue, Float: v}
	case bool:
		return &Value{Text: n.Val, Kind: BoolValue, Bool: v}
	}
	list.Add(n.Val.Pos(), "%s must be a number or a bool, not %s", what, n.Describe())
	return nil
}

// finish reports keys that the table does not have, and those without the key
// that they go with.
func (t *table) finish() {
	t.n.RefuseCases(t.list)
	for _, n := range t.n.Kids {
		name := n.Key.Value
		i := slices.IndexFunc(t.keys, func(k key) bool { return k.name == name })
		switch {
		case i < 0:
			t.list.AddHint(n.Key.Pos(), t.hint(name), "unknown key %q in %s", name, t.name)
		case t.keys[i].with != "" && t.n.Child(t.keys[i].with) == nil:
			t.list.Add(n.Key.Pos(), "%s has the key %s but not %s", t.name, name, t.keys[i].with)
		}
	}
}

// hint says which key was meant, or which keys there are.
func (t *table) hint(name string) string {
	var known []string
	for _, k := range t.keys {
		known = append(known, k.name)
	}
	slices.Sort(known)
	return tomltree.KeyHint(name, known)
}
