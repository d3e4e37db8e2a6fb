// The host side of a dispatch.
#pragma once
#include "msl/rt.h"

enum { msl_max_slots = 31 };

struct msl_dispatch_args {
  const msl_kernel *kernel;
  void *buffers[msl_max_slots];
  unsigned long sizes[msl_max_slots];
  unsigned long threadgroup_bytes[msl_max_slots]; // for [[threadgroup(n)]] arguments
  unsigned grid[3];  // threadgroups
  unsigned group[3]; // threads of a threadgroup
};

extern "C" {
const msl_kernel *msl_find(const char *name);
// msl_dispatch runs all threadgroups one after another. It returns 0, or 1 if
// it stopped at what Metal leaves undefined (a barrier that not all threads
// reach), or 2 if the arguments do not fit the kernel; the reason is on
// standard error.
int msl_dispatch(const msl_dispatch_args *args);
}
