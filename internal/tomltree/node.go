package tomltree

import (
	"fmt"
	"math"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// Kind is what a node stands for.
type Kind uint8

// The kinds of nodes.
const (
	Table Kind = iota
	Array
	String
	Scalar // a number, a bool or a date
)

// Node is a key or an array element with its value and their places.
type Node struct {
	Kind Kind
	Key  Text    // where the key first stands; unset for array elements and the root
	Val  Text    // string: the value; scalar: the literal; else only the place
	Kids []*Node // entries of a table or elements of an array, in the order of the file
	Data any     // what the TOML library read here
}

// Child returns the entry with the given key, or nil.
func (n *Node) Child(key string) *Node {
	for _, k := range n.Kids {
		if k.Key.Value == key {
			return k
		}
	}
	return nil
}

// Describe names the TOML type of a node for messages.
func (n *Node) Describe() string {
	switch n.Data.(type) {
	case string:
		return fmt.Sprintf("the string %q", n.Val.Value)
	case int64:
		return "the integer " + n.Val.Value
	case float64:
		return "the float " + n.Val.Value
	case bool:
		return "the bool " + n.Val.Value
	case map[string]any:
		return "a table"
	}
	if n.Kind == Array {
		return "a list"
	}
	return "the date " + n.Val.Value
}

// RefuseCases reports keys of a table that differ only in case, each with the place of
// the other.
func (n *Node) RefuseCases(list *diag.List) {
	for i, a := range n.Kids {
		for _, b := range n.Kids[:i] {
			if a.Key.Value != b.Key.Value && strings.EqualFold(a.Key.Value, b.Key.Value) {
				differ(list, b.Key, a.Key)
				differ(list, a.Key, b.Key)
			}
		}
	}
}

func differ(list *diag.List, a, b Text) {
	list.Add(a.Pos(), "the keys %q here and %q at %s differ only in case", a.Value, b.Value, b.Pos())
}

// KeyHint says which of the known keys, the nearest, was meant by an unknown one, or which
// there are. known is in the order in which a reader would look for them.
func KeyHint(name string, known []string) string {
	nearest, least := "", math.MaxInt
	for _, k := range known {
		if n := distance(strings.ToLower(name), k); n <= 1+len(k)/5 && n < least {
			nearest, least = k, n
		}
	}
	if nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return "known keys: " + strings.Join(known, " ")
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
