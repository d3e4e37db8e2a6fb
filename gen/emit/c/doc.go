// Package c prints lowered VEC kernels as C. It takes the functions of one spec
// and gives one source file, which stands on the headers in support/. It knows
// no specs and no plans: what it prints is what the IR says.
package c
