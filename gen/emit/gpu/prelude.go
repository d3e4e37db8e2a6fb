package gpu

import (
	"fmt"
	"slices"
	"strings"
)

// helper is a type or function of the prelude.
type helper struct{ name, text string }

// Helpers collects the helpers that a file needs of a prelude: a text that holds
// every helper, separated by blank lines, in an order in which each stands after
// those that it uses.
type Helpers struct {
	prelude string
	names   []string
}

// newHelpers returns the helpers of a prelude, none of them needed yet.
func newHelpers(prelude string) *Helpers { return &Helpers{prelude: prelude} }

// Need notes that a helper is needed.
func (h *Helpers) Need(name string) {
	if !slices.Contains(h.names, name) {
		h.names = append(h.names, name)
	}
}

// texts returns what is needed, with what that needs in turn, in the order of
// the prelude.
func (h *Helpers) texts() []string {
	all := parsePrelude(h.prelude)
	needed := slices.Clone(h.names)
	var texts []string
	for _, x := range slices.Backward(all) {
		if !slices.Contains(needed, x.name) {
			continue
		}
		texts = append(texts, x.text)
		for _, y := range all {
			if y.name != x.name && strings.Contains(x.text, y.name) {
				needed = append(needed, y.name)
			}
		}
	}
	slices.Reverse(texts)
	return texts
}

// parsePrelude splits the prelude into its helpers; each is named by the first
// word of its own that starts with kg_.
func parsePrelude(text string) []helper {
	var all []helper
	for text := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		name := firstName(text)
		if name == "" {
			panic(fmt.Sprintf("gpu: prelude: no kg_ name in %q", text))
		}
		all = append(all, helper{name, text + "\n"})
	}
	return all
}

// ofPreamble are the types that stand before all helpers.
var ofPreamble = []string{"kg_index", "kg_ulong"}

// firstName is the first word of text, comments left out, that starts with kg_ and is no
// type of the preamble.
func firstName(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "//") {
			continue
		}
		words := strings.FieldsFunc(line, func(r rune) bool {
			return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
		for _, w := range words {
			if strings.HasPrefix(w, "kg_") && !slices.Contains(ofPreamble, w) {
				return w
			}
		}
	}
	return ""
}
