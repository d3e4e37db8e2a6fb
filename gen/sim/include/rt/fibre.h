// A fibre: a stack of its own and the switch to and from the scheduler, told to
// the sanitizer that the program is built with.
#pragma once
#include <stddef.h>
#include <sys/mman.h>
#if MSL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if MSL_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum { msl_stack_size = 256 << 10, msl_page = 16 << 10 };

struct fibre_context {
  void *sp;       // saved stack pointer while not running
  char *stack;    // lowest usable address; null for the scheduler
  void *tsan;     // ThreadSanitizer's view of the fibre
  const void *asan_bottom; // of the stack, as AddressSanitizer is told
  size_t asan_size;
};

extern "C" void msl_switch(void **save, void *to);
extern "C" void msl_fibre_start();

// fibre_prepare lays out a stack whose first switch enters msl_fibre_start.
void fibre_prepare(fibre_context *f);
// fibre_enter runs f until it leaves; called by the scheduler.
void fibre_enter(fibre_context *scheduler, fibre_context *f);
// fibre_leave goes on with another fibre or with the scheduler; last says that f never
// runs again.
void fibre_leave(fibre_context *f, fibre_context *to, bool last);
// fibre_started is the first call on a new stack. The first fibre of all is entered by the
// scheduler.
void fibre_started(fibre_context *scheduler);
