package spec

import (
	"fmt"
	"sort"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// table reads the keys of one TOML table and remembers which it was asked for,
// so that finish can report the rest.
type table struct {
	list *diag.List
	n    *node
	name string // as in messages: "[in.x]"
	asks []string
}

func (t *table) get(key string) *node {
	t.asks = append(t.asks, key)
	return t.n.child(key)
}

// text reads an optional string.
func (t *table) text(key string) Text {
	if n := t.get(key); n != nil {
		return stringOf(t.list, n, key)
	}
	return Text{}
}

// need reads a string that must be there.
func (t *table) need(key string) Text {
	if t.n.child(key) == nil {
		t.list.Add(t.pos(), "%s lacks the key %s", t.name, key)
	}
	return t.text(key)
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

// texts reads an optional list of strings.
func (t *table) texts(key string) []Text {
	n := t.get(key)
	if n == nil {
		return nil
	}
	return stringsOf(t.list, n, key)
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

func (t *table) flag(key string) bool {
	n := t.get(key)
	if n == nil {
		return false
	}
	b, ok := n.value.(bool)
	if !ok {
		t.list.Add(n.val.Pos(), "%s must be true or false, not %s", key, describe(n))
	}
	return b
}

// value reads an optional number or bool.
func (t *table) value(key string) *Value {
	n := t.get(key)
	if n == nil {
		return nil
	}
	switch v := n.value.(type) {
	case int64:
		return &Value{Text: n.val, Kind: IntValue, Int: v}
	case float64:
		return &Value{Text: n.val, Kind: FloatValue, Float: v}
	case bool:
		return &Value{Text: n.val, Kind: BoolValue, Bool: v}
	}
	t.list.Add(n.val.Pos(), "%s must be a number or a bool, not %s", key, describe(n))
	return nil
}

// finish reports the keys that nothing asked for.
func (t *table) finish() {
	t.cases()
	for _, k := range t.n.kids {
		if contains(t.asks, k.key.Value) {
			continue
		}
		t.list.AddHint(k.key.Pos(), t.hint(k.key.Value), "unknown key %q in %s", k.key.Value, t.name)
	}
}

func contains(keys []string, key string) bool {
	for _, k := range keys {
		if k == key {
			return true
		}
	}
	return false
}

func (t *table) hint(key string) string {
	for _, k := range t.asks {
		if distance(strings.ToLower(key), k) <= 1+len(k)/5 {
			return "did you mean " + k + "?"
		}
	}
	known := append([]string(nil), t.asks...)
	sort.Strings(known)
	return "known keys: " + strings.Join(known, " ")
}

// cases refuses keys of the table that differ only in case, each with the
// place of the other.
func (t *table) cases() { refuseCases(t.list, t.n) }

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
