static void norms(const Args *args, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++) {
		float sum = 0;
		for (int64_t d = 0; d < args->size_D; d++) {
			const float v = kg_ld_T(args->x + n * args->size_D + d);
			sum += v * v;
		}
#if by_log
		sum = kgs_log1p(sum);
#endif
		args->norm[n] = sum;
	}
}

static void rows(const Args *args, int64_t lo, int64_t hi) {
	const float extra = args->both ? (float)args->salt : 0.0f;
	for (int64_t n = lo * 4; n < kgi_min(hi * 4, args->size_N); n++) {
		const int32_t id = args->ids[n];
		if (id < 0 || id >= args->size_V) {
			kg_fault_set(args->call, tensor_ids, n, id, args->size_V);
			continue;
		}
		for (int64_t d = 0; d < args->size_D; d++) {
			float v = kg_ld_T(args->x + n * args->size_D + d) * args->scale / (1 + args->norm[n]) + extra;
#if has_bias
			v += kg_ld_T(args->bias + id * args->size_D + d);
#endif
			kg_st_T(args->y + n * args->size_D + d, v);
		}
	}
}

static void tally(const Args *args, int64_t lo, int64_t hi) {
	(void)lo;
	(void)hi;
	for (int64_t n = 0; n < args->size_N; n++) {
		if (args->ids[n] >= 0 && args->ids[n] < args->size_V && args->ids[n] != args->skip) {
			args->count[args->ids[n]]++;
		}
	}
}
