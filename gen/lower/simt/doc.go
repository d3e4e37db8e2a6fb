// Package simt lowers planned kernels to the SIMT model: threadgroups of
// threads in SIMD groups of 32, shared arrays, barriers that every thread of a
// group reaches. It takes a kernel of a plan and gives an ir.Func and the launch
// that goes with it; it knows no target language.
//
// How each shape runs, and what that costs:
//
//   - map: 32 bytes of the result for each thread, groups of 256 threads over the
//     flattened index.
//   - rows: one group for each row, of as many threads as give each 16 of its elements,
//     256 at most, or 32, so that fewer threads share what a sum over the group costs; where
//     column sums are kept, one for each block of rows, 8 elements and 512 threads. A thread
//     has runs of neighbouring elements, 16 bytes of the narrowest type. A maximum and sums
//     of exponentials below it share one reading of what registers do not keep of the row.
//   - reduce: one group of 128 for each chunk of the index space.
//   - cols: a group has 16 neighbouring results and 32 threads for each, or, at
//     the end, fewer results and more threads for each.
//   - matmul: a group of 256 threads computes 128 x 128 results. Its threads read the
//     next slices of the operands, 16 bytes each, while they multiply the ones in
//     shared memory. Where both operands are tensors of one 16-bit type, or the
//     hardware has matrix units for f32, that is their work, 64 x 32 results to a SIMD
//     group in slices of depth 16; in the plain form of a product of f32 a thread keeps
//     8 x 8 sums, in slices of depth 8. A second form, of 128 threads and 64 x 64
//     results, is for results that would be few large tiles. Where even those are few and
//     the sums long, groups have a part of the depth each and leave their sums in a
//     workspace, whose parts a column reduction adds up in order.
//   - scatter: a group owns 256 rows by 64 columns of the result, a thread one
//     column of it. Each group reads every id and adds, in the order of the
//     positions, those that fall into its rows: the sum is the same on every run,
//     for rows/256 times the reads of the ids.
//
// The first 4096 elements of a row stay in registers from one pass to the next, or what is
// left to need of them, such as their deviations from a mean. Maps and rows have a second,
// wide form for tensors that begin at multiples of 16 bytes and rows of whole runs: it reads
// and writes a run at once. Both forms give the same bits.
//
// Sums are kept for short runs and those added up, so that the rounding error
// does not grow with the length.
package simt
