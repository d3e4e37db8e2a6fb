// Package cuda runs programs on an NVIDIA card: kernels in CUDA C++ that NVRTC
// compiles when a program is built, launched through the driver's API.
//
// In come planned programs; each is laid out once in a parameter buffer, which a
// run copies to the card, and from its second run on replayed as a CUDA graph. Out
// come completion and the first fault. The package knows nothing of tensors or
// specs. The libraries are opened at run time, so it builds, and says what is
// missing, where the driver or NVRTC is.
//
// A kernel is called as
//
//	extern "C" __global__ void SYMBOL(void *const *buf, const SYMBOL_args *args, kg_fault *fault, int op)
//
// with the addresses of the command's buffers, its parameter block, the fault word
// of the run (kg_fault of the CPU's kernels) and Command.Op. One that is guarded does
// nothing where fault->set is not 0. Unlike on the CPU, kernels that are not guarded
// go on after a fault, and run in a program that is skipped: they write only what
// the runtime then drops.
//
// On cards of compute capability 9.0 and up, kernels whose source has griddepcontrol.wait
// begin before the end of the one before. They may read their addresses and parameters
// ahead of it, and nothing else.
//
// A command that is a matrix product (backend.Product) is left to cuBLASLt where the
// library is found and has an algorithm for it, and its source is not compiled then. The
// library takes addresses when it is called, so a graph holds those of the products:
// a run in which they are others is launched anew, and captured when they stay.
//
// Tests that need a card are built with the tag cudatest. To run them elsewhere:
//
//	go test -c -tags cudatest ./runtime/internal/cuda && ./cuda.test
package cuda
