/* kgen_put.h: single stores into the packed operands of kg_gemm_block (see
 * kgen_gemm.h for their layout), for kernels that compute an operand while they
 * pack it.
 *
 * Row, column and k count from the first of the packed block; depth is its
 * number of ks. Places beyond the last row or column hold anything. */

#ifndef kg_put_a
#define kg_put_a KG_NAME(kg_put_a)
#define kg_put_a_depth KG_NAME(kg_put_a_depth)
#define kg_put_a_side KG_NAME(kg_put_a_side)
#define kg_put_b KG_NAME(kg_put_b)
#define kg_put_b_depth KG_NAME(kg_put_b_depth)
#define kg_put_b_side KG_NAME(kg_put_b_side)
#define kg_spread KG_NAME(kg_spread)
#endif

/* kg_spread stores the first n lanes step elements apart. */
KG_FN void kg_spread(float *p, int64_t step, vf v, int64_t n) {
	float lane[KG_W] __attribute__((aligned(64)));
	kg_store_f32(lane, v);
	if (n == KG_W) {
		for (int i = 0; i < KG_W; i++) {
			p[i * step] = lane[i];
		}
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		p[i * step] = lane[i];
	}
}

KG_FN void kg_put_a(float *p, int64_t row, int64_t k, int64_t depth, float x) {
	p[(row / KG_MR * depth + k) * KG_MR + row % KG_MR] = x;
}

/* The lanes are the depths k, k+1, ... of one row. */
KG_FN void kg_put_a_depth(float *p, int64_t row, int64_t k, int64_t depth, vf v, int64_t n) {
	kg_spread(p + (row / KG_MR * depth + k) * KG_MR + row % KG_MR, KG_MR, v, n);
}

/* The lanes are the rows row, row+1, ... at one depth. */
KG_FN void kg_put_a_side(float *p, int64_t row, int64_t k, int64_t depth, vf v, int64_t n) {
	float lane[KG_W] __attribute__((aligned(64)));
	kg_store_f32(lane, v);
	int64_t panel = row / KG_MR, at = row % KG_MR;
	for (int64_t i = 0; i < n; i++) {
		p[(panel * depth + k) * KG_MR + at] = lane[i];
		if (++at == KG_MR) {
			at = 0;
			panel++;
		}
	}
}

KG_FN void kg_put_b(float *p, int64_t col, int64_t k, int64_t depth, float x) {
	p[(col / KG_NR * depth + k) * KG_NR + col % KG_NR] = x;
}

KG_FN void kg_put_b_depth(float *p, int64_t col, int64_t k, int64_t depth, vf v, int64_t n) {
	kg_spread(p + (col / KG_NR * depth + k) * KG_NR + col % KG_NR, KG_NR, v, n);
}

/* The lanes are the columns col, col+1, ...; col is a multiple of KG_W, which
 * divides KG_NR, so that they lie in one panel. */
KG_FN void kg_put_b_side(float *p, int64_t col, int64_t k, int64_t depth, vf v, int64_t n) {
	(void)n;
	kg_store_f32(p + (col / KG_NR * depth + k) * KG_NR + col % KG_NR, v);
}
