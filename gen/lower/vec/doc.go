// Package vec lowers planned kernels to the VEC model: loops over independent
// work items, vectors of the target's native width along the innermost axis,
// register tiles for matrix products. It takes a kernel of a plan and gives an
// ir.Func and the launch that goes with it; it knows no target language and no
// vector width.
package vec
