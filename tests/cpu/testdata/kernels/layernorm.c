/* y = (x - mean) * rstd * gamma + beta over rows of D, with mean and rstd as
 * further outputs; two passes, biased variance. Work item: one row. */
#include "kgen.h"
#ifndef KG_ISA
#define KG_SELF "layernorm.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_layernorm_f32)
#else

typedef struct KG_NAME(kt_layernorm_block) {
	int64_t d;
	float eps;
} KG_NAME(kt_layernorm_block);

/* Four accumulators hide the latency of the addition. Lane i of accumulator a
 * holds elements 4*KG_W*t + a*KG_W + i, whatever the number of workers. */
KG_FN float KG_NAME(kt_row_sum)(const float *x, int64_t d) {
	vf s0 = kg_splat(0), s1 = s0, s2 = s0, s3 = s0;
	int64_t j = 0;
	for (; j + 4 * KG_W <= d; j += 4 * KG_W) {
		s0 += kg_load_f32(x + j);
		s1 += kg_load_f32(x + j + KG_W);
		s2 += kg_load_f32(x + j + 2 * KG_W);
		s3 += kg_load_f32(x + j + 3 * KG_W);
	}
	for (; j + KG_W <= d; j += KG_W) {
		s0 += kg_load_f32(x + j);
	}
	if (j < d) {
		s1 += kg_loadn_f32(x + j, d - j);
	}
	return kg_hsum((s0 + s1) + (s2 + s3));
}

KG_FN float KG_NAME(kt_row_var)(const float *x, int64_t d, vf mu) {
	vf s0 = kg_splat(0), s1 = s0, s2 = s0, s3 = s0;
	int64_t j = 0;
	for (; j + 4 * KG_W <= d; j += 4 * KG_W) {
		vf a = kg_load_f32(x + j) - mu, b = kg_load_f32(x + j + KG_W) - mu;
		vf c = kg_load_f32(x + j + 2 * KG_W) - mu, e = kg_load_f32(x + j + 3 * KG_W) - mu;
		s0 = kg_fma(a, a, s0);
		s1 = kg_fma(b, b, s1);
		s2 = kg_fma(c, c, s2);
		s3 = kg_fma(e, e, s3);
	}
	for (; j + KG_W <= d; j += KG_W) {
		vf a = kg_load_f32(x + j) - mu;
		s0 = kg_fma(a, a, s0);
	}
	if (j < d) {
		vf a = kg_select(kg_first(d - j), kg_loadn_f32(x + j, d - j) - mu, kg_splat(0));
		s1 = kg_fma(a, a, s1);
	}
	return kg_hsum((s0 + s1) + (s2 + s3));
}

static void KG_NAME(kt_layernorm_f32)(const kg_call *c, int64_t lo, int64_t hi) {
	const KG_NAME(kt_layernorm_block) *p = c->block;
	const float *gamma = c->buf[1], *beta = c->buf[2];
	int64_t d = p->d;
	for (int64_t r = lo; r < hi; r++) {
		const float *x = (const float *)c->buf[0] + r * d;
		float *y = (float *)c->buf[3] + r * d;
		float mean = KG_NAME(kt_row_sum)(x, d) / (float)d;
		vf mu = kg_splat(mean);
		float rstd = kgs_rsqrt(KG_NAME(kt_row_var)(x, d, mu) / (float)d + p->eps);
		vf rs = kg_splat(rstd);
		((float *)c->buf[4])[r] = mean;
		((float *)c->buf[5])[r] = rstd;
		int64_t j = 0;
		for (; j + KG_W <= d; j += KG_W) {
			vf v = (kg_load_f32(x + j) - mu) * rs;
			kg_store_f32(y + j, v * kg_load_f32(gamma + j) + kg_load_f32(beta + j));
		}
		if (j < d) {
			int64_t n = d - j;
			vf v = (kg_loadn_f32(x + j, n) - mu) * rs;
			kg_storen_f32(y + j, v * kg_loadn_f32(gamma + j, n) + kg_loadn_f32(beta + j, n), n);
		}
	}
}
#endif
