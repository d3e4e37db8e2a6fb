/* kgen_move.h: moves elements of 8, 16 or 32 bits as they are. It is the same
 * for each instruction set.
 *
 *   kg_move_N(dst, ld, src, rs, cs, rows, cols)
 *       dst[r*ld + c] = src[r*rs + c*cs] for r < rows, c < cols
 *   kg_fill_N(dst, ld, bits, rows, cols)
 *       dst[r*ld + c] = bits
 *
 * Both take rows and cols of no more than 0. dst and src are apart, or what is moved
 * lies where it belongs. */
#ifndef KGEN_MOVE_H
#define KGEN_MOVE_H

#define KG_MOVE_TILE 64

typedef uint8_t kg_bits_8;
typedef uint16_t __attribute__((may_alias)) kg_bits_16;
typedef uint32_t __attribute__((may_alias)) kg_bits_32;

/* kg_block_N transposes a square of KG_BLOCK_N elements a side: the rows of src
 * lie cs apart, and only the first n count; those of dst lie ld apart, and are
 * stored in their order. */
#define KG_ROW(i) ((i) < n ? (i) : n - 1)
#if KG_X86 || KG_NEON

#if KG_X86
typedef __m128i kg_q;
#define kg_q_ld(p) _mm_loadu_si128((const __m128i *)(p))
#define kg_q_st(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define kg_zip_lo(bits, a, b) _mm_unpacklo_epi##bits(a, b)
#define kg_zip_hi(bits, a, b) _mm_unpackhi_epi##bits(a, b)
#else
typedef uint8x16_t kg_q;
#define kg_q_ld(p) vld1q_u8((const uint8_t *)(p))
#define kg_q_st(p, v) vst1q_u8((uint8_t *)(p), v)
#define kg_zip_lo(bits, a, b) vreinterpretq_u8_u##bits(vzip1q_u##bits(vreinterpretq_u##bits##_u8(a), vreinterpretq_u##bits##_u8(b)))
#define kg_zip_hi(bits, a, b) vreinterpretq_u8_u##bits(vzip2q_u##bits(vreinterpretq_u##bits##_u8(a), vreinterpretq_u##bits##_u8(b)))
#endif

#define KG_BLOCK_32 4
KG_FN void kg_block_32(kg_bits_32 *dst, int64_t ld, const kg_bits_32 *src, int64_t cs, int64_t n) {
	kg_q a = kg_q_ld(src), b = kg_q_ld(src + KG_ROW(1) * cs);
	kg_q c = kg_q_ld(src + KG_ROW(2) * cs), d = kg_q_ld(src + KG_ROW(3) * cs);
	kg_q p = kg_zip_lo(32, a, b), q = kg_zip_hi(32, a, b), r = kg_zip_lo(32, c, d), s = kg_zip_hi(32, c, d);
	kg_q_st(dst, kg_zip_lo(64, p, r));
	kg_q_st(dst + ld, kg_zip_hi(64, p, r));
	kg_q_st(dst + 2 * ld, kg_zip_lo(64, q, s));
	kg_q_st(dst + 3 * ld, kg_zip_hi(64, q, s));
}

#define KG_BLOCK_16 8
KG_FN void kg_block_16(kg_bits_16 *dst, int64_t ld, const kg_bits_16 *src, int64_t cs, int64_t n) {
	kg_q v[8], w[8];
	for (int i = 0; i < 8; i++) {
		v[i] = kg_q_ld(src + KG_ROW(i) * cs);
	}
	for (int i = 0; i < 4; i++) { /* pairs of rows: elements 0 to 3, and 4 to 7 */
		w[i] = kg_zip_lo(16, v[2 * i], v[2 * i + 1]);
		w[i + 4] = kg_zip_hi(16, v[2 * i], v[2 * i + 1]);
	}
	for (int i = 0; i < 8; i += 4) { /* rows 0 to 3, and 4 to 7 */
		v[i] = kg_zip_lo(32, w[i], w[i + 1]);
		v[i + 1] = kg_zip_hi(32, w[i], w[i + 1]);
		v[i + 2] = kg_zip_lo(32, w[i + 2], w[i + 3]);
		v[i + 3] = kg_zip_hi(32, w[i + 2], w[i + 3]);
	}
	for (int i = 0; i < 8; i += 4) {
		for (int j = 0; j < 2; j++) {
			kg_q_st(dst + (i + 2 * j) * ld, kg_zip_lo(64, v[i + j], v[i + j + 2]));
			kg_q_st(dst + (i + 2 * j + 1) * ld, kg_zip_hi(64, v[i + j], v[i + j + 2]));
		}
	}
}

#else

#define KG_BLOCK_32 1
KG_FN void kg_block_32(kg_bits_32 *dst, int64_t ld, const kg_bits_32 *src, int64_t cs, int64_t n) {
	(void)ld, (void)cs, (void)n;
	*dst = *src;
}

#define KG_BLOCK_16 1
KG_FN void kg_block_16(kg_bits_16 *dst, int64_t ld, const kg_bits_16 *src, int64_t cs, int64_t n) {
	(void)ld, (void)cs, (void)n;
	*dst = *src;
}

#endif

#define KG_BLOCK_8 1
KG_FN void kg_block_8(kg_bits_8 *dst, int64_t ld, const kg_bits_8 *src, int64_t cs, int64_t n) {
	(void)ld, (void)cs, (void)n;
	*dst = *src;
}

/* kg_narrow_N is kg_move_N of few columns, whose number is a constant. */
#define KG_NARROW(N, T)                                                                                    \
	KG_FN void kg_narrow_##N(T *dst, int64_t ld, const T *src, int64_t rs, int64_t cs, int64_t rows,   \
	                         int64_t cols) {                                                           \
		for (int64_t r = 0; r < rows; r++) {                                                       \
			_Pragma("GCC unroll 8") for (int64_t c = 0; c < cols; c++) {                       \
				dst[r * ld + c] = src[r * rs + c * cs];                                    \
			}                                                                                  \
		}                                                                                          \
	}

/* kg_weave_N is kg_move_N of fewer columns than a block has, rows side by side,
 * with rs = 1. What is stored beyond a row is overwritten by the rows after it. */
#define KG_WEAVE(N, T)                                                                                     \
	static __attribute__((noinline, unused)) void kg_weave_##N(T *dst, const T *src, int64_t cs,       \
	                                                           int64_t rows, int64_t cols) {           \
		int64_t r = 0;                                                                             \
		for (; r + 2 * KG_BLOCK_##N <= rows; r += KG_BLOCK_##N) {                                  \
			kg_block_##N(dst + r * cols, cols, src + r, cs, cols);                             \
		}                                                                                          \
		kg_narrow_##N(dst + r * cols, cols, src + r, 1, cs, rows - r, cols);                       \
	}

/* kg_across_N is kg_move_N with rs = 1: the transpose of a matrix whose rows are
 * cs apart. Tiles are put together in a buffer, so that rows a power of two apart
 * do not contend for the same lines of the cache. */
#define KG_ACROSS(N, T)                                                                                    \
	static __attribute__((noinline, unused)) void kg_across_##N(T *dst, int64_t ld, const T *src,      \
	                                                            int64_t cs, int64_t rows,              \
	                                                            int64_t cols) {                        \
		T tile[KG_MOVE_TILE * KG_MOVE_TILE] __attribute__((aligned(64)));                          \
		for (int64_t r0 = 0; r0 < rows; r0 += KG_MOVE_TILE) {                                      \
			int64_t nr = rows - r0 < KG_MOVE_TILE ? rows - r0 : KG_MOVE_TILE;                  \
			for (int64_t c0 = 0; c0 < cols; c0 += KG_MOVE_TILE) {                              \
				int64_t nc = cols - c0 < KG_MOVE_TILE ? cols - c0 : KG_MOVE_TILE;          \
				const T *from = src + c0 * cs + r0;                                        \
				int64_t c = 0;                                                             \
				for (; c + KG_BLOCK_##N <= nc; c += KG_BLOCK_##N) {                        \
					int64_t r = 0;                                                     \
					for (; r + KG_BLOCK_##N <= nr; r += KG_BLOCK_##N) {                \
						kg_block_##N(tile + r * KG_MOVE_TILE + c, KG_MOVE_TILE,    \
						             from + c * cs + r, cs, KG_BLOCK_##N); \
					}                                                                  \
					kg_narrow_##N(tile + r * KG_MOVE_TILE + c, KG_MOVE_TILE,           \
					              from + c * cs + r, 1, cs, nr - r, KG_BLOCK_##N);     \
				}                                                                          \
				kg_narrow_##N(tile + c, KG_MOVE_TILE, from + c * cs, 1, cs, nr, nc - c);   \
				for (int64_t r = 0; r < nr; r++) {                                         \
					memcpy(dst + (r0 + r) * ld + c0, tile + r * KG_MOVE_TILE,          \
					       (size_t)nc * sizeof(T));                                    \
				}                                                                          \
			}                                                                                  \
		}                                                                                          \
	}

#define KG_FILL(N, T)                                                                                      \
	static __attribute__((noinline, unused)) void kg_fill_##N(void *dst, int64_t ld, T bits,           \
	                                                          int64_t rows, int64_t cols) {            \
		enum { KG_CHUNK = 32 / sizeof(T) };                                                        \
		T chunk[KG_CHUNK];                                                                         \
		if (rows <= 0 || cols <= 0) {                                                              \
			return;                                                                            \
		}                                                                                          \
		for (int i = 0; i < KG_CHUNK; i++) {                                                       \
			chunk[i] = bits;                                                                   \
		}                                                                                          \
		for (int64_t r = 0; r < rows; r++) {                                                       \
			T *d = (T *)dst + r * ld;                                                          \
			int64_t c = 0;                                                                     \
			for (; c + KG_CHUNK <= cols; c += KG_CHUNK) {                                      \
				memcpy(d + c, chunk, sizeof chunk);                                        \
			}                                                                                  \
			for (; c < cols; c++) {                                                            \
				d[c] = bits;                                                               \
			}                                                                                  \
		}                                                                                          \
	}

#define KG_MOVE(N, T)                                                                                      \
	KG_FILL(N, T)                                                                                      \
	KG_NARROW(N, T)                                                                                    \
	KG_WEAVE(N, T)                                                                                     \
	KG_ACROSS(N, T)                                                                                    \
	static __attribute__((noinline, unused)) void kg_move_##N(void *dst, int64_t ld, const void *src,  \
	                                                          int64_t rs, int64_t cs, int64_t rows,    \
	                                                          int64_t cols) {                          \
		T *d = dst;                                                                                \
		const T *s = src;                                                                          \
		if (rows <= 0 || cols <= 0 || (d == s && ld == rs && cs == 1)) {                           \
			return;                                                                            \
		}                                                                                          \
		if (rows == 1 || (cs == 1 && rs == cols && ld == cols)) { /* one row */                    \
			cols *= rows;                                                                      \
			rows = 1;                                                                          \
		} else if (cols == 1 && rs == 1 && ld == 1) {                                              \
			cols = rows;                                                                       \
			rows = cs = 1;                                                                     \
		}                                                                                          \
		if (cs == 1 && cols * (int64_t)sizeof(T) > 16) {                                           \
			for (int64_t r = 0; r < rows; r++) {                                               \
				memcpy(d + r * ld, s + r * rs, (size_t)cols * sizeof(T));                  \
			}                                                                                  \
			return;                                                                            \
		}                                                                                          \
		if (cs == 0 && cols > 4) {                                                                 \
			for (int64_t r = 0; r < rows; r++) {                                               \
				kg_fill_##N(d + r * ld, 0, s[r * rs], 1, cols);                            \
			}                                                                                  \
			return;                                                                            \
		}                                                                                          \
		if (rs == 1 && ld == cols && cols > 1 && cols < KG_BLOCK_##N) {                            \
			kg_weave_##N(d, s, cs, rows, cols);                                                \
			return;                                                                            \
		}                                                                                          \
		switch (cols) {                                                                            \
		case 1: kg_narrow_##N(d, ld, s, rs, cs, rows, 1); return;                                  \
		case 2: kg_narrow_##N(d, ld, s, rs, cs, rows, 2); return;                                  \
		case 3: kg_narrow_##N(d, ld, s, rs, cs, rows, 3); return;                                  \
		case 4: kg_narrow_##N(d, ld, s, rs, cs, rows, 4); return;                                  \
		}                                                                                          \
		if (rs == 1 && cols >= KG_BLOCK_##N && rows >= KG_BLOCK_##N) {                             \
			kg_across_##N(d, ld, s, cs, rows, cols);                                           \
			return;                                                                            \
		}                                                                                          \
		kg_narrow_##N(d, ld, s, rs, cs, rows, cols);                                               \
	}
KG_MOVE(8, kg_bits_8)
KG_MOVE(16, kg_bits_16)
KG_MOVE(32, kg_bits_32)
#undef KG_FILL
#undef KG_NARROW
#undef KG_WEAVE
#undef KG_ACROSS
#undef KG_MOVE
#undef KG_ROW

#endif
