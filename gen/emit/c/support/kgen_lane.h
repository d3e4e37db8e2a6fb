/* kgen_lane.h: exact functions of one lane. */

KG_FN vf kg_abs(vf x) {
	return (vf)((vi)x & INT32_MAX);
}
KG_FN vf kg_rsqrt(vf x) {
	return 1.0f / kg_sqrt(x);
}
KG_FN vm kg_isnan(vf x) {
	return x != x;
}
KG_FN vm kg_isinf(vf x) {
	return ((vi)x & INT32_MAX) == 0x7f800000;
}

/* kg_sign is -1 or 1; a zero and NaN stay what they are. */
KG_FN vf kg_sign(vf x) {
	vf one = (vf)(((vi)x & INT32_MIN) | (vi)kg_splat(1));
	return kg_select(kg_abs(x) > 0.0f, one, x);
}

KG_FN vi kg_absi(vi x) {
	vi s = x >> 31;
	return (x ^ s) - s;
}

/* kg_divi is a/b rounded down, 0 where b is 0. A double holds the quotient of
 * two int32 closely enough to truncate it right. */
KG_FN vi kg_divi(vi a, vi b) {
	vi d = kg_selecti(b == 0, kg_splati(1), b);
	vi q = kg_dcati(kg_dloi(a) / kg_dloi(d), kg_dhii(a) / kg_dhii(d));
	vi r = a - q * d;
	q += (r != 0) & ((r ^ d) < 0);
	return q & (b != 0);
}

/* kg_remi is a - b*kg_divi(a, b), which has the sign of b; 0 where b is 0. */
KG_FN vi kg_remi(vi a, vi b) {
	return (a - b * kg_divi(a, b)) & (b != 0);
}
