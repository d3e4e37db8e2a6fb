// A dispatch: its arguments against the kernel's, then group after group.
#include "group.h"
#include <stdlib.h>
#include <string.h>

const msl_kernel *msl_find(const char *name) {
  for (unsigned i = 0; i < msl_kernel_count; ++i) {
    if (strcmp(msl_kernels[i].name, name) == 0) return &msl_kernels[i];
  }
  return nullptr;
}

static bool arguments_fit(const msl_dispatch_args *a) {
  for (unsigned i = 0; i < a->kernel->count; ++i) {
    const msl_arg *arg = &a->kernel->args[i];
    const char *name = a->kernel->name;
    if (arg->kind == msl_arg_threadgroup) {
      if (a->threadgroup_bytes[arg->index] != 0) continue;
      report("error", 0, 0, "kernel %s: no size for threadgroup argument %u", name, arg->index);
      return false;
    }
    if (a->buffers[arg->index] == nullptr) {
      report("error", 0, 0, "kernel %s: no buffer for index %u", name, arg->index);
      return false;
    }
    if (arg->kind == msl_arg_reference && a->sizes[arg->index] < arg->size) {
      report("error", 0, 0, "kernel %s: buffer %u has %lu bytes, its argument takes %lu", name, arg->index, a->sizes[arg->index], arg->size);
      return false;
    }
  }
  return true;
}

static bool shape_fits(const msl_dispatch_args *a) {
  unsigned long n = static_cast<unsigned long>(a->group[0]) * a->group[1] * a->group[2];
  if (n >= 1 && n <= 1024) return true;
  report("error", 0, 0, "kernel %s: a threadgroup of %lu threads; 1 to 1024 are possible", a->kernel->name, n);
  return false;
}

static void place(gpu_thread *t, const thread_group *g, unsigned index) {
  const msl_dispatch_args *a = g->args;
  msl_ids *d = &t->ids;
  unsigned local[3] = {index % a->group[0], index / a->group[0] % a->group[1], index / (a->group[0] * a->group[1])};
  for (int k = 0; k < 3; ++k) {
    d->thread_position_in_threadgroup[k] = local[k];
    d->threads_per_threadgroup[k] = a->group[k];
    d->threadgroup_position_in_grid[k] = g->position[k];
    d->threadgroups_per_grid[k] = a->grid[k];
    d->threads_per_grid[k] = a->grid[k] * a->group[k];
    d->thread_position_in_grid[k] = g->position[k] * a->group[k] + local[k];
  }
  d->thread_index_in_threadgroup = index;
  d->thread_index_in_simdgroup = index % 32;
  d->simdgroup_index_in_threadgroup = index / 32;
  d->simdgroups_per_threadgroup = g->simd_count;
  d->threads_per_simdgroup = 32;
  t->state = ready;
  t->barriers = t->simd_barriers = 0;
}

static bool run_at(thread_group *g, unsigned x, unsigned y, unsigned z) {
  g->position[0] = x;
  g->position[1] = y;
  g->position[2] = z;
#if MSL_TSAN
  stacks_unmap(g);
  stacks_map(g);
#endif
  for (unsigned i = 0; i < g->count; ++i) place(&g->threads[i], g, i);
  return group_run(g);
}

static bool run_grid(thread_group *g) {
  const unsigned *n = g->args->grid;
  for (unsigned z = 0; z < n[2]; ++z)
    for (unsigned y = 0; y < n[1]; ++y)
      for (unsigned x = 0; x < n[0]; ++x)
        if (!run_at(g, x, y, z)) return false;
  return true;
}

int msl_dispatch(const msl_dispatch_args *a) {
  if (!arguments_fit(a) || !shape_fits(a)) return 2;
  thread_group g = {};
  g.args = a;
  g.count = a->group[0] * a->group[1] * a->group[2];
  g.simd_count = (g.count + 31) / 32;
  g.threads = static_cast<gpu_thread *>(calloc(g.count, sizeof(gpu_thread)));
  g.simds = static_cast<simd_group *>(calloc(g.simd_count, sizeof(simd_group)));
  stacks_map(&g);
  bool whole = run_grid(&g);
  host_acquire();
  stacks_unmap(&g);
  free(g.simds);
  free(g.threads);
  return whole ? 0 : 1;
}
