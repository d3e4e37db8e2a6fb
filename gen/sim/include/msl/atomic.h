// Atomic types and the *_explicit functions; relaxed is the only order.
#pragma once

enum msl_memory_order { msl_relaxed, msl_acquire, msl_release, msl_acq_rel, msl_seq_cst };
#if defined(MSL_CHECK)
#define MSL_RELAXED(o) __attribute__((enable_if(o == memory_order_relaxed, "the order must be memory_order_relaxed")))
#define MSL_ATOMIC_FN
#define MSL_ATOMIC(...) ;
#else
#define MSL_RELAXED(o)
// A call of its own, so that a sanitizer's stack names the line of the caller.
#define MSL_ATOMIC_FN static inline __attribute__((noinline))
#define MSL_ATOMIC(...) { __VA_ARGS__ }
#endif

namespace metal {
enum memory_order { memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };

template <class T> struct _atomic {
  T msl_value;
  _atomic() = default;
  _atomic(const thread _atomic &) = delete;
#if defined(MSL_CHECK)
  void operator=(const thread _atomic &) = delete;
#else
  _atomic &operator=(const _atomic &) = delete;
#endif
};
template <class T> using atomic = _atomic<T>;
typedef _atomic<int> atomic_int;
typedef _atomic<uint> atomic_uint;
typedef _atomic<bool> atomic_bool;
typedef _atomic<float> atomic_float;
typedef _atomic<ulong> atomic_ulong;

#define MSL_ATOMIC_ANY(S, A, T) MSL_ATOMIC_PLAIN(S, A, T) MSL_ATOMIC_CAS(S, A, T, )
#define MSL_ATOMIC_PLAIN(S, A, T)                                                                                             \
  MSL_ATOMIC_FN void atomic_store_explicit(volatile S A *p, T v, memory_order o) MSL_RELAXED(o) MSL_ATOMIC(__atomic_store(&p->msl_value, &v, __ATOMIC_RELAXED);)                  \
  MSL_ATOMIC_FN T atomic_load_explicit(const volatile S A *p, memory_order o) MSL_RELAXED(o) MSL_ATOMIC(T v; __atomic_load(&p->msl_value, &v, __ATOMIC_RELAXED); return v;)      \
  MSL_ATOMIC_FN T atomic_exchange_explicit(volatile S A *p, T v, memory_order o) MSL_RELAXED(o) MSL_ATOMIC(T r; __atomic_exchange(&p->msl_value, &v, &r, __ATOMIC_RELAXED); return r;)
#define MSL_ATOMIC_CAS(S, A, T, W) \
  MSL_ATOMIC_FN bool atomic_compare_exchange_weak_explicit(volatile S A *p, thread T *e, T v, memory_order o, memory_order f) MSL_RELAXED(o) MSL_RELAXED(f) W MSL_ATOMIC(return __atomic_compare_exchange(&p->msl_value, e, &v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
#define MSL_ATOMIC_OP(S, A, T, op) \
  MSL_ATOMIC_FN T atomic_fetch_##op##_explicit(volatile S A *p, T v, memory_order o) MSL_RELAXED(o) MSL_ATOMIC(return __atomic_fetch_##op(&p->msl_value, v, __ATOMIC_RELAXED);)
#define MSL_ATOMIC_INT(S, A, T) MSL_ATOMIC_ANY(S, A, T) MSL_ATOMIC_OP(S, A, T, add) MSL_ATOMIC_OP(S, A, T, sub) MSL_ATOMIC_OP(S, A, T, and) MSL_ATOMIC_OP(S, A, T, or) MSL_ATOMIC_OP(S, A, T, xor) MSL_ATOMIC_OP(S, A, T, max) MSL_ATOMIC_OP(S, A, T, min)
#define MSL_UNORDERED MSL_WARN("a sum by float atomics has no fixed order, so that results differ from run to run")
#define MSL_FLOAT_CAS MSL_WARN("on floats this compares as floats under fast math and never succeeds on NaN: exchange the bits as uint")
#define MSL_ATOMIC_FLOAT(S)                                                                                                   \
  MSL_ATOMIC_FN float atomic_fetch_add_explicit(volatile S atomic_float *p, float v, memory_order o) MSL_RELAXED(o) MSL_UNORDERED MSL_ATOMIC(float old = atomic_load_explicit(p, o); while (!atomic_compare_exchange_weak_explicit(p, &old, old + v, o, o)) {} return old;) \
  MSL_ATOMIC_FN float atomic_fetch_sub_explicit(volatile S atomic_float *p, float v, memory_order o) MSL_RELAXED(o) MSL_UNORDERED MSL_ATOMIC(return atomic_fetch_add_explicit(p, -v, o);)

MSL_ATOMIC_INT(device, atomic_int, int)
MSL_ATOMIC_INT(device, atomic_uint, uint)
MSL_ATOMIC_ANY(device, atomic_bool, bool)
MSL_ATOMIC_PLAIN(device, atomic_float, float)
MSL_ATOMIC_CAS(device, atomic_float, float, MSL_FLOAT_CAS)
MSL_ATOMIC_FLOAT(device)
#if defined(MSL_CHECK)
MSL_ATOMIC_INT(threadgroup, atomic_int, int)
MSL_ATOMIC_INT(threadgroup, atomic_uint, uint)
MSL_ATOMIC_ANY(threadgroup, atomic_bool, bool)
#endif
#define MSL_ATOMIC_ULONG(op) MSL_ATOMIC_FN void atomic_##op##_explicit(volatile device atomic_ulong *p, ulong v, memory_order o) MSL_RELAXED(o) MSL_ATOMIC(__atomic_fetch_##op(&p->msl_value, v, __ATOMIC_RELAXED);)
MSL_ATOMIC_ULONG(max)
MSL_ATOMIC_ULONG(min)
}
