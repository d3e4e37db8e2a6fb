// The bytes that a dispatch moves between device memory and threads. The compiler calls
// before each load and store of a kernel; what lies in a buffer counts.
//
// Of the threads of a dispatch the one that loads a byte most often counts for it: what
// several threads load comes from a cache for all but one, and what a thread comes back
// to may have left it.
#include "group.h"
#include <stdio.h>
#include <stdlib.h>

struct buffer_traffic {
  const char *base;
  unsigned long size, first; // first: of its bytes among those of all buffers
  unsigned char *most[2];    // of loads and of stores, for each byte
  unsigned long asked[2];    // bytes of all loads and stores
};

static buffer_traffic traffic[msl_max_slots];

// How often a thread of the running group has loaded or stored a byte: a hash table,
// emptied for each group by a new stamp.
struct touch {
  unsigned long key;
  unsigned stamp, count;
};

static touch *touches;
static unsigned long touch_slots, touch_used;
static unsigned touch_stamp = 1;

static touch *find_touch(unsigned long key) {
  unsigned long at = key * 0x9e3779b97f4a7c15ul >> 20;
  for (;; ++at) {
    touch *t = &touches[at & (touch_slots - 1)];
    if (t->stamp != touch_stamp || t->key == key) return t;
  }
}

static void grow_touches() {
  touch *old = touches;
  unsigned long n = touch_slots;
  touch_slots = n == 0 ? 1ul << 20 : 2 * n;
  touches = static_cast<touch *>(calloc(touch_slots, sizeof(touch)));
  if (touches == nullptr) {
    report("error", 0, 0, "out of memory");
    exit(2);
  }
  for (unsigned long i = 0; i < n; ++i)
    if (old[i].stamp == touch_stamp) *find_touch(old[i].key) = old[i];
  free(old);
}

static unsigned count_touch(unsigned long key) {
  if (2 * touch_used >= touch_slots) grow_touches();
  touch *t = find_touch(key);
  if (t->stamp != touch_stamp) {
    *t = {key, touch_stamp, 0};
    ++touch_used;
  }
  return ++t->count;
}

void traffic_begin(const msl_dispatch_args *a) {
  unsigned long first = 0;
  for (unsigned i = 0; i < msl_max_slots; ++i) {
    buffer_traffic *b = &traffic[i];
    b->base = static_cast<const char *>(a->buffers[i]);
    b->size = b->base == nullptr ? 0 : a->sizes[i];
    b->first = first;
    first += b->size;
    for (unsigned char *&most : b->most) most = static_cast<unsigned char *>(calloc(b->size + 1, 1));
  }
}

void traffic_next_group() {
  ++touch_stamp;
  touch_used = 0;
}

void traffic_report() {
  for (unsigned i = 0; i < msl_max_slots; ++i) {
    const buffer_traffic *b = &traffic[i];
    unsigned long sum[2] = {0, 0};
    for (int store = 0; store < 2; ++store)
      for (unsigned long k = 0; k < b->size; ++k) sum[store] += b->most[store][k];
    if (b->size != 0) fprintf(stderr, "msl-traffic:%u:%lu:%lu:%lu:%lu\n", i, sum[0], sum[1], b->asked[0], b->asked[1]);
  }
}

static void count_access(const void *p, unsigned long size, int store) {
  if (msl_group == nullptr || msl_group->running == nullptr) return;
  const char *at = static_cast<const char *>(p);
  for (buffer_traffic &b : traffic) {
    if (b.size == 0 || at < b.base || at >= b.base + b.size) continue;
    const unsigned long thread = msl_group->running->ids.thread_index_in_threadgroup;
    b.asked[store] += size;
    for (unsigned long k = at - b.base; k < static_cast<unsigned long>(at - b.base) + size && k < b.size; ++k) {
      const unsigned n = count_touch((b.first + k) << 11 | thread << 1 | static_cast<unsigned long>(store));
      if (n > b.most[store][k] && n < 256) b.most[store][k] = static_cast<unsigned char>(n);
    }
    return;
  }
}

// What -fsanitize-coverage=trace-loads,trace-stores calls.
#define MSL_TRACE(n)                                                               \
  extern "C" void __sanitizer_cov_load##n(const void *p) { count_access(p, n, 0); } \
  extern "C" void __sanitizer_cov_store##n(const void *p) { count_access(p, n, 1); }
MSL_TRACE(1) MSL_TRACE(2) MSL_TRACE(4) MSL_TRACE(8) MSL_TRACE(16)
