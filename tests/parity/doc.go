// Package parity holds the hand-written tests of the generated API: every
// generated function is run on every device that this machine has and compared
// with values that this project did not compute, or with the reference device
// where sizes are awkward; wrong arguments must give clear errors; and the same
// inputs must give the same bits for any number of workers.
//
// The specs, the golden values of tests/golden and the generated functions come
// in; the package exports nothing, and knows nothing of how kernels are made.
package parity
