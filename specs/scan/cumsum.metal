// Running sums along rows, one threadgroup a row. In each round a thread sums up
// a few neighbouring elements, a SIMD group the sums of its threads, and the
// totals of the SIMD groups take one hop through threadgroup memory.

constexpr constant int each = 4;                     // elements of a thread
constexpr constant int simds = threads_scan / 32;    // SIMD groups
constexpr constant int round_size = each * threads_scan;

inline void scan(thread const Args &args) {
	const int n = args.size_D;
	device const T *x = args.x + kg_index(args.group.x) * n;
	device T *y = args.y + kg_index(args.group.x) * n;
	float before = 0.0f; // the sum of all rounds before
	int half_used = 0;   // rounds take turns with the halves of totals: one barrier is enough
	for (int start = 0; start < n; start += round_size) {
		const int first = start + int(args.tid) * each;
		float sums[each];
		float sum = 0.0f;
		for (int i = 0; i < each; ++i) {
			const int d = first + i;
			if (d < n) {
				sum += kg_ld_T(x + (direction_forward ? d : n - 1 - d));
			}
			sums[i] = sum;
		}
		const float up_to = simd_prefix_inclusive_sum(sum);
		const float lanes_before = simd_shuffle_up(up_to, 1);
		if (args.lane == 31u) {
			args.totals[half_used + int(args.simd)] = up_to;
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		float offset = args.lane == 0u ? 0.0f : lanes_before;
		float total = 0.0f;
		for (int s = 0; s < simds; ++s) {
			if (s == int(args.simd)) {
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
		half_used = simds - half_used;
	}
}
