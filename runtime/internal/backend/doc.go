// Package backend is the border between the runtime and a compute device.
//
// In comes a planned program: commands over memory slots, with kernels as
// function pointers or sources, and parameter blocks. Out comes the result of running it:
// completion, or the first fault. The package knows nothing of tensors, shapes
// or batches, and a backend never calls back into the runtime.
package backend
