#include "fibre.h"
#include <stdint.h>

#if defined(__APPLE__)
#define SYMBOL "_msl_switch"
#else
#define SYMBOL "msl_switch"
#endif

#if defined(__x86_64__)
__asm__(".text\n.globl " SYMBOL "\n" SYMBOL ":\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n");

static void *first_frame(char *top) {
  void **sp = reinterpret_cast<void **>(top);
  *--sp = nullptr; // keeps the entry's stack pointer as after a call
  *--sp = reinterpret_cast<void *>(&msl_fibre_start);
  for (int i = 0; i < 6; ++i) *--sp = nullptr;
  return sp;
}
#elif defined(__aarch64__)
__asm__(".text\n.globl " SYMBOL "\n.p2align 2\n" SYMBOL ":\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n");

static void *first_frame(char *top) {
  void **sp = reinterpret_cast<void **>(top - 160);
  for (int i = 0; i < 20; ++i) sp[i] = nullptr;
  sp[11] = reinterpret_cast<void *>(&msl_fibre_start); // x30
  return sp;
}
#else
#error "the runner knows x86-64 and arm64"
#endif

void fibre_prepare(fibre_context *f) {
  f->sp = first_frame(f->stack + msl_stack_size);
  f->asan_bottom = f->stack;
  f->asan_size = msl_stack_size;
}

void fibre_enter(fibre_context *scheduler, fibre_context *f) {
#if MSL_TSAN
  __tsan_switch_to_fiber(f->tsan, __tsan_switch_to_fiber_no_sync);
#endif
#if MSL_ASAN
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, f->stack, msl_stack_size);
#endif
  msl_switch(&scheduler->sp, f->sp);
#if MSL_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void fibre_leave(fibre_context *f, fibre_context *to, bool last) {
#if MSL_TSAN
  __tsan_switch_to_fiber(to->tsan, __tsan_switch_to_fiber_no_sync);
#endif
#if MSL_ASAN
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(last ? nullptr : &fake, to->asan_bottom, to->asan_size);
#endif
  msl_switch(&f->sp, to->sp);
  (void)last;
#if MSL_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void fibre_started(fibre_context *scheduler) {
#if MSL_ASAN
  bool known = scheduler->asan_bottom != nullptr;
  __sanitizer_finish_switch_fiber(nullptr, known ? nullptr : &scheduler->asan_bottom, known ? nullptr : &scheduler->asan_size);
#endif
  (void)scheduler;
}
