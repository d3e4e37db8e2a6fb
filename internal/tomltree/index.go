package tomltree

import (
	"errors"
	"fmt"
	"strings"
)

// indexer scans a TOML file that the TOML library has found to be valid and
// records where keys and values stand. What it would have to refuse it reports
// as an error and leaves to the library to explain.
type indexer struct {
	src *Source
	s   string
	i   int
	err error
}

var errIndex = errors.New("not valid TOML")

// buildIndex returns the tree of keys and values of src.
func buildIndex(src *Source) (*Node, error) {
	x := &indexer{src: src, s: src.Text}
	root := &Node{Kind: Table, Val: Text{src: src}}
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
		x.err = fmt.Errorf("%s: %w: %s", x.src.Pos(min(x.i, len(x.s))), errIndex, what)
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
func (x *indexer) header(root *Node) *Node {
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
	array := table.Child(last.Value)
	if array == nil {
		array = &Node{Kind: Array, Key: last, Val: last}
		table.Kids = append(table.Kids, array)
	}
	elem := &Node{Kind: Table, Val: last}
	array.Kids = append(array.Kids, elem)
	return elem
}

func descend(table *Node, keys []Text) *Node {
	for _, k := range keys {
		table = enter(table, k)
	}
	return table
}

// enter returns the table under key, made if need be; of an array of tables,
// the last one.
func enter(table *Node, key Text) *Node {
	n := table.Child(key.Value)
	if n == nil {
		n = &Node{Kind: Table, Key: key, Val: key}
		table.Kids = append(table.Kids, n)
	}
	if n.Kind == Array && len(n.Kids) > 0 {
		return n.Kids[len(n.Kids)-1]
	}
	return n
}

// entry reads key = value into table.
func (x *indexer) entry(table *Node) {
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
	n.Key = keys[len(keys)-1]
	table = descend(table, keys[:len(keys)-1])
	table.Kids = append(table.Kids, n)
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
func (x *indexer) value() *Node {
	switch {
	case x.has(`"""`):
		return &Node{Kind: String, Val: x.basic(3)}
	case x.has(`"`):
		return &Node{Kind: String, Val: x.basic(1)}
	case x.has(`'''`):
		return &Node{Kind: String, Val: x.literal(3)}
	case x.has(`'`):
		return &Node{Kind: String, Val: x.literal(1)}
	case x.has("["):
		return x.array()
	case x.has("{"):
		return x.inline()
	}
	return x.scalar()
}

// scalar reads a number, a bool or a date; a date may hold one space.
func (x *indexer) scalar() *Node {
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
	return &Node{Kind: Scalar, Val: x.plain(start)}
}

func (x *indexer) array() *Node {
	n := &Node{Kind: Array, Val: Text{src: x.src, start: x.i, body: x.i}}
	x.i++
	for x.skip(true); x.err == nil && !x.has("]"); x.skip(true) {
		n.Kids = append(n.Kids, x.value())
		x.skip(true)
		if !x.has(",") {
			break
		}
		x.i++
	}
	x.expect(']')
	return n
}

func (x *indexer) inline() *Node {
	n := &Node{Kind: Table, Val: Text{src: x.src, start: x.i, body: x.i}}
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
