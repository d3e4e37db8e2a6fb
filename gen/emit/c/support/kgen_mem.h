/* kgen_mem.h: loads and stores that are the same for each instruction set.
 *
 * For the storage types T = f32 f16 bf16 (a vf) and i32 u8 (a vi):
 *   kg_load_T(p)            KG_W elements at any address
 *   kg_loadn_T(p, n)        the first n <= KG_W, the other lanes 0
 *   kg_store_T(p, v)        f16 and bf16 round to nearest even, NaN stays NaN;
 *   kg_storen_T(p, v, n)      u8 keeps the low byte
 *   kg_gather_T(p, s, n)    p[0], p[s], ... p[(n-1)*s], the other lanes 0
 *   kg_ld_T(p), kg_st_T(p, x)  one element
 *   kg_repeat_T(p, ld, x, rows, cols)  x in rows of cols elements, ld apart
 * The n forms touch nothing beyond n elements and take n = 0. */

KG_FN vf kg_load_f32(const float *p) {
	vf v;
	memcpy(&v, p, sizeof v);
	return v;
}
KG_FN void kg_store_f32(float *p, vf v) {
	memcpy(p, &v, sizeof v);
}
KG_FN vi kg_load_i32(const int32_t *p) {
	vi v;
	memcpy(&v, p, sizeof v);
	return v;
}
KG_FN void kg_store_i32(int32_t *p, vi v) {
	memcpy(p, &v, sizeof v);
}

/* kg_narrow_bf16 gives the bf16 bits of v; a NaN is made quiet. */
KG_FN vi kg_narrow_bf16(vf v) {
	vu u = (vu)v;
	vu r = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
	return kg_selecti(v != v, (vi)((u >> 16) | 0x40), (vi)r);
}
KG_FN vf kg_round_bf16(vf v) {
	return (vf)((vu)kg_narrow_bf16(v) << 16);
}
KG_FN vf kg_load_bf16(const kg_bf16 *p) {
	return (vf)((vu)kg_load_u16(p) << 16);
}
KG_FN vf kg_loadn_bf16(const kg_bf16 *p, int64_t n) {
	return (vf)((vu)kg_loadn_u16(p, n) << 16);
}
KG_FN void kg_store_bf16(kg_bf16 *p, vf v) {
	kg_store_u16(p, kg_narrow_bf16(v));
}
KG_FN void kg_storen_bf16(kg_bf16 *p, vf v, int64_t n) {
	kg_storen_u16(p, kg_narrow_bf16(v), n);
}

#define KG_GATHER(NAME, T, V, LOAD, LOADN)               \
	KG_FN V NAME(const T *p, int64_t stride, int64_t n) { \
		T t[KG_W];                               \
		if (stride == 1) {                       \
			return LOADN(p, n);              \
		}                                        \
		if (n == KG_W) {                         \
			_Pragma("GCC unroll 16") for (int i = 0; i < KG_W; i++) { \
				t[i] = p[i * stride];    \
			}                                \
			return LOAD(t);                  \
		}                                        \
		for (int64_t i = 0; i < KG_W; i++) {     \
			t[i] = i < n ? p[i * stride] : 0; \
		}                                        \
		return LOAD(t);                          \
	}
KG_GATHER(kg_gather_f32, float, vf, kg_load_f32, kg_loadn_f32)
KG_GATHER(kg_gather_f16, kg_f16, vf, kg_load_f16, kg_loadn_f16)
KG_GATHER(kg_gather_bf16, kg_bf16, vf, kg_load_bf16, kg_loadn_bf16)
KG_GATHER(kg_gather_i32, int32_t, vi, kg_load_i32, kg_loadn_i32)
KG_GATHER(kg_gather_u8, uint8_t, vi, kg_load_u8, kg_loadn_u8)
#undef KG_GATHER

KG_FN float kg_ld_f32(const float *p) {
	return *p;
}
KG_FN float kg_ld_f16(const kg_f16 *p) {
	return kg_loadn_f16(p, 1)[0];
}
KG_FN float kg_ld_bf16(const kg_bf16 *p) {
	return ((vf)(kg_splatu(*p) << 16))[0];
}
KG_FN int32_t kg_ld_i32(const int32_t *p) {
	return *p;
}
KG_FN int32_t kg_ld_u8(const uint8_t *p) {
	return *p;
}
KG_FN void kg_st_f32(float *p, float x) {
	*p = x;
}
KG_FN void kg_st_f16(kg_f16 *p, float x) {
	kg_storen_f16(p, kg_splat(x), 1);
}
KG_FN void kg_st_bf16(kg_bf16 *p, float x) {
	*p = (kg_bf16)kg_narrow_bf16(kg_splat(x))[0];
}
KG_FN void kg_st_i32(int32_t *p, int32_t x) {
	*p = x;
}
KG_FN void kg_st_u8(uint8_t *p, int32_t x) {
	*p = (uint8_t)x;
}

KG_FN void kg_repeat_f32(float *p, int64_t ld, float x, int64_t rows, int64_t cols) {
	uint32_t bits;
	memcpy(&bits, &x, sizeof bits);
	kg_fill_32(p, ld, bits, rows, cols);
}
KG_FN void kg_repeat_f16(kg_f16 *p, int64_t ld, float x, int64_t rows, int64_t cols) {
	kg_f16 bits;
	kg_st_f16(&bits, x);
	kg_fill_16(p, ld, bits, rows, cols);
}
KG_FN void kg_repeat_bf16(kg_bf16 *p, int64_t ld, float x, int64_t rows, int64_t cols) {
	kg_bf16 bits;
	kg_st_bf16(&bits, x);
	kg_fill_16(p, ld, bits, rows, cols);
}
KG_FN void kg_repeat_i32(int32_t *p, int64_t ld, int32_t x, int64_t rows, int64_t cols) {
	kg_fill_32(p, ld, (uint32_t)x, rows, cols);
}
KG_FN void kg_repeat_u8(uint8_t *p, int64_t ld, int32_t x, int64_t rows, int64_t cols) {
	kg_fill_8(p, ld, (uint8_t)x, rows, cols);
}

/* kg_window_T loads the elements at, at+1, ... of a row of len elements, and
 * fill where there are none. */
#define KG_WINDOW(NAME, T, V, LOAD, LD)                                            \
	KG_FN V NAME(const T *row, int64_t at, int64_t len, V fill) {              \
		if (at >= 0 && at + KG_W <= len) {                                 \
			return LOAD(row + at);                                     \
		}                                                                  \
		for (int64_t i = 0; i < KG_W && at < len && at + KG_W > 0; i++) {  \
			if (at + i >= 0 && at + i < len) {                         \
				fill[i] = LD(row + at + i);                        \
			}                                                          \
		}                                                                  \
		return fill;                                                       \
	}
KG_WINDOW(kg_window_f32, float, vf, kg_load_f32, kg_ld_f32)
KG_WINDOW(kg_window_f16, kg_f16, vf, kg_load_f16, kg_ld_f16)
KG_WINDOW(kg_window_bf16, kg_bf16, vf, kg_load_bf16, kg_ld_bf16)
KG_WINDOW(kg_window_i32, int32_t, vi, kg_load_i32, kg_ld_i32)
KG_WINDOW(kg_window_u8, uint8_t, vi, kg_load_u8, kg_ld_u8)
#undef KG_WINDOW
