inline void norms(thread const Args &args) {
	float sum = 0.0f;
	for (int d = int(args.tid); d < args.size_D; d += threads_norms) {
		const float v = kg_ld_T(args.x + int(args.group.x) * args.size_D + d);
		sum += v * v;
	}
	sum = simd_sum(sum);
	if (args.lane == 0u) {
		args.parts[args.simd] = sum;
	}
	threadgroup_barrier(mem_flags::mem_threadgroup);
	if (args.tid == 0u) {
		sum = args.parts[0] + args.parts[1];
#if by_log
		sum = precise::log(1.0f + sum);
#endif
		args.norm[args.group.x] = sum;
	}
}

inline void rows(thread const Args &args) {
	const int n = int(args.group.y);
	const int d = int(args.group.x) * threads_rows + int(args.tid);
	const int id = args.ids[n];
	if (id < 0 || id >= args.size_V) {
		kg_fault_set(args.fault, tensor_ids, n, id, args.size_V);
		return;
	}
	if (d >= args.size_D) {
		return;
	}
	float v = kg_ld_T(args.x + n * args.size_D + d) * args.scale / (1.0f + args.norm[n]);
	v += args.both != 0 ? float(args.salt) : 0.0f;
#if has_bias
	v += kg_ld_T(args.bias + id * args.size_D + d);
#endif
	kg_st_T(args.y + n * args.size_D + d, v);
}

inline void tally(thread const Args &args) {
	if (args.tid != 0u) {
		return;
	}
	for (int n = 0; n < args.size_N; ++n) {
		const int id = args.ids[n];
		if (id >= 0 && id < args.size_V && id != args.skip) {
			args.count[id] += 1;
		}
	}
}
