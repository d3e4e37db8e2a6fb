//go:build cgo && openblas

package main

/*
#cgo LDFLAGS: -lopenblas
#include <stdlib.h>

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);
void openblas_set_num_threads(int n);
char *openblas_get_corename(void);

static void product(int n, const float *a, const float *b, float *c) {
	cblas_sgemm(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
}
*/
import "C"

import (
	"time"
	"unsafe"
)

// haveBLAS says that the program is linked with OpenBLAS.
const haveBLAS = true

// blasKernel is the processor that OpenBLAS has chosen its kernels for.
func blasKernel() string { return C.GoString(C.openblas_get_corename()) }

// blasSeconds times one n×n×n product of OpenBLAS with two threads.
func blasSeconds(n int) float64 {
	C.openblas_set_num_threads(2)
	size := C.size_t(n * n * 4)
	a, b, c := C.malloc(size), C.malloc(size), C.malloc(size)
	defer C.free(a)
	defer C.free(b)
	defer C.free(c)
	for _, p := range []unsafe.Pointer{a, b} {
		s := unsafe.Slice((*float32)(p), n*n)
		for i := range s {
			s[i] = float32(i%7) - 3
		}
	}
	run := func() float64 {
		start := time.Now()
		C.product(C.int(n), (*C.float)(a), (*C.float)(b), (*C.float)(c))
		return time.Since(start).Seconds()
	}
	run()
	best := run()
	for range 8 {
		best = min(best, run())
	}
	return best
}
