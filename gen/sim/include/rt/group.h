// One threadgroup at run time.
#pragma once
#include "dispatch.h"
#include "fibre.h"

enum thread_state { ready, at_barrier, at_simd_barrier, at_gather, done };

struct gpu_thread {
  fibre_context context; // first: a fibre is found by its context
  thread_state state;
  int line, column;      // where it waits
  unsigned flags;        // of the barrier
  unsigned bank, mask;   // of the gather that released it
  unsigned size;
  unsigned char value[16];
  unsigned barriers;     // passed so far, of the group and of the SIMD group
  unsigned simd_barriers;
  msl_ids ids;
};

struct simd_group {
  unsigned generation;
  alignas(16) unsigned char values[2][32 * 16]; // of 32 lanes, one behind the other
};

// What ThreadSanitizer keeps a clock for; fresh memory for every group.
struct group_clocks {
  unsigned long group[2][8];
  unsigned long simd[32][2][8];
};

struct thread_group {
  const msl_dispatch_args *args;
  fibre_context scheduler;
  gpu_thread *threads;
  simd_group *simds;
  unsigned count, simd_count;
  unsigned position[3];
  gpu_thread *running;
  char *stacks;                 // count stacks with a guard page below each
  unsigned long stack_bytes;
  group_clocks *clocks;
  bool stopped;                 // undefined behaviour was reported
};

extern thread_group *msl_group;
// Barriers order memory only if they name device memory.
extern bool only_device_order;

// memory.cpp
void memory_begin(thread_group *g);
void memory_end(thread_group *g);
void stacks_map(thread_group *g);
void stacks_unmap(thread_group *g);

// traffic.cpp
#if MSL_TRAFFIC
void traffic_begin(const msl_dispatch_args *a);
void traffic_next_group();
void traffic_report();
#endif

// sched.cpp
bool group_run(thread_group *g);
// host_acquire orders the host after every thread that has returned. Not
// between groups: that would order them too.
void host_acquire();

// report.cpp
void report(const char *kind, int line, int column, const char *format, ...) __attribute__((format(printf, 4, 5)));
