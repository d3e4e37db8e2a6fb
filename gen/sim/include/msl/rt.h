// What the compiled kernels and the host runtime know of each other.
#pragma once

extern "C" {
// The place of one thread in its dispatch.
struct msl_ids {
  unsigned thread_position_in_grid[3];
  unsigned threads_per_grid[3];
  unsigned thread_position_in_threadgroup[3];
  unsigned threads_per_threadgroup[3];
  unsigned threadgroup_position_in_grid[3];
  unsigned threadgroups_per_grid[3];
  unsigned thread_index_in_threadgroup;
  unsigned thread_index_in_simdgroup;
  unsigned simdgroup_index_in_threadgroup;
  unsigned simdgroups_per_threadgroup;
  unsigned threads_per_simdgroup;
};

enum msl_arg_kind { msl_arg_pointer, msl_arg_reference, msl_arg_threadgroup };

struct msl_arg {
  unsigned index;     // [[buffer(n)]] or [[threadgroup(n)]]
  msl_arg_kind kind;
  unsigned long size; // of what it points at
};

struct msl_kernel {
  const char *name;
  void (*entry)(void *const *buffers, void *const *threadgroups, const msl_ids *ids);
  const msl_arg *args;
  unsigned count;
  unsigned max_threads; // of a threadgroup
};

extern const msl_kernel msl_kernels[];
extern const unsigned msl_kernel_count;

// Called by the kernels; line and column are those of the call in the source.
void msl_rt_barrier(unsigned flags, int line, int column);
void msl_rt_simdgroup_barrier(unsigned flags, int line, int column);
// msl_rt_gather gives every lane the values of all lanes that are here: lane i
// at all + i*size. It returns the mask of those lanes.
unsigned msl_rt_gather(const void *mine, unsigned size, void *all, int line, int column);
unsigned msl_rt_lane();
// msl_rt_together is for functions that all lanes must reach, and that exchange nothing.
void msl_rt_together(int line, int column);
// msl_rt_multiply multiplies 8 by 8 matrices of the SIMD group: d = a b + c, of which
// each lane has two elements.
void msl_rt_multiply(float *d, float a0, float a1, float b0, float b1, float c0, float c1, int line, int column);
// A lane read the value of a lane that does not take part.
void msl_rt_absent(unsigned lane, int line, int column);
// The threadgroup variable of the kernel with this number, the same for all
// threads of a group. Those below 31 are [[threadgroup(n)]] arguments.
void *msl_rt_threadgroup(unsigned number, unsigned long size);
}

// The tool writes `auto &tile = msl_threadgroup<float[8][8]>(31)` for
// `threadgroup float tile[8][8]`.
template <class T> static inline T &msl_threadgroup(unsigned number) {
  return *static_cast<T *>(msl_rt_threadgroup(number, sizeof(T)));
}
