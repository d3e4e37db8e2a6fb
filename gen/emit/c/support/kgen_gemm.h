/* kgen_gemm.h: f32 matrix product on packed panels, for the pass that
 * includes it.
 *
 * A tile has KG_MR rows and KG_NR = 2*KG_W columns. Packed operands hold
 * panels one after another:
 *   A, mc x kc: row m, column k at Ap[(m/KG_MR*kc + k)*KG_MR + m%KG_MR]
 *   B, kc x nc: row k, column n at Bp[(n/KG_NR*kc + k)*KG_NR + n%KG_NR]
 * The last panel is padded with zeros to its full width, so the sizes are
 * KG_PACKA(mc, kc) and KG_PACKB(kc, nc) floats.
 *
 * A block of KG_MC x KG_KC of A stays in the second-level cache (504 KiB of
 * the 1 MiB a core is taken to have; 512 KiB still works), one panel of B in
 * the first. KG_MC is a multiple of KG_MR, KG_NC of KG_NR. */

#if KG_ISA == 2
#define KG_MR 14
#elif KG_ISA == 1
#define KG_MR 6
#elif KG_NEON
#define KG_MR 8
#else
#define KG_MR 4
#endif
#define KG_NR (2 * KG_W)
#define KG_KC 256
#define KG_MC (KG_MR * (KG_ISA == 2 ? 24 : KG_ISA == 1 ? 40 : KG_MR == 8 ? 30 : 32))
#define KG_NC 1024

#define KG_PACKA(mc, kc) (((mc) + KG_MR - 1) / KG_MR * KG_MR * (kc))
#define KG_PACKB(kc, nc) (((nc) + KG_NR - 1) / KG_NR * KG_NR * (kc))

#ifdef KG_GROUP
#include "kgen_product.h"
#endif
#if !defined(KG_GROUP) || defined(KG_PRODUCTS)

#define KG_ROWS4(X) X(0) X(1) X(2) X(3)
#if KG_MR == 14
#define KG_ROWS(X) KG_ROWS4(X) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#elif KG_MR == 8
#define KG_ROWS(X) KG_ROWS4(X) X(4) X(5) X(6) X(7)
#elif KG_MR == 6
#define KG_ROWS(X) KG_ROWS4(X) X(4) X(5)
#else
#define KG_ROWS(X) KG_ROWS4(X)
#endif

/* The sums of row i are in the variables ci and di. */
#define KG_ROW_ZERO(i) vf c##i = kg_splat(0), d##i = c##i;
#define KG_ROW_FETCH(i)                       \
	__builtin_prefetch(c + i * ldc, 1);   \
	__builtin_prefetch(c + i * ldc + KG_NR - 1, 1);
#define KG_ROW_STEP(i)                  \
	{                               \
		vf s = kg_splat(a[i]);  \
		c##i = kg_fma(s, b0, c##i); \
		d##i = kg_fma(s, b1, d##i); \
	}
#define KG_ROW_STORE(i)                               \
	if (accumulate) {                             \
		c##i += kg_load_f32(c + i * ldc);     \
		d##i += kg_load_f32(c + i * ldc + KG_W); \
	}                                             \
	kg_store_f32(c + i * ldc, c##i);              \
	kg_store_f32(c + i * ldc + KG_W, d##i);

/* Rows of A panel a times B panel b, into rows of c or onto them. */
#define KG_GEMM_TILE(NAME, ROWS)                                                             \
	static __attribute__((noinline, unused)) void NAME(const float *a, const float *b,   \
	                                                   int64_t kc, float *c, int64_t ldc, \
	                                                   int accumulate) {                 \
		ROWS(KG_ROW_ZERO)                                                            \
		ROWS(KG_ROW_FETCH)                                                           \
		for (int64_t k = 0; k < kc; k++, a += KG_MR, b += KG_NR) {                   \
			vf b0 = kg_load_f32(b), b1 = kg_load_f32(b + KG_W);                  \
			ROWS(KG_ROW_STEP)                                                    \
		}                                                                            \
		ROWS(KG_ROW_STORE)                                                           \
	}
KG_GEMM_TILE(kg_gemm_rows, KG_ROWS)
KG_GEMM_TILE(kg_gemm_rows4, KG_ROWS4)
#undef KG_GEMM_TILE
#undef KG_ROWS
#undef KG_ROWS4
#undef KG_ROW_ZERO
#undef KG_ROW_FETCH
#undef KG_ROW_STEP
#undef KG_ROW_STORE

/* kg_gemm_edge computes m <= KG_MR rows by n <= KG_NR columns of a tile. */
static __attribute__((noinline, unused)) void kg_gemm_edge(const float *a, const float *b, int64_t m, int64_t n,
                                                           int64_t kc, float *c, int64_t ldc, int accumulate) {
	float t[KG_MR * KG_NR];
	if (m > 8 || (m > 4 && KG_MR < 8)) {
		kg_gemm_rows(a, b, kc, t, KG_NR, 0);
	} else {
		for (int64_t i = 0; i < m; i += 4) {
			kg_gemm_rows4(a + i, b, kc, t + i * KG_NR, KG_NR, 0);
		}
	}
	for (int64_t i = 0; i < m; i++) {
		for (int64_t j = 0; j < n; j += KG_W) {
			int64_t w = n - j < KG_W ? n - j : KG_W;
			vf v = kg_load_f32(t + i * KG_NR + j);
			if (accumulate) {
				v += kg_loadn_f32(c + i * ldc + j, w);
			}
			kg_storen_f32(c + i * ldc + j, v, w);
		}
	}
}

/* kg_gemm_cut gives the part of an extent that tile t covers, of
 * ceil(extent/tile) tiles: all about equally large, a multiple of unit (which
 * divides tile) but for the last; later ones may be empty. */
KG_FN void kg_gemm_cut(int64_t t, int64_t extent, int64_t tile, int64_t unit, int64_t *start, int64_t *size) {
	int64_t tiles = (extent + tile - 1) / tile;
	int64_t each = ((extent + tiles - 1) / tiles + unit - 1) / unit * unit;
	int64_t left = extent - t * each;
	*start = t * each;
	*size = left < 0 ? 0 : left < each ? left : each;
}

/* kg_gemm_block sets C, mc x nc with rows ldc apart, to the product of the
 * packed Ap and Bp, or adds the product when accumulate is set. Nothing
 * outside the mc x nc elements is touched. kc may be 0. Each element is the
 * sum over k in rising order, so neither mc nor nc changes its bits. */
KG_PRODUCT void kg_gemm_block(const float *Ap, const float *Bp, int64_t mc, int64_t nc,
                              int64_t kc, float *C, int64_t ldc, int accumulate) {
	for (int64_t j = 0; j < nc; j += KG_NR) {
		const float *b = Bp + j * kc;
		for (int64_t i = 0; i < mc; i += KG_MR) {
			const float *a = Ap + i * kc;
			float *c = C + i * ldc + j;
			if (mc - i >= KG_MR && nc - j >= KG_NR) {
				kg_gemm_rows(a, b, kc, c, ldc, accumulate);
			} else {
				int64_t m = mc - i < KG_MR ? mc - i : KG_MR;
				int64_t n = nc - j < KG_NR ? nc - j : KG_NR;
				kg_gemm_edge(a, b, m, n, kc, c, ldc, accumulate);
			}
		}
	}
}

#include "kgen_pack.h"
#include "kgen_thin.h"

#endif
