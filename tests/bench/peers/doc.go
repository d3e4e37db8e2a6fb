// Package peers compares the generated kernels with the same operations of PyTorch and
// MLX on the CPU: same sizes, element types and number of threads, in one run.
//
//	scripts/bench.sh peers                        everything
//	scripts/bench.sh peers -only '^softmax' -json
//
// The script makes a Python environment with both peers in build/peers, outside
// of version control; nothing in the module depends on it.
//
// Each library runs as its users run it: a call of ours is a deferred call and
// Sync, one of PyTorch an eager call without gradients, one of MLX a call and
// mx.eval. Results are new tensors, whose memory each library takes from its own
// allocator. The gradient of an operation is compared with PyTorch's autograd
// alone, since MLX cannot compute a gradient without the operation; the cases
// named "… and gradient" run both for all three.
//
// For every case the three take short turns until nobody gets faster, and the
// shortest time of one call counts, so that a noisy moment hits all alike. Before
// that each computes the case once, from the same inputs, and the mean magnitudes
// of all results are compared: what differs is listed. On a machine that does
// other work -passes 3 runs everything three times and keeps the shortest times:
// threads that wait for one another in a loop, as those of PyTorch do, lose most
// where a processor is shared.
//
// Two things favour the peers, so that kernels are compared and not packaging:
// their allocators are told to keep their memory (see peer.go), as ours does,
// which -system-malloc leaves off; and MLX, whose package for Linux has the slow
// reference BLAS, gets the OpenBLAS of the system if there is one.
//
// The table gives the ratio of the peer's time to ours (above 1: ours is
// faster), then the geometric mean for each peer, then every ratio below 0.8, then
// every result that differed.
package peers
