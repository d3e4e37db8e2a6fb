package tomltree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/kernelgen/kgen/gen/diag"
)

// Parse returns the tree of a file, nil if it is not valid TOML, and its text. The file
// names it in positions.
func Parse(file string, data []byte) (*Node, *Source, diag.List) {
	src, list := NewSource(file, data)
	if len(list) > 0 {
		return nil, src, list
	}
	root, err := parse(src)
	if err != nil {
		return nil, src, diag.List{syntaxError(src, err)}
	}
	return root, src, nil
}

func syntaxError(src *Source, err error) diag.Diagnostic {
	var p toml.ParseError
	if !errors.As(err, &p) {
		return diag.Diagnostic{Pos: src.Pos(0), Msg: err.Error()}
	}
	off := min(max(p.Position.Start, 0), len(src.Text))
	return diag.Diagnostic{Pos: src.Pos(off), Msg: lowerFirst(strings.TrimSuffix(p.Message, "."))}
}

func lowerFirst(s string) string {
	if len(s) < 2 || s[1] >= 'A' && s[1] <= 'Z' {
		return s // nothing, or an acronym
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// parse returns the keys and values of src with their places. The TOML library decides
// what is valid and what a value is; the index says where it stands.
func parse(src *Source) (*Node, error) {
	values, err := libraryValues(src.Text)
	if err != nil {
		return nil, err
	}
	root, err := buildIndex(src)
	if err != nil {
		return nil, err
	}
	if err := attach(root, values); err != nil {
		return nil, err
	}
	return root, nil
}

// libraryValues decodes text. A panic of the library becomes an error, so that
// no input can end the tool.
func libraryValues(text string) (values map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("toml: %v", p)
		}
	}()
	_, err = toml.Decode(text, &values)
	return values, err
}

// attach stores in every node the value that the library read there, and
// verifies that both saw the same keys and strings.
func attach(n *Node, value any) error {
	n.Data = value
	switch v := value.(type) {
	case map[string]any:
		if n.Kind != Table || len(n.Kids) != len(v) {
			return n.mismatch()
		}
		for _, k := range n.Kids {
			kv, ok := v[k.Key.Value]
			if !ok {
				return k.mismatch()
			}
			if err := attach(k, kv); err != nil {
				return err
			}
		}
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return n.attachList(list)
	case []any:
		return n.attachList(v)
	case string:
		if n.Kind != String || n.Val.Value != v {
			return n.mismatch()
		}
	default:
		if n.Kind != Scalar {
			return n.mismatch()
		}
	}
	return nil
}

func (n *Node) attachList(list []any) error {
	if n.Kind != Array || len(n.Kids) != len(list) {
		return n.mismatch()
	}
	for i, v := range list {
		if err := attach(n.Kids[i], v); err != nil {
			return err
		}
	}
	return nil
}

var errMismatch = errors.New("the TOML library and the position index disagree")

func (n *Node) mismatch() error {
	return fmt.Errorf("%s: %w about %q", n.Val.Pos(), errMismatch, n.Key.Value)
}
