//go:build kgenbench

package program

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 256

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

typedef struct {
	char *to;
	const char *from;
	size_t bytes;
	long times;
} job;

static void *copies(void *p) {
	job *j = p;
	for (long i = 0; i < j->times; i++) {
		memcpy(j->to, j->from, j->bytes);
		__asm__ volatile("" : : "r"(j->to) : "memory");
	}
	return NULL;
}

// Independent chains of multiply-adds, enough to fill the pipelines.
#define CHAINS 16
#define SPIN(NAME, ATTRIBUTE, WIDTH)                                              \
	typedef float NAME##_vector __attribute__((vector_size(4 * WIDTH)));          \
	ATTRIBUTE static void *NAME(void *p) {                                        \
		job *j = p;                                                               \
		NAME##_vector a[CHAINS], x, y;                                            \
		for (int i = 0; i < WIDTH; i++) {                                         \
			x[i] = 0.999f;                                                        \
			y[i] = 0.001f;                                                        \
		}                                                                         \
		for (int c = 0; c < CHAINS; c++)                                          \
			a[c] = x + (float)c;                                                  \
		for (long n = 0; n < j->times; n++)                                       \
			_Pragma("GCC unroll 16") for (int c = 0; c < CHAINS; c++)             \
				a[c] = a[c] * x + y;                                              \
		float sum = 0;                                                            \
		for (int c = 0; c < CHAINS; c++)                                          \
			sum += a[c][0];                                                       \
		memcpy(j->to, &sum, sizeof sum);                                          \
		return NULL;                                                              \
	}

#ifdef __x86_64__
SPIN(spin_baseline, , 4)
SPIN(spin_avx2, __attribute__((target("avx2,fma"))), 8)
SPIN(spin_avx512, __attribute__((target("avx512f,fma"))), 16)
#else
SPIN(spin_baseline, , 4)
#endif

// timed runs f on several threads at once and returns the seconds it took.
static double timed(void *(*f)(void *), int threads, job *jobs) {
	pthread_t t[MOST_THREADS];
	double start = now();
	for (int i = 1; i < threads; i++)
		pthread_create(&t[i], NULL, f, &jobs[i]);
	f(&jobs[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	return now() - start;
}

// copy_rate copies bytes, split over the threads, several times, and returns the
// bytes read and written in a second.
static double copy_rate(int threads, char *to, const char *from, size_t bytes, long times) {
	job jobs[MOST_THREADS];
	size_t part = bytes / threads;
	for (int i = 0; i < threads; i++)
		jobs[i] = (job){to + i * part, from + i * part, part, times};
	return 2.0 * part * threads * times / timed(copies, threads, jobs);
}

// peak is the float operations of multiply-adds in a second.
static double peak(int threads, long times) {
	job jobs[MOST_THREADS];
	float sums[MOST_THREADS];
	for (int i = 0; i < threads; i++)
		jobs[i] = (job){(char *)&sums[i], NULL, 0, times};
	void *(*f)(void *) = spin_baseline;
	int width = 4;
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f")) {
		f = spin_avx512;
		width = 16;
	} else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		f = spin_avx2;
		width = 8;
	}
#endif
	return 2.0 * width * CHAINS * times * threads / timed(f, threads, jobs);
}

static char *pages(size_t n) {
	char *p = malloc(n);
	if (p)
		memset(p, 1, n);
	return p;
}
*/
import "C"

import "unsafe"

// yardstick measures what the machine can do at most with a number of threads:
// the best of all tries so far.
type yardstick struct {
	threads  C.int
	peak     float64           // float operations a second
	rates    map[int64]float64 // bytes a second, by bytes
	to, from *C.char
}

// mostCopied is the most that the yardstick copies: far more than a cache holds.
const mostCopied = 64 << 20

func newYardstick(threads int) *yardstick {
	return &yardstick{threads: C.int(threads), rates: map[int64]float64{}, to: C.pages(mostCopied), from: C.pages(mostCopied)}
}

func (y *yardstick) close() {
	C.free(unsafe.Pointer(y.to))
	C.free(unsafe.Pointer(y.from))
}

// try measures both once more, for some milliseconds: multiply-adds, and a copy
// of blocks that move as many bytes as are given.
func (y *yardstick) try(traffic int64) {
	y.peak = max(y.peak, float64(C.peak(y.threads, 1<<20)))
	n := block(traffic)
	y.rates[n] = max(y.rates[n], float64(C.copy_rate(y.threads, y.to, y.from, C.size_t(n), C.long(mostCopied/n))))
}

// copyRate is the bytes that a copy reads and writes in a second, if it moves as
// many in all as are given, rounded up to a power of two.
func (y *yardstick) copyRate(traffic int64) float64 { return y.rates[block(traffic)] }

// block is the size of what is copied.
func block(traffic int64) int64 {
	n := int64(1 << 16)
	for n < traffic/2 && n < mostCopied {
		n *= 2
	}
	return n
}
