// Kernels of the test operations for a GPU that Metal knows: the same bits as those of
// kernels.c. A threadgroup is what an item is there.

#include <metal_stdlib>
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
using namespace metal;

struct kg_fault {
	atomic_uint lock;
	int set;
	int op;
	int tensor;
	long pos;
	long value;
	long bound;
};

// The lowest position wins.
inline void report(device kg_fault *fault, int tensor, long pos, long value, long bound) {
	const uint key = 0xffffffffu - uint(pos);
	if (atomic_fetch_max_explicit(&fault->lock, key, memory_order_relaxed) >= key) {
		return;
	}
	fault->set = 1;
	fault->tensor = tensor;
	fault->pos = pos;
	fault->value = value;
	fault->bound = bound;
}

struct sized {
	long n;
};

struct scaled {
	long n;
	float f;
	int unused;
};

struct looked {
	long n;
	long size;
	long rows;
};

constant long tile = 1024;

// The end of a threadgroup's tile of n elements.
inline long tile_end(uint group, long n) {
	return min((long(group) + 1) * tile, n);
}

kernel void kt_add(
		device const float *x [[buffer(0)]],
		device const float *y [[buffer(1)]],
		device float *z [[buffer(2)]],
		constant sized &b [[buffer(3)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		z[i] = x[i] + y[i];
	}
}

kernel void kt_copy(
		device const float *x [[buffer(0)]],
		device float *z [[buffer(1)]],
		constant sized &b [[buffer(2)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		z[i] = x[i];
	}
}

kernel void kt_mul(
		device const float *x [[buffer(0)]],
		device const float *y [[buffer(1)]],
		device float *z [[buffer(2)]],
		constant sized &b [[buffer(3)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		z[i] = x[i] * y[i];
	}
}

kernel void kt_scale(
		device const float *x [[buffer(0)]],
		device float *z [[buffer(1)]],
		constant scaled &b [[buffer(2)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		z[i] = x[i] * b.f;
	}
}

kernel void kt_fill(
		device float *z [[buffer(0)]],
		constant scaled &b [[buffer(1)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		z[i] = b.f;
	}
}

kernel void kt_spread(
		device const float *x [[buffer(0)]],
		device float *z [[buffer(1)]],
		constant sized &b [[buffer(2)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		z[i] = *x;
	}
}

kernel void kt_sgd(
		device float *w [[buffer(0)]],
		device const float *g [[buffer(1)]],
		constant scaled &b [[buffer(2)]],
		device kg_fault *fault [[buffer(3)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	if (atomic_load_explicit(&fault->lock, memory_order_relaxed) != 0u) {
		return;
	}
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		w[i] -= b.f * g[i];
	}
}

// Sixteen threads sum what kt_partial_sum of kernels.c has in its scratch memory.
kernel void kt_partial_sum(
		device const float *x [[buffer(0)]],
		device float *part [[buffer(1)]],
		constant sized &b [[buffer(2)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]]) {
	threadgroup float acc[16];
	if (tid < 16u) {
		float sum = 0.0f;
		for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += 16) {
			sum += x[i];
		}
		acc[tid] = sum;
	}
	threadgroup_barrier(mem_flags::mem_threadgroup);
	if (tid == 0u) {
		float sum = 0.0f;
		for (int k = 0; k < 16; ++k) {
			sum += acc[k];
		}
		part[group.x] = sum;
	}
}

kernel void kt_final_sum(
		device const float *part [[buffer(0)]],
		device float *y [[buffer(1)]],
		constant sized &b [[buffer(2)]],
		uint tid [[thread_index_in_threadgroup]]) {
	if (tid == 0u) {
		float sum = 0.0f;
		for (long i = 0; i < b.n; ++i) {
			sum += part[i];
		}
		*y = sum;
	}
}

// n ids; size is D, rows is V.
kernel void kt_embedding(
		device const int *ids [[buffer(0)]],
		device const float *w [[buffer(1)]],
		device float *y [[buffer(2)]],
		constant looked &b [[buffer(3)]],
		device kg_fault *fault [[buffer(4)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	for (long i = long(group.x) * tile + long(tid); i < tile_end(group.x, b.n); i += long(threads.x)) {
		const long id = long(ids[i]);
		if (id < 0 || id >= b.rows) {
			report(fault, 0, i, id, b.rows);
			continue;
		}
		for (long d = 0; d < b.size; ++d) {
			y[i * b.size + d] = w[id * b.size + d];
		}
	}
}

// A threadgroup computes a row of the table.
kernel void kt_embedding_grad(
		device const int *ids [[buffer(0)]],
		device const float *dy [[buffer(1)]],
		device float *dw [[buffer(2)]],
		constant looked &b [[buffer(3)]],
		device kg_fault *fault [[buffer(4)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]],
		uint3 threads [[threads_per_threadgroup]]) {
	const long v = long(group.x);
	for (long d = long(tid); d < b.size; d += long(threads.x)) {
		float sum = 0.0f;
		for (long i = 0; i < b.n; ++i) {
			if (long(ids[i]) == v) {
				sum += dy[i * b.size + d];
			}
		}
		dw[v * b.size + d] = sum;
	}
	for (long i = long(tid); i < b.n; i += long(threads.x)) {
		const long id = long(ids[i]);
		if (id < 0 || id >= b.rows) {
			report(fault, 0, i, id, b.rows);
		}
	}
}
