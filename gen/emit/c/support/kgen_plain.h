/* kgen_plain.h: the primitives of the baseline pass on a little-endian machine
 * that has no header of its own. */

#include "kgen_soft.h"

KG_FN vf kg_sqrt(vf x) {
	return (vf){__builtin_sqrtf(x[0]), __builtin_sqrtf(x[1]), __builtin_sqrtf(x[2]), __builtin_sqrtf(x[3])};
}

/* kg_min and kg_max give NaN if either side is NaN; kg_minc and kg_maxc, where
 * c is not NaN, are the same here. */
KG_FN vf kg_min(vf a, vf b) {
	return kg_select((a < b) | (a != a), a, b);
}
KG_FN vf kg_max(vf a, vf b) {
	return kg_select((a > b) | (a != a), a, b);
}
KG_FN vf kg_minc(vf c, vf x) {
	return kg_min(c, x);
}
KG_FN vf kg_maxc(vf c, vf x) {
	return kg_max(c, x);
}

KG_FN int kg_hany(vm m) {
	return (m[0] | m[1] | m[2] | m[3]) != 0;
}
KG_FN int kg_hall(vm m) {
	return (m[0] & m[1] & m[2] & m[3]) != 0;
}

/* kg_swapN exchanges neighbouring groups of N lanes. */
KG_FN vf kg_swap2(vf x) {
	return (vf){x[2], x[3], x[0], x[1]};
}
KG_FN vf kg_swap1(vf x) {
	return (vf){x[1], x[0], x[3], x[2]};
}

/* kg_transpose4 transposes each group of 4 lanes of 4 vectors as a 4 x 4
 * matrix. kg_storeq and kg_storeh store group q, or its first two lanes. */
KG_FN void kg_transpose4(vf *a, vf *b, vf *c, vf *d) {
	vf p = *a, q = *b, r = *c, s = *d;
	*a = (vf){p[0], q[0], r[0], s[0]};
	*b = (vf){p[1], q[1], r[1], s[1]};
	*c = (vf){p[2], q[2], r[2], s[2]};
	*d = (vf){p[3], q[3], r[3], s[3]};
}
KG_FN void kg_storeq(float *p, vf x, int q) {
	(void)q;
	memcpy(p, &x, 16);
}
KG_FN void kg_storeh(float *p, vf x, int q) {
	(void)q;
	memcpy(p, &x, 8);
}

/* The low and the high half as doubles, and back. */
KG_FN vd kg_dlo(vf x) {
	return (vd){x[0], x[1]};
}
KG_FN vd kg_dhi(vf x) {
	return (vd){x[2], x[3]};
}
KG_FN vf kg_dcat(vd lo, vd hi) {
	return (vf){(float)lo[0], (float)lo[1], (float)hi[0], (float)hi[1]};
}
KG_FN vd kg_dloi(vi x) {
	return (vd){x[0], x[1]};
}
KG_FN vd kg_dhii(vi x) {
	return (vd){x[2], x[3]};
}
KG_FN vi kg_dcati(vd lo, vd hi) {
	return (vi){(int32_t)(int64_t)lo[0], (int32_t)(int64_t)lo[1], (int32_t)(int64_t)hi[0], (int32_t)(int64_t)hi[1]};
}

/* kg_mulwide gives the 64-bit products of the even lanes. */
KG_FN vq kg_mulwide(vu a, vu b) {
	return ((vq)a & 0xffffffffu) * ((vq)b & 0xffffffffu);
}

KG_FN vi kg_from_bytes(kg_bytes b) {
	return (vi){(int32_t)b.lo, (int32_t)(b.lo >> 32), (int32_t)b.hi, (int32_t)(b.hi >> 32)};
}
KG_FN kg_bytes kg_to_bytes(vi v) {
	vu u = (vu)v;
	return (kg_bytes){u[0] | (uint64_t)u[1] << 32, u[2] | (uint64_t)u[3] << 32};
}

/* Four unsigned 16-bit or 8-bit integers in the low end of a word, and back. */
KG_FN vi kg_widen_u16(uint64_t w) {
	return (vi){(int32_t)(w & 0xffff), (int32_t)(w >> 16 & 0xffff), (int32_t)(w >> 32 & 0xffff), (int32_t)(w >> 48)};
}
KG_FN uint64_t kg_narrow_u16(vi v) {
	vu u = (vu)v & 0xffff;
	return u[0] | u[1] << 16 | (uint64_t)u[2] << 32 | (uint64_t)u[3] << 48;
}
KG_FN vi kg_widen_u8(uint64_t w) {
	return (vi){(int32_t)(w & 255), (int32_t)(w >> 8 & 255), (int32_t)(w >> 16 & 255), (int32_t)(w >> 24 & 255)};
}
KG_FN uint64_t kg_narrow_u8(vi v) {
	vu u = (vu)v & 255;
	return u[0] | u[1] << 8 | u[2] << 16 | (uint64_t)u[3] << 24;
}

#include "kgen_mem4.h"
