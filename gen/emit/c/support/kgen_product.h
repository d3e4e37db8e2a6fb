/* kgen_product.h: the functions of products that another unit may have. */

KG_PRODUCT void kg_gemm_block(const float *Ap, const float *Bp, int64_t mc, int64_t nc,
                              int64_t kc, float *C, int64_t ldc, int accumulate);

#define KG_DECLARE(T, C)                                                                              \
	KG_PRODUCT void kg_packa_k_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc); \
	KG_PRODUCT void kg_packa_m_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc); \
	KG_PRODUCT void kg_packb_k_##T(float *dst, const C *src, int64_t ld, int64_t kc, int64_t nc); \
	KG_PRODUCT void kg_packb_n_##T(float *dst, const C *src, int64_t ld, int64_t kc, int64_t nc); \
	KG_PRODUCT void kg_rows_k_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc);  \
	KG_PRODUCT void kg_rows_m_##T(float *dst, const C *src, int64_t ld, int64_t mc, int64_t kc);  \
	KG_PRODUCT void kg_thin_n_##T(const float *a, int64_t mc, const C *b, int64_t ld, int64_t nc, \
	                              int64_t kc, float *c, int64_t ldc, int accumulate);             \
	KG_PRODUCT void kg_thin_k_##T(const float *a, int64_t mc, const C *b, int64_t ld, int64_t nc, \
	                              int64_t kc, float *c, int64_t ldc, int accumulate);
KG_DECLARE(f32, float)
KG_DECLARE(f16, kg_f16)
KG_DECLARE(bf16, kg_bf16)
#undef KG_DECLARE
