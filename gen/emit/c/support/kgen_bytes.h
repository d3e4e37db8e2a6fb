/* kgen_bytes.h: up to 16 bytes in two words, for the ends of rows. Nothing
 * outside the n bytes is touched. */
#ifndef KGEN_BYTES_H
#define KGEN_BYTES_H

typedef struct kg_bytes {
	uint64_t lo, hi;
} kg_bytes;

/* kg_bytes_ld8 loads n <= 8 bytes, the rest zero. */
KG_FN uint64_t kg_bytes_ld8(const uint8_t *p, int n) {
	uint64_t a = 0;
	uint32_t b, c;
	uint16_t d, e;
	if (n >= 8) {
		memcpy(&a, p, 8);
	} else if (n >= 4) {
		memcpy(&b, p, 4);
		memcpy(&c, p + n - 4, 4);
		a = (uint64_t)b | (uint64_t)c << (8 * (n - 4));
	} else if (n >= 2) {
		memcpy(&d, p, 2);
		memcpy(&e, p + n - 2, 2);
		a = (uint64_t)d | (uint64_t)e << (8 * (n - 2));
	} else if (n == 1) {
		a = *p;
	}
	return a;
}

/* kg_bytes_st8 stores the low n <= 8 bytes of a. */
KG_FN void kg_bytes_st8(uint8_t *p, uint64_t a, int n) {
	uint32_t b = (uint32_t)a, c;
	uint16_t d = (uint16_t)a, e;
	if (n >= 8) {
		memcpy(p, &a, 8);
	} else if (n >= 4) {
		c = (uint32_t)(a >> (8 * (n - 4)));
		memcpy(p, &b, 4);
		memcpy(p + n - 4, &c, 4);
	} else if (n >= 2) {
		e = (uint16_t)(a >> (8 * (n - 2)));
		memcpy(p, &d, 2);
		memcpy(p + n - 2, &e, 2);
	} else if (n == 1) {
		*p = (uint8_t)a;
	}
}

/* kg_bytes_ld loads n <= 16 bytes, the rest zero. */
KG_FN kg_bytes kg_bytes_ld(const void *p, int n) {
	kg_bytes r;
	r.lo = kg_bytes_ld8((const uint8_t *)p, n);
	r.hi = n > 8 ? kg_bytes_ld8((const uint8_t *)p + 8, n - 8) : 0;
	return r;
}

/* kg_bytes_st stores the low n <= 16 bytes of b. */
KG_FN void kg_bytes_st(void *p, kg_bytes b, int n) {
	kg_bytes_st8((uint8_t *)p, b.lo, n);
	if (n > 8) {
		kg_bytes_st8((uint8_t *)p + 8, b.hi, n - 8);
	}
}

#endif
