/* kernels_main ISA: the reference kernels against plain loops in double, for
 * many sizes; and that cutting a launch into parts changes no bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kgen.h"

void kt_add_f32(const kg_call *, int64_t, int64_t);
void kt_gelu_f32(const kg_call *, int64_t, int64_t);
void kt_gelu_f16(const kg_call *, int64_t, int64_t);
void kt_layernorm_f32(const kg_call *, int64_t, int64_t);
void kt_matmul_nn_f32(const kg_call *, int64_t, int64_t);
void kt_matmul_nt_f32(const kg_call *, int64_t, int64_t);
void kt_matmul_nn_f16(const kg_call *, int64_t, int64_t);

static int failures, isa;
#define CHECK(cond, ...)                                                    \
	do {                                                                \
		if (!(cond) && failures++ < 20) {                           \
			printf("FAIL kernels_main.c:%d %s: ", __LINE__, #cond); \
			printf(__VA_ARGS__);                                \
			printf("\n");                                       \
		}                                                           \
	} while (0)

static uint64_t seed = 88172645463325252u;
static float value(void) {
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (float)(int32_t)(seed >> 32) * 0x1p-29f;
}

enum { MOST = 1 << 17 };
static float a[MOST], b[MOST], c[MOST], y[MOST], z[MOST], gamma_[MOST], beta[MOST], mean[MOST], rstd[MOST];
static char scratch[4 << 20] __attribute__((aligned(64)));

static int near(double got, double want) {
	return fabs(got - want) <= 1e-6 + 1e-5 * fabs(want);
}

/* run launches items lo..hi whole into buf[at], then cut in three into z, and
 * compares the two. */
static void run(kg_kernel k, void **buf, int at, const void *block, int64_t items, int64_t n) {
	kg_call call = {.buf = (void *const *)buf, .block = block, .scratch = scratch, .isa = isa};
	k(&call, 0, items);
	float *whole = buf[at];
	buf[at] = z;
	memset(z, 0xff, sizeof z);
	k(&call, items - items / 3, items);
	k(&call, 0, items / 2);
	k(&call, items / 2, items - items / 3);
	buf[at] = whole;
	CHECK(memcmp(whole, z, (size_t)n * 4) == 0, "%lld items: parts differ from the whole", (long long)items);
}

static void check_add(void) {
	for (int64_t n = 0; n < 150; n++) {
		void *buf[] = {a + n % 3, b + n % 5, y + n % 7};
		memset(y, 0, sizeof y);
		run(kt_add_f32, buf, 2, NULL, n, n);
		for (int64_t i = 0; i < n; i++) {
			CHECK(y[n % 7 + i] == a[n % 3 + i] + b[n % 5 + i], "add %lld at %lld", (long long)n, (long long)i);
		}
		CHECK(y[n % 7 + n] == 0, "add %lld writes behind its end", (long long)n);
	}
}

static double gelu(double x) {
	return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static void check_gelu(void) {
	static const float points[] = {8, 8.5f, 15.5f, -13.24f, -13.5f, 40, -40, 41, -41, 100, -100, 1, -1, 0, 1e20f, 3e38f};
	for (int64_t n = 0; n < 200; n++) {
		void *buf[] = {a, y};
		memset(y, 0, sizeof y);
		run(kt_gelu_f32, buf, 1, NULL, n, n);
		for (int64_t i = 0; i < n; i++) {
			CHECK(near(y[i], gelu((double)a[i])), "gelu(%g) gives %g", (double)a[i], (double)y[i]);
		}
		CHECK(y[n] == 0, "gelu %lld writes behind its end", (long long)n);
	}
	memcpy(c, points, sizeof points);
	void *buf[] = {c, y};
	run(kt_gelu_f32, buf, 1, NULL, 16, 16);
	for (int i = 0; i < 16; i++) {
		double want = gelu((double)points[i]);
		CHECK(fabs(want) < 1e-20 ? y[i] == 0 : near(y[i], want), "gelu(%g) gives %g", (double)points[i], (double)y[i]);
	}
	uint16_t half[4] = {0x5000, 0xd000, 0x5120, 0x3c00}, out[5] = {0, 0, 0, 0, 7}; /* 32, -32, 41, 1 */
	void *halves[] = {half, out};
	kg_call call = {.buf = halves, .isa = isa};
	kt_gelu_f16(&call, 0, 4);
	CHECK(out[0] == 0x5000 && (out[1] & 0x7fff) == 0 && out[2] == 0x5120 && out[3] == 0x3abb && out[4] == 7, "gelu f16: %x %x %x %x %x", out[0],
	      out[1], out[2], out[3], out[4]);
}

static void check_layernorm(void) {
	for (int64_t d = 1; d < 150; d++) {
		struct {
			int64_t d;
			float eps;
		} block = {d, 1e-5f};
		int64_t rows = 7;
		void *buf[] = {a, gamma_, beta, y, mean, rstd};
		memset(y, 0, sizeof y);
		run(kt_layernorm_f32, buf, 3, &block, rows, rows * d);
		CHECK(y[rows * d] == 0, "layernorm %lld writes behind its end", (long long)d);
		for (int64_t r = 0; r < rows; r++) {
			const float *x = a + r * d;
			double m = 0, v = 0;
			for (int64_t j = 0; j < d; j++) {
				m += (double)x[j] / (double)d;
			}
			for (int64_t j = 0; j < d; j++) {
				v += ((double)x[j] - m) * ((double)x[j] - m) / (double)d;
			}
			double s = 1 / sqrt(v + 1e-5f);
			CHECK(near(mean[r], m) && near(rstd[r], s), "mean %g rstd %g, want %g %g", (double)mean[r], (double)rstd[r], m, s);
			for (int64_t j = 0; j < d; j++) {
				double want = (x[j] - m) * s * gamma_[j] + beta[j];
				CHECK(fabs(y[r * d + j] - want) <= 2e-6 + 1e-5 * fabs(want), "layernorm %lld: %g, want %g", (long long)d, (double)y[r * d + j], want);
			}
		}
	}
}

static void check_matmul(int64_t m, int64_t n, int64_t k, int nt) {
	struct {
		int64_t m, n, k;
	} block = {m, n, k};
	void *buf[] = {a, b, y};
	int64_t items = (m + 167) / 168 * ((n + 511) / 512);
	memset(y, 0x55, sizeof y);
	run(nt ? kt_matmul_nt_f32 : kt_matmul_nn_f32, buf, 2, &block, items, m * n);
	float guard;
	memset(&guard, 0x55, 4);
	CHECK(y[m * n] == guard, "matmul writes behind its end");
	for (int64_t i = 0; i < m; i++) {
		for (int64_t j = 0; j < n; j++) {
			double want = 0, size = 0;
			for (int64_t l = 0; l < k; l++) {
				double term = (double)a[i * k + l] * (double)(nt ? b[j * k + l] : b[l * n + j]);
				want += term;
				size += fabs(term);
			}
			CHECK(fabs(y[i * n + j] - want) <= 1e-6 * size, "matmul %lldx%lldx%lld at %lld, %lld: %g, want %g", (long long)m,
			      (long long)n, (long long)k, (long long)i, (long long)j, (double)y[i * n + j], want);
		}
	}
}

/* A running f16 sum of ones would stop at 2048. */
static void check_matmul_f16(void) {
	enum { M = 3, N = 19, K = 4096 };
	static uint16_t ones[N * K], out[M * N + 1];
	struct {
		int64_t m, n, k;
	} block = {M, N, K};
	for (int i = 0; i < N * K; i++) {
		ones[i] = 0x3c00;
	}
	void *buf[] = {ones, ones, out};
	kg_call call = {.buf = buf, .block = &block, .scratch = scratch, .isa = isa};
	kt_matmul_nn_f16(&call, 0, 1);
	for (int i = 0; i < M * N; i++) {
		CHECK(out[i] == 0x6c00, "sum of 4096 ones in f16 is %#x", out[i]);
	}
	CHECK(out[M * N] == 0, "matmul f16 writes behind its end");
}

int main(int argc, char **argv) {
	isa = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < MOST; i++) {
		a[i] = value();
		b[i] = value();
		gamma_[i] = value();
		beta[i] = value();
	}
	check_add();
	check_gelu();
	check_layernorm();
	for (int nt = 0; nt < 2; nt++) {
		check_matmul(1, 1, 1, nt);
		check_matmul(5, 7, 0, nt);
		check_matmul(17, 33, 300, nt);
		check_matmul(200, 520, 100, nt);
		check_matmul(169, 31, 513, nt);
		check_matmul(3, 1025, 64, nt);
	}
	check_matmul_f16();
	printf("%d failures\n", failures);
	return failures != 0;
}
