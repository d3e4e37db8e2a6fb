// Package cpu holds the tests and benchmarks of the C headers in
// gen/emit/c/support, on which generated CPU kernels stand. The tests compile
// the C programs in testdata with each compiler and for each instruction set
// that this machine can run, and check what they compute against double
// arithmetic. The kernels in testdata/kernels are written with the headers as
// the emitter writes them. The package knows nothing of specs or the runtime.
package cpu
