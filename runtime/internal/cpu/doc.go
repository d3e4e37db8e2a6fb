// Package cpu runs programs on the processor: generated C kernels on a pool of
// C threads.
//
// In come planned programs; each is turned into C structures once and then run
// with one crossing of cgo. Out come completion and the first fault. The package
// knows nothing of tensors or specs, and C never calls back into Go. While kernels above
// the baseline run, subnormal floats count as zero (docs/numerics.md).
package cpu
