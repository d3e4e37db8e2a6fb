// The kernels of the backend itself. The structs are those of bridge.h.

#include <metal_stdlib>
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

struct kgm_head {
	ulong seq;
	long nafter;
	long nword;
	ulong after[256];
};

struct kgm_state {
	int skipped;
	int unused;
};

constant ulong history = 512;

// The lock of a fault word that no other fault replaces: locks are larger for lower
// positions.
constant uint first_of_all = 0xffffffffu;

inline bool is_set(device kg_fault *word) {
	return atomic_load_explicit(&word->lock, memory_order_relaxed) != 0u;
}

// Moves the first of some fault words that is set to the first of all, unless that is.
inline void gather(device kg_fault *word, long from, long end) {
	for (long i = from; i < end && !is_set(word); ++i) {
		if (is_set(word + i)) {
			word->set = word[i].set;
			word->op = word[i].op;
			word->tensor = word[i].tensor;
			word->pos = word[i].pos;
			word->value = word[i].value;
			word->bound = word[i].bound;
			atomic_store_explicit(&word->lock, first_of_all, memory_order_relaxed);
		}
	}
}

// Begins a run: clears the fault words, or sets the first one to 2 if a program that the
// run depends on failed.
[[max_total_threads_per_threadgroup(32)]]
kernel void kgb_begin(
		constant kgm_head &head [[buffer(0)]],
		device const int *failed [[buffer(1)]],
		device kgm_state *state [[buffer(2)]],
		device kg_fault *word [[buffer(3)]],
		uint lane [[thread_index_in_simdgroup]]) {
	int mine = 0;
	for (long i = long(lane); i < head.nafter; i += 32) {
		mine |= failed[head.after[i] % history];
	}
	const bool skip = simd_max(mine) != 0;
	for (long i = long(lane); i < head.nword; i += 32) {
		const bool first = skip && i == 0;
		word[i].set = first ? 2 : 0;
		atomic_store_explicit(&word[i].lock, first ? first_of_all : 0u, memory_order_relaxed);
	}
	if (lane == 0u) {
		state->skipped = skip ? 1 : 0;
	}
}

// Ends a run: notes whether it failed, and why.
kernel void kgb_end(
		constant kgm_head &head [[buffer(0)]],
		device int *failed [[buffer(1)]],
		device const kgm_state *state [[buffer(2)]],
		device kg_fault *word [[buffer(3)]]) {
	gather(word, 1, head.nword);
	failed[head.seq % history] = state->skipped != 0 || is_set(word) ? 1 : 0;
}

struct kgb_gather_args {
	long from;
	long end;
	int op;
	int unused;
};

// Makes the first fault word say what the words in a range do, so that commands that are
// guarded see it. op is that of a command that comes next and uses the first word itself.
kernel void kgb_gather(
		constant kgb_gather_args &args [[buffer(0)]],
		device kg_fault *word [[buffer(1)]]) {
	gather(word, args.from, args.end);
	if (!is_set(word)) {
		word->op = args.op;
	}
}

struct kgb_move_args {
	long bytes;
	ulong pattern;
	int wide; // both ends begin at a multiple of 16 bytes
	int unused;
};

constant int threads = 256;
constant long tile = 16384; // bytes of a threadgroup

// A threadgroup copies a tile, four times 16 bytes a thread.
inline void copy(device uchar *dst, device const uchar *src, long bytes, bool wide, uint group, uint tid) {
	const long from = long(group) * tile;
	const int n = int(min(bytes - from, tile));
	int done = 0;
	if (wide) {
		const int words = n / 16;
		for (int i = int(tid); i < words; i += threads) {
			*(device uint4 *)(dst + from + long(i) * 16) = *(device const uint4 *)(src + from + long(i) * 16);
		}
		done = words * 16;
	}
	for (int i = done + int(tid); i < n; i += threads) {
		dst[from + long(i)] = src[from + long(i)];
	}
}

[[max_total_threads_per_threadgroup(256)]]
kernel void kgb_copy(
		device uchar *dst [[buffer(0)]],
		device const uchar *src [[buffer(1)]],
		constant kgb_move_args &args [[buffer(2)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]]) {
	copy(dst, src, args.bytes, args.wide != 0, group.x, tid);
}

// The same after a fault, else nothing.
[[max_total_threads_per_threadgroup(256)]]
kernel void kgb_copy_if(
		device uchar *dst [[buffer(0)]],
		device const uchar *src [[buffer(1)]],
		constant kgb_move_args &args [[buffer(2)]],
		device kg_fault *word [[buffer(3)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]]) {
	if (is_set(word)) {
		copy(dst, src, args.bytes, args.wide != 0, group.x, tid);
	}
}

// The pattern, again and again.
[[max_total_threads_per_threadgroup(256)]]
kernel void kgb_fill(
		device uchar *dst [[buffer(0)]],
		constant kgb_move_args &args [[buffer(1)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]]) {
	const long from = long(group.x) * tile;
	const int n = int(min(args.bytes - from, tile));
	const uint low = uint(args.pattern);
	const uint high = uint(args.pattern >> 32);
	int done = 0;
	if (args.wide != 0) {
		const int words = n / 16;
		for (int i = int(tid); i < words; i += threads) {
			*(device uint4 *)(dst + from + long(i) * 16) = uint4(low, high, low, high);
		}
		done = words * 16;
	}
	for (int i = done + int(tid); i < n; i += threads) {
		dst[from + long(i)] = uchar(args.pattern >> ulong(8 * (i & 7)));
	}
}

struct kgb_rows_args {
	long rows;
	long bytes; // of a row, a multiple of 2
	long to;    // rows of the result begin so many bytes apart
	long from;  // those of the source
	int words;  // all of these are multiples of 4
	int unused;
};

constant long rowTile = 64; // rows of a threadgroup, of 8 SIMD groups

template <typename T>
inline void copy_row(device T *dst, device const T *src, long n, long lane) {
	for (long i = lane; i < n; i += 32) {
		dst[i] = src[i];
	}
}

// Copies a matrix to one whose rows lie as far apart as is asked for.
[[max_total_threads_per_threadgroup(256)]]
kernel void kgb_rows(
		device uchar *dst [[buffer(0)]],
		device const uchar *src [[buffer(1)]],
		constant kgb_rows_args &args [[buffer(2)]],
		uint3 group [[threadgroup_position_in_grid]],
		uint tid [[thread_index_in_threadgroup]]) {
	const long first = long(group.x) * rowTile;
	const long end = min(first + rowTile, args.rows);
	for (long r = first + long(tid / 32u); r < end; r += 8) {
		device uchar *to = dst + r * args.to;
		device const uchar *from = src + r * args.from;
		if (args.words != 0) {
			copy_row((device uint *)to, (device const uint *)from, args.bytes / 4, long(tid % 32u));
		} else {
			copy_row((device ushort *)to, (device const ushort *)from, args.bytes / 2, long(tid % 32u));
		}
	}
}
