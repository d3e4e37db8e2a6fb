// Matrices that a SIMD group holds.
#include <metal_stdlib>
using namespace metal;

// y = (a b) b^T for matrices of 8 by 8 in device memory, through threadgroup memory.
kernel void chain(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *y [[buffer(2)]],
		uint tid [[thread_index_in_threadgroup]]) {
	threadgroup float shared[80];
	simdgroup_half8x8 left;
	simdgroup_half8x8 right;
	simdgroup_load(left, a);
	simdgroup_load(right, b);
	simdgroup_float8x8 sums = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
	simdgroup_multiply_accumulate(sums, left, right, sums);
	simdgroup_store(sums, &shared[0], 10, ulong2(1, 0));
	simdgroup_barrier(mem_flags::mem_threadgroup);
	simdgroup_float8x8 back;
	simdgroup_load(back, &shared[0], 10, ulong2(1, 0));
	simdgroup_float8x8 turned;
	simdgroup_half8x8 again;
	simdgroup_load(again, b, 8, ulong2(0, 0), true);
	simdgroup_multiply(turned, back, again);
	simdgroup_store(turned, y);
}

// Twice the unit matrix, by the elements that each thread has.
kernel void unit(device float *y [[buffer(0)]]) {
	simdgroup_float8x8 m(1.0f);
	m.thread_elements()[0] *= 2.0f;
	m.thread_elements()[1] *= 2.0f;
	simdgroup_store(m, y);
}

kernel void parted(device float *y [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
	simdgroup_float8x8 m(1.0f);
	if (tid < 20u) {
		simdgroup_multiply(m, m, m); // not by all threads
	}
	y[tid] = m.thread_elements()[0];
}
