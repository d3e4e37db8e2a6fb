/* bench_main [ISA or best [OPENBLAS [maps or matmul]]]: the reference kernels against memcpy
 * and a BLAS, as ratios measured in one run. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kgen.h"

void kt_add_f32(const kg_call *, int64_t, int64_t);
void kt_gelu_f32(const kg_call *, int64_t, int64_t);
void kt_gelu_f16(const kg_call *, int64_t, int64_t);
void kt_layernorm_f32(const kg_call *, int64_t, int64_t);
void kt_matmul_nn_f32(const kg_call *, int64_t, int64_t);
void kt_matmul_nt_f32(const kg_call *, int64_t, int64_t);
void kt_matmul_nn_f16(const kg_call *, int64_t, int64_t);

enum { WORKERS = 2, SCRATCH = 4 << 20 };

/* now is wall time, or for one worker the time of its thread, which other
 * programs disturb less. */
static double now(int workers) {
	struct timespec t;
	clock_gettime(workers > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A launch of items cut into chunks that workers take in turn. */
typedef struct launch {
	kg_kernel kernel;
	kg_call call;
	int64_t items, chunk, next;
} launch;

static char scratch[WORKERS][SCRATCH] __attribute__((aligned(64)));

static void work(launch *l, int worker) {
	kg_call call = l->call;
	call.scratch = scratch[worker];
	for (;;) {
		int64_t lo = __atomic_fetch_add(&l->next, l->chunk, __ATOMIC_RELAXED);
		if (lo >= l->items) {
			return;
		}
		l->kernel(&call, lo, lo + l->chunk < l->items ? lo + l->chunk : l->items);
	}
}

/* One helper thread, woken by a counter: starting a thread costs too much. */
static launch *volatile posted;
static volatile int64_t seq, done;

static void *helper(void *unused) {
	(void)unused;
	for (int64_t s = 1;; s++) {
		while (__atomic_load_n(&seq, __ATOMIC_ACQUIRE) < s) {
		}
		if (!posted) {
			return NULL;
		}
		work(posted, 1);
		__atomic_store_n(&done, s, __ATOMIC_RELEASE);
	}
}

static void post(launch *l) {
	posted = l;
	__atomic_store_n(&seq, seq + 1, __ATOMIC_RELEASE);
}

static void run(launch *l, int workers) {
	l->next = 0;
	if (workers > 1) {
		post(l);
	}
	work(l, 0);
	if (workers > 1) {
		while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < seq) {
		}
	}
}

/* time_once is the time of one run; rounds take turns over what they compare,
 * so that a disturbance meets all alike, and keep the least time of each. */
static double time_once(launch *l, int workers) {
	double t = now(workers);
	run(l, workers);
	return now(workers) - t;
}

static double least(double a, double b) {
	return a < b ? a : b;
}

static void copy(const kg_call *c, int64_t lo, int64_t hi) {
	memcpy((char *)c->buf[1] + lo, (char *)c->buf[0] + lo, (size_t)(hi - lo));
}

static float *floats(int64_t n) {
	float *p = aligned_alloc(64, (size_t)((n * 4 + 63) / 64 * 64));
	for (int64_t i = 0; i < n; i++) {
		p[i] = (float)((i * 2654435761u >> 8) % 1000) * 0.006f - 3;
	}
	return p;
}

static int isa;

static launch make(kg_kernel k, void *const *buf, const void *block, int64_t items, int64_t chunk) {
	return (launch){k, {.buf = buf, .block = block, .isa = isa}, items, chunk, 0};
}

static void bench_maps(void) {
	int64_t n = 16 << 20; /* 64 MiB of f32 */
	float *a = floats(n), *b = floats(n), *y = floats(n), *gamma = floats(1024), *beta = floats(1024);
	float *mean = floats(n / 1024), *rstd = floats(n / 1024);
	void *copies[] = {a, y}, *adds[] = {a, b, y}, *norms[] = {a, gamma, beta, y, mean, rstd};
	struct {
		int64_t d;
		float eps;
	} norm = {1024, 1e-5f};
	launch cp = make(copy, copies, NULL, n * 4, 1 << 20);
	launch add = make(kt_add_f32, adds, NULL, n, 1 << 18);
	launch gelu = make(kt_gelu_f32, copies, &n, n, 1 << 16);
	launch half = make(kt_gelu_f16, copies, &n, n, 1 << 16);
	launch ln = make(kt_layernorm_f32, norms, &norm, n / 1024, 64);
	struct {
		const char *name;
		launch *l;
		double words; /* of 4 bytes moved for each element */
		double t[WORKERS + 1];
	} rows[] = {{"memcpy", &cp, 2, {0}}, {"add f32", &add, 3, {0}}, {"gelu f32", &gelu, 2, {0}}, {"gelu f16", &half, 1, {0}}, {"layernorm 1024", &ln, 2, {0}}};
	enum { ROWS = sizeof rows / sizeof *rows };
	for (int round = 0; round < 25; round++) {
		for (int w = 1; w <= WORKERS; w++) {
			for (int r = 0; r < ROWS; r++) {
				double t = time_once(rows[r].l, w);
				rows[r].t[w] = round == 0 ? t : least(t, rows[r].t[w]);
			}
		}
	}
	for (int w = 1; w <= WORKERS; w++) {
		for (int r = 0; r < ROWS; r++) {
			double rate = rows[r].words * 4 * (double)n / rows[r].t[w], ref = 8 * (double)n / rows[0].t[w];
			printf("%-15s 64 MiB  %d thread %7.2f ms %6.2f GB/s  %.2f of memcpy's rate\n", rows[r].name, w, rows[r].t[w] * 1e3, rate * 1e-9, rate / ref);
		}
	}
	int64_t small = 1 << 16; /* 256 KiB stay in the cache */
	launch hot = make(kt_gelu_f32, copies, &small, small, small);
	launch hotln = make(kt_layernorm_f32, norms, &norm, small / 1024, small);
	double tg = INFINITY, tl = INFINITY;
	for (int round = 0; round < 300; round++) {
		tg = least(tg, time_once(&hot, 1));
		tl = least(tl, time_once(&hotln, 1));
	}
	printf("%-15s 256 KiB 1 thread %.3f ns per element\n", "gelu f32", tg * 1e9 / (double)small);
	printf("%-15s 256 KiB 1 thread %.3f ns per element\n", "layernorm 1024", tl * 1e9 / (double)small);
}

typedef void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void (*threads)(int);

static void bench_matmul(int64_t m, int64_t n, int64_t k, const char *library) {
	struct {
		int64_t m, n, k;
	} size = {m, n, k};
	float *a = floats(m * k), *b = floats(k * n), *c = floats(m * n);
	void *buf[] = {a, b, c};
	int64_t items = (m + 167) / 168 * ((n + 511) / 512);
	launch nn = make(kt_matmul_nn_f32, buf, &size, items, 1);
	launch nt = make(kt_matmul_nt_f32, buf, &size, items, 1);
	launch half = make(kt_matmul_nn_f16, buf, &size, items, 1);
	void *lib = library ? dlopen(library, RTLD_NOW) : NULL;
	sgemm blas = NULL;
	threads set = NULL;
	if (lib) {
		*(void **)&blas = dlsym(lib, "cblas_sgemm");
		*(void **)&set = dlsym(lib, "openblas_set_num_threads");
	}
	double flops = 2.0 * (double)m * (double)n * (double)k;
	launch *l[] = {&nn, &nt, &half};
	const char *names[] = {"nn f32", "nt f32", "nn f16"};
	for (int w = 1; w <= WORKERS; w++) {
		double ref = INFINITY, t[3] = {INFINITY, INFINITY, INFINITY};
		for (int round = 0; round < 12; round++) {
			if (blas && set) {
				set(w);
				double s = now(w);
				blas(101, 111, 111, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)n, 0, c, (int)n);
				ref = least(ref, now(w) - s);
			}
			for (int i = 0; i < 3; i++) {
				t[i] = least(t[i], time_once(l[i], w));
			}
		}
		printf("openblas nn f32 %4lld x %4lld x %4lld %d thread %6.1f GFLOP/s\n", (long long)m, (long long)n, (long long)k, w, flops / ref * 1e-9);
		for (int i = 0; i < 3; i++) {
			printf("matmul   %s %4lld x %4lld x %4lld %d thread %6.1f GFLOP/s  %.2f of openblas\n", names[i], (long long)m, (long long)n,
			       (long long)k, w, flops / t[i] * 1e-9, ref / t[i]);
		}
	}
	free(a);
	free(b);
	free(c);
}

int main(int argc, char **argv) {
	pthread_t t;
	isa = argc > 1 && strcmp(argv[1], "best") != 0 ? atoi(argv[1]) : kg_isa_best();
	const char *library = argc > 2 && argv[2][0] ? argv[2] : NULL;
	const char *only = argc > 3 ? argv[3] : "";
	pthread_create(&t, NULL, helper, NULL);
	if (strcmp(only, "matmul") != 0) {
		bench_maps();
	}
	if (strcmp(only, "maps") != 0) {
		bench_matmul(1024, 1024, 1024, library);
		bench_matmul(512, 512, 512, library);
		bench_matmul(128, 3072, 768, library);
	}
	post(NULL);
	pthread_join(t, NULL);
	return 0;
}
