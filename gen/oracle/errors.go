package oracle

import "fmt"

// BoundsError says that an element of an input that is used as a position lies
// outside its bounds. Where there are several, it is the first element of the
// first such input.
type BoundsError struct {
	Op, Tensor string
	Pos        int64 // row-major element position
	Value      int64
	Bound      int64 // values must lie in [0, Bound)
}

// Error names op, tensor, position and value.
func (e *BoundsError) Error() string {
	return fmt.Sprintf("%s: %s holds %d at position %d, want a value in [0, %d)", e.Op, e.Tensor, e.Value, e.Pos, e.Bound)
}

// RequireError says that a condition of the spec on sizes and parameters does
// not hold.
type RequireError struct {
	Op, Name, Text string
}

// Error names op and condition.
func (e *RequireError) Error() string {
	return fmt.Sprintf("%s: %s does not hold: %s", e.Op, e.Name, e.Text)
}
