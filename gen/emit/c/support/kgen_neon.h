/* kgen_neon.h: the primitives of the baseline pass on arm64. */

KG_FN vf kg_fma(vf a, vf b, vf c) {
	return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
KG_FN vf kg_sqrt(vf x) {
	return (vf)vsqrtq_f32((float32x4_t)x);
}
KG_FN vf kg_floor(vf x) {
	return (vf)vrndmq_f32((float32x4_t)x);
}
KG_FN vf kg_ceil(vf x) {
	return (vf)vrndpq_f32((float32x4_t)x);
}
KG_FN vf kg_round(vf x) {
	return (vf)vrndnq_f32((float32x4_t)x);
}

KG_FN vf kg_select(vm m, vf a, vf b) {
	return (vf)vbslq_f32((uint32x4_t)m, (float32x4_t)a, (float32x4_t)b);
}
KG_FN vi kg_selecti(vm m, vi a, vi b) {
	return (vi)kg_select(m, (vf)a, (vf)b);
}

/* kg_min and kg_max give NaN if either side is NaN; kg_minc and kg_maxc, where
 * c is not NaN, are the same here. */
KG_FN vf kg_min(vf a, vf b) {
	return (vf)vminq_f32((float32x4_t)a, (float32x4_t)b);
}
KG_FN vf kg_max(vf a, vf b) {
	return (vf)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
}
KG_FN vf kg_minc(vf c, vf x) {
	return kg_min(c, x);
}
KG_FN vf kg_maxc(vf c, vf x) {
	return kg_max(c, x);
}
KG_FN vi kg_mini(vi a, vi b) {
	return (vi)vminq_s32((int32x4_t)a, (int32x4_t)b);
}
KG_FN vi kg_maxi(vi a, vi b) {
	return (vi)vmaxq_s32((int32x4_t)a, (int32x4_t)b);
}

KG_FN int kg_hany(vm m) {
	return vmaxvq_u32((uint32x4_t)m) != 0;
}
KG_FN int kg_hall(vm m) {
	return vminvq_u32((uint32x4_t)m) != 0;
}

/* kg_swapN exchanges neighbouring groups of N lanes. */
KG_FN vf kg_swap2(vf x) {
	return (vf)vextq_f32((float32x4_t)x, (float32x4_t)x, 2);
}
KG_FN vf kg_swap1(vf x) {
	return (vf)vrev64q_f32((float32x4_t)x);
}

/* kg_transpose4 transposes each group of 4 lanes of 4 vectors as a 4 x 4
 * matrix. kg_storeq and kg_storeh store group q, or its first two lanes. */
KG_FN void kg_transpose4(vf *a, vf *b, vf *c, vf *d) {
	float32x4x2_t p = vtrnq_f32((float32x4_t)*a, (float32x4_t)*b);
	float32x4x2_t q = vtrnq_f32((float32x4_t)*c, (float32x4_t)*d);
	*a = (vf)vcombine_f32(vget_low_f32(p.val[0]), vget_low_f32(q.val[0]));
	*b = (vf)vcombine_f32(vget_low_f32(p.val[1]), vget_low_f32(q.val[1]));
	*c = (vf)vcombine_f32(vget_high_f32(p.val[0]), vget_high_f32(q.val[0]));
	*d = (vf)vcombine_f32(vget_high_f32(p.val[1]), vget_high_f32(q.val[1]));
}
KG_FN void kg_storeq(float *p, vf x, int q) {
	(void)q;
	vst1q_f32(p, (float32x4_t)x);
}
KG_FN void kg_storeh(float *p, vf x, int q) {
	(void)q;
	vst1_f32(p, vget_low_f32((float32x4_t)x));
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
	return (vd)vcvt_f64_f32(vget_low_f32((float32x4_t)x));
}
KG_FN vd kg_dhi(vf x) {
	return (vd)vcvt_high_f64_f32((float32x4_t)x);
}
KG_FN vf kg_dcat(vd lo, vd hi) {
	return (vf)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)lo), (float64x2_t)hi);
}
KG_FN vd kg_dloi(vi x) {
	return (vd)vcvtq_f64_s64(vmovl_s32(vget_low_s32((int32x4_t)x)));
}
KG_FN vd kg_dhii(vi x) {
	return (vd)vcvtq_f64_s64(vmovl_high_s32((int32x4_t)x));
}
KG_FN vi kg_dcati(vd lo, vd hi) {
	int32x2_t l = vmovn_s64(vcvtq_s64_f64((float64x2_t)lo));
	return (vi)vmovn_high_s64(l, vcvtq_s64_f64((float64x2_t)hi));
}

/* kg_mulwide gives the 64-bit products of the even lanes. */
KG_FN vq kg_mulwide(vu a, vu b) {
	return (vq)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}

KG_FN vi kg_from_bytes(kg_bytes b) {
	return (vi)vcombine_u64(vcreate_u64(b.lo), vcreate_u64(b.hi));
}
KG_FN kg_bytes kg_to_bytes(vi v) {
	return (kg_bytes){vgetq_lane_u64((uint64x2_t)v, 0), vgetq_lane_u64((uint64x2_t)v, 1)};
}

/* Four unsigned 16-bit or 8-bit integers in the low end of a word, and back. */
KG_FN vi kg_widen_u16(uint64_t w) {
	return (vi)vmovl_u16(vcreate_u16(w));
}
KG_FN uint64_t kg_narrow_u16(vi v) {
	return vget_lane_u64(vreinterpret_u64_u16(vmovn_u32((uint32x4_t)v)), 0);
}
KG_FN vi kg_widen_u8(uint64_t w) {
	return (vi)vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(w))));
}
KG_FN uint64_t kg_narrow_u8(vi v) {
	uint16x4_t h = vmovn_u32((uint32x4_t)v);
	return vget_lane_u64(vreinterpret_u64_u8(vmovn_u16(vcombine_u16(h, h))), 0);
}

KG_FN vf kg_widen_f16(vi h) {
	return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vmovn_u32((uint32x4_t)h)));
}
KG_FN vi kg_narrow_f16(vf v) {
	return (vi)vmovl_u16(vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v)));
}
KG_FN vf kg_round_f16(vf v) {
	return kg_widen_f16(kg_narrow_f16(v));
}

#include "kgen_mem4.h"
