// The scheduler of one threadgroup: every thread runs until it waits, then what
// is complete is released.
#include "group.h"
#include <stdio.h>

thread_group *msl_group;

static unsigned long end_clock[8]; // orders the host after all threads of the dispatch

// Copies values of a few bytes without a function of the C library, which a sanitizer
// may watch.
static void copy_bytes(void *to, const void *from, unsigned n) {
  unsigned char *t = static_cast<unsigned char *>(to);
  const unsigned char *f = static_cast<const unsigned char *>(from);
  for (; n >= 8; n -= 8, t += 8, f += 8) __builtin_memcpy_inline(t, f, 8);
  for (; n >= 4; n -= 4, t += 4, f += 4) __builtin_memcpy_inline(t, f, 4);
  for (; n >= 1; n -= 1, t += 1, f += 1) __builtin_memcpy_inline(t, f, 1);
}

static void release_clock(void *clock) {
#if MSL_TSAN
  __tsan_release(clock);
#endif
  (void)clock;
}

static void acquire_clock(void *clock) {
#if MSL_TSAN
  __tsan_acquire(clock);
#endif
  (void)clock;
}

// The thread that has stopped leaves the processor to the next one that is ready, and the
// last one to the scheduler.
static void leave(gpu_thread *t, bool last) {
  thread_group *g = msl_group;
  for (gpu_thread *next = t + 1; next < g->threads + g->count; ++next) {
    if (next->state != ready) continue;
    g->running = next;
    fibre_leave(&t->context, &next->context, last);
    return;
  }
  fibre_leave(&t->context, &g->scheduler, last);
}

static void wait_as(gpu_thread *t, thread_state state, int line, int column) {
  t->state = state;
  t->line = line;
  t->column = column;
  leave(t, false);
}

bool only_device_order;

// Whether a barrier with these flags orders what is looked at. ThreadSanitizer
// knows one order for all memory: a run looks at both spaces together, or with
// only_device_order at device memory alone.
static bool orders(unsigned flags) {
  const unsigned mem_device = 1;
  return only_device_order ? (flags & mem_device) != 0 : flags != 0;
}

// A barrier orders memory only if its flags name a memory. The two clocks take
// turns, so that a thread that runs ahead to the next barrier does not order
// itself before one that still has to leave this one.
void msl_rt_barrier(unsigned flags, int line, int column) {
  gpu_thread *t = msl_group->running;
  void *clock = msl_group->clocks->group[t->barriers++ & 1];
  if (orders(flags)) release_clock(clock);
  t->flags = flags;
  wait_as(t, at_barrier, line, column);
  if (orders(flags)) acquire_clock(clock);
}

void msl_rt_simdgroup_barrier(unsigned flags, int line, int column) {
  gpu_thread *t = msl_group->running;
  void *clock = msl_group->clocks->simd[t->ids.simdgroup_index_in_threadgroup][t->simd_barriers++ & 1];
  if (orders(flags)) release_clock(clock);
  t->flags = flags;
  wait_as(t, at_simd_barrier, line, column);
  if (orders(flags)) acquire_clock(clock);
}

static simd_group *simd_of(const gpu_thread *t) { return &msl_group->simds[t->ids.simdgroup_index_in_threadgroup]; }

// SIMD functions exchange values and order no memory.
unsigned msl_rt_gather(const void *mine, unsigned size, void *all, int line, int column) {
  gpu_thread *t = msl_group->running;
  t->size = size;
  copy_bytes(t->value, mine, size);
  wait_as(t, at_gather, line, column);
  simd_group *s = simd_of(t);
  for (unsigned i = 0; i < size; ++i) __builtin_memcpy_inline(static_cast<char *>(all) + i * 32, s->values[t->bank] + i * 32, 32);
  return t->mask;
}

// A function that not all lanes reach is undefined, for each lane that does not.
static void demand(unsigned mask, int line, int column) {
  for (unsigned i = 0; i < 32 && mask != ~0u; ++i)
    if (!(mask >> i & 1)) msl_rt_absent(i, line, column);
}

void msl_rt_together(int line, int column) {
  gpu_thread *t = msl_group->running;
  t->size = 0;
  wait_as(t, at_gather, line, column);
  demand(t->mask, line, column);
}

// What a lane has of the factors of a product: two elements of each, as msl/simdgroup_matrix.h
// lays them out.
struct factors { float a[2], b[2]; };

// The lane that has an element.
static unsigned lane_of(unsigned row, unsigned column) {
  return (row & 4) << 2 | (row & 3) << 1 | (column & 4) << 1 | (column >> 1 & 1);
}

// The two elements of a lane, added to x and y in the order of the depth.
static inline __attribute__((always_inline)) void sum_products(float *d, const factors *all, unsigned lane, float x, float y) {
  const unsigned row = (lane >> 2 & 4) + (lane >> 1 & 3), column = (lane >> 1 & 4) + (lane & 1) * 2;
  for (unsigned k = 0; k < 8; ++k) {
    const float left = all[lane_of(row, k)].a[k & 1];
    const factors *right = &all[lane_of(k, column)];
    x = __builtin_fmaf(left, right->b[0], x);
    y = __builtin_fmaf(left, right->b[1], y);
  }
  d[0] = x;
  d[1] = y;
}

#if defined(__x86_64__)
// The same bits by an instruction in the place of a function.
__attribute__((target("fma"))) static void sum_products_fma(float *d, const factors *all, unsigned lane, float x, float y) {
  sum_products(d, all, lane, x, y);
}
#endif

void msl_rt_multiply(float *d, float a0, float a1, float b0, float b1, float c0, float c1, int line, int column) {
  gpu_thread *t = msl_group->running;
  const factors mine = {{a0, a1}, {b0, b1}};
  t->size = sizeof mine;
  copy_bytes(t->value, &mine, sizeof mine);
  wait_as(t, at_gather, line, column);
  demand(t->mask, line, column);
  const factors *all = reinterpret_cast<const factors *>(simd_of(t)->values[t->bank]);
  const unsigned lane = t->ids.thread_index_in_simdgroup;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) return sum_products_fma(d, all, lane, c0, c1);
#endif
  sum_products(d, all, lane, c0, c1);
}

unsigned msl_rt_lane() { return msl_group->running->ids.thread_index_in_simdgroup; }

void msl_rt_absent(unsigned lane, int line, int column) {
  gpu_thread *t = msl_group->running;
  report("undefined", line, column, "thread %u reads lane %u of its SIMD group, which does not take part",
         t->ids.thread_index_in_threadgroup, lane);
}

void msl_fibre_start() {
  fibre_started(&msl_group->scheduler);
  gpu_thread *t = msl_group->running;
  const msl_dispatch_args *a = msl_group->args;
  void *locals[msl_max_slots];
  for (unsigned i = 0; i < a->kernel->count; ++i) {
    const msl_arg *arg = &a->kernel->args[i];
    if (arg->kind == msl_arg_threadgroup) locals[arg->index] = msl_rt_threadgroup(arg->index, a->threadgroup_bytes[arg->index]);
  }
  a->kernel->entry(a->buffers, locals, &t->ids);
  release_clock(end_clock);
  t->state = done;
  leave(t, true);
  __builtin_unreachable();
}

static void enter(thread_group *g, gpu_thread *t) {
  g->running = t;
  fibre_enter(&g->scheduler, &t->context);
  g->running = nullptr;
}

static bool same_place(const gpu_thread *a, const gpu_thread *b) {
  return a->state == b->state && a->line == b->line && a->column == b->column;
}

static void free_simd(thread_group *g, unsigned first, unsigned end, const gpu_thread *lead) {
  simd_group *s = &g->simds[first / 32];
  unsigned bank = s->generation++ & 1, mask = 0;
  const gpu_thread at = *lead;
  for (unsigned i = first; i < end; ++i) {
    gpu_thread *t = &g->threads[i];
    if (!same_place(t, &at)) continue;
    mask |= 1u << (i - first);
    copy_bytes(s->values[bank] + (i - first) * t->size, t->value, t->size);
    t->bank = bank;
    t->state = ready;
  }
  for (unsigned i = first; i < end; ++i) {
    if (mask >> (i - first) & 1) g->threads[i].mask = mask;
  }
}

// The number of threads in [first, end) that wait where the first of them waits.
static unsigned together(thread_group *g, unsigned first, unsigned end) {
  unsigned n = 0;
  for (unsigned i = first; i < end; ++i) n += same_place(&g->threads[i], &g->threads[first]);
  return n;
}

static void free_all(thread_group *g, unsigned first, unsigned end) {
  for (unsigned i = first; i < end; ++i) g->threads[i].state = ready;
}

static unsigned simd_end(const thread_group *g, unsigned first) { return first + 32 < g->count ? first + 32 : g->count; }

// Releases each SIMD group, and the group, whose threads all wait at one place.
static bool free_complete(thread_group *g) {
  bool any = false;
  for (unsigned first = 0; first < g->count; first += 32) {
    gpu_thread *lead = &g->threads[first];
    unsigned end = simd_end(g, first);
    if ((lead->state != at_gather && lead->state != at_simd_barrier) || together(g, first, end) != end - first) continue;
    if (lead->state == at_gather) free_simd(g, first, end, lead);
    else free_all(g, first, end);
    any = true;
  }
  if (!any && g->threads[0].state == at_barrier && together(g, 0, g->count) == g->count) {
    free_all(g, 0, g->count);
    any = true;
  }
  return any;
}

// With no thread able to go on, lanes at a SIMD function go on without the
// others, as the hardware does: the active lanes take part.
static bool free_partial(thread_group *g) {
  for (unsigned i = 0; i < g->count; ++i) {
    gpu_thread *t = &g->threads[i];
    if (t->state != at_gather) continue;
    unsigned first = i / 32 * 32, end = simd_end(g, first), n = 0;
    for (unsigned j = first; j < end; ++j) n += same_place(&g->threads[j], t);
    report("partial", t->line, t->column, "SIMD function reached by %u of %u threads of the SIMD group", n, end - first);
    free_simd(g, first, end, t);
    return true;
  }
  return false;
}

static const char *name_of(thread_state s) {
  return s == at_simd_barrier ? "simdgroup_barrier" : "threadgroup_barrier";
}

static void describe(const gpu_thread *t, char *text, unsigned long size) {
  if (t->state == done) snprintf(text, size, "thread %u has returned", t->ids.thread_index_in_threadgroup);
  else snprintf(text, size, "thread %u waits at the %s in line %d", t->ids.thread_index_in_threadgroup, name_of(t->state), t->line);
}

// Nothing can go on: some barrier is not reached by all its threads.
static void report_divergence(thread_group *g) {
  const gpu_thread *w = nullptr;
  for (unsigned i = 0; i < g->count && w == nullptr; ++i) {
    if (g->threads[i].state != done) w = &g->threads[i];
  }
  if (w == nullptr) return;
  unsigned index = w->ids.thread_index_in_threadgroup;
  unsigned first = w->state == at_simd_barrier ? index / 32 * 32 : 0;
  unsigned end = w->state == at_simd_barrier ? simd_end(g, first) : g->count;
  unsigned n = 0;
  char other[96] = "";
  for (unsigned i = first; i < end; ++i) {
    if (same_place(&g->threads[i], w)) ++n;
    else if (other[0] == 0) describe(&g->threads[i], other, sizeof other);
  }
  report("divergence", w->line, w->column, "%s reached by %u of %u threads of threadgroup (%u,%u,%u): %s", name_of(w->state), n,
         end - first, g->position[0], g->position[1], g->position[2], other);
  g->stopped = true;
}

static bool all_done(const thread_group *g) {
  for (unsigned i = 0; i < g->count; ++i) {
    if (g->threads[i].state != done) return false;
  }
  return true;
}

// Each thread that is ready runs, in their order: one that stops hands over to the next.
static bool run_ready(thread_group *g) {
  bool any = false;
  for (unsigned i = 0; i < g->count; ++i) {
    if (g->threads[i].state != ready) continue;
    enter(g, &g->threads[i]);
    any = true;
  }
  return any;
}

#if MSL_TSAN
// The sanitizer tells 256 threads apart, some of which are its own and ours:
// past them it reports nothing. Threads of a larger group share identities, so
// that a race between two that share one is missed and all others are found.
static const unsigned max_identities = 251;
#endif

static void name_fibre(thread_group *g, gpu_thread *t) {
#if MSL_TSAN
  const unsigned index = unsigned(t - g->threads);
  if (index >= max_identities) {
    t->context.tsan = g->threads[index % max_identities].context.tsan;
    return;
  }
  char name[64];
  snprintf(name, sizeof name, "thread %u of threadgroup (%u,%u,%u)", t->ids.thread_index_in_threadgroup, g->position[0], g->position[1], g->position[2]);
  t->context.tsan = __tsan_create_fiber(0);
  __tsan_set_fiber_name(t->context.tsan, name);
#endif
  (void)g;
  (void)t;
}

bool group_run(thread_group *g) {
  msl_group = g;
#if MSL_TRAFFIC
  traffic_next_group();
#endif
#if MSL_TSAN
  g->scheduler.tsan = __tsan_get_current_fiber();
#endif
  memory_begin(g);
  for (unsigned i = 0; i < g->count; ++i) {
    name_fibre(g, &g->threads[i]);
    fibre_prepare(&g->threads[i].context);
  }
  while (!all_done(g)) {
    if (run_ready(g) || free_complete(g) || free_partial(g)) continue;
    report_divergence(g);
    break;
  }
#if MSL_TSAN
  for (unsigned i = 0; i < g->count && i < max_identities; ++i) __tsan_destroy_fiber(g->threads[i].context.tsan);
#endif
  memory_end(g);
  return !g->stopped;
}

void host_acquire() { acquire_clock(end_clock); }
