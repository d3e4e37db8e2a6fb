package runtime

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of errors. An *Error wraps one of them, a *FaultError, a
// *MemoryError or the error of a backend.
var (
	ErrClosed      = errors.New("the device is closed")
	ErrStale       = errors.New("the tensor is no longer valid")
	ErrPending     = errors.New("the tensor is not computed yet")
	ErrDevice      = errors.New("the tensor is on another device")
	ErrShape       = errors.New("shapes do not fit")
	ErrType        = errors.New("element types do not fit")
	ErrRequire     = errors.New("an argument is out of range")
	ErrAlias       = errors.New("tensors overlap in memory")
	ErrCheckpoint  = errors.New("a marked segment cannot be computed again")
	ErrOverwritten = errors.New("a value was overwritten")
	ErrNoGradient  = errors.New("there is no gradient")
	ErrNotSynced   = errors.New("the batch is not submitted yet")
	ErrDiscarded   = errors.New("the batch was discarded")
	ErrDeadline    = errors.New("the device did not finish in time")
	ErrDepends     = errors.New("an earlier batch failed")
	ErrNoKernel    = errors.New("there is no kernel")
	ErrOption      = errors.New("invalid option")
	ErrUnavailable = errors.New("the device is not available")
	ErrGuard       = errors.New("a kernel wrote past the end of a tensor")
)

// Error says what was wrong, where. Empty fields do not apply.
type Error struct {
	Op    string // operation, or the method of this package
	Arg   string // argument of the operation
	Batch string // name of the batch
	Site  Site   // of the deferred call
	Text  string // the fact, with sizes; Error adds Op, Batch and Site
	Err   error  // the kind or the cause
}

// Error formats the error as "op: fact (batch "name", file.go:12)".
func (e *Error) Error() string {
	var s strings.Builder
	if e.Op != "" {
		s.WriteString(e.Op + ": ")
	}
	if e.Text != "" {
		s.WriteString(e.Text)
	} else {
		s.WriteString(e.Err.Error())
	}
	where := make([]string, 0, 2)
	if e.Batch != "" {
		where = append(where, fmt.Sprintf("batch %q", e.Batch))
	}
	if e.Site.File != "" {
		where = append(where, e.Site.String())
	}
	if len(where) > 0 {
		s.WriteString(" (" + strings.Join(where, ", ") + ")")
	}
	return s.String()
}

// Unwrap returns the kind or the cause.
func (e *Error) Unwrap() error { return e.Err }

// FaultError is a value that a kernel found to be out of bounds, such as an id
// that is not a row of its table.
type FaultError struct {
	Op     string
	Tensor string
	Index  []int64 // position in the tensor
	Value  int64
	Bound  int64 // the value must be in [0, Bound)
}

// Error formats the fault as "ids[17] is 99, must be in [0, 64)".
func (e *FaultError) Error() string {
	index := make([]string, len(e.Index))
	for i, n := range e.Index {
		index[i] = fmt.Sprint(n)
	}
	return fmt.Sprintf("%s[%s] is %d, must be in [0, %d)", e.Tensor, strings.Join(index, ","), e.Value, e.Bound)
}

// MemoryError reports that device memory ran out, after everything cached was
// given back.
type MemoryError struct {
	Asked int64 // bytes
	Held  int64 // bytes in use
}

// Error formats the sizes.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("out of memory: asked for %d bytes, %d bytes are in use; close tensors or make the batch smaller", e.Asked, e.Held)
}

// opError is an Error outside of a batch.
func opError(op string, kind error, format string, args ...any) *Error {
	return &Error{Op: op, Err: kind, Text: fmt.Sprintf(format, args...)}
}
