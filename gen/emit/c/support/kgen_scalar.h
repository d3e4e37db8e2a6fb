/* kgen_scalar.h: kgs_NAME has the bits of a lane of kg_NAME. The integer forms
 * take and give int64. */

#define KG_SCALAR1(NAME, VEC)                   \
	KG_FN float NAME(float x) {             \
		return VEC(kg_splat(x))[0];     \
	}
#define KG_SCALAR2(NAME, VEC)                               \
	KG_FN float NAME(float x, float y) {                \
		return VEC(kg_splat(x), kg_splat(y))[0];    \
	}
KG_SCALAR1(kgs_exp, kg_exp)
KG_SCALAR1(kgs_log, kg_log)
KG_SCALAR1(kgs_log1p, kg_log1p)
KG_SCALAR1(kgs_expm1, kg_expm1)
KG_SCALAR1(kgs_tanh, kg_tanh)
KG_SCALAR1(kgs_erf, kg_erf)
KG_SCALAR1(kgs_sigmoid, kg_sigmoid)
KG_SCALAR1(kgs_sqrt, kg_sqrt)
KG_SCALAR1(kgs_rsqrt, kg_rsqrt)
KG_SCALAR1(kgs_abs, kg_abs)
KG_SCALAR1(kgs_floor, kg_floor)
KG_SCALAR1(kgs_ceil, kg_ceil)
KG_SCALAR1(kgs_round, kg_round)
KG_SCALAR1(kgs_sign, kg_sign)
KG_SCALAR1(kgs_round_f16, kg_round_f16)
KG_SCALAR1(kgs_round_bf16, kg_round_bf16)
KG_SCALAR2(kgs_min, kg_min)
KG_SCALAR2(kgs_max, kg_max)
KG_SCALAR2(kgs_pow, kg_pow)
#undef KG_SCALAR1
#undef KG_SCALAR2

KG_FN float kgs_fma(float a, float b, float c) {
	return kg_fma(kg_splat(a), kg_splat(b), kg_splat(c))[0];
}
KG_FN int kgs_isnan(float x) {
	return x != x;
}
KG_FN int kgs_isinf(float x) {
	return __builtin_fabsf(x) == __builtin_inff();
}

KG_FN int64_t kgs_mini(int64_t a, int64_t b) {
	return a < b ? a : b;
}
KG_FN int64_t kgs_maxi(int64_t a, int64_t b) {
	return a > b ? a : b;
}
KG_FN int64_t kgs_absi(int64_t a) {
	return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
}
/* kgs_divi is a/b rounded down, 0 where b is 0; kgs_remi is a - b*kgs_divi(a, b),
 * 0 where b is 0. */
KG_FN int64_t kgs_divi(int64_t a, int64_t b) {
	if (b == 0) {
		return 0;
	}
	if (b == -1) {
		return (int64_t)(0 - (uint64_t)a);
	}
	int64_t q = a / b;
	return q - (a % b != 0 && (a ^ b) < 0);
}
KG_FN int64_t kgs_remi(int64_t a, int64_t b) {
	if (b == 0 || b == -1) {
		return 0;
	}
	int64_t r = a % b;
	return r != 0 && (r ^ b) < 0 ? r + b : r;
}

/* Philox4x32-10 as in kgen_random.h. */
KG_FN uint32_t kgs_philox(uint64_t seed, uint64_t counter) {
	uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)c0 * 0xd2511f53u, p1 = (uint64_t)c2 * 0xcd9e8d57u;
		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += 0x9e3779b9u;
		k1 += 0xbb67ae85u;
	}
	return c0;
}
KG_FN float kgs_uniform(uint32_t u) {
	return (float)(u >> 8) * 0x1p-24f;
}
