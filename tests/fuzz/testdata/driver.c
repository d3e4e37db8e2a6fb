/* Runs the jobs of a file on the kernels that it is linked with and writes what
 * they leave. Each buffer touches a page without access, so that a kernel which
 * reads or writes a byte beyond it ends the job; buffers that no kernel of the
 * job may write are read-only. All numbers are little-endian. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kgen.h"

extern const kg_kernel fuzz_kernels[];

enum { PAGE = 4096, MOST = 256, FRONT = 1, WRITABLE = 2 };

typedef struct {
	char *map, *data;
	size_t mapped, bytes;
} region;

static FILE *in, *out;
static sigjmp_buf away;

static void take(void *to, size_t n) {
	if (n && fread(to, 1, n, in) != n) {
		fprintf(stderr, "driver: the job file is cut short\n");
		exit(2);
	}
}

static uint64_t number(void) {
	uint64_t n;
	take(&n, sizeof n);
	return n;
}

static void put(const void *from, size_t n) {
	if (n && fwrite(from, 1, n, out) != n) {
		perror("driver: result");
		exit(2);
	}
}

/* A region lies against the page behind it, or with FRONT the one before it. */
static region guarded(size_t bytes, size_t align, int flags) {
	size_t room = (bytes + PAGE - 1) / PAGE * PAGE;
	region r = {.mapped = room + 2 * PAGE, .bytes = bytes};
	r.map = mmap(NULL, r.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r.map == MAP_FAILED || (room && mprotect(r.map + PAGE, room, PROT_READ | PROT_WRITE))) {
		perror("driver: memory");
		exit(2);
	}
	r.data = flags & FRONT ? r.map + PAGE : r.map + PAGE + (room - bytes) / align * align;
	return r;
}

static void on_signal(int sig) { siglongjmp(away, sig); }

static void launch(kg_call *call, region *bufs) {
	kg_kernel fn = fuzz_kernels[number()];
	void *slots[MOST];
	uint64_t n = number();
	for (uint64_t i = 0; i < n; i++) slots[i] = bufs[number()].data;
	size_t block = number();
	region b = guarded(block, 8, 0);
	take(b.data, block);
	region scratch = guarded(number(), 64, 0);
	memset(scratch.data, 0xFF, scratch.bytes);
	call->buf = slots;
	call->block = b.data;
	call->scratch = scratch.data;
	for (uint64_t left = number(); left; left--) {
		int64_t lo = (int64_t)number(), hi = (int64_t)number();
		fn(call, lo, hi);
	}
	munmap(b.map, b.mapped);
	munmap(scratch.map, scratch.mapped);
}

/* job runs one job, whose bytes end at the given offset of the file. */
static void job(long end) {
	kg_fault fault = {0};
	kg_call call = {.fault = &fault, .isa = (int32_t)number()};
	region bufs[MOST];
	static volatile uint64_t nbufs;
	nbufs = number();
	for (uint64_t i = 0; i < nbufs; i++) {
		size_t bytes = number(), align = number();
		int flags = (int)number();
		bufs[i] = guarded(bytes, align, flags);
		take(bufs[i].data, bytes);
		if (!(flags & WRITABLE) && bytes) mprotect(bufs[i].map + PAGE, bufs[i].mapped - 2 * PAGE, PROT_READ);
	}
	uint64_t sig = (uint64_t)sigsetjmp(away, 1);
	if (!sig) {
		for (uint64_t left = number(); left && !fault.set; left--) {
			launch(&call, bufs);
			call.op++;
		}
	}
	put(&sig, sizeof sig);
	put(&fault, sizeof fault);
	for (uint64_t i = 0; i < nbufs; i++) {
		put(bufs[i].data, bufs[i].bytes);
		munmap(bufs[i].map, bufs[i].mapped);
	}
	fseek(in, end, SEEK_SET);
}

int main(int argc, char **argv) {
	if (argc < 3) {
		printf("%d\n", kg_isa_best());
		return 0;
	}
	in = fopen(argv[1], "rb");
	out = fopen(argv[2], "wb");
	if (!in || !out) {
		perror("driver: files");
		return 2;
	}
	int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], on_signal);
	for (uint64_t left = number(); left; left--) {
		long bytes = (long)number();
		job(ftell(in) + bytes);
	}
	return fclose(out) != 0;
}
