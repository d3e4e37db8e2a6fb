/* kgen_mem4.h: loads and stores of four lanes, over kg_from_bytes, kg_widen_*
 * and their inverses. */

KG_FN vi kg_loadn_i32(const int32_t *p, int64_t n) {
	return kg_from_bytes(kg_bytes_ld(p, (int)(4 * n)));
}
KG_FN void kg_storen_i32(int32_t *p, vi v, int64_t n) {
	kg_bytes_st(p, kg_to_bytes(v), (int)(4 * n));
}
KG_FN vf kg_loadn_f32(const float *p, int64_t n) {
	return (vf)kg_from_bytes(kg_bytes_ld(p, (int)(4 * n)));
}
KG_FN void kg_storen_f32(float *p, vf v, int64_t n) {
	kg_bytes_st(p, kg_to_bytes((vi)v), (int)(4 * n));
}

KG_FN vi kg_loadn_u16(const uint16_t *p, int64_t n) {
	return kg_widen_u16(kg_bytes_ld8((const uint8_t *)p, (int)(2 * n)));
}
KG_FN vi kg_load_u16(const uint16_t *p) {
	return kg_loadn_u16(p, 4);
}
KG_FN void kg_storen_u16(uint16_t *p, vi v, int64_t n) {
	kg_bytes_st8((uint8_t *)p, kg_narrow_u16(v), (int)(2 * n));
}
KG_FN void kg_store_u16(uint16_t *p, vi v) {
	kg_storen_u16(p, v, 4);
}

KG_FN vf kg_loadn_f16(const kg_f16 *p, int64_t n) {
	return kg_widen_f16(kg_loadn_u16(p, n));
}
KG_FN vf kg_load_f16(const kg_f16 *p) {
	return kg_loadn_f16(p, 4);
}
KG_FN void kg_storen_f16(kg_f16 *p, vf v, int64_t n) {
	kg_storen_u16(p, kg_narrow_f16(v), n);
}
KG_FN void kg_store_f16(kg_f16 *p, vf v) {
	kg_storen_f16(p, v, 4);
}

KG_FN vi kg_loadn_u8(const uint8_t *p, int64_t n) {
	return kg_widen_u8(kg_bytes_ld8(p, (int)n));
}
KG_FN vi kg_load_u8(const uint8_t *p) {
	return kg_loadn_u8(p, 4);
}
KG_FN void kg_storen_u8(uint8_t *p, vi v, int64_t n) {
	kg_bytes_st8(p, kg_narrow_u8(v), (int)n);
}
KG_FN void kg_store_u8(uint8_t *p, vi v) {
	kg_storen_u8(p, v, 4);
}
