#include <metal_stdlib>
using namespace metal;

struct matmul_args {
  int m;
  int n;
  int k;
};

constant int TILE = 8;

// C[m,n] = A[m,k] B[k,n], a tile of 8 by 8 a threadgroup.
kernel void matmul(device const float *a [[buffer(0)]],
                   device const float *b [[buffer(1)]],
                   device float *c [[buffer(2)]],
                   constant matmul_args &args [[buffer(3)]],
                   uint3 group [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float ta[8][8];
  threadgroup float tb[8][8];
  int r = int(tid) / TILE;
  int s = int(tid) % TILE;
  int row = int(group.y) * TILE + r;
  int col = int(group.x) * TILE + s;
  float acc = 0.0f;
  for (int t = 0; t < args.k; t += TILE) {
    ta[r][s] = (row < args.m && t + s < args.k) ? a[row * args.k + t + s] : 0.0f;
    tb[r][s] = (col < args.n && t + r < args.k) ? b[(t + r) * args.n + col] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < TILE; i++) {
      acc = fma(ta[r][i], tb[i][s], acc);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (row < args.m && col < args.n) {
    c[row * args.n + col] = acc;
  }
}
