// Package mutation tests the generated tests: a module with one small spec for
// each kernel shape is generated, one operator of each kernel is exchanged for
// its opposite on the way to C, and every generated parity test must fail then,
// as it must pass without.
//
// A round changes one operator in each kernel. The usual run makes one round;
// -full makes as many as the longest kernel has operators.
//
// It tests the runner of Metal sources, too: what keeps the threads of a kernel apart,
// and its accesses in bounds, is left out, and the sanitizers must see it. The usual
// run tries one function in twelve of the small specs; -full takes those of this
// repository, and all of their functions.
package mutation
