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

// String formats p as file:line:col, or as the file alone where p has no line.
func (p Pos) String() string {
	if !p.IsValid() {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Less orders positions by file, line and column.
func (p Pos) Less(q Pos) bool {
	if p.File != q.File {
		return p.File < q.File
	}
	if p.Line != q.Line {
		return p.Line < q.Line
	}
	return p.Col < q.Col
}
