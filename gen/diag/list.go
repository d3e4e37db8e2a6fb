package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Diagnostic is one mistake in a spec. Hint, if any, says what to do about it.
type Diagnostic struct {
	Pos  Pos
	Msg  string
	Hint string
}

// Error formats d on one line, the hint in parentheses.
func (d Diagnostic) Error() string {
	s := d.Msg
	if p := d.Pos.String(); p != "" {
		s = p + ": " + s
	}
	if d.Hint != "" {
		s += " (" + d.Hint + ")"
	}
	return s
}

// List collects diagnostics. The zero List is empty and ready for use.
type List []Diagnostic

// Add appends a diagnostic without a hint.
func (l *List) Add(pos Pos, format string, args ...any) {
	*l = append(*l, Diagnostic{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// AddHint appends a diagnostic with a hint.
func (l *List) AddHint(pos Pos, hint, format string, args ...any) {
	*l = append(*l, Diagnostic{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// Sorted returns the diagnostics ordered by position, then message, each once.
func (l List) Sorted() List {
	s := slices.Clone(l)
	slices.SortStableFunc(s, compare)
	return slices.Compact(s)
}

func compare(a, b Diagnostic) int {
	switch {
	case a.Pos.Less(b.Pos):
		return -1
	case b.Pos.Less(a.Pos):
		return 1
	}
	if c := strings.Compare(a.Msg, b.Msg); c != 0 {
		return c
	}
	return strings.Compare(a.Hint, b.Hint)
}

// Err returns nil for an empty list, else an error whose text has one line for
// each diagnostic, in order of position.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return listError(l.Sorted())
}

type listError List

func (e listError) Error() string {
	lines := make([]string, len(e))
	for i, d := range e {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single diagnostics to errors.As.
func (e listError) Unwrap() []error {
	errs := make([]error, len(e))
	for i, d := range e {
		errs[i] = d
	}
	return errs
}
