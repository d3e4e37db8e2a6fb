// The kernels of the backend itself. The structs are those of device.h.

struct kg_fault {
	int lock, set, op, tensor;
	long long pos, value, bound;
};

struct kgc_head {
	unsigned long long seq;
	long long nafter;
	unsigned long long after[256];
};

struct kgc_state {
	kg_fault fault;
	int skipped, unused;
};

enum { history = 512 };

// Begins a run: clears the fault word, or sets it to 2 if a program that the run
// depends on failed, as the first fault that there can be, so that none replaces it.
extern "C" __global__ void kgb_begin(const kgc_head *head, const int *failed, kgc_state *state) {
	int skip = 0;
	for (long long i = 0; i < head->nafter; i++) skip |= failed[head->after[i] % history];
	kg_fault none = {0, 0, 0, 0, 0, 0, 0};
	if (skip) {
		none.set = 2;
		none.op = none.tensor = -1;
		none.pos = -1;
	}
	state->fault = none;
	state->skipped = skip;
}

// Ends a run: notes whether it failed.
extern "C" __global__ void kgb_end(const kgc_head *head, int *failed, const kgc_state *state) {
	failed[head->seq % history] = state->skipped || state->fault.set != 0;
}

// Waits for the kernels before, and lets the next one begin that waits likewise.
static __device__ void await() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

struct kgb_move_args {
	long long bytes;
	unsigned long long pattern;
};

enum { threads = 256, tile = 16384 }; // bytes of a block

// A block copies a tile: in 16 bytes where both ends allow it, so that four loads of
// a thread are on their way at once.
static __device__ void copy(char *dst, const char *src, long long bytes) {
	if (dst == src) return;
	long long from = (long long)blockIdx.x * tile, n = bytes - from < tile ? bytes - from : tile;
	dst += from;
	src += from;
	int done = 0;
	if ((((unsigned long long)dst | (unsigned long long)src) & 15) == 0) {
		int words = (int)(n / 16);
		if (words == tile / 16) {
			uint4 v[tile / 16 / threads];
#pragma unroll
			for (int k = 0; k < tile / 16 / threads; k++) v[k] = ((const uint4 *)src)[k * threads + threadIdx.x];
#pragma unroll
			for (int k = 0; k < tile / 16 / threads; k++) ((uint4 *)dst)[k * threads + threadIdx.x] = v[k];
		} else {
			for (int i = threadIdx.x; i < words; i += threads) ((uint4 *)dst)[i] = ((const uint4 *)src)[i];
		}
		done = words * 16;
	}
	for (int i = done + threadIdx.x; i < n; i += threads) dst[i] = src[i];
}

// buf[0] ← buf[1], which are the same or lie apart.
extern "C" __global__ void kgb_copy(void *const *buf, const kgb_move_args *args, kg_fault *fault, int op) {
	await();
	copy((char *)buf[0], (const char *)buf[1], args->bytes);
}

// The same after a fault, else nothing.
extern "C" __global__ void kgb_copy_if(void *const *buf, const kgb_move_args *args, kg_fault *fault, int op) {
	await();
	if (fault->set != 0) copy((char *)buf[0], (const char *)buf[1], args->bytes);
}

// buf[0] ← pattern, again and again.
extern "C" __global__ void kgb_fill(void *const *buf, const kgb_move_args *args, kg_fault *fault, int op) {
	await();
	unsigned long long pattern = args->pattern;
	long long from = (long long)blockIdx.x * tile, n = args->bytes - from < tile ? args->bytes - from : tile;
	char *dst = (char *)buf[0] + from;
	int done = 0;
	if (((unsigned long long)dst & 7) == 0) {
		int words = (int)(n / 8);
		for (int i = threadIdx.x; i < words; i += threads) ((unsigned long long *)dst)[i] = pattern;
		done = words * 8;
	}
	for (int i = done + threadIdx.x; i < n; i += threads) dst[i] = (char)(pattern >> 8 * (i & 7));
}
