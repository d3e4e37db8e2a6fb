/* kgen_thin.h: products of few rows. They cost the reading of B, so B is read
 * from where it lies: packing it would more than double the traffic.
 *
 * For T = f32 f16 bf16, with element (k, n) of B at
 *   kg_thin_n_T(a, mc, b, ld, nc, kc, C, ldc, accumulate)   b[k*ld + n]
 *   kg_thin_k_T(a, mc, b, ld, nc, kc, C, ldc, accumulate)   b[n*ld + k]
 * They set C, mc x nc with rows ldc apart, to the product of a, 1 <= mc <= 4 rows of
 * kc floats, and B, or add it when accumulate is set. kc may be 0. */

#define KG_EACH(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < n; i++)

/* How many vectors wide a block of m rows is: 8 or 16 sums are in registers. */
#define KG_THIN_WIDE(m) (m == 1 ? 8 : KG_W == 16 ? 16 / m : 8 / m)

/* Row i of m, of which there are four: the last one stands in for those that
 * are missing. */
#define KG_THIN_ROW(i, m) (i < m ? i : m - 1)

/* Along n a block of columns goes down k; every 256 rows its sums are added to C,
 * which bounds their error. */
#define KG_THIN_N(NAME, T, LOADN)                                                                                        \
	/* m rows, v vectors; the sums of the first of the n lanes of each are added. */                                 \
	KG_FN void NAME##_block(const float *a, int64_t lda, int m, int v, const T *b, int64_t ld, int64_t kc,           \
	                        float *c, int64_t ldc, int64_t n, int64_t rows) {                                        \
		vf s[4][8];                                                                                              \
		KG_EACH(i, m) KG_EACH(j, v) s[i][j] = kg_splat(0);                                                       \
		for (int64_t k = 0; k < kc; k++) {                                                                       \
			KG_EACH(j, v) {                                                                                  \
				vf x = LOADN(b + k * ld + j * KG_W, n);                                                  \
				KG_EACH(i, m) s[i][j] = kg_fma(kg_splat(a[KG_THIN_ROW(i, rows) * lda + k]), x, s[i][j]); \
			}                                                                                                \
		}                                                                                                        \
		KG_EACH(i, m) KG_EACH(j, v) {                                                                            \
			float *p = c + KG_THIN_ROW(i, rows) * ldc + j * KG_W;                                            \
			if (i < rows) {                                                                                  \
				kg_storen_f32(p, kg_loadn_f32(p, n) + s[i][j], n);                                       \
			}                                                                                                \
		}                                                                                                        \
	}                                                                                                                \
	KG_FN void NAME##_rows(const float *a, int64_t lda, int m, const T *b, int64_t ld, int64_t nc, int64_t kc,       \
	                       float *c, int64_t ldc, int64_t rows) {                                                    \
		int64_t j = 0, wide = KG_THIN_WIDE(m) * KG_W;                                                            \
		for (; j + wide <= nc; j += wide) {                                                                      \
			NAME##_block(a, lda, m, KG_THIN_WIDE(m), b + j, ld, kc, c + j, ldc, KG_W, rows);                 \
		}                                                                                                        \
		for (; j < nc; j += KG_W) {                                                                              \
			NAME##_block(a, lda, m, 1, b + j, ld, kc, c + j, ldc, kgs_mini(nc - j, KG_W), rows);             \
		}                                                                                                        \
	}                                                                                                                \
	KG_PRODUCT void NAME(const float *a, int64_t mc, const T *b, int64_t ld, int64_t nc,                             \
	                     int64_t kc, float *C, int64_t ldc, int accumulate) {                                        \
		for (int64_t i = 0; i < mc && !accumulate; i++) {                                                        \
			memset(C + i * ldc, 0, nc * sizeof(float));                                                      \
		}                                                                                                        \
		for (int64_t k = 0; k < kc; k += 256) {                                                                  \
			int64_t n = kgs_mini(kc - k, 256);                                                               \
			if (mc == 1) {                                                                                   \
				NAME##_rows(a + k, kc, 1, b + k * ld, ld, nc, n, C, ldc, 1);                             \
			} else if (mc == 2) {                                                                            \
				NAME##_rows(a + k, kc, 2, b + k * ld, ld, nc, n, C, ldc, 2);                             \
			} else {                                                                                         \
				NAME##_rows(a + k, kc, 4, b + k * ld, ld, nc, n, C, ldc, mc);                            \
			}                                                                                                \
		}                                                                                                        \
	}
KG_THIN_N(kg_thin_n_f32, float, kg_loadn_f32)
KG_THIN_N(kg_thin_n_f16, kg_f16, kg_loadn_f16)
KG_THIN_N(kg_thin_n_bf16, kg_bf16, kg_loadn_bf16)
#undef KG_THIN_N
#undef KG_THIN_WIDE

/* Along k: dot products, of four columns at a time. */
#define KG_THIN_K(NAME, T, LOADN)                                                                               \
	/* The dot products of m rows and n columns. */                                                         \
	KG_FN void NAME##_block(const float *a, int64_t kc, int m, const T *b, int64_t ld, int n, float *c,     \
	                        int64_t ldc, int64_t rows) {                                                    \
		vf s[4][4], x[4];                                                                               \
		KG_EACH(i, m) KG_EACH(j, n) s[i][j] = kg_splat(0);                                              \
		int64_t k = 0;                                                                                  \
		for (; k + KG_W <= kc; k += KG_W) {                                                             \
			KG_EACH(i, m) x[i] = kg_load_f32(a + KG_THIN_ROW(i, rows) * kc + k);                    \
			KG_EACH(j, n) {                                                                         \
				vf y = LOADN(b + j * ld + k, KG_W);                                             \
				KG_EACH(i, m) s[i][j] = kg_fma(x[i], y, s[i][j]);                               \
			}                                                                                       \
		}                                                                                               \
		if (k < kc) {                                                                                   \
			KG_EACH(i, m) x[i] = kg_loadn_f32(a + KG_THIN_ROW(i, rows) * kc + k, kc - k);           \
			KG_EACH(j, n) {                                                                         \
				vf y = LOADN(b + j * ld + k, kc - k);                                           \
				KG_EACH(i, m) s[i][j] = kg_fma(x[i], y, s[i][j]);                               \
			}                                                                                       \
		}                                                                                               \
		KG_EACH(i, m) KG_EACH(j, n) {                                                                   \
			if (i < rows) {                                                                         \
				c[i * ldc + j] += kg_hsum(s[i][j]);                                             \
			}                                                                                       \
		}                                                                                               \
	}                                                                                                       \
	KG_FN void NAME##_rows(const float *a, int64_t kc, int m, const T *b, int64_t ld, int64_t nc, float *c, \
	                       int64_t ldc, int64_t rows) {                                                     \
		int64_t j = 0;                                                                                  \
		for (; j + 4 <= nc; j += 4) {                                                                   \
			NAME##_block(a, kc, m, b + j * ld, ld, 4, c + j, ldc, rows);                            \
		}                                                                                               \
		for (; j < nc; j++) {                                                                           \
			NAME##_block(a, kc, m, b + j * ld, ld, 1, c + j, ldc, rows);                            \
		}                                                                                               \
	}                                                                                                       \
	KG_PRODUCT void NAME(const float *a, int64_t mc, const T *b, int64_t ld, int64_t nc,                    \
	                     int64_t kc, float *C, int64_t ldc, int accumulate) {                               \
		for (int64_t i = 0; i < mc && !accumulate; i++) {                                               \
			memset(C + i * ldc, 0, nc * sizeof(float));                                             \
		}                                                                                               \
		if (mc == 1) {                                                                                  \
			NAME##_rows(a, kc, 1, b, ld, nc, C, ldc, 1);                                            \
		} else if (mc == 2) {                                                                           \
			NAME##_rows(a, kc, 2, b, ld, nc, C, ldc, 2);                                            \
		} else {                                                                                        \
			NAME##_rows(a, kc, 4, b, ld, nc, C, ldc, mc);                                           \
		}                                                                                               \
	}
KG_THIN_K(kg_thin_k_f32, float, kg_loadn_f32)
KG_THIN_K(kg_thin_k_f16, kg_f16, kg_loadn_f16)
KG_THIN_K(kg_thin_k_bf16, kg_bf16, kg_loadn_bf16)
#undef KG_THIN_K
#undef KG_THIN_ROW
#undef KG_EACH

/* The rows of a plain A: element (m, k) at src[m*ld + k] (kg_rows_k_T) or
 * src[k*ld + m] (kg_rows_m_T). */
#define KG_ROWS_OF(T, C)                                                                               \
	KG_PRODUCT void kg_rows_k_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc) {  \
		for (int64_t i = 0; i < mc; i++) {                                                     \
			for (int64_t k = 0; k < kc; k += KG_W) {                                       \
				int64_t n = kgs_mini(kc - k, KG_W);                                    \
				kg_storen_f32(dst + i * kc + k, kg_loadn_##T(src + i * ld + k, n), n); \
			}                                                                              \
		}                                                                                      \
	}                                                                                              \
	KG_PRODUCT void kg_rows_m_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc) {  \
		for (int64_t k = 0; k < kc; k++) {                                                     \
			for (int64_t i = 0; i < mc; i++) {                                             \
				dst[i * kc + k] = kg_ld_##T(src + k * ld + i);                         \
			}                                                                              \
		}                                                                                      \
	}
KG_ROWS_OF(f32, float)
KG_ROWS_OF(f16, kg_f16)
KG_ROWS_OF(bf16, kg_bf16)
#undef KG_ROWS_OF
