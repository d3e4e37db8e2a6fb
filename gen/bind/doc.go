// Package bind decides what the host and the kernels must agree on: argument
// slots, the layout of parameter blocks, launch sizes and symbols. It takes
// planned kernels and gives plain data that every emitter reads, so that no two
// of them can disagree; it writes no word of any target language.
package bind
