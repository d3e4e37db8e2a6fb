// This text is compiled for each storage type, in a namespace of its own. T is
// the type, kg_ld_T and kg_st_T read and write an element; args has the position
// of the thread: group, tid, lane and simd.

inline void scan(thread const Args &args) {
	const int n = args.size_D;
	const int row = int(args.group.x) * threads_scan + int(args.tid);
	if (row >= args.size_R) {
		return;
	}
	device const T *x = args.x + row * n;
	device T *y = args.y + row * n;
	float top = -INFINITY;
	for (int d = 0; d < n; ++d) {
		const float v = kg_ld_T(x + d);
		if (v > top || isnan(v)) {
			top = v;
		}
		kg_st_T(y + d, top);
	}
}
