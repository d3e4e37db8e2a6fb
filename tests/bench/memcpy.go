//go:build cgo

package main

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	char *to;
	const char *from;
	size_t n;
} part;

static void *copy_part(void *p) {
	part *c = p;
	memcpy(c->to, c->from, c->n);
	return NULL;
}

// copy_parallel copies n bytes, half of them by a second thread.
static void copy_parallel(char *to, const char *from, size_t n) {
	pthread_t t;
	part half = {to + n / 2, from + n / 2, n - n / 2};
	pthread_create(&t, NULL, copy_part, &half);
	memcpy(to, from, n / 2);
	pthread_join(t, NULL);
}

static char *pages(size_t n) {
	char *p = aligned_alloc(4096, n);
	memset(p, 1, n);
	return p;
}
*/
import "C"

import "time"

// copier copies between two blocks of C memory with two threads: the yardstick
// of what moves memory.
type copier struct {
	to, from *C.char
	bytes    int
}

func newCopier(bytes int) *copier {
	return &copier{C.pages(C.size_t(bytes)), C.pages(C.size_t(bytes)), bytes}
}

// rate copies once and returns bytes read and written per second.
func (c *copier) rate() float64 {
	start := time.Now()
	C.copy_parallel(c.to, c.from, C.size_t(c.bytes))
	return 2 * float64(c.bytes) / time.Since(start).Seconds()
}
