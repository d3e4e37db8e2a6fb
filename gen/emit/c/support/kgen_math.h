/* kgen_math.h: exp, log and what is built of them. Errors over all f32, in
 * units of the last place: exp, log, log1p 1.25, erf 1.5, expm1 2, tanh and
 * sigmoid 3 (tests/cpu measures them).
 * Infinities, zeros with sign, NaN and subnormal numbers are as in C. */

/* kg_expr writes x = n*ln2 + r with |r| <= ln2/2 and gives exp(r) - 1 as
 * r + r^2*q(r). |x| < 2^20. */
KG_FN vf kg_expr(vf x, vf *n, vi *i) {
	vf magic = kg_splat(0x1.8p23f); /* its last bit is worth 1 */
	vf z = kg_fma(x, kg_splat(0x1.715476p+0f), magic);
	*n = z - magic;
	*i = (vi)z - (vi)magic;
	vf r = kg_fma(*n, kg_splat(-0.693359375f), x); /* the product is exact */
	r = kg_fma(*n, kg_splat(2.12194440e-4f), r);
	vf q = kg_splat(1.393536454997956752777099609375e-3f);
	q = kg_fma(q, r, kg_splat(8.363313041627407073974609375e-3f));
	q = kg_fma(q, r, kg_splat(4.166646301746368408203125e-2f));
	q = kg_fma(q, r, kg_splat(0.1666657626628875732421875f));
	q = kg_fma(q, r, kg_splat(0.5f));
	return kg_fma(r * r, q, r);
}

KG_FN vf kg_exp(vf x) {
	vf n;
	vi i;
	x = kg_minc(kg_splat(89), kg_maxc(kg_splat(-104), x));
	vf s = kg_expr(x, &n, &i);
	return kg_scale(1.0f + s, n, i);
}

/* exp(x)-1 = s*2^n + (2^n-1), halved so that n = 128 stays finite. */
KG_FN vf kg_expm1(vf x) {
	vf n;
	vi i;
	vf s = kg_expr(kg_minc(kg_splat(89), kg_maxc(kg_splat(-30), x)), &n, &i);
	vf t = (vf)((i + 126) << 23);
	vf y = kg_fma(s, t, t - 0.5f);
	return kg_select(kg_abs(x) < 0x1p-25f, x, y + y);
}

/* kg_logr is e*ln2 + log(1+m) for m in [-0.25, 0.5]. */
KG_FN vf kg_logr(vf m, vf e) {
	vf p = kg_splat(-4.91388477385044097900390625e-2f);
	p = kg_fma(p, m, kg_splat(0.10797043144702911376953125f));
	p = kg_fma(p, m, kg_splat(-0.1314795911312103271484375f));
	p = kg_fma(p, m, kg_splat(0.14421705901622772216796875f));
	p = kg_fma(p, m, kg_splat(-0.16644084453582763671875f));
	p = kg_fma(p, m, kg_splat(0.1999408304691314697265625f));
	p = kg_fma(p, m, kg_splat(-0.250002324581146240234375f));
	p = kg_fma(p, m, kg_splat(0.333333909511566162109375f));
	p = kg_fma(p, m, kg_splat(-0.5f));
	vf r = kg_fma(p, m * m, m);
	r = kg_fma(e, kg_splat(-2.12194440e-4f), r);
	return kg_fma(e, kg_splat(0.693359375f), r);
}

KG_FN vf kg_log(vf x) {
	vm sub = x < 0x1p-126f;
	vi b = (vi)kg_select(sub, x * 0x1p23f, x);
	vi e = (b - 0x3f400000) & -0x800000;
	vf n = kg_i2f(e >> 23) - (vf)(sub & (vi)kg_splat(23));
	vf r = kg_logr((vf)(b - e) - 1.0f, n);
	r = kg_select(x < __builtin_inff(), r, x);
	r = kg_select(x < 0.0f, kg_splat(__builtin_nanf("")), r);
	return kg_select(x == 0.0f, kg_splat(-__builtin_inff()), r);
}

/* With 1+x = 2^e*(1+m), m = x*2^-e + (2^-e-1) is computed without 1+x. */
KG_FN vf kg_log1p(vf x) {
	vi e = ((vi)(x + 1.0f) - 0x3f400000) & -0x800000;
	vf s = (vf)((vi)kg_splat(4) - e);
	vf m = (vf)((vi)x - e) + kg_fma(kg_splat(0.25f), s, kg_splat(-1));
	vf r = kg_logr(m, kg_i2f(e >> 23));
	r = kg_select((x < __builtin_inff()) & (x != 0.0f), r, x);
	r = kg_select(x < -1.0f, kg_splat(__builtin_nanf("")), r);
	return kg_select(x == -1.0f, kg_splat(-__builtin_inff()), r);
}

/* tanh(a) = e/(e+2) with e = exp(2a)-1, which is 1 well before a = 10. */
KG_FN vf kg_tanh(vf x) {
	vf n;
	vi i;
	vi sign = (vi)x & INT32_MIN;
	vf a = kg_minc(kg_splat(10), kg_abs(x));
	vf s = kg_expr(a + a, &n, &i);
	vf t = (vf)((i + 127) << 23);
	vf e = kg_fma(s, t, t - 1.0f);
	return (vf)((vi)(e / (e + 2.0f)) | sign);
}

/* 1/(1+exp(-x)), written so that neither end overflows or cancels. */
KG_FN vf kg_sigmoid(vf x) {
	vf e = kg_exp(-kg_abs(x));
	return kg_select(x < 0.0f, e, kg_splat(1)) / (1.0f + e);
}

/* Near zero a polynomial; further out 1 - exp(-a - a*p(a)), which is 1 from
 * a = 4 on. */
KG_FN vf kg_erf(vf x) {
	vf n;
	vi i;
	vi sign = (vi)x & INT32_MIN;
	vf a = kg_minc(kg_splat(4), kg_abs(x));
	vf t = a * a;
	vf p = kg_splat(-5.980213754810392856597900390625e-4f);
	p = kg_fma(p, t, kg_splat(4.9917618744075298309326171875e-3f));
	p = kg_fma(p, t, kg_splat(-2.676623128354549407958984375e-2f));
	p = kg_fma(p, t, kg_splat(0.1128182709217071533203125f));
	p = kg_fma(p, t, kg_splat(-0.37612497806549072265625f));
	p = kg_fma(p, t, kg_splat(0.12837915122509002685546875f));
	vf near = kg_fma(p, a, a);
	vf q = kg_splat(-1.1522255590534768998622894287109375e-5f);
	q = kg_fma(q, a, kg_splat(3.256523632444441318511962890625e-4f));
	q = kg_fma(q, a, kg_splat(-3.65376286208629608154296875e-3f));
	q = kg_fma(q, a, kg_splat(2.3785345256328582763671875e-2f));
	q = kg_fma(q, a, kg_splat(-0.10626314580440521240234375f));
	q = kg_fma(q, a, kg_splat(-0.6351358890533447265625f));
	q = kg_fma(q, a, kg_splat(-0.128652155399322509765625f));
	vf s = kg_expr(kg_fma(q, a, -a), &n, &i);
	vf b = (vf)((i + 127) << 23);
	vf far = 1.0f - kg_fma(s, b, b);
	return (vf)((vi)kg_select(a < 0.925f, near, far) | sign);
}
