/* y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Work item: one element. */
#include "kgen.h"
#ifndef KG_ISA
#define KG_SELF "gelu.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_gelu_f32)
KG_DISPATCH(kt_gelu_f16)
#else

KG_FN vf KG_NAME(kt_gelu)(vf x) {
	vf u = 0.7978845608028654f * (x + 0.044715f * (x * x * x));
	return 0.5f * x * (1.0f + kg_tanh(u));
}

static void KG_NAME(kt_gelu_f32)(const kg_call *c, int64_t lo, int64_t hi) {
	const float *x = c->buf[0];
	float *y = c->buf[1];
	int64_t i = lo;
	for (; i + KG_W <= hi; i += KG_W) {
		kg_store_f32(y + i, KG_NAME(kt_gelu)(kg_load_f32(x + i)));
	}
	if (i < hi) {
		kg_storen_f32(y + i, KG_NAME(kt_gelu)(kg_loadn_f32(x + i, hi - i)), hi - i);
	}
}

static void KG_NAME(kt_gelu_f16)(const kg_call *c, int64_t lo, int64_t hi) {
	const kg_f16 *x = c->buf[0];
	kg_f16 *y = c->buf[1];
	int64_t i = lo;
	for (; i + KG_W <= hi; i += KG_W) {
		kg_store_f16(y + i, KG_NAME(kt_gelu)(kg_load_f16(x + i)));
	}
	if (i < hi) {
		kg_storen_f16(y + i, KG_NAME(kt_gelu)(kg_loadn_f16(x + i, hi - i)), hi - i);
	}
}
#endif
