// Package metalsim holds the tests that run the Metal kernels of every spec,
// and of its gradient, on the simulated GPU and compare them with values that
// this project did not compute. The specs of the module and the golden values
// come in; the package exports nothing, and needs clang. Races, addresses and
// the text itself are the matter of the tests of gen/emit/msl.
package metalsim
