// Package goref writes the reference implementation of a checked program as a
// Go function: one naive loop nest for each step, in float64, over the storage
// types of the buffers. An expr.Program comes in; a function in a jennifer file
// goes out, which needs package math and the runtime package and nothing else.
//
// The function serves devices without cgo and is what kernels are tested
// against, so this package reads the checked expression alone and knows nothing
// of plans, kernels or targets.
package goref
