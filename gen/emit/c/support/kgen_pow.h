/* kgen_pow.h: x to the power y, computed in double and so within 1 ulp. */

/* kg_log2d is log2(2^e*m) for m in [0.75, 1.5): with t = (m-1)/(m+1) it is
 * e + t times an even polynomial in t. */
KG_FN vd kg_log2d(vd m, vd e) {
	vd t = (m - 1.0) / (m + 1.0);
	vd u = t * t;
	vd p = u * 0.22204652963413706867612251180762 + 0.21996482571559233809566080708464;
	p = p * u + 0.26237654827703554838436161844584;
	p = p * u + 0.32059760319098573599916335297166;
	p = p * u + 0.41219859639391270844654968641407;
	p = p * u + 0.57707801628874622057452370427200;
	p = p * u + 0.96179669392610378508344411145577;
	p = p * u + 2.88539008177792677400930188014172;
	return p * t + e;
}

/* kg_exp2d is 2^w, with w limited to what a float can tell from 0 and inf. */
KG_FN vd kg_exp2d(vd w) {
	vd magic = 0x1.8p52 - (vd){0};
	w = (vd)(((vl)w & (vl)(w >= -200.0)) | ((vl)(-200.0 - (vd){0}) & (vl)(w < -200.0)));
	w = (vd)(((vl)w & (vl)(w <= 200.0)) | ((vl)(200.0 - (vd){0}) & (vl)(w > 200.0)));
	vd z = w + magic;
	vd f = w - (z - magic);
	vd p = f * 1.520192234379429957057301703304830e-5 + 1.546929115017751021551872802175504e-4;
	p = p * f + 1.333392256004194706756068057554044e-3;
	p = p * f + 9.618027253637119466933569356115186e-3;
	p = p * f + 5.550410353452604056423462506815616e-2;
	p = p * f + 0.2402265119815794880420156687250710;
	p = p * f + 0.6931471807284457220532658539013937;
	p = p * f + 0.9999999999616817625280873471638188;
	return (vd)((vq)p + ((vq)z << 52));
}

KG_FN vf kg_pow(vf x, vf y) {
	vf ax = kg_abs(x), inf = kg_splat(__builtin_inff());
	vm sub = ax < 0x1p-126f;
	vi b = (vi)kg_select(sub, ax * 0x1p23f, ax);
	vi e = (b - 0x3f400000) & -0x800000;
	vf m = (vf)(b - e);
	vf n = kg_i2f(e >> 23) - (vf)(sub & (vi)kg_splat(23));
	vd lo = kg_exp2d(kg_dlo(y) * kg_log2d(kg_dlo(m), kg_dlo(n)));
	vd hi = kg_exp2d(kg_dhi(y) * kg_log2d(kg_dhi(m), kg_dhi(n)));
	vf r = kg_dcat(lo, hi);

	/* |x| of 0 or inf, y infinite: the result is 0, inf or 1. */
	vm grows = (ax > 1.0f) ^ (y < 0.0f);
	vf end = kg_select(grows, inf, kg_splat(0));
	end = kg_select(ax == 1.0f, kg_splat(1), end);
	r = kg_select((ax == 0.0f) | (ax == inf) | (kg_abs(y) == inf), end, r);

	/* A negative x asks for a whole y; the result of an odd one is negative. */
	vm big = kg_abs(y) >= 0x1p24f;
	vi yi = kg_f2i(kg_select(big, kg_splat(0), y));
	vm whole = big | (kg_i2f(yi) == y);
	vi odd = (yi << 31) & whole & ((vi)x & INT32_MIN);
	r = (vf)((vi)r ^ odd);
	r = kg_select((x < 0.0f) & (ax < inf) & ~whole, kg_splat(__builtin_nanf("")), r);

	r = kg_select((x != x) | (y != y), x + y, r);
	return kg_select((x == 1.0f) | (y == 0.0f), kg_splat(1), r);
}
