// Package ir is the loop-level form of one kernel, between planning and text.
// It is plain data: typed expressions and statements over buffers, block
// fields and variables. The same nodes serve both execution models: in VEC a
// value may be a vector of the target's native width, in SIMT every value is a
// thread's own scalar and the statements include barriers and shared arrays.
// The package knows no target language and no tensors, only element offsets.
package ir
