#include <metal_stdlib>
using namespace metal;

// The word where a kernel leaves its first fault: lock is taken by the thread
// that writes the rest, which nobody reads before the kernel is complete.
struct kg_fault {
  atomic_uint lock;
  int set;
  int op;
  int tensor;
  long pos;
  long value;
  long bound;
};

static inline void kg_raise(device kg_fault *fault, int op, int tensor, long pos, long value, long bound) {
  if (atomic_exchange_explicit(&fault->lock, 1u, memory_order_relaxed) == 0u) {
    fault->op = op;
    fault->tensor = tensor;
    fault->pos = pos;
    fault->value = value;
    fault->bound = bound;
    fault->set = 1;
  }
}

struct gather_args {
  long n;
  long v;
  long d;
};

kernel void gather(device const int *ids [[buffer(0)]],
                   device const float *w [[buffer(1)]],
                   device float *y [[buffer(2)]],
                   constant gather_args &args [[buffer(3)]],
                   device kg_fault *fault [[buffer(4)]],
                   uint3 group [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]]) {
  long i = long(group.x) * 32 + long(tid);
  if (i >= args.n * args.d) {
    return;
  }
  long at = i / args.d;
  long id = long(ids[at]);
  if (id < 0 || id >= args.v) {
    kg_raise(fault, 7, 1, at, id, args.v);
    return;
  }
  y[i] = w[id * args.d + i % args.d];
}
