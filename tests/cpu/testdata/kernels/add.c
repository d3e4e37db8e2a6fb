/* y = a + b. Work item: one element. */
#include "kgen.h"
#ifndef KG_ISA
#define KG_SELF "add.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_add_f32)
#else

static void KG_NAME(kt_add_f32)(const kg_call *c, int64_t lo, int64_t hi) {
	const float *a = c->buf[0], *b = c->buf[1];
	float *y = c->buf[2];
	int64_t i = lo;
	for (; i + KG_W <= hi; i += KG_W) {
		kg_store_f32(y + i, kg_load_f32(a + i) + kg_load_f32(b + i));
	}
	if (i < hi) {
		kg_storen_f32(y + i, kg_loadn_f32(a + i, hi - i) + kg_loadn_f32(b + i, hi - i), hi - i);
	}
}
#endif
