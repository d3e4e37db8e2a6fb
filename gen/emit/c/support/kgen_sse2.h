/* kgen_sse2.h: the primitives of the baseline pass on x86-64. */

#include "kgen_soft.h"

KG_FN vf kg_sqrt(vf x) {
	return (vf)_mm_sqrt_ps((__m128)x);
}

/* kg_minc and kg_maxc limit x by c, which is not NaN; a NaN in x stays. */
KG_FN vf kg_minc(vf c, vf x) {
	return (vf)_mm_min_ps((__m128)c, (__m128)x);
}
KG_FN vf kg_maxc(vf c, vf x) {
	return (vf)_mm_max_ps((__m128)c, (__m128)x);
}

/* kg_min and kg_max give NaN if either side is NaN, of two zeros either. */
KG_FN vf kg_min(vf a, vf b) {
	return kg_select(a == a, kg_minc(a, b), a);
}
KG_FN vf kg_max(vf a, vf b) {
	return kg_select(a == a, kg_maxc(a, b), a);
}

KG_FN int kg_hany(vm m) {
	return _mm_movemask_ps((__m128)m) != 0;
}
KG_FN int kg_hall(vm m) {
	return _mm_movemask_ps((__m128)m) == 15;
}

/* kg_swapN exchanges neighbouring groups of N lanes. */
KG_FN vf kg_swap2(vf x) {
	return (vf)_mm_shuffle_ps((__m128)x, (__m128)x, 0x4e);
}
KG_FN vf kg_swap1(vf x) {
	return (vf)_mm_shuffle_ps((__m128)x, (__m128)x, 0xb1);
}

/* kg_transpose4 transposes each group of 4 lanes of 4 vectors as a 4 x 4
 * matrix. kg_storeq and kg_storeh store group q, or its first two lanes. */
KG_FN void kg_transpose4(vf *a, vf *b, vf *c, vf *d) {
	__m128 p = _mm_unpacklo_ps((__m128)*a, (__m128)*b), q = _mm_unpackhi_ps((__m128)*a, (__m128)*b);
	__m128 r = _mm_unpacklo_ps((__m128)*c, (__m128)*d), s = _mm_unpackhi_ps((__m128)*c, (__m128)*d);
	*a = (vf)_mm_shuffle_ps(p, r, 0x44);
	*b = (vf)_mm_shuffle_ps(p, r, 0xee);
	*c = (vf)_mm_shuffle_ps(q, s, 0x44);
	*d = (vf)_mm_shuffle_ps(q, s, 0xee);
}
KG_FN void kg_storeq(float *p, vf x, int q) {
	(void)q;
	_mm_storeu_ps(p, (__m128)x);
}
KG_FN void kg_storeh(float *p, vf x, int q) {
	(void)q;
	_mm_storel_pi((__m64 *)p, (__m128)x);
}

/* The low and the high half as doubles, and back. */
KG_FN vd kg_dlo(vf x) {
	return (vd)_mm_cvtps_pd((__m128)x);
}
KG_FN vd kg_dhi(vf x) {
	return (vd)_mm_cvtps_pd((__m128)kg_swap2(x));
}
KG_FN vf kg_dcat(vd lo, vd hi) {
	return (vf)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)lo), _mm_cvtpd_ps((__m128d)hi));
}
KG_FN vd kg_dloi(vi x) {
	return (vd)_mm_cvtepi32_pd((__m128i)x);
}
KG_FN vd kg_dhii(vi x) {
	return (vd)_mm_cvtepi32_pd((__m128i)kg_swap2((vf)x));
}
KG_FN vi kg_dcati(vd lo, vd hi) {
	return (vi)_mm_unpacklo_epi64(_mm_cvttpd_epi32((__m128d)lo), _mm_cvttpd_epi32((__m128d)hi));
}

/* kg_mulwide gives the 64-bit products of the even lanes. */
KG_FN vq kg_mulwide(vu a, vu b) {
	return (vq)_mm_mul_epu32((__m128i)a, (__m128i)b);
}

KG_FN vi kg_from_bytes(kg_bytes b) {
	return (vi)_mm_set_epi64x((int64_t)b.hi, (int64_t)b.lo);
}
KG_FN kg_bytes kg_to_bytes(vi v) {
	__m128i hi = _mm_unpackhi_epi64((__m128i)v, (__m128i)v);
	return (kg_bytes){(uint64_t)_mm_cvtsi128_si64((__m128i)v), (uint64_t)_mm_cvtsi128_si64(hi)};
}

/* Four unsigned 16-bit or 8-bit integers in the low end of a word, and back. */
KG_FN vi kg_widen_u16(uint64_t w) {
	return (vi)_mm_unpacklo_epi16(_mm_cvtsi64_si128((int64_t)w), _mm_setzero_si128());
}
KG_FN uint64_t kg_narrow_u16(vi v) {
	__m128i s = _mm_srai_epi32(_mm_slli_epi32((__m128i)v, 16), 16);
	return (uint64_t)_mm_cvtsi128_si64(_mm_packs_epi32(s, s));
}
KG_FN vi kg_widen_u8(uint64_t w) {
	__m128i zero = _mm_setzero_si128();
	__m128i h = _mm_unpacklo_epi8(_mm_cvtsi64_si128((int64_t)w), zero);
	return (vi)_mm_unpacklo_epi16(h, zero);
}
KG_FN uint64_t kg_narrow_u8(vi v) {
	__m128i h = _mm_packs_epi32((__m128i)(v & 255), (__m128i)(v & 255));
	return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(h, h));
}

#include "kgen_mem4.h"
