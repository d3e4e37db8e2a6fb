/* gemm ISA: packing, kg_gemm_block and kg_thin against sums in double, for all
 * sizes around a tile, each storage type and both orientations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kgen.h"
#ifndef KG_ISA

static int failures;
#define CHECK(cond, ...)                                            \
	do {                                                        \
		if (!(cond) && failures++ < 20) {                   \
			printf("FAIL gemm.c:%d %s: ", __LINE__, #cond); \
			printf(__VA_ARGS__);                        \
			printf("\n");                               \
		}                                                   \
	} while (0)

static uint64_t seed = 88172645463325252u;
static float value(void) {
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (float)(int)(seed >> 40 & 255) * 0.0078125f - 1; /* exact in bf16 */
}

enum { MOST = 80, GUARD = 1234 };

#define KG_SELF "gemm.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_gemm)

int main(int argc, char **argv) {
	kg_call call = {.isa = argc > 1 ? atoi(argv[1]) : 0};
	kt_gemm(&call, 0, 0);
	printf("%d failures\n", failures);
	return failures != 0;
}
#else

/* Element (r, k) of a matrix is at r*KT_LD+k of x, or at k*KT_LD+r of xt. */
enum { KG_NAME(LD) = MOST + 3 };
#define KT_LD KG_NAME(LD)

typedef struct KG_NAME(matrix) {
	float x[MOST * KT_LD], xt[MOST * KT_LD];
	kg_f16 h[MOST * KT_LD], ht[MOST * KT_LD];
	kg_bf16 b[MOST * KT_LD], bt[MOST * KT_LD];
} KG_NAME(matrix);

/* Only rows x steps elements are set; the others are NaN, which would show. */
static void KG_NAME(fill)(KG_NAME(matrix) * m, int rows, int steps) {
	memset(m, 0xff, sizeof *m);
	for (int r = 0; r < rows; r++) {
		for (int k = 0; k < steps; k++) {
			int i = r * KT_LD + k, t = k * KT_LD + r;
			m->x[i] = m->xt[t] = value();
			kg_st_f16(&m->h[i], m->x[i]);
			kg_st_bf16(&m->b[i], m->x[i]);
			m->ht[t] = m->h[i];
			m->bt[t] = m->b[i];
		}
	}
}

/* The panels hold the elements in their places, zeros elsewhere, and nothing
 * behind them is written. */
static void KG_NAME(check_panels)(const float *p, const float *x, int rows, int kc, int width, const char *what) {
	int full = (rows + width - 1) / width * width;
	for (int r = 0; r < full; r++) {
		for (int k = 0; k < kc; k++) {
			float want = r < rows ? x[r * KT_LD + k] : 0;
			float got = p[(r / width * kc + k) * width + r % width];
			CHECK(got == want, "%s %dx%d at %d, %d: %g, want %g", what, rows, kc, r, k, got, want);
		}
	}
	for (int i = 0; i < 16; i++) {
		CHECK(p[full * kc + i] == GUARD, "%s %dx%d writes behind its end", what, rows, kc);
	}
}

static float KG_NAME(panels)[(MOST + 32) * MOST + 64], KG_NAME(bpanels)[(MOST + 32) * MOST + 64];
#define KT_PANELS KG_NAME(panels)

static void KG_NAME(guard)(void) {
	for (unsigned i = 0; i < sizeof KT_PANELS / sizeof *KT_PANELS; i++) {
		KT_PANELS[i] = GUARD;
	}
}

static void KG_NAME(check_pack)(const KG_NAME(matrix) * m, int rows, int kc) {
#define KT_PACK(call, width)                                                \
	KG_NAME(guard)();                                                   \
	call;                                                               \
	KG_NAME(check_panels)(KT_PANELS, m->x, rows, kc, width, #call)
	KT_PACK(kg_packa_k_f32(KT_PANELS, m->x, KT_LD, rows, kc), KG_MR);
	KT_PACK(kg_packa_m_f32(KT_PANELS, m->xt, KT_LD, rows, kc), KG_MR);
	KT_PACK(kg_packb_k_f32(KT_PANELS, m->x, KT_LD, kc, rows), KG_NR);
	KT_PACK(kg_packb_n_f32(KT_PANELS, m->xt, KT_LD, kc, rows), KG_NR);
	KT_PACK(kg_packa_k_f16(KT_PANELS, m->h, KT_LD, rows, kc), KG_MR);
	KT_PACK(kg_packa_m_f16(KT_PANELS, m->ht, KT_LD, rows, kc), KG_MR);
	KT_PACK(kg_packb_k_f16(KT_PANELS, m->h, KT_LD, kc, rows), KG_NR);
	KT_PACK(kg_packb_n_f16(KT_PANELS, m->ht, KT_LD, kc, rows), KG_NR);
	KT_PACK(kg_packa_k_bf16(KT_PANELS, m->b, KT_LD, rows, kc), KG_MR);
	KT_PACK(kg_packa_m_bf16(KT_PANELS, m->bt, KT_LD, rows, kc), KG_MR);
	KT_PACK(kg_packb_k_bf16(KT_PANELS, m->b, KT_LD, kc, rows), KG_NR);
	KT_PACK(kg_packb_n_bf16(KT_PANELS, m->bt, KT_LD, kc, rows), KG_NR);
#undef KT_PACK
}

/* C is the product, on top of GUARD when accumulate is set, and GUARD in the
 * columns behind it. */
static void KG_NAME(check_sums)(const KG_NAME(matrix) * a, const KG_NAME(matrix) * b, int mc, int nc, int kc,
                                int accumulate, const float *c, int ldc, const char *what) {
	for (int i = 0; i < mc; i++) {
		for (int j = 0; j < ldc; j++) {
			double want = j < nc && !accumulate ? 0 : GUARD, size = fabs(want);
			for (int k = 0; k < kc && j < nc; k++) {
				double term = (double)a->x[i * KT_LD + k] * (double)b->x[j * KT_LD + k];
				want += term;
				size += fabs(term);
			}
			float got = c[i * ldc + j];
			CHECK(fabs(got - want) <= (j < nc ? 1e-6 * size : 0), "%s %dx%dx%d accumulate %d at %d, %d: %.9g, want %.9g",
			      what, mc, nc, kc, accumulate, i, j, got, want);
		}
	}
}

static void KG_NAME(clear)(float *c, int n) {
	for (int i = 0; i < n; i++) {
		c[i] = GUARD;
	}
}

static void KG_NAME(check_product)(const KG_NAME(matrix) * a, const KG_NAME(matrix) * b, int mc, int nc, int kc,
                                   int accumulate) {
	float c[MOST * KT_LD];
	int ldc = nc + 3;
	KG_NAME(clear)(c, mc * ldc);
	kg_packa_k_f32(KT_PANELS, a->x, KT_LD, mc, kc);
	kg_packb_k_f32(KG_NAME(bpanels), b->x, KT_LD, kc, nc);
	kg_gemm_block(KT_PANELS, KG_NAME(bpanels), mc, nc, kc, c, ldc, accumulate);
	KG_NAME(check_sums)(a, b, mc, nc, kc, accumulate, c, ldc, "block");
}

static void KG_NAME(check_thin)(const KG_NAME(matrix) * a, const KG_NAME(matrix) * b, int mc, int nc, int kc,
                                int accumulate) {
	float c[4 * KT_LD], rows[4 * MOST];
	int ldc = nc + 3;
#define KT_THIN(pack, left, call, right)                                    \
	KG_NAME(clear)(c, mc * ldc);                                        \
	pack(rows, a->left, KT_LD, mc, kc);                                 \
	call(rows, mc, b->right, KT_LD, nc, kc, c, ldc, accumulate);        \
	KG_NAME(check_sums)(a, b, mc, nc, kc, accumulate, c, ldc, #call)
	KT_THIN(kg_rows_k_f32, x, kg_thin_k_f32, x);
	KT_THIN(kg_rows_m_f32, xt, kg_thin_n_f32, xt);
	KT_THIN(kg_rows_k_f16, h, kg_thin_k_f16, h);
	KT_THIN(kg_rows_m_f16, ht, kg_thin_n_f16, ht);
	KT_THIN(kg_rows_k_bf16, b, kg_thin_k_bf16, b);
	KT_THIN(kg_rows_m_bf16, bt, kg_thin_n_bf16, bt);
#undef KT_THIN
}

static void KG_NAME(kt_gemm)(const kg_call *call, int64_t lo, int64_t hi) {
	static KG_NAME(matrix) a, b;
	static const int depths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 75};
	(void)call, (void)lo, (void)hi;
	for (unsigned d = 0; d < sizeof depths / sizeof *depths; d++) {
		for (int rows = 1; rows <= KG_NR + KG_MR + 1; rows++) {
			KG_NAME(fill)(&a, rows, depths[d]);
			KG_NAME(check_pack)(&a, rows, depths[d]);
		}
	}
	for (int mc = 0; mc <= 2 * KG_MR + 1; mc++) {
		for (int nc = 0; nc <= 2 * KG_NR + 1; nc++) {
			for (int d = 0; d < 4; d++) {
				int kc = d == 3 ? 37 : d;
				KG_NAME(fill)(&a, mc, kc);
				KG_NAME(fill)(&b, nc, kc);
				KG_NAME(check_product)(&a, &b, mc, nc, kc, 0);
				KG_NAME(check_product)(&a, &b, mc, nc, kc, 1);
				if (mc >= 1 && mc <= 4) {
					KG_NAME(check_thin)(&a, &b, mc, nc, kc, 0);
					KG_NAME(check_thin)(&a, &b, mc, nc, kc, 1);
				}
			}
		}
	}
	CHECK(KG_MC % KG_MR == 0 && KG_NC % KG_NR == 0 && 168 % KG_MR == 0, "block sizes are whole tiles");
}
#endif
