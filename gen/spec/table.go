package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// table reads the keys of one TOML table.
type table struct {
	list  *diag.List
	n     *node
	name  string // as in messages: "[in.x]"
	keys  []key
	isRaw bool // the file has [raw]
}

// get returns the value of a key that has one, and reports one that is missing.
// It panics if the table has no such key of that kind, so that whatever is read
// stands in keys.go, and so in the schema.
func (t *table) get(name string, k kind) (*node, key) {
	i := slices.IndexFunc(t.keys, func(x key) bool { return x.name == name && x.kind == k })
	if i < 0 {
		panic(fmt.Sprintf("spec: %s has no key %s of kind %d", t.name, name, k))
	}
	n := t.n.child(name)
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
	if t.n.key.IsSet() {
		return t.n.key.Pos()
	}
	return t.n.val.Pos()
}

func stringOf(list *diag.List, n *node, what string) Text {
	if n.kind != stringNode {
		list.Add(n.val.Pos(), "%s must be a string, not %s", what, describe(n))
		return Text{}
	}
	return n.val
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
func (k key) texts(list *diag.List, n *node, what string) []Text {
	all := stringsOf(list, n, what)
	var texts []Text
	for _, v := range all {
		if v = k.word(list, v); v.IsSet() {
			texts = append(texts, v)
		}
	}
	return texts
}

func stringsOf(list *diag.List, n *node, what string) []Text {
	if n.kind != arrayNode {
		list.Add(n.val.Pos(), "%s must be a list of strings, not %s", what, describe(n))
		return nil
	}
	var texts []Text
	seen := map[string]bool{}
	for _, e := range n.kids {
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
	if len(n.kids) == 0 {
		list.Add(n.val.Pos(), "%s is an empty list", what)
	}
	return texts
}

func (t *table) flag(name string) bool {
	n, _ := t.get(name, flagKind)
	if n == nil {
		return false
	}
	b, ok := n.value.(bool)
	if !ok {
		t.list.Add(n.val.Pos(), "%s must be true or false, not %s", name, describe(n))
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

func valueOf(list *diag.List, n *node, what string) *Value {
	switch v := n.value.(type) {
	case int64:
		return &Value{Text: n.val, Kind: IntValue, Int: v}
	case float64:
		return &Value{Text: n.val, Kind: FloatValue, Float: v}
	case bool:
		return &Value{Text: n.val, Kind: BoolValue, Bool: v}
	}
	list.Add(n.val.Pos(), "%s must be a number or a bool, not %s", what, describe(n))
	return nil
}

// finish reports keys that the table does not have, and those without the key
// that they go with.
func (t *table) finish() {
	refuseCases(t.list, t.n)
	for _, n := range t.n.kids {
		name := n.key.Value
		i := slices.IndexFunc(t.keys, func(k key) bool { return k.name == name })
		switch {
		case i < 0:
			t.list.AddHint(n.key.Pos(), t.hint(name), "unknown key %q in %s", name, t.name)
		case t.keys[i].with != "" && t.n.child(t.keys[i].with) == nil:
			t.list.Add(n.key.Pos(), "%s has the key %s but not %s", t.name, name, t.keys[i].with)
		}
	}
}

// hint says which key was meant, or which keys there are.
func (t *table) hint(name string) string {
	var known []string
	for _, k := range t.keys {
		if distance(strings.ToLower(name), k.name) <= 1+len(k.name)/5 {
			return "did you mean " + k.name + "?"
		}
		known = append(known, k.name)
	}
	slices.Sort(known)
	return "known keys: " + strings.Join(known, " ")
}

// refuseCases refuses keys of a table that differ only in case, each with the
// place of the other.
func refuseCases(list *diag.List, n *node) {
	for i, a := range n.kids {
		for _, b := range n.kids[:i] {
			if a.key.Value != b.key.Value && strings.EqualFold(a.key.Value, b.key.Value) {
				differ(list, b.key, a.key)
				differ(list, a.key, b.key)
			}
		}
	}
}

func differ(list *diag.List, a, b Text) {
	list.Add(a.Pos(), "the keys %q here and %q at %s differ only in case", a.Value, b.Value, b.Pos())
}

// describe names the TOML type of a node for messages.
func describe(n *node) string {
	switch n.value.(type) {
	case string:
		return fmt.Sprintf("the string %q", n.val.Value)
	case int64:
		return "the integer " + n.val.Value
	case float64:
		return "the float " + n.val.Value
	case bool:
		return "the bool " + n.val.Value
	case map[string]any:
		return "a table"
	}
	if n.kind == arrayNode {
		return "a list"
	}
	return "the date " + n.val.Value
}

// distance is the edit distance of two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0]++
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
