// Package metal tests the bridge to Metal and the software Metal that it is proven with:
// that each rule of Metal which the software Metal knows is one that a wrong call breaks,
// and that the bridge breaks none and leaks nothing.
package metal
