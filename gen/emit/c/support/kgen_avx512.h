/* kgen_avx512.h: the primitives of the avx512 pass. */

KG_FN vf kg_fma(vf a, vf b, vf c) {
	return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
KG_FN vf kg_sqrt(vf x) {
	return (vf)_mm512_sqrt_ps((__m512)x);
}
KG_FN vf kg_floor(vf x) {
	return (vf)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
KG_FN vf kg_ceil(vf x) {
	return (vf)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
KG_FN vf kg_round(vf x) {
	return (vf)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* kg_minc and kg_maxc limit x by c, which is not NaN; a NaN in x stays. */
KG_FN vf kg_minc(vf c, vf x) {
	return (vf)_mm512_min_ps((__m512)c, (__m512)x);
}
KG_FN vf kg_maxc(vf c, vf x) {
	return (vf)_mm512_max_ps((__m512)c, (__m512)x);
}

/* kg_min and kg_max give NaN if either side is NaN, of two zeros either. */
KG_FN vf kg_min(vf a, vf b) {
	__mmask16 ok = _mm512_cmp_ps_mask((__m512)a, (__m512)a, _CMP_ORD_Q);
	return (vf)_mm512_mask_min_ps((__m512)a, ok, (__m512)a, (__m512)b);
}
KG_FN vf kg_max(vf a, vf b) {
	__mmask16 ok = _mm512_cmp_ps_mask((__m512)a, (__m512)a, _CMP_ORD_Q);
	return (vf)_mm512_mask_max_ps((__m512)a, ok, (__m512)a, (__m512)b);
}
KG_FN vi kg_mini(vi a, vi b) {
	return (vi)_mm512_min_epi32((__m512i)a, (__m512i)b);
}
KG_FN vi kg_maxi(vi a, vi b) {
	return (vi)_mm512_max_epi32((__m512i)a, (__m512i)b);
}

/* Both compilers turn this form with a comparison into masked operations. */
KG_FN vi kg_selecti(vm m, vi a, vi b) {
	return (m & a) | (~m & b);
}
KG_FN vf kg_select(vm m, vf a, vf b) {
	return (vf)kg_selecti(m, (vi)a, (vi)b);
}

KG_FN int kg_hany(vm m) {
	return _mm512_movepi32_mask((__m512i)m) != 0;
}
KG_FN int kg_hall(vm m) {
	return _mm512_movepi32_mask((__m512i)m) == 0xffff;
}

/* kg_swapN exchanges neighbouring groups of N lanes. */
KG_FN vf kg_swap8(vf x) {
	return (vf)_mm512_shuffle_f32x4((__m512)x, (__m512)x, 0x4e);
}
KG_FN vf kg_swap4(vf x) {
	return (vf)_mm512_shuffle_f32x4((__m512)x, (__m512)x, 0xb1);
}
KG_FN vf kg_swap2(vf x) {
	return (vf)_mm512_permute_ps((__m512)x, 0x4e);
}
KG_FN vf kg_swap1(vf x) {
	return (vf)_mm512_permute_ps((__m512)x, 0xb1);
}

/* kg_transpose4 transposes each group of 4 lanes of 4 vectors as a 4 x 4
 * matrix. kg_storeq and kg_storeh store group q, or its first two lanes. */
KG_FN void kg_transpose4(vf *a, vf *b, vf *c, vf *d) {
	__m512 p = _mm512_unpacklo_ps((__m512)*a, (__m512)*b), q = _mm512_unpackhi_ps((__m512)*a, (__m512)*b);
	__m512 r = _mm512_unpacklo_ps((__m512)*c, (__m512)*d), s = _mm512_unpackhi_ps((__m512)*c, (__m512)*d);
	*a = (vf)_mm512_shuffle_ps(p, r, 0x44);
	*b = (vf)_mm512_shuffle_ps(p, r, 0xee);
	*c = (vf)_mm512_shuffle_ps(q, s, 0x44);
	*d = (vf)_mm512_shuffle_ps(q, s, 0xee);
}
KG_FN __m128 kg_quarter(vf x, int q) {
	switch (q) {
	case 1: return _mm512_extractf32x4_ps((__m512)x, 1);
	case 2: return _mm512_extractf32x4_ps((__m512)x, 2);
	case 3: return _mm512_extractf32x4_ps((__m512)x, 3);
	default: return _mm512_castps512_ps128((__m512)x);
	}
}
KG_FN void kg_storeq(float *p, vf x, int q) {
	_mm_storeu_ps(p, kg_quarter(x, q));
}
KG_FN void kg_storeh(float *p, vf x, int q) {
	_mm_storel_pi((__m64 *)p, kg_quarter(x, q));
}

/* kg_scale is p * 2^n, rounded once, for |p| in [0.5, 2] and the whole
 * number n in [-160, 140], given as float and as int. */
KG_FN vf kg_scale(vf p, vf n, vi i) {
	(void)i;
	return (vf)_mm512_scalef_ps((__m512)p, (__m512)n);
}

/* The low and the high half as doubles, and back. */
KG_FN vd kg_dlo(vf x) {
	return (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x));
}
KG_FN vd kg_dhi(vf x) {
	return (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
}
KG_FN vf kg_dcat(vd lo, vd hi) {
	__m512 r = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)lo));
	return (vf)_mm512_insertf32x8(r, _mm512_cvtpd_ps((__m512d)hi), 1);
}
KG_FN vd kg_dloi(vi x) {
	return (vd)_mm512_cvtepi32_pd(_mm512_castsi512_si256((__m512i)x));
}
KG_FN vd kg_dhii(vi x) {
	return (vd)_mm512_cvtepi32_pd(_mm512_extracti32x8_epi32((__m512i)x, 1));
}
KG_FN vi kg_dcati(vd lo, vd hi) {
	__m512i r = _mm512_castsi256_si512(_mm512_cvttpd_epi32((__m512d)lo));
	return (vi)_mm512_inserti32x8(r, _mm512_cvttpd_epi32((__m512d)hi), 1);
}

/* kg_mulwide gives the 64-bit products of the even lanes. */
KG_FN vq kg_mulwide(vu a, vu b) {
	return (vq)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

/* The low n bits. */
KG_FN __mmask16 kg_mask(int64_t n) {
	return (__mmask16)((1u << n) - 1);
}

KG_FN vf kg_loadn_f32(const float *p, int64_t n) {
	return (vf)_mm512_maskz_loadu_ps(kg_mask(n), p);
}
KG_FN void kg_storen_f32(float *p, vf v, int64_t n) {
	_mm512_mask_storeu_ps(p, kg_mask(n), (__m512)v);
}
KG_FN vi kg_loadn_i32(const int32_t *p, int64_t n) {
	return (vi)_mm512_maskz_loadu_epi32(kg_mask(n), p);
}
KG_FN void kg_storen_i32(int32_t *p, vi v, int64_t n) {
	_mm512_mask_storeu_epi32(p, kg_mask(n), (__m512i)v);
}
KG_FN vf kg_load_f16(const kg_f16 *p) {
	return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
KG_FN vf kg_loadn_f16(const kg_f16 *p, int64_t n) {
	return (vf)_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(kg_mask(n), p));
}
KG_FN __m256i kg_cvt_f16(vf v) {
	return _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
KG_FN void kg_store_f16(kg_f16 *p, vf v) {
	_mm256_storeu_si256((__m256i *)p, kg_cvt_f16(v));
}
KG_FN void kg_storen_f16(kg_f16 *p, vf v, int64_t n) {
	_mm256_mask_storeu_epi16(p, kg_mask(n), kg_cvt_f16(v));
}
KG_FN vf kg_round_f16(vf v) {
	return (vf)_mm512_cvtph_ps(kg_cvt_f16(v));
}

/* Unsigned 16-bit integers, for bf16. */
KG_FN vi kg_load_u16(const uint16_t *p) {
	return (vi)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
}
KG_FN vi kg_loadn_u16(const uint16_t *p, int64_t n) {
	return (vi)_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(kg_mask(n), p));
}
KG_FN void kg_store_u16(uint16_t *p, vi v) {
	_mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16((__m512i)v));
}
KG_FN void kg_storen_u16(uint16_t *p, vi v, int64_t n) {
	_mm256_mask_storeu_epi16(p, kg_mask(n), _mm512_cvtepi32_epi16((__m512i)v));
}

KG_FN vi kg_load_u8(const uint8_t *p) {
	return (vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}
KG_FN vi kg_loadn_u8(const uint8_t *p, int64_t n) {
	return (vi)_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(kg_mask(n), p));
}
KG_FN void kg_store_u8(uint8_t *p, vi v) {
	_mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8((__m512i)v));
}
KG_FN void kg_storen_u8(uint8_t *p, vi v, int64_t n) {
	_mm_mask_storeu_epi8(p, kg_mask(n), _mm512_cvtepi32_epi8((__m512i)v));
}
