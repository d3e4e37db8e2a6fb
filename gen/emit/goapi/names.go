package goapi

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/spec"
)

// localName returns the Go name of an argument, which is not exported:
// ignore_index gives ignoreIndex.
func localName(name string) string {
	first, rest, _ := strings.Cut(strings.Trim(name, "_"), "_")
	return lowerFirst(first) + spec.GoName(rest)
}

// lowerFirst puts the capitals that w begins with into lower case: W gives w,
// Lout gives lout, RGBa gives rgba.
func lowerFirst(w string) string {
	n := 0
	for n < len(w) && w[n] >= 'A' && w[n] <= 'Z' {
		n++
	}
	return strings.ToLower(w[:n]) + w[n:]
}

// scope hands out the names of one function. A name that is taken, or that
// means something in Go or in a generated function, gets underscores at its
// end.
type scope struct {
	taken []string
}

// name returns a Go name for the argument that the spec calls n.
func (s *scope) name(n string) string {
	id := localName(n)
	for token.IsKeyword(id) || types.Universe.Lookup(id) != nil || slices.Contains(reserved, id) || slices.Contains(s.taken, id) {
		id += "_"
	}
	s.taken = append(s.taken, id)
	return id
}

// reserved lists the names that generated functions use themselves.
var reserved = []string{"call", "dev", "err", "i", "init", "main", "piece", "runtime"}
