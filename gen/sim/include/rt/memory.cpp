// Stacks, clocks and threadgroup memory of one group. Under ThreadSanitizer all
// of it is mapped anew for every group: groups are not ordered among each
// other, so an address that two groups share would be a race.
#include "group.h"
#include <stdio.h>
#include <stdlib.h>

enum { max_variables = 256, threadgroup_limit = 32 << 10, arena_bytes = 1 << 20 };

struct variable {
  char *at;
  unsigned long size;
};

static variable variables[max_variables];
static char *arena;
static unsigned long arena_used, bytes_used;

static char *map_pages(unsigned long bytes, void *at = nullptr) {
  void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
  if (p == MAP_FAILED) {
    perror("msl-error:0:0: mmap");
    exit(2);
  }
  return static_cast<char *>(p);
}

static char *new_stacks(unsigned count) {
  const unsigned long each = msl_stack_size + msl_page;
  char *stacks = map_pages(each * count);
  for (unsigned i = 0; i < count; ++i) mprotect(stacks + each * i, msl_page, PROT_NONE);
  return stacks;
}

static void give_stacks(thread_group *g) {
  const unsigned long each = msl_stack_size + msl_page;
  for (unsigned i = 0; i < g->count; ++i) g->threads[i].context.stack = g->stacks + each * i + msl_page;
}

#if MSL_LIBRARY
// The stacks of one dispatch serve the next: to map them takes longer than most
// kernels do.
static char *kept_stacks;
static unsigned kept_count;

static void drop_stacks() {
  if (kept_stacks != nullptr) munmap(kept_stacks, (msl_stack_size + msl_page) * static_cast<unsigned long>(kept_count));
}

__attribute__((destructor)) static void unload() { drop_stacks(); }

void stacks_map(thread_group *g) {
  if (kept_count < g->count) {
    drop_stacks();
    kept_stacks = new_stacks(g->count);
    kept_count = g->count;
  }
  g->stacks = kept_stacks;
  give_stacks(g);
}

void stacks_unmap(thread_group *) {}
#else
void stacks_map(thread_group *g) {
  g->stack_bytes = (msl_stack_size + msl_page) * static_cast<unsigned long>(g->count);
  g->stacks = new_stacks(g->count);
  give_stacks(g);
}

void stacks_unmap(thread_group *g) { munmap(g->stacks, g->stack_bytes); }
#endif

#if MSL_LIBRARY
// In a process with other threads a mapping that is given up may be theirs at
// once, so nothing is mapped at an address of our own.
alignas(64) static char library_arena[arena_bytes];
static group_clocks library_clocks;

static void map_group(thread_group *g) {
  arena = library_arena;
  g->clocks = &library_clocks;
}

static void unmap_group(thread_group *) {}
#else
static unsigned long clock_bytes() { return (sizeof(group_clocks) + msl_page - 1) / msl_page * msl_page; }

static void map_group(thread_group *g) {
  g->clocks = reinterpret_cast<group_clocks *>(map_pages(clock_bytes()));
  // Always at one address, which is free again, so that a report that lies in
  // threadgroup memory can be told.
  bool first = arena == nullptr;
  arena = map_pages(arena_bytes, arena);
  if (first && only_device_order) fprintf(stderr, "msl-arena:%lx:%lx\n", reinterpret_cast<unsigned long>(arena), arena_bytes + reinterpret_cast<unsigned long>(arena));
}

static void unmap_group(thread_group *g) {
  munmap(arena, arena_bytes);
  munmap(g->clocks, clock_bytes());
}
#endif

void memory_begin(thread_group *g) {
  map_group(g);
  arena_used = bytes_used = 0;
}

void memory_end(thread_group *g) {
  for (variable &v : variables) {
#if MSL_ASAN
    free(v.at);
#endif
    v.at = nullptr;
    v.size = 0;
  }
  unmap_group(g);
}

static char *take(unsigned long size) {
#if MSL_ASAN
  // A block of its own, so that one element past the end is caught.
  void *p = nullptr;
  return posix_memalign(&p, 16, size) == 0 ? static_cast<char *>(p) : nullptr;
#else
  char *p = arena + arena_used;
  arena_used += (size + 63) / 64 * 64;
  return arena_used <= arena_bytes ? p : nullptr;
#endif
}

// Uninitialised threadgroup memory holds all ones: a NaN in every float type.
static void poison(char *p, unsigned long size) {
  for (unsigned long i = 0; i < size; ++i) p[i] = char(0xff);
}

void *msl_rt_threadgroup(unsigned number, unsigned long size) {
  if (number >= max_variables) {
    report("error", 0, 0, "more than %d threadgroup variables", int(max_variables));
    exit(2);
  }
  variable &v = variables[number];
  if (v.at != nullptr) return v.at;
  v.at = take(size);
  v.size = size;
  bytes_used += (size + 15) / 16 * 16;
  if (v.at == nullptr || bytes_used > threadgroup_limit) {
    report("error", 0, 0, "kernel %s: threadgroup memory of %lu bytes exceeds the limit of %d bytes",
           msl_group->args->kernel->name, bytes_used, int(threadgroup_limit));
    exit(2);
  }
  poison(v.at, size);
  return v.at;
}
