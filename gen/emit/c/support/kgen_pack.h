/* kgen_pack.h: packs plain matrices into the panels of kgen_gemm.h.
 *
 * For T = f32 f16 bf16, with element (m, k) of A and (k, n) of B at
 *   kg_packa_k_T(dst, src, ld, mc, kc)   A: src[m*ld + k]
 *   kg_packa_m_T(dst, src, ld, mc, kc)   A: src[k*ld + m]
 *   kg_packb_k_T(dst, src, ld, kc, nc)   B: src[n*ld + k]
 *   kg_packb_n_T(dst, src, ld, kc, nc)   B: src[k*ld + n]
 * They write KG_PACKA or KG_PACKB floats and read only the elements named.
 *
 * A kernel that applies a prologue stores the panels itself: along n or m,
 * vectors go straight to their place; along k, rows of values go to an f32
 * buffer of KG_MR (or KG_NR) rows that kg_packa_k_f32 (kg_packb_k_f32) packs. */

/* kg_pack_across packs rows of T that run across the panels, each width lanes
 * wide: of a group of panels a row is read whole and dealt out to them. */
#define KG_PACK_ACROSS(NAME, T, LOAD, LOADN)								\
	KG_FN void NAME##_1(float *dst, const T *s, int64_t w, int width) {				\
		for (int j = 0; j < width; j += KG_W) {							\
			int64_t in = kgs_mini(kgs_maxi(w - j, 0), KG_W);				\
			kg_storen_f32(dst + j, LOADN(s + j, in), kgs_mini(width - j, KG_W));		\
		}											\
	}												\
	KG_FN void NAME##_2(float *dst, const T *s, int width) {					\
		int j = 0;										\
		for (; j + KG_W <= width; j += KG_W) {							\
			kg_store_f32(dst + j, LOAD(s + j));						\
		}											\
		if (j < width) {									\
			kg_storen_f32(dst + j, LOADN(s + j, width - j), width - j);			\
		}											\
	}												\
	KG_FN void NAME(float *dst, const T *src, int64_t ld, int64_t count, int64_t kc, int width) {	\
		int64_t group = 128 / width * width;							\
		for (int64_t g = 0; g < count; g += group) {						\
			int64_t end = kgs_mini(g + group, count);					\
			for (int64_t k = 0; k < kc; k++) {						\
				const T *s = src + k * ld;						\
				float *d = dst + k * width;						\
				int64_t i = g;								\
				for (; i + width <= end; i += width) {					\
					NAME##_2(d + i * kc, s + i, width);				\
				}									\
				if (i < end) {								\
					NAME##_1(d + i * kc, s + i, end - i, width);			\
				}									\
			}										\
		}											\
	}
KG_PACK_ACROSS(kg_pack_across_f32, float, kg_load_f32, kg_loadn_f32)
KG_PACK_ACROSS(kg_pack_across_f16, kg_f16, kg_load_f16, kg_loadn_f16)
KG_PACK_ACROSS(kg_pack_across_bf16, kg_bf16, kg_load_bf16, kg_loadn_bf16)
#undef KG_PACK_ACROSS

/* kg_pack_put4 writes steps k0..k0+n of 4 rows (2 when half) of a panel. */
KG_FN void kg_pack_put4(float *dst, vf a, vf b, vf c, vf d, int64_t n, int width, int half) {
	kg_transpose4(&a, &b, &c, &d);
#define KG_PUT(v, q, j)                                            \
	if (4 * q + j < n) {                                       \
		if (half) {                                        \
			kg_storeh(dst + (4 * q + j) * width, v, q); \
		} else {                                           \
			kg_storeq(dst + (4 * q + j) * width, v, q); \
		}                                                  \
	}
#define KG_PUT4(q) KG_PUT(a, q, 0) KG_PUT(b, q, 1) KG_PUT(c, q, 2) KG_PUT(d, q, 3)
	KG_PUT4(0)
#if KG_W > 4
	KG_PUT4(1)
#endif
#if KG_W > 8
	KG_PUT4(2)
	KG_PUT4(3)
#endif
#undef KG_PUT4
#undef KG_PUT
}

/* kg_pack_along packs rows of T that run along k: 4 rows at a time, in
 * vectors of KG_W steps. A row that does not exist reads as zeros. */
#define KG_PACK_ALONG(NAME, T, LOAD, LOADN)                                                                   \
	KG_FN void NAME##_4(float *dst, const T *src, int64_t ld, int64_t rows, int64_t kc, int width,        \
	                    int half) {                                                                       \
		vf zero = kg_splat(0);                                                                        \
		int64_t k = 0;                                                                                \
		if (KG_LIKELY(rows >= (half ? 2 : 4))) {                                                      \
			for (; k + KG_W <= kc; k += KG_W) {                                                   \
				vf a = LOAD(src + k), b = LOAD(src + ld + k);                                 \
				vf c = half ? zero : LOAD(src + 2 * ld + k);                                  \
				vf d = half ? zero : LOAD(src + 3 * ld + k);                                  \
				kg_pack_put4(dst + k * width, a, b, c, d, KG_W, width, half);                 \
			}                                                                                     \
		}                                                                                             \
		for (; k < kc; k += KG_W) {                                                                   \
			int64_t n = kgs_mini(kc - k, KG_W);                                                   \
			vf a = rows > 0 ? LOADN(src + k, n) : zero;                                           \
			vf b = rows > 1 ? LOADN(src + ld + k, n) : zero;                                      \
			vf c = rows > 2 && !half ? LOADN(src + 2 * ld + k, n) : zero;                         \
			vf d = rows > 3 && !half ? LOADN(src + 3 * ld + k, n) : zero;                         \
			kg_pack_put4(dst + k * width, a, b, c, d, n, width, half);                            \
		}                                                                                             \
	}                                                                                                     \
	KG_FN void NAME(float *dst, const T *src, int64_t ld, int64_t count, int64_t kc, int width) {         \
		for (int64_t i = 0; i < count; i += width, dst += width * kc) {                               \
			int j = 0;                                                                            \
			for (; j + 4 <= width; j += 4) {                                                      \
				NAME##_4(dst + j, src + (i + j) * ld, ld, count - i - j, kc, width, 0);       \
			}                                                                                     \
			if (j < width) {                                                                      \
				NAME##_4(dst + j, src + (i + j) * ld, ld, count - i - j, kc, width, 1);       \
			}                                                                                     \
		}                                                                                             \
	}
KG_PACK_ALONG(kg_pack_along_f32, float, kg_load_f32, kg_loadn_f32)
KG_PACK_ALONG(kg_pack_along_f16, kg_f16, kg_load_f16, kg_loadn_f16)
KG_PACK_ALONG(kg_pack_along_bf16, kg_bf16, kg_load_bf16, kg_loadn_bf16)
#undef KG_PACK_ALONG

#define KG_PACK(T, C)                                                                                  \
	KG_PRODUCT void kg_packa_k_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc) { \
		kg_pack_along_##T(dst, src, ld, mc, kc, KG_MR);                                        \
	}                                                                                              \
	KG_PRODUCT void kg_packa_m_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc) { \
		kg_pack_across_##T(dst, src, ld, mc, kc, KG_MR);                                       \
	}                                                                                              \
	KG_PRODUCT void kg_packb_k_##T(float *dst, const C *src, int64_t ld, int64_t kc, int64_t nc) { \
		kg_pack_along_##T(dst, src, ld, nc, kc, KG_NR);                                        \
	}                                                                                              \
	KG_PRODUCT void kg_packb_n_##T(float *dst, const C *src, int64_t ld, int64_t kc, int64_t nc) { \
		kg_pack_across_##T(dst, src, ld, nc, kc, KG_NR);                                       \
	}
KG_PACK(f32, float)
KG_PACK(f16, kg_f16)
KG_PACK(bf16, kg_bf16)
#undef KG_PACK
