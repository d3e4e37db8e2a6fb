// Running sums along rows. A vector is summed up in its register; what precedes
// it is one number, so that only one addition a vector waits for the vector
// before. As in other sums the error grows with a block, not with the row.

#define BLOCK 4096 // elements, a multiple of KG_W

// step is the way from an element to the one that is added next.
#if direction_forward
#define STEP(n) (n)
#define LAST (KG_W - 1)
#else
#define STEP(n) (-(n))
#define LAST 0
#endif

// moved gives the lanes of v that lie n against the direction, or 0 where there
// is none.
#define LANE(i) ((i) >= 0 && (i) < KG_W ? (i) : KG_W)
#define LANES4(i) LANE(i), LANE((i) + 1), LANE((i) + 2), LANE((i) + 3)
#if KG_W == 4
#define LANES(i) LANES4(i)
#elif KG_W == 8
#define LANES(i) LANES4(i), LANES4((i) + 4)
#else
#define LANES(i) LANES4(i), LANES4((i) + 4), LANES4((i) + 8), LANES4((i) + 12)
#endif
#if defined(__clang__)
#define MOVED(v, n) __builtin_shufflevector(v, (vf){0}, LANES(-STEP(n)))
#else
#define MOVED(v, n) __builtin_shuffle(v, (vf){0}, (vi){LANES(-STEP(n))})
#endif

// running sums up the lanes of v.
#define running KG_LOCAL(running)
KG_FN vf running(vf v) {
	v += MOVED(v, 1);
	v += MOVED(v, 2);
#if KG_W > 4
	v += MOVED(v, 4);
#endif
#if KG_W > 8
	v += MOVED(v, 8);
#endif
	return v;
}

// scan_row sums up the n elements of a row.
#define scan_row KG_LOCAL(scan_row)
KG_FN void scan_row(const T *x, T *y, int64_t n) {
	vf total = {0}; // of the blocks before
	for (int64_t block = 0; block < n; block += BLOCK) {
		const int64_t end = kgi_min(block + BLOCK, n);
		vf before = {0}; // in this block
		int64_t d = block;
		for (; d <= end - KG_W; d += KG_W) {
			const int64_t at = direction_forward ? d : n - KG_W - d;
			const vf v = running(kg_load_T(x + at));
			kg_store_T(y + at, total + (before + v));
			before += kg_splat(v[LAST]);
		}
		if (d < end) {
			const int64_t at = direction_forward ? d : 0;
			const vf v = running(kg_loadn_T(x + at, end - d));
			kg_storen_T(y + at, total + (before + v), end - d);
		}
		total += before;
	}
}

static void scan(const Args *args, int64_t lo, int64_t hi) {
	const int64_t n = args->size_D;
	for (int64_t row = lo; row < hi; row++) {
		scan_row(args->x + row * n, args->y + row * n, n);
	}
}

#undef STEP
#undef LAST
#undef LANES
