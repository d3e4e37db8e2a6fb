package spec

import (
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"
)

// parseTOML returns the keys and values of src with their places. The TOML
// library decides what is valid and what a value is; the index says where it
// stands.
func parseTOML(src *source) (*node, error) {
	values, err := libraryValues(src.text)
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
func attach(n *node, value any) error {
	n.value = value
	switch v := value.(type) {
	case map[string]any:
		if n.kind != tableNode || len(n.kids) != len(v) {
			return n.mismatch()
		}
		for _, k := range n.kids {
			kv, ok := v[k.key.Value]
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
		if n.kind != stringNode || n.val.Value != v {
			return n.mismatch()
		}
	default:
		if n.kind != scalarNode {
			return n.mismatch()
		}
	}
	return nil
}

func (n *node) attachList(list []any) error {
	if n.kind != arrayNode || len(n.kids) != len(list) {
		return n.mismatch()
	}
	for i, v := range list {
		if err := attach(n.kids[i], v); err != nil {
			return err
		}
	}
	return nil
}

var errMismatch = errors.New("the TOML library and the position index disagree")

func (n *node) mismatch() error {
	return fmt.Errorf("%s: %w about %q", n.val.Pos(), errMismatch, n.key.Value)
}
