/* The functions of kgen_math.h and their like, applied to arrays. */
#include "kgen.h"
#ifndef KG_ISA
#define KG_SELF "math.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_map1)
KG_DISPATCH(kt_map2)
#else

/* op numbers as in math_main.c; buf: x, y, scalar form at every seventh */
static void KG_NAME(kt_map1)(const kg_call *c, int64_t lo, int64_t hi) {
	const float *x = c->buf[0];
	float *y = c->buf[1], *s = c->buf[2];
#define KT_CASE(n, name)                                                    \
	case n:                                                             \
		for (int64_t i = lo; i < hi; i += KG_W) {                   \
			kg_store_f32(y + i, kg_##name(kg_load_f32(x + i))); \
		}                                                           \
		for (int64_t i = lo; i < hi; i += 7) {                      \
			s[i] = kgs_##name(x[i]);                            \
		}                                                           \
		break;
	switch (c->op) {
		KT_CASE(0, exp)
		KT_CASE(1, log)
		KT_CASE(2, log1p)
		KT_CASE(3, expm1)
		KT_CASE(4, tanh)
		KT_CASE(5, erf)
		KT_CASE(6, sigmoid)
		KT_CASE(7, sqrt)
		KT_CASE(8, rsqrt)
		KT_CASE(9, abs)
		KT_CASE(10, floor)
		KT_CASE(11, ceil)
		KT_CASE(12, round)
		KT_CASE(13, sign)
		KT_CASE(14, round_f16)
		KT_CASE(15, round_bf16)
	}
}

static void KG_NAME(kt_map2)(const kg_call *c, int64_t lo, int64_t hi) {
	const float *a = c->buf[0], *b = c->buf[1];
	float *y = c->buf[2], *s = c->buf[3];
	for (int64_t i = lo; i < hi; i += KG_W) {
		vf va = kg_load_f32(a + i), vb = kg_load_f32(b + i);
		switch (c->op) {
		case 0: kg_store_f32(y + i, kg_pow(va, vb)); break;
		case 1: kg_store_f32(y + i, kg_min(va, vb)); break;
		case 2: kg_store_f32(y + i, kg_max(va, vb)); break;
		}
	}
	for (int64_t i = lo; i < hi; i += 7) {
		switch (c->op) {
		case 0: s[i] = kgs_pow(a[i], b[i]); break;
		case 1: s[i] = kgs_min(a[i], b[i]); break;
		case 2: s[i] = kgs_max(a[i], b[i]); break;
		}
	}
}
#endif
