/* Which instruction sets the machine and the system offer. */
#include "pool.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* The register state that the system saves: bit 1 SSE, 2 AVX, 5 to 7 AVX-512. */
static uint32_t saved_state(void) {
	uint32_t lo, hi;
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return lo;
}

int32_t kgp_isa(void) {
	uint32_t a, b, c, d;
	const uint32_t fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
	const uint32_t avx2 = 1u << 5, avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* F DQ BW VL */
	if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
	const uint32_t want = fma | osxsave | avx | f16c;
	if ((c & want) != want) return 0;
	uint32_t state = saved_state();
	if ((state & 0x6) != 0x6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & avx2)) return 0;
	return (b & avx512) == avx512 && (state & 0xe6) == 0xe6 ? 2 : 1;
}
#else
int32_t kgp_isa(void) { return 0; }
#endif
