// Package kgen is the root of the kgen module: a generator that turns kernel
// specs into Go, C and Metal code, and the runtime that the generated code
// calls. It holds no code of its own.
package kgen

//go:generate go tool kgen generate
