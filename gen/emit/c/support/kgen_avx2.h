/* kgen_avx2.h: the primitives of the avx2+fma+f16c pass. */

KG_FN vf kg_fma(vf a, vf b, vf c) {
	return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
KG_FN vf kg_sqrt(vf x) {
	return (vf)_mm256_sqrt_ps((__m256)x);
}
KG_FN vf kg_floor(vf x) {
	return (vf)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
KG_FN vf kg_ceil(vf x) {
	return (vf)_mm256_round_ps((__m256)x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
KG_FN vf kg_round(vf x) {
	return (vf)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

KG_FN vf kg_select(vm m, vf a, vf b) {
	return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
}
KG_FN vi kg_selecti(vm m, vi a, vi b) {
	return (vi)kg_select(m, (vf)a, (vf)b);
}

/* kg_minc and kg_maxc limit x by c, which is not NaN; a NaN in x stays. */
KG_FN vf kg_minc(vf c, vf x) {
	return (vf)_mm256_min_ps((__m256)c, (__m256)x);
}
KG_FN vf kg_maxc(vf c, vf x) {
	return (vf)_mm256_max_ps((__m256)c, (__m256)x);
}

/* kg_min and kg_max give NaN if either side is NaN, of two zeros either. */
KG_FN vf kg_min(vf a, vf b) {
	return kg_select(a == a, kg_minc(a, b), a);
}
KG_FN vf kg_max(vf a, vf b) {
	return kg_select(a == a, kg_maxc(a, b), a);
}
KG_FN vi kg_mini(vi a, vi b) {
	return (vi)_mm256_min_epi32((__m256i)a, (__m256i)b);
}
KG_FN vi kg_maxi(vi a, vi b) {
	return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
}

KG_FN int kg_hany(vm m) {
	return _mm256_movemask_ps((__m256)m) != 0;
}
KG_FN int kg_hall(vm m) {
	return _mm256_movemask_ps((__m256)m) == 0xff;
}

/* kg_swapN exchanges neighbouring groups of N lanes. */
KG_FN vf kg_swap4(vf x) {
	return (vf)_mm256_permute2f128_ps((__m256)x, (__m256)x, 1);
}
KG_FN vf kg_swap2(vf x) {
	return (vf)_mm256_permute_ps((__m256)x, 0x4e);
}
KG_FN vf kg_swap1(vf x) {
	return (vf)_mm256_permute_ps((__m256)x, 0xb1);
}

/* kg_transpose4 transposes each group of 4 lanes of 4 vectors as a 4 x 4
 * matrix. kg_storeq and kg_storeh store group q, or its first two lanes. */
KG_FN void kg_transpose4(vf *a, vf *b, vf *c, vf *d) {
	__m256 p = _mm256_unpacklo_ps((__m256)*a, (__m256)*b), q = _mm256_unpackhi_ps((__m256)*a, (__m256)*b);
	__m256 r = _mm256_unpacklo_ps((__m256)*c, (__m256)*d), s = _mm256_unpackhi_ps((__m256)*c, (__m256)*d);
	*a = (vf)_mm256_shuffle_ps(p, r, 0x44);
	*b = (vf)_mm256_shuffle_ps(p, r, 0xee);
	*c = (vf)_mm256_shuffle_ps(q, s, 0x44);
	*d = (vf)_mm256_shuffle_ps(q, s, 0xee);
}
KG_FN __m128 kg_quarter(vf x, int q) {
	return q == 1 ? _mm256_extractf128_ps((__m256)x, 1) : _mm256_castps256_ps128((__m256)x);
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
	vi h = i >> 1;
	(void)n;
	return p * (vf)((h + 127) << 23) * (vf)((i - h + 127) << 23);
}

/* The low and the high half as doubles, and back. */
KG_FN vd kg_dlo(vf x) {
	return (vd)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
}
KG_FN vd kg_dhi(vf x) {
	return (vd)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
}
KG_FN vf kg_dcat(vd lo, vd hi) {
	return (vf)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)hi), _mm256_cvtpd_ps((__m256d)lo));
}
KG_FN vd kg_dloi(vi x) {
	return (vd)_mm256_cvtepi32_pd(_mm256_castsi256_si128((__m256i)x));
}
KG_FN vd kg_dhii(vi x) {
	return (vd)_mm256_cvtepi32_pd(_mm256_extracti128_si256((__m256i)x, 1));
}
KG_FN vi kg_dcati(vd lo, vd hi) {
	return (vi)_mm256_set_m128i(_mm256_cvttpd_epi32((__m256d)hi), _mm256_cvttpd_epi32((__m256d)lo));
}

/* kg_mulwide gives the 64-bit products of the even lanes. */
KG_FN vq kg_mulwide(vu a, vu b) {
	return (vq)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

KG_FN __m128i kg_half_ld(const void *p, int64_t bytes) {
	kg_bytes b = kg_bytes_ld(p, (int)bytes);
	return _mm_set_epi64x((int64_t)b.hi, (int64_t)b.lo);
}
KG_FN void kg_half_st(void *p, __m128i v, int64_t bytes) {
	kg_bytes b = {(uint64_t)_mm_cvtsi128_si64(v), (uint64_t)_mm_extract_epi64(v, 1)};
	kg_bytes_st(p, b, (int)bytes);
}

/* Masked stores take some twenty times as long as full ones on some processors. */
KG_FN vf kg_loadn_f32(const float *p, int64_t n) {
	return (vf)_mm256_maskload_ps(p, (__m256i)kg_first(n));
}
KG_FN void kg_storen_f32(float *p, vf v, int64_t n) {
	if (n >= KG_W) {
		_mm256_storeu_ps(p, (__m256)v);
	} else {
		_mm256_maskstore_ps(p, (__m256i)kg_first(n), (__m256)v);
	}
}
KG_FN vi kg_loadn_i32(const int32_t *p, int64_t n) {
	return (vi)_mm256_maskload_epi32((const int *)p, (__m256i)kg_first(n));
}
KG_FN void kg_storen_i32(int32_t *p, vi v, int64_t n) {
	if (n >= KG_W) {
		_mm256_storeu_si256((__m256i *)p, (__m256i)v);
	} else {
		_mm256_maskstore_epi32((int *)p, (__m256i)kg_first(n), (__m256i)v);
	}
}
KG_FN vf kg_load_f16(const kg_f16 *p) {
	return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
KG_FN vf kg_loadn_f16(const kg_f16 *p, int64_t n) {
	return (vf)_mm256_cvtph_ps(kg_half_ld(p, 2 * n));
}
KG_FN __m128i kg_cvt_f16(vf v) {
	return _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
KG_FN void kg_store_f16(kg_f16 *p, vf v) {
	_mm_storeu_si128((__m128i *)p, kg_cvt_f16(v));
}
KG_FN void kg_storen_f16(kg_f16 *p, vf v, int64_t n) {
	kg_half_st(p, kg_cvt_f16(v), 2 * n);
}
KG_FN vf kg_round_f16(vf v) {
	return (vf)_mm256_cvtph_ps(kg_cvt_f16(v));
}

/* Unsigned 16-bit integers, for bf16. */
KG_FN vi kg_load_u16(const uint16_t *p) {
	return (vi)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}
KG_FN vi kg_loadn_u16(const uint16_t *p, int64_t n) {
	return (vi)_mm256_cvtepu16_epi32(kg_half_ld(p, 2 * n));
}
KG_FN __m128i kg_cvt_u16(vi v) {
	__m128i lo = _mm256_castsi256_si128((__m256i)v);
	return _mm_packus_epi32(lo, _mm256_extracti128_si256((__m256i)v, 1));
}
KG_FN void kg_store_u16(uint16_t *p, vi v) {
	_mm_storeu_si128((__m128i *)p, kg_cvt_u16(v));
}
KG_FN void kg_storen_u16(uint16_t *p, vi v, int64_t n) {
	kg_half_st(p, kg_cvt_u16(v), 2 * n);
}

KG_FN vi kg_load_u8(const uint8_t *p) {
	return (vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
KG_FN vi kg_loadn_u8(const uint8_t *p, int64_t n) {
	return (vi)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)kg_bytes_ld8(p, (int)n)));
}
KG_FN uint64_t kg_cvt_u8(vi v) {
	__m128i w = kg_cvt_u16(v & 255);
	return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(w, w));
}
KG_FN void kg_store_u8(uint8_t *p, vi v) {
	kg_bytes_st8(p, kg_cvt_u8(v), 8);
}
KG_FN void kg_storen_u8(uint8_t *p, vi v, int64_t n) {
	kg_bytes_st8(p, kg_cvt_u8(v), (int)n);
}
