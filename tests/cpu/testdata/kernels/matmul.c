/* C = A B, A[M,K], B[K,N] row-major, or B[N,K] for the form nt. Work item: one
 * tile of C, TILE_M x TILE_N, in row-major order of tiles. The packed blocks
 * of A and B lie in the worker's scratch memory. */
#include "kgen.h"
#ifndef KG_ISA
#define KG_SELF "matmul.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_matmul_nn_f32)
KG_DISPATCH(kt_matmul_nt_f32)
KG_DISPATCH(kt_matmul_nn_f16)
#else

typedef struct KG_NAME(kt_matmul_block) {
	int64_t m, n, k;
} KG_NAME(kt_matmul_block);

/* 168 is a multiple of every KG_MR, 512 of every KG_NR. */
enum { KG_NAME(TILE_M) = 336, KG_NAME(TILE_N) = 512 };

KG_FN void KG_NAME(kt_matmul)(const kg_call *c, int64_t lo, int64_t hi, int nt) {
	const KG_NAME(kt_matmul_block) *p = c->block;
	const float *a = c->buf[0], *b = c->buf[1];
	float *ap = c->scratch, *bp = ap + KG_NAME(TILE_M) * KG_KC;
	int64_t across = (p->n + KG_NAME(TILE_N) - 1) / KG_NAME(TILE_N);
	for (int64_t t = lo; t < hi; t++) {
		int64_t i, j, mc, nc;
		kg_gemm_cut(t / across, p->m, KG_NAME(TILE_M), KG_MR, &i, &mc);
		kg_gemm_cut(t % across, p->n, KG_NAME(TILE_N), KG_NR, &j, &nc);
		float *out = (float *)c->buf[2] + i * p->n + j;
		int64_t k = 0;
		do { /* once even for K = 0, which gives zeros */
			int64_t kc = kgs_mini(p->k - k, KG_KC);
			kg_packa_k_f32(ap, a + i * p->k + k, p->k, mc, kc);
			if (nt) {
				kg_packb_k_f32(bp, b + j * p->k + k, p->k, kc, nc);
			} else {
				kg_packb_n_f32(bp, b + k * p->n + j, p->n, kc, nc);
			}
			kg_gemm_block(ap, bp, mc, nc, kc, out, p->n, k > 0);
			k += KG_KC;
		} while (k < p->k);
	}
}

static void KG_NAME(kt_matmul_nn_f32)(const kg_call *c, int64_t lo, int64_t hi) {
	KG_NAME(kt_matmul)(c, lo, hi, 0);
}

static void KG_NAME(kt_matmul_nt_f32)(const kg_call *c, int64_t lo, int64_t hi) {
	KG_NAME(kt_matmul)(c, lo, hi, 1);
}

/* Sums stay f32: the tile of C is in scratch until it is complete. */
static void KG_NAME(kt_matmul_nn_f16)(const kg_call *c, int64_t lo, int64_t hi) {
	const KG_NAME(kt_matmul_block) *p = c->block;
	const kg_f16 *a = c->buf[0], *b = c->buf[1];
	float *ap = c->scratch, *bp = ap + KG_NAME(TILE_M) * KG_KC, *sum = bp + KG_NAME(TILE_N) * KG_KC;
	int64_t across = (p->n + KG_NAME(TILE_N) - 1) / KG_NAME(TILE_N);
	for (int64_t t = lo; t < hi; t++) {
		int64_t i, j, mc, nc;
		kg_gemm_cut(t / across, p->m, KG_NAME(TILE_M), KG_MR, &i, &mc);
		kg_gemm_cut(t % across, p->n, KG_NAME(TILE_N), KG_NR, &j, &nc);
		kg_f16 *out = (kg_f16 *)c->buf[2] + i * p->n + j;
		int64_t k = 0;
		do {
			int64_t kc = kgs_mini(p->k - k, KG_KC);
			kg_packa_k_f16(ap, a + i * p->k + k, p->k, mc, kc);
			kg_packb_n_f16(bp, b + k * p->n + j, p->n, kc, nc);
			kg_gemm_block(ap, bp, mc, nc, kc, sum, KG_NAME(TILE_N), k > 0);
			k += KG_KC;
		} while (k < p->k);
		for (int64_t r = 0; r < mc; r++) {
			const float *s = sum + r * KG_NAME(TILE_N);
			int64_t x = 0;
			for (; x + KG_W <= nc; x += KG_W) {
				kg_store_f16(out + r * p->n + x, kg_load_f32(s + x));
			}
			if (x < nc) {
				kg_storen_f16(out + r * p->n + x, kg_load_f32(s + x), nc - x);
			}
		}
	}
}
#endif
