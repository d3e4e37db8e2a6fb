// Package msl writes kernels as Metal Shading Language. The IR of the kernels of
// one spec comes in; the bytes of its .metal file go out, with those helpers of
// the prelude that they use. It knows nothing of specs, plans or schedules.
//
// The text keeps to MSL 2.3 (macOS 11) and to the part of it that can be checked
// without a Mac:
//
//   - bf16 tensors are ushort, widened and rounded (to nearest even) by their
//     bits, so no bfloat type is needed; half tensors are widened at the load and
//     rounded to nearest even at the store. All arithmetic is float.
//   - Index arithmetic is kg_index: int, or long where the source is compiled with
//     KG_INDEX_64, as the host does for tensors that int does not reach the end of
//     (simt.MaxExtent).
//   - Every name that stems from a spec or from the lowering ends in an
//     underscore, which no word of MSL or of its library does (see gpu.Mangle); the
//     emitter's own names never do.
//   - A SIMD group has 32 threads; the host checks the pipeline's
//     threadExecutionWidth.
//
// # Calling convention
//
// Buffers 0 to n-1 are the kernel's tensors in slot order, buffer n the parameter
// block (absent where the block is empty), buffer n+1 the fault word: kg_fault,
// the layout of the C kernels. lock is 0 before a program runs; a kernel that finds
// a bad value sets it to a number that is larger for lower positions, and fills in
// all but op (tensor is the number ir.Buffer.Arg): of several bad values that with the
// lowest position.
// Guarded kernels do nothing then.
package msl
