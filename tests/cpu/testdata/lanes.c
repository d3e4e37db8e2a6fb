/* Checks of loads, stores, integers, reductions, argmax and philox, each
 * written once and run in every pass. A failed check prints its line. */
#include <stdio.h>
#include <stdlib.h>

#include "kgen.h"
#ifndef KG_ISA
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

static int failures;
#define CHECK(cond, ...)                                            \
	do {                                                        \
		if (!(cond) && failures++ < 20) {                   \
			printf("FAIL lanes.c:%d %s: ", __LINE__, #cond); \
			printf(__VA_ARGS__);                        \
			printf("\n");                               \
		}                                                   \
	} while (0)

static uint64_t seed = 88172645463325252u;
static uint64_t next(void) {
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* fenced gives n bytes that end where a page without access begins; before
 * gives n bytes that begin after one. */
static char *fenced(size_t n) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	if (p == MAP_FAILED || mprotect(p + page, page, PROT_NONE) != 0) {
		abort();
	}
	return p + page - n;
}
static char *before(void) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0) {
		abort();
	}
	return p + page;
}

static int32_t floor_div(int32_t a, int32_t b) {
	if (b == 0) {
		return 0;
	}
	int64_t q = (int64_t)a / b;
	return (int32_t)(uint32_t)((int64_t)a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}

#define KG_SELF "lanes.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_lanes)

int main(int argc, char **argv) {
	kg_call call = {.isa = argc > 1 ? atoi(argv[1]) : 0};
	kt_lanes(&call, 0, 0);
	printf("%d failures\n", failures);
	return failures != 0;
}
#else

/* For n = 0..KG_W: the first n elements arrive, at either end of a page. */
#define KT_LOADN(T, C, V, MAKE)                                                                        \
	static void KG_NAME(kt_loadn_##T)(void) {                                                      \
		for (int n = 0; n <= KG_W; n++) {                                                      \
			for (int side = 0; side < 2; side++) {                                         \
				C *p = side ? (C *)(void *)before() : (C *)(void *)fenced((size_t)n * sizeof(C)); \
				for (int i = 0; i < n; i++) {                                          \
					p[i] = MAKE(i);                                                \
				}                                                                      \
				V v = kg_loadn_##T(p, n);                                              \
				for (int i = 0; i < KG_W; i++) {                                       \
					CHECK(i < n ? v[i] == kg_ld_##T(p + i) : v[i] == 0, #T " loadn %d lane %d", n, i); \
				}                                                                      \
				V full = v;                                                            \
				if (n == KG_W) {                                                       \
					full = kg_load_##T(p);                                         \
				}                                                                      \
				for (int i = 0; i < KG_W; i++) {                                       \
					CHECK(full[i] == v[i], #T " load lane %d", i);                 \
				}                                                                      \
			}                                                                              \
		}                                                                                      \
	}
#define KT_MAKE_F32(i) (1.5f + (float)(i))
#define KT_MAKE_F16(i) ((kg_f16)(0x3c00 + (i) * 3))
#define KT_MAKE_I32(i) (INT32_MIN + (i) * 77)
#define KT_MAKE_U8(i) ((uint8_t)(250 - (i)))
KT_LOADN(f32, float, vf, KT_MAKE_F32)
KT_LOADN(f16, kg_f16, vf, KT_MAKE_F16)
KT_LOADN(bf16, kg_bf16, vf, KT_MAKE_F16)
KT_LOADN(i32, int32_t, vi, KT_MAKE_I32)
KT_LOADN(u8, uint8_t, vi, KT_MAKE_U8)

/* For n = 0..KG_W: n elements are stored and nothing beside them. */
#define KT_STOREN(T, C, VEC)                                                                   \
	static void KG_NAME(kt_storen_##T)(void) {                                             \
		C buf[3 * KG_W], want[KG_W];                                                   \
		kg_store_##T(want, VEC);                                                       \
		for (int n = 0; n <= KG_W; n++) {                                              \
			memset(buf, 0x5a, sizeof buf);                                         \
			kg_storen_##T(buf + KG_W, VEC, n);                                     \
			for (int i = 0; i < 3 * KG_W; i++) {                                   \
				C guard;                                                       \
				memset(&guard, 0x5a, sizeof guard);                            \
				int in = i >= KG_W && i < KG_W + n;                            \
				CHECK(buf[i] == (in ? want[i - KG_W] : guard), #T " storen %d at %d", n, i - KG_W); \
			}                                                                      \
			kg_storen_##T((C *)(void *)fenced((size_t)n * sizeof(C)), VEC, n);     \
			kg_storen_##T((C *)(void *)before(), VEC, n);                          \
		}                                                                              \
		for (int i = 0; i < KG_W; i++) {                                               \
			C one;                                                                 \
			kg_st_##T(&one, (VEC)[i]);                                             \
			CHECK(one == want[i], #T " st lane %d", i);                            \
		}                                                                              \
	}
KT_STOREN(f32, float, (kg_i2f(kg_iota()) + 0.25f))
KT_STOREN(f16, kg_f16, (kg_i2f(kg_iota()) * 1.37f))
KT_STOREN(bf16, kg_bf16, (kg_i2f(kg_iota()) * 1.37f))
KT_STOREN(i32, int32_t, (kg_iota() * -70001))
KT_STOREN(u8, uint8_t, (kg_iota() * 31 + 700))

#define KT_GATHER(T, C, V, MAKE)                                                       \
	static void KG_NAME(kt_gather_##T)(void) {                                     \
		C buf[7 * KG_W];                                                       \
		for (int i = 0; i < 7 * KG_W; i++) {                                   \
			buf[i] = MAKE(i % 64);                                         \
		}                                                                      \
		for (int stride = -3; stride <= 3; stride++) {                         \
			for (int n = 0; n <= KG_W; n++) {                              \
				const C *p = buf + 3 * KG_W;                           \
				V v = kg_gather_##T(p, stride, n);                     \
				for (int i = 0; i < KG_W; i++) {                       \
					CHECK(i < n ? v[i] == kg_ld_##T(p + i * stride) : v[i] == 0, \
					      #T " gather %d stride %d lane %d", n, stride, i); \
				}                                                      \
			}                                                              \
		}                                                                      \
	}
KT_GATHER(f32, float, vf, KT_MAKE_F32)
KT_GATHER(f16, kg_f16, vf, KT_MAKE_F16)
KT_GATHER(bf16, kg_bf16, vf, KT_MAKE_F16)
KT_GATHER(i32, int32_t, vi, KT_MAKE_I32)
KT_GATHER(u8, uint8_t, vi, KT_MAKE_U8)

/* Every half becomes its float and comes back; a NaN stays NaN. */
static void KG_NAME(kt_half)(void) {
	for (int base = 0; base < 65536; base += KG_W) {
		kg_f16 in[KG_W], out[KG_W];
		for (int i = 0; i < KG_W; i++) {
			in[i] = (kg_f16)(base + i);
		}
		vf v = kg_load_f16(in);
		kg_store_f16(out, v);
		for (int i = 0; i < KG_W; i++) {
			int exp = in[i] >> 10 & 31, frac = in[i] & 1023;
			double want = exp == 31  ? (frac ? (double)NAN : (double)INFINITY)
			              : exp == 0 ? ldexp(frac, -24)
			                         : ldexp(1024 + frac, exp - 25);
			want = in[i] >> 15 ? -want : want;
			float got = v[i];
			CHECK(isnan(want) ? isnan(got) : got == want && !signbit(got) == !(in[i] >> 15), "half %#x gives %a", in[i], got);
			CHECK(isnan(want) ? (out[i] & 0x7fff) > 0x7c00 : out[i] == in[i], "half %#x comes back as %#x", in[i], out[i]);
			kg_bf16 b;
			float wide;
			kg_st_bf16(&b, (wide = kg_ld_bf16(in + i), wide));
			CHECK(isnan(wide) ? (b & 0x7fff) > 0x7f80 : b == in[i], "bf16 %#x comes back as %#x", in[i], b);
		}
	}
}

static void KG_NAME(kt_integers)(void) {
	static const int32_t ends[] = {0, 1, -1, 2, -2, 3, -3, 7, -7, 10, INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1, 46341, -46341};
	for (int t = 0; t < 100000; t++) {
		int32_t a[KG_W], b[KG_W];
		for (int i = 0; i < KG_W; i++) {
			uint64_t r = next();
			a[i] = r & 3 ? (int32_t)(r >> 32) : ends[r >> 8 & 15];
			b[i] = r & 12 ? (int32_t)(next() >> (32 + (r >> 16) % 32)) : ends[r >> 24 & 15];
		}
		vi x = kg_load_i32(a), y = kg_load_i32(b);
		vi q = kg_divi(x, y), m = kg_remi(x, y), lo = kg_mini(x, y), hi = kg_maxi(x, y), ab = kg_absi(x);
		for (int i = 0; i < KG_W; i++) {
			int32_t w = floor_div(a[i], b[i]);
			int32_t rem = b[i] ? (int32_t)((uint32_t)a[i] - (uint32_t)w * (uint32_t)b[i]) : 0;
			CHECK(q[i] == w, "%d / %d gives %d", a[i], b[i], q[i]);
			CHECK(m[i] == rem, "%d %% %d gives %d", a[i], b[i], m[i]);
			CHECK(kgs_divi(a[i], b[i]) == (a[i] == INT32_MIN && b[i] == -1 ? 1ll << 31 : w), "scalar %d / %d", a[i], b[i]);
			CHECK(kgs_remi(a[i], b[i]) == rem, "scalar %d %% %d", a[i], b[i]);
			CHECK(lo[i] == (a[i] < b[i] ? a[i] : b[i]) && hi[i] == (a[i] > b[i] ? a[i] : b[i]), "min max");
			CHECK(ab[i] == (int32_t)(a[i] < 0 ? 0u - (uint32_t)a[i] : (uint32_t)a[i]), "abs %d", a[i]);
		}
	}
	CHECK(kgs_divi(INT64_MIN, -1) == INT64_MIN && kgs_remi(INT64_MIN, -1) == 0, "ends");
}

/* The sum is the fixed tree whatever the values. */
static void KG_NAME(kt_reductions)(void) {
	for (int t = 0; t < 20000; t++) {
		float x[KG_W], tree[KG_W], mul[KG_W], top = -INFINITY, low = INFINITY;
		int32_t n[KG_W], isum = 0, imin = INT32_MAX, imax = INT32_MIN;
		int any = 0, all = 1, nan = 0;
		for (int i = 0; i < KG_W; i++) {
			uint64_t r = next();
			x[i] = r % 40 == 0 ? NAN : r % 41 == 0 ? INFINITY : (float)(int32_t)(r >> 32) * 0x1p-20f;
			n[i] = (int32_t)(r >> 33) - (1 << 30);
			nan |= isnan(x[i]);
			top = x[i] > top ? x[i] : top;
			low = x[i] < low ? x[i] : low;
			tree[i] = mul[i] = x[i];
			isum = (int32_t)((uint32_t)isum + (uint32_t)n[i]);
			imin = n[i] < imin ? n[i] : imin;
			imax = n[i] > imax ? n[i] : imax;
			any |= x[i] > 0;
			all &= x[i] > -1500;
		}
		for (int h = KG_W / 2; h > 0; h /= 2) {
			for (int i = 0; i < h; i++) {
				tree[i] += tree[i + h];
				mul[i] *= mul[i + h];
			}
		}
		vf v = kg_load_f32(x);
		vi k = kg_load_i32(n);
		float sum = kg_hsum(v), prod = kg_hprod(v), hi = kg_hmax(v), lo = kg_hmin(v);
		CHECK(sum == tree[0] || (isnan(sum) && isnan(tree[0])), "sum %a want %a", sum, tree[0]);
		CHECK(prod == mul[0] || (isnan(prod) && isnan(mul[0])), "prod %a want %a", prod, mul[0]);
		CHECK(nan ? isnan(hi) && isnan(lo) : hi == top && lo == low, "max %a min %a", hi, lo);
		CHECK(kg_hsumi(k) == isum && kg_hmini(k) == imin && kg_hmaxi(k) == imax, "integer reductions");
		CHECK(kg_hany(v > 0.0f) == any, "any");
		CHECK(kg_hall(v > -1500.0f) == all, "all");
	}
}

static int32_t KG_NAME(kt_argmax)(const float *x, int n, int low) {
	vf b0, b1;
	vi i0, i1;
	low ? kg_argmin_start(&b0, &i0) : kg_argmax_start(&b0, &i0);
	low ? kg_argmin_start(&b1, &i1) : kg_argmax_start(&b1, &i1);
	int j = 0;
	for (; j + 2 * KG_W <= n; j += 2 * KG_W) {
		vi at = kg_iota() + j;
		if (low) {
			kg_argmin_update(&b0, &i0, kg_load_f32(x + j), at);
			kg_argmin_update(&b1, &i1, kg_load_f32(x + j + KG_W), at + KG_W);
		} else {
			kg_argmax_update(&b0, &i0, kg_load_f32(x + j), at);
			kg_argmax_update(&b1, &i1, kg_load_f32(x + j + KG_W), at + KG_W);
		}
	}
	for (; j < n; j += KG_W) {
		int w = n - j < KG_W ? n - j : KG_W;
		if (low) {
			kg_argmin_updaten(&b0, &i0, kg_loadn_f32(x + j, w), kg_iota() + j, w);
		} else {
			kg_argmax_updaten(&b0, &i0, kg_loadn_f32(x + j, w), kg_iota() + j, w);
		}
	}
	if (low) {
		kg_argmin_merge(&b0, &i0, b1, i1);
		return kg_hargmin(b0, i0);
	}
	kg_argmax_merge(&b0, &i0, b1, i1);
	return kg_hargmax(b0, i0);
}

static void KG_NAME(kt_args)(void) {
	for (int t = 0; t < 200000; t++) {
		float x[70];
		int n = (int)(next() % 70) + 1, hi = 0, lo = 0, style = (int)(next() % 4);
		for (int i = 0; i < n; i++) {
			uint64_t r = next();
			x[i] = (float)(r >> 20 & 3);
			x[i] = style == 1 && r % 16 == 0 ? NAN : style == 2 && r % 2 ? -INFINITY : style == 3 ? INFINITY : x[i];
		}
		for (int i = 1; i < n; i++) {
			hi = !isnan(x[hi]) && (x[i] > x[hi] || isnan(x[i])) ? i : hi;
			lo = !isnan(x[lo]) && (x[i] < x[lo] || isnan(x[i])) ? i : lo;
		}
		CHECK(KG_NAME(kt_argmax)(x, n, 0) == hi, "argmax of %d gives %d, want %d", n, KG_NAME(kt_argmax)(x, n, 0), hi);
		CHECK(KG_NAME(kt_argmax)(x, n, 1) == lo, "argmin of %d gives %d, want %d", n, KG_NAME(kt_argmax)(x, n, 1), lo);
	}
	float all[40];
	for (int i = 0; i < 40; i++) {
		all[i] = -INFINITY;
	}
	CHECK(KG_NAME(kt_argmax)(all, 40, 0) == 0, "argmax of -inf");
}

static void KG_NAME(kt_random)(void) {
	/* The known answer of the paper's own code for a zero key and counter. */
	CHECK(kg_philox_at(0, 0)[0] == 0x6627e8d5u, "philox %#x", kg_philox_at(0, 0)[0]);
	for (int t = 0; t < 1000; t++) {
		uint64_t s = next(), c = t == 0 ? 0xfffffffcu : next();
		vu u = kg_philox_at(s, c);
		vf f = kg_uniform(u);
		for (int i = 0; i < KG_W; i++) {
			uint32_t want = kgs_philox(s, c + (uint64_t)i);
			CHECK(u[i] == want, "philox lane %d is %#x, want %#x", i, u[i], want);
			CHECK(f[i] == (float)(want >> 8) / 16777216.0f && f[i] == kgs_uniform(want), "uniform %a", f[i]);
		}
	}
}

/* 1+2^-12 squared minus its rounded value is 0 unless product and sum fuse. */
static void KG_NAME(kt_contraction)(const volatile float *p) {
	vf x = kg_splat(*p), y = x * x - kg_splat(1 + 0x1p-11f);
	CHECK(kg_hall(y == 0.0f), "a*b-c is fused: %a", y[0]);
	float s = *p * *p - (1 + 0x1p-11f);
	CHECK(s == 0, "scalar a*b-c is fused: %a", s);
	vf z = kg_fma(x, x, kg_splat(-(1 + 0x1p-11f)));
	CHECK(kg_hall(z == (KG_FUSED ? 0x1p-24f : 0.0f)), "kg_fma gives %a", z[0]);
}

static void KG_NAME(kt_lanes)(const kg_call *c, int64_t lo, int64_t hi) {
	(void)c, (void)lo, (void)hi;
	volatile float one = 1 + 0x1p-12f;
	KG_NAME(kt_loadn_f32)();
	KG_NAME(kt_loadn_f16)();
	KG_NAME(kt_loadn_bf16)();
	KG_NAME(kt_loadn_i32)();
	KG_NAME(kt_loadn_u8)();
	KG_NAME(kt_storen_f32)();
	KG_NAME(kt_storen_f16)();
	KG_NAME(kt_storen_bf16)();
	KG_NAME(kt_storen_i32)();
	KG_NAME(kt_storen_u8)();
	KG_NAME(kt_gather_f32)();
	KG_NAME(kt_gather_f16)();
	KG_NAME(kt_gather_bf16)();
	KG_NAME(kt_gather_i32)();
	KG_NAME(kt_gather_u8)();
	KG_NAME(kt_half)();
	KG_NAME(kt_integers)();
	KG_NAME(kt_reductions)();
	KG_NAME(kt_args)();
	KG_NAME(kt_random)();
	KG_NAME(kt_contraction)(&one);
}
#endif
