/* kgen_index.h: index arithmetic of generated kernels. */
#ifndef KGEN_INDEX_H
#define KGEN_INDEX_H

#include <math.h> // INFINITY, NAN
#include <stdint.h>

/* Floored division and its remainder, 0 by zero. */
static inline __attribute__((unused)) int64_t kgi_div(int64_t x, int64_t y) {
	if (y == 0) {
		return 0;
	}
	if (y == 1) {
		return x; // a stride, as a rule
	}
	if (y == -1) {
		return (int64_t)(0 - (uint64_t)x); // INT64_MIN wraps
	}
	int64_t q = x / y;
	return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

static inline __attribute__((unused)) int64_t kgi_rem(int64_t x, int64_t y) {
	return y == 0 || y == -1 ? 0 : x - kgi_div(x, y) * y;
}

static inline __attribute__((unused)) int64_t kgi_min(int64_t x, int64_t y) {
	return x < y ? x : y;
}

static inline __attribute__((unused)) int64_t kgi_max(int64_t x, int64_t y) {
	return x > y ? x : y;
}

static inline __attribute__((unused)) int64_t kgi_abs(int64_t x) {
	return x < 0 ? -x : x;
}

static inline __attribute__((unused)) int64_t kgi_sign(int64_t x) {
	return (x > 0) - (x < 0);
}

/* kgi_to_int truncates, gives the ends of int32 for what lies beyond them and 0
 * for NaN, which C leaves undefined. */
static inline __attribute__((unused)) int64_t kgi_to_int(float x) {
	if (x != x) {
		return 0;
	}
	return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : (int32_t)x;
}

#endif
