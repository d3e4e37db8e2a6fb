/* kgen_soft.h: primitives in plain vector arithmetic, for passes whose
 * instruction set lacks them (SSE2, other machines). */

/* Without a fused instruction the product is rounded first. */
KG_FN vf kg_fma(vf a, vf b, vf c) {
	return a * b + c;
}

KG_FN vi kg_selecti(vm m, vi a, vi b) {
	return (m & a) | (~m & b);
}
KG_FN vf kg_select(vm m, vf a, vf b) {
	return (vf)kg_selecti(m, (vi)a, (vi)b);
}
KG_FN vi kg_mini(vi a, vi b) {
	return kg_selecti(a < b, a, b);
}
KG_FN vi kg_maxi(vi a, vi b) {
	return kg_selecti(a > b, a, b);
}

/* kg_whole puts the whole number t, found for |x| < 2^23, in place of x, with
 * the sign of x; larger x, infinities and NaN are left. */
KG_FN vf kg_whole(vf x, vf t) {
	vi sign = (vi)x & INT32_MIN;
	vf abs = (vf)((vi)x & INT32_MAX);
	return kg_select(abs < 0x1p23f, (vf)((vi)t | sign), x);
}
KG_FN vf kg_floor(vf x) {
	vf t = kg_i2f(kg_f2i(x));
	return kg_whole(x, t - (vf)((t > x) & (vi)kg_splat(1)));
}
KG_FN vf kg_ceil(vf x) {
	vf t = kg_i2f(kg_f2i(x));
	return kg_whole(x, t + (vf)((t < x) & (vi)kg_splat(1)));
}
KG_FN vf kg_round(vf x) {
	vf magic = (vf)(((vi)x & INT32_MIN) | (vi)kg_splat(0x1p23f));
	return kg_whole(x, (x + magic) - magic);
}

/* kg_scale is p * 2^n, rounded once, for |p| in [0.5, 2] and the whole
 * number n in [-160, 140], given as float and as int. */
KG_FN vf kg_scale(vf p, vf n, vi i) {
	vi h = i >> 1;
	(void)n;
	return p * (vf)((h + 127) << 23) * (vf)((i - h + 127) << 23);
}

/* kg_widen_f16 gives the floats whose half bits are h. A product with 2^112
 * moves the exponent and makes subnormals normal. */
KG_FN vf kg_widen_f16(vi h) {
	vi sign = (h & 0x8000) << 16;
	vi em = (h & 0x7fff) << 13;
	vi r = (vi)((vf)em * 0x1p112f);
	r |= (em >= 0x0f800000) & 0x7f800000;
	r |= (em > 0x0f800000) & 0x00400000;
	return (vf)(r | sign);
}

/* kg_narrow_f16 gives the half bits of v, rounded to nearest even. */
KG_FN vi kg_narrow_f16(vf v) {
	vi sign = (vi)(((vu)v >> 16) & 0x8000);
	vi a = (vi)v & INT32_MAX;
	vi normal = (a + 0x0fff + ((a >> 13) & 1) - 0x38000000) >> 13;
	vi sub = (vi)((vf)a + 0.5f) - 0x3f000000; /* steps of 2^-24 */
	vi r = kg_selecti(a < 0x38800000, sub, normal);
	r = kg_selecti(a >= 0x477ff000, kg_splati(0x7c00), r);
	r = kg_selecti(a > 0x7f800000, ((a >> 13) & 0x3ff) | 0x7e00, r);
	return r | sign;
}
KG_FN vf kg_round_f16(vf v) {
	return kg_widen_f16(kg_narrow_f16(v));
}
