// Running sums along rows, one block a row. In each round a thread sums up a few
// neighbouring elements, a warp the sums of its threads, and the totals of the warps
// take one hop through shared memory.

__device__ inline void scan(const Args &args) {
	constexpr int each = 4;                  // elements of a thread
	constexpr int warps = threads_scan / 32;
	constexpr int round_size = each * threads_scan;
	const int n = args.size_D;
	const T *x = args.x + (long long)blockIdx.x * n;
	T *y = args.y + (long long)blockIdx.x * n;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	float before = 0.0f; // the sum of all rounds before
	int half_used = 0;   // rounds take turns with the halves of totals: one barrier is enough
	for (int start = 0; start < n; start += round_size) {
		const int first = start + int(threadIdx.x) * each;
		float sums[each];
		float sum = 0.0f;
		for (int i = 0; i < each; ++i) {
			const int d = first + i;
			if (d < n) {
				sum += kg_ld_T(x + (direction_forward ? d : n - 1 - d));
			}
			sums[i] = sum;
		}
		float up_to = sum; // of the lanes up to this one
		for (int step = 1; step < 32; step *= 2) {
			const float lower = __shfl_up_sync(0xffffffffu, up_to, step);
			if (lane >= step) {
				up_to += lower;
			}
		}
		const float lanes_before = __shfl_up_sync(0xffffffffu, up_to, 1);
		if (lane == 31) {
			args.totals[half_used + warp] = up_to;
		}
		__syncthreads();
		float offset = lane == 0 ? 0.0f : lanes_before;
		float total = 0.0f;
		for (int s = 0; s < warps; ++s) {
			if (s == warp) {
				offset += total;
			}
			total += args.totals[half_used + s];
		}
		for (int i = 0; i < each; ++i) {
			const int d = first + i;
			if (d < n) {
				kg_st_T(y + (direction_forward ? d : n - 1 - d), before + (offset + sums[i]));
			}
		}
		before += total;
		half_used = warps - half_used;
	}
}
