// Package metal runs programs on a GPU of Apple's, or one that Metal knows: kernels in
// the Metal Shading Language, compiled when a program that uses them is built.
//
// In come planned programs; each is laid out once, in a parameter buffer that holds its
// parameter blocks and its fault words, and a run is one command buffer with one encoder.
// Out come completion and the first fault. The package knows nothing of tensors or specs.
//
// The bridge to Metal is in Objective-C behind bridge.h: device.m, memory.m and run.m. On
// a Mac cgo builds it with the system's frameworks. Elsewhere, with the tag softmetal,
// the package is linked with a library of the same files that package internal/softmetal
// builds beside a Metal of its own.
//
// A kernel is called with the command's buffers at the indices from 0, n of them, its
// parameter block at n where it has one, and the fault word (kg_fault of the CPU's
// kernels) at n+1. One that is guarded does nothing where the word is set. Commands that
// may find a fault have a word each, so that they need not wait for each other; before
// what depends on one a kernel of this package gathers them. Unlike on the CPU, kernels
// that are not guarded go on after a fault, and run in a program that is skipped: they
// write only what the runtime then drops.
package metal
