// The kernels of a library, for C.
#include "rt/dispatch.h"

#include "kernel.h"

static const msl_kernel *kernel_of(const soft_kernel *k) { return static_cast<const msl_kernel *>(k->kernel); }

int soft_kernel_find(void *find, const char *name, soft_kernel *out) {
  const msl_kernel *k = reinterpret_cast<decltype(&msl_find)>(find)(name);
  if (k == nullptr) return 0;
  out->kernel = k;
  out->name = k->name;
  out->count = k->count;
  out->max_threads = k->max_threads;
  return 1;
}

soft_argument soft_kernel_argument(const soft_kernel *k, unsigned i) {
  const msl_arg *a = &kernel_of(k)->args[i];
  return {a->index, a->kind == msl_arg_threadgroup, a->kind == msl_arg_reference, a->size};
}

int soft_kernel_run(void *run, const soft_kernel *k, void *const *buffers, const unsigned long *sizes,
                    const unsigned long *threadgroup, const unsigned *grid, const unsigned *group) {
  msl_dispatch_args a = {};
  a.kernel = kernel_of(k);
  for (int i = 0; i < msl_max_slots; ++i) {
    a.buffers[i] = buffers[i];
    a.sizes[i] = sizes[i];
    a.threadgroup_bytes[i] = threadgroup[i];
  }
  for (int i = 0; i < 3; ++i) {
    a.grid[i] = grid[i];
    a.group[i] = group[i];
  }
  return reinterpret_cast<decltype(&msl_dispatch)>(run)(&a);
}
