package spec

import (
	"errors"
	"fmt"
	"strings"
)

// nodeKind is what a node of the index stands for.
type nodeKind uint8

const (
	tableNode nodeKind = iota
	arrayNode
	stringNode
	scalarNode // a number, a bool or a date
)

// node is a key or an array element with its value and their places. Kids are
// the entries of a table or the elements of an array in the order of the file.
type node struct {
	kind nodeKind
	key  Text // where the key first stands; unset for array elements and the root
	val  Text // string: the value; scalar: the literal; else only the place
	kids []*node
	// value is what the TOML library read here (see attach).
	value any
}

// child returns the entry with the given key, or nil.
func (n *node) child(key string) *node {
	for _, k := range n.kids {
		if k.key.Value == key {
			return k
		}
	}
	return nil
}

// indexer scans a TOML file that the TOML library has found to be valid and
// records where keys and values stand. What it would have to refuse it reports
// as an error and leaves to the library to explain.
type indexer struct {
	src *source
	s   string
	i   int
	err error
}

var errIndex = errors.New("not valid TOML")

// buildIndex returns the tree of keys and values of src.
func buildIndex(src *source) (*node, error) {
	x := &indexer{src: src, s: src.text}
	root := &node{kind: tableNode, val: Text{src: src}}
	table := root
	for {
		x.skip(true)
		switch {
		case x.err != nil:
			return nil, x.err
		case x.i >= len(x.s):
			return root, nil
		case x.s[x.i] == '[':
			table = x.header(root)
		default:
			x.entry(table)
		}
		x.lineEnd()
	}
}

func (x *indexer) fail(what string) {
	if x.err == nil {
		x.err = fmt.Errorf("%s: %w: %s", x.src.pos(min(x.i, len(x.s))), errIndex, what)
	}
	x.i = len(x.s)
}

func (x *indexer) has(prefix string) bool { return strings.HasPrefix(x.s[x.i:], prefix) }

// skip passes blanks and comments, and line ends where lines is set.
func (x *indexer) skip(lines bool) {
	for x.i < len(x.s) {
		switch c := x.s[x.i]; {
		case c == ' ' || c == '\t' || lines && c == '\n':
			x.i++
		case c == '#' && lines:
			x.comment()
		default:
			return
		}
	}
}

func (x *indexer) comment() {
	if n := strings.IndexByte(x.s[x.i:], '\n'); n >= 0 {
		x.i += n
		return
	}
	x.i = len(x.s)
}

func (x *indexer) lineEnd() {
	x.skip(false)
	if x.i < len(x.s) && x.s[x.i] == '#' {
		x.comment()
	}
	if x.i < len(x.s) && x.s[x.i] != '\n' {
		x.fail("more after the value")
	}
}

func (x *indexer) expect(c byte) {
	if x.i >= len(x.s) || x.s[x.i] != c {
		x.fail("expected " + string(c))
		return
	}
	x.i++
}

// header reads [a.b] or [[a.b]] and returns the table that it opens.
func (x *indexer) header(root *node) *node {
	list := x.has("[[")
	x.i++
	if list {
		x.i++
	}
	keys := x.keys()
	x.expect(']')
	if list {
		x.expect(']')
	}
	if x.err != nil {
		return root
	}
	table := descend(root, keys[:len(keys)-1])
	last := keys[len(keys)-1]
	if !list {
		return enter(table, last)
	}
	array := table.child(last.Value)
	if array == nil {
		array = &node{kind: arrayNode, key: last, val: last}
		table.kids = append(table.kids, array)
	}
	elem := &node{kind: tableNode, val: last}
	array.kids = append(array.kids, elem)
	return elem
}

func descend(table *node, keys []Text) *node {
	for _, k := range keys {
		table = enter(table, k)
	}
	return table
}

// enter returns the table under key, made if need be; of an array of tables,
// the last one.
func enter(table *node, key Text) *node {
	n := table.child(key.Value)
	if n == nil {
		n = &node{kind: tableNode, key: key, val: key}
		table.kids = append(table.kids, n)
	}
	if n.kind == arrayNode && len(n.kids) > 0 {
		return n.kids[len(n.kids)-1]
	}
	return n
}

// entry reads key = value into table.
func (x *indexer) entry(table *node) {
	keys := x.keys()
	x.expect('=')
	if x.err != nil {
		return
	}
	x.skip(false)
	n := x.value()
	if x.err != nil {
		return
	}
	n.key = keys[len(keys)-1]
	table = descend(table, keys[:len(keys)-1])
	table.kids = append(table.kids, n)
}

// keys reads a dotted key and the blanks after it.
func (x *indexer) keys() []Text {
	var keys []Text
	for {
		x.skip(false)
		keys = append(keys, x.key())
		x.skip(false)
		if x.err != nil || x.i >= len(x.s) || x.s[x.i] != '.' {
			return keys
		}
		x.i++
	}
}

func (x *indexer) key() Text {
	switch {
	case x.has(`"`):
		return x.basic(1)
	case x.has(`'`):
		return x.literal(1)
	}
	start := x.i
	for x.i < len(x.s) && isBare(x.s[x.i]) {
		x.i++
	}
	if x.i == start {
		x.fail("expected a key")
	}
	return x.plain(start)
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// plain returns the text from start to here.
func (x *indexer) plain(start int) Text {
	start = min(start, x.i)
	return Text{Value: x.s[start:x.i], src: x.src, start: start, body: start}
}

// value reads any value.
func (x *indexer) value() *node {
	switch {
	case x.has(`"""`):
		return &node{kind: stringNode, val: x.basic(3)}
	case x.has(`"`):
		return &node{kind: stringNode, val: x.basic(1)}
	case x.has(`'''`):
		return &node{kind: stringNode, val: x.literal(3)}
	case x.has(`'`):
		return &node{kind: stringNode, val: x.literal(1)}
	case x.has("["):
		return x.array()
	case x.has("{"):
		return x.inline()
	}
	return x.scalar()
}

// scalar reads a number, a bool or a date; a date may hold one space.
func (x *indexer) scalar() *node {
	start := x.i
	for x.i < len(x.s) && !strings.ContainsRune(",]}#\n", rune(x.s[x.i])) {
		x.i++
	}
	for x.i > start && (x.s[x.i-1] == ' ' || x.s[x.i-1] == '\t') {
		x.i--
	}
	if x.i == start {
		x.fail("expected a value")
	}
	return &node{kind: scalarNode, val: x.plain(start)}
}

func (x *indexer) array() *node {
	n := &node{kind: arrayNode, val: Text{src: x.src, start: x.i, body: x.i}}
	x.i++
	for x.skip(true); x.err == nil && !x.has("]"); x.skip(true) {
		n.kids = append(n.kids, x.value())
		x.skip(true)
		if !x.has(",") {
			break
		}
		x.i++
	}
	x.expect(']')
	return n
}

func (x *indexer) inline() *node {
	n := &node{kind: tableNode, val: Text{src: x.src, start: x.i, body: x.i}}
	x.i++
	for x.skip(true); x.err == nil && !x.has("}"); x.skip(true) {
		x.entry(n)
		x.skip(true)
		if !x.has(",") {
			break
		}
		x.i++
	}
	x.expect('}')
	return n
}
