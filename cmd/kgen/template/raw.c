// This text is compiled for each storage type and instruction set. T is the
// type, kg_ld_T and kg_st_T read and write an element; kg_load_T and the vectors
// vf are described in kgen_mem.h beside the generated files. A function of your
// own gets a name in each of them: #define part KG_LOCAL(part)

static void scan(const Args *args, int64_t lo, int64_t hi) {
	const int64_t n = args->size_D;
	for (int64_t row = lo; row < hi; row++) {
		const T *x = args->x + row * n;
		T *y = args->y + row * n;
		float top = -INFINITY;
		for (int64_t d = 0; d < n; d++) {
			const float v = kg_ld_T(x + d);
			if (v > top || v != v) {
				top = v;
			}
			kg_st_T(y + d, top);
		}
	}
}
