/* C = A B, A[M,K], B[K,N] row-major, or B[N,K] for the form nt. Work item: one
 * tile of C, at most TILE_M x TILE_N, in row-major order of tiles. In the
 * worker's scratch memory lie the packed blocks of A and B and the f32 sums of
 * the tile, which an epilogue reads once they are complete. */
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
#define TILE_M 168
#define TILE_N 512

/* Scratch of a worker: 4 * (TILE_M*KG_KC + TILE_N*KG_KC + TILE_M*TILE_N) bytes. */
#define KT_MATMUL(NAME, T, C, NT)                                                                 \
	static void KG_NAME(NAME)(const kg_call *call, int64_t lo, int64_t hi) {                  \
		const KG_NAME(kt_matmul_block) *p = call->block;                                  \
		const C *a = call->buf[0], *b = call->buf[1];                                     \
		float *ap = call->scratch, *bp = ap + TILE_M * KG_KC, *sum = bp + TILE_N * KG_KC; \
		int64_t across = (p->n + TILE_N - 1) / TILE_N;                                    \
		for (int64_t t = lo; t < hi; t++) {                                               \
			int64_t i, j, mc, nc, k = 0;                                              \
			kg_gemm_cut(t / across, p->m, TILE_M, KG_MR, &i, &mc);                    \
			kg_gemm_cut(t % across, p->n, TILE_N, KG_NR, &j, &nc);                    \
			do { /* once even for K = 0, which gives zeros */                         \
				int64_t kc = kgs_mini(p->k - k, KG_KC);                           \
				kg_packa_k_##T(ap, a + i * p->k + k, p->k, mc, kc);               \
				if (NT) {                                                         \
					kg_packb_k_##T(bp, b + j * p->k + k, p->k, kc, nc);       \
				} else {                                                          \
					kg_packb_n_##T(bp, b + k * p->n + j, p->n, kc, nc);       \
				}                                                                 \
				kg_gemm_block(ap, bp, mc, nc, kc, sum, TILE_N, k > 0);            \
				k += KG_KC;                                                       \
			} while (k < p->k);                                                       \
			for (int64_t r = 0; r < mc; r++) {                                        \
				const float *s = sum + r * TILE_N;                                \
				C *out = (C *)call->buf[2] + (i + r) * p->n + j;                  \
				int64_t x = 0;                                                    \
				for (; x + KG_W <= nc; x += KG_W) {                               \
					kg_store_##T(out + x, kg_load_f32(s + x));                \
				}                                                                 \
				if (x < nc) {                                                     \
					vf v = kg_loadn_f32(s + x, nc - x);                       \
					kg_storen_##T(out + x, v, nc - x);                        \
				}                                                                 \
			}                                                                         \
		}                                                                                 \
	}
KT_MATMUL(kt_matmul_nn_f32, f32, float, 0)
KT_MATMUL(kt_matmul_nt_f32, f32, float, 1)
KT_MATMUL(kt_matmul_nn_f16, f16, kg_f16, 0)
#undef KT_MATMUL
#undef TILE_M
#undef TILE_N
#endif
