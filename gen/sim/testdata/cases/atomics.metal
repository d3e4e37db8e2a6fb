// Atomic types, the operations that each has, and their one order.
#include <metal_stdlib>
using namespace metal;

kernel void atomics(device atomic_uint *u [[buffer(0)]], device atomic_bool *b [[buffer(1)]], device atomic_ulong *l [[buffer(2)]],
                    device uint *plain [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  threadgroup atomic_int t;
  threadgroup atomic_float g;
  atomic_store_explicit(&t, 0, memory_order_relaxed);
  plain[i] = atomic_load_explicit(u, memory_order_relaxed);
  plain[i] = atomic_load_explicit(u, memory_order_seq_cst);  // error: no matching function for call to 'atomic_load_explicit'
  atomic_store_explicit(u, 1u, memory_order_release);  // error: no matching function for call to 'atomic_store_explicit'
  atomic_fetch_add(u, 1u);  // error: use of undeclared identifier 'atomic_fetch_add'
  atomic_fetch_add_explicit(plain, 1u, memory_order_relaxed);  // error: no matching function for call to 'atomic_fetch_add_explicit'
  atomic_fetch_add_explicit(b, true, memory_order_relaxed);  // error: no matching function for call to 'atomic_fetch_add_explicit'
  atomic_fetch_add_explicit(l, 1ul, memory_order_relaxed);  // error: no matching function for call to 'atomic_fetch_add_explicit'
  atomic_max_explicit(l, 1ul, memory_order_relaxed);
  atomic_fetch_add_explicit(&g, 1.0f, memory_order_relaxed);  // error: no matching function for call to 'atomic_fetch_add_explicit'
  atomic_compare_exchange_strong_explicit(u, &plain[0], 1u, memory_order_relaxed, memory_order_relaxed);  // error: use of undeclared identifier
  atomic_compare_exchange_weak_explicit(u, &plain[0], 1u, memory_order_relaxed, memory_order_relaxed);  // error: no matching function for call to 'atomic_compare_exchange_weak_explicit'
  uint expected = 0u;
  atomic_compare_exchange_weak_explicit(u, &expected, 1u, memory_order_relaxed, memory_order_relaxed);
  u[0] += 1u;  // error: no viable overloaded '+='
  plain[i] = u[0];  // error: from incompatible type
  plain[i] = u->load();  // error: no member named 'load'
  atomic_thread_fence(mem_flags::mem_device, memory_order_acquire, thread_scope_device);  // error: no matching function for call to 'atomic_thread_fence'
  atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed);
}
