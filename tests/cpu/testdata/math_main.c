/* math_main ISA STRIDE [NAME]: measures the functions of math.c against the
 * double functions of libm over every STRIDE-th f32 and over special values.
 * Prints one line for each function: its largest error and a hash of all its
 * results. Exit 1 if an error is over its limit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kgen.h"

void kt_map1(const kg_call *, int64_t, int64_t);
void kt_map2(const kg_call *, int64_t, int64_t);

enum { N = 1 << 14 };
static float in1[N + 32], in2[N + 32], out[N + 32], one[N + 32];

static double ref_sigmoid(double x) {
	return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}
static double ref_rsqrt(double x) {
	return (double)(1.0f / (float)sqrt(x));
}
static double ref_sqrt(double x) {
	return (double)(float)sqrt(x);
}
static double ref_sign(double x) {
	return x > 0 ? 1 : x < 0 ? -1 : x;
}

/* ref_step rounds to nearest even on the grid of a type with p bits of
 * significand, least exponent emin and largest finite value top. */
static double ref_step(double x, int p, int emin, double top) {
	int e;
	if (!isfinite(x) || x == 0) {
		return x;
	}
	frexp(x, &e);
	int s = e - p > emin - p + 1 ? e - p : emin - p + 1;
	double r = ldexp(nearbyint(ldexp(x, -s)), s);
	return fabs(r) > top ? copysign(INFINITY, x) : r;
}
static double ref_f16(double x) {
	return ref_step(x, 11, -14, 65504);
}
static double ref_bf16(double x) {
	return ref_step(x, 8, -126, 0x1.fep127);
}

/* limit is in units of the last place; 0 asks for the very bits. */
typedef struct function {
	const char *name;
	double (*ref)(double);
	double limit;
} function;
static const function functions[] = {
    {"exp", exp, 1.25},       {"log", log, 1.25},   {"log1p", log1p, 1.5}, {"expm1", expm1, 2},
    {"tanh", tanh, 3},        {"erf", erf, 1.5},    {"sigmoid", ref_sigmoid, 3},
    {"sqrt", ref_sqrt, 0},    {"rsqrt", ref_rsqrt, 0}, {"abs", fabs, 0},    {"floor", floor, 0},
    {"ceil", ceil, 0},        {"round", nearbyint, 0}, {"sign", ref_sign, 0}, {"f16", ref_f16, 0},
    {"bf16", ref_bf16, 0},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const uint32_t specials[] = {
    0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, 0x33000000, 0x33800000,
    0x38800000, 0x387fc000, 0x33000001, 0x477fe000, 0x477fefff, 0x477ff000, 0x477ff001, 0x3f000000,
    0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x40000000, 0x40400000, 0x40490fdb,
    0x41200000, 0x42b00000, 0x42b17217, 0x42b17218, 0x42b17219, 0x42ce8ed0, 0x42cff1b5, 0x42d00000,
    0x4afffffe, 0x4affffff, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4f000000, 0x5f000000,
    0x7f000000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001, 0x7fbfffff,
    0x42aeac50, 0x42b0c0a5, 0x3e800000, 0x3f400000, 0x3ec00000, 0x40e00000, 0x41000000, 0x3dcccccd,
};
enum { SPECIALS = sizeof specials / sizeof *specials };

static float from_bits(uint32_t u) {
	float x;
	memcpy(&x, &u, 4);
	return x;
}
static uint32_t to_bits(float x) {
	uint32_t u;
	memcpy(&u, &x, 4);
	return u;
}

/* same reports equal bits, all NaN being one. */
static int same(float a, float b) {
	return to_bits(a) == to_bits(b) || (isnan(a) && isnan(b));
}

/* error_ulp is |got-want| in units of the last place of want as an f32;
 * infinite where one is NaN, or where signs of zero or infinities differ. */
static double error_ulp(float got, double want) {
	int e;
	if (isnan(want) || isnan(got) || isinf(want) || want == 0) {
		return same(got, (float)want) ? 0 : INFINITY;
	}
	double g = isinf(got) ? copysign(0x1p128, got) : got;
	if (fabs(want) > 0x1p128) {
		want = copysign(0x1p128, want); /* as far out as an f32 can be */
	}
	frexp(want, &e);
	return fabs(g - want) / ldexp(1, e < -125 ? -149 : e - 24);
}

/* worst is the largest error, whether the scalar form ever differs, and the
 * hash (FNV-1a over words, all NaN being one) of the results. */
typedef struct worst {
	double err;
	float x, y, got;
	double want;
	int scalar;
	uint64_t hash;
} worst;

static void keep(worst *w, double err, float x, float y, float got, double want) {
	uint64_t hash = (w->hash ^ (isnan(got) ? 0x7fc00000 : to_bits(got))) * 0x100000001b3u;
	if (err > w->err) {
		*w = (worst){err, x, y, got, want, w->scalar, 0};
	}
	w->hash = hash;
}

/* run_block computes function f on in1[0..n) and keeps the largest error. */
static void run_block(const kg_call *call, const function *f, int n, worst *w) {
	kt_map1(call, 0, n);
	for (int i = 0; i < n; i++) {
		double want = f->ref((double)in1[i]);
		double err = f->limit > 0 ? error_ulp(out[i], want)
		             : same(out[i], (float)want) ? 0
		                                         : INFINITY;
		keep(w, err, in1[i], 0, out[i], want);
		if (i % 7 == 0 && !same(one[i], out[i])) {
			w->scalar = 1;
		}
	}
}

static int report(const char *name, const worst *w, double limit) {
	int bad = w->err > limit || w->scalar;
	printf("%s%-8s %.3f ulp at %a %a: got %a, want %a%s hash %016llx\n", bad ? "FAIL " : "", name, w->err, w->x, w->y, w->got,
	       w->want, w->scalar ? "; the scalar form differs;" : "", (unsigned long long)w->hash);
	return bad;
}

static int check1(int isa, int op, uint64_t stride) {
	void *buf[] = {in1, out, one};
	kg_call call = {.buf = buf, .op = op, .isa = isa};
	const function *f = &functions[op];
	worst w = {.err = -1};
	for (int i = 0; i < 2 * SPECIALS; i++) {
		in1[i] = from_bits(specials[i / 2] | (i & 1 ? 0x80000000u : 0));
	}
	run_block(&call, f, 2 * SPECIALS, &w);
	for (uint64_t u = 0; u < (1ull << 32);) {
		int n = 0;
		for (; n < N && u < (1ull << 32); n++, u += stride) {
			in1[n] = from_bits((uint32_t)u);
		}
		run_block(&call, f, n, &w);
	}
	return report(f->name, &w, f->limit);
}

static double ref_min(double a, double b) {
	return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}
static double ref_max(double a, double b) {
	return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

static uint64_t seed = 88172645463325252u;
static uint64_t next(void) {
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static float operand(int i, int second) {
	if (i < 4 * SPECIALS * SPECIALS) {
		int k = second ? i / (2 * SPECIALS) : i % (2 * SPECIALS);
		return from_bits(specials[k / 2] | (k & 1 ? 0x80000000u : 0));
	}
	switch (next() % 4) {
	case 0: return from_bits((uint32_t)next());
	case 1: return (float)(int)(next() % 64) - 32;
	case 2: return (float)((double)(next() >> 11) * 0x1p-53 * 4);
	default: return (float)((double)(next() >> 11) * 0x1p-53 * 200 - 100);
	}
}

static int check2(int isa, int op, const char *name, double (*ref)(double, double), double limit, int count) {
	void *buf[] = {in1, in2, out, one};
	kg_call call = {.buf = buf, .op = op, .isa = isa};
	worst w = {.err = -1};
	for (int base = 0; base < count; base += N) {
		for (int i = 0; i < N; i++) {
			in1[i] = operand(base + i, 0);
			in2[i] = operand(base + i, 1);
		}
		kt_map2(&call, 0, N);
		for (int i = 0; i < N; i++) {
			double want = ref((double)in1[i], (double)in2[i]);
			/* min and max of two zeros may give either */
			double err = out[i] == 0 && want == 0 && op != 0 ? 0 : error_ulp(out[i], want);
			keep(&w, err, in1[i], in2[i], out[i] == 0 && op != 0 ? 0 : out[i], want);
			if (i % 7 == 0 && !same(one[i], out[i])) {
				w.scalar = 1;
			}
		}
	}
	return report(name, &w, limit);
}

int main(int argc, char **argv) {
	if (argc < 3) {
		fprintf(stderr, "usage: math_main ISA STRIDE [NAME]\n");
		return 2;
	}
	int isa = atoi(argv[1]), bad = 0;
	uint64_t stride = strtoull(argv[2], NULL, 10);
	const char *only = argc > 3 ? argv[3] : NULL;
	for (int op = 0; op < FUNCTIONS; op++) {
		if (!only || strcmp(only, functions[op].name) == 0) {
			bad |= check1(isa, op, stride);
		}
	}
	if (!only) {
		int count = stride == 1 ? 1 << 28 : 1 << 19;
		bad |= check2(isa, 0, "pow", pow, 1, count);
		bad |= check2(isa, 1, "min", ref_min, 0, count);
		bad |= check2(isa, 2, "max", ref_max, 0, count);
	}
	return bad;
}
