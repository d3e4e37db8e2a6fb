// Package diag holds source positions and the diagnostics that kgen reports
// about specs. It knows nothing of TOML or of the spec language; it takes
// positions and messages and renders them with the offending line and a caret.
package diag

import "fmt"

// Pos is a place in a spec file. Line and Col count from 1; Col counts bytes
// from the start of the line. The zero Pos means "no position".
type Pos struct {
	File string // slash-separated, relative to the module root
	Line int
	Col  int
}

// IsValid reports whether p names a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String formats p as file:line:col.
func (p Pos) String() string {
	if !p.IsValid() {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}
