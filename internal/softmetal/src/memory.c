#include "memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

extern void soft_violation(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* All memory lies in one range of addresses, most of which is never touched, so that an
 * address tells whether it is the GPU's. What was given back is out of reach. */
enum { PAGE = 16384 };
#define arena_bytes ((size_t)32 << 30)
static char *arena;

/* Pieces that are free, by address. */
typedef struct hole {
	char *at;
	size_t bytes;
	struct hole *next;
} hole;
static hole *holes;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

/* Who used four bytes last: numbers of dispatches, and which of the bytes. beside is a
 * reader that is not ordered with the last one. */
typedef struct cell {
	uint32_t writer, reader, beside;
	uint8_t written, read, read_beside, unused;
} cell;
static cell *cells;

static void *reserve(size_t bytes, int protection) {
	void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		perror("softmetal: mmap");
		abort();
	}
	return p;
}

static void begin(void) {
	arena = reserve(arena_bytes, PROT_NONE);
	cells = reserve(arena_bytes / 4 * sizeof *cells, PROT_READ | PROT_WRITE);
	holes = malloc(sizeof *holes);
	*holes = (hole){arena, arena_bytes, NULL};
}

static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

char *soft_take(size_t bytes) {
	char *p = NULL;
	bytes = pages(bytes + 1); /* at least one byte behind it, for AddressSanitizer */
	pthread_mutex_lock(&mu);
	if (arena == NULL) begin();
	for (hole **h = &holes; *h != NULL && p == NULL; h = &(*h)->next) {
		hole *x = *h;
		if (x->bytes < bytes) continue;
		p = x->at;
		x->at += bytes;
		x->bytes -= bytes;
		if (x->bytes == 0) {
			*h = x->next;
			free(x);
		}
		break;
	}
	pthread_mutex_unlock(&mu);
	if (p != NULL && mprotect(p, bytes, PROT_READ | PROT_WRITE) != 0) abort();
	if (p != NULL) ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	return p;
}

static void merge(hole *h) {
	hole *n = h->next;
	if (n == NULL || h->at + h->bytes != n->at) return;
	h->bytes += n->bytes;
	h->next = n->next;
	free(n);
}

void soft_give(char *p, size_t bytes) {
	bytes = pages(bytes + 1);
	ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	cell *c = &cells[(p - arena) / 4];
	madvise(c, bytes / 4 * sizeof *c, MADV_DONTNEED);
	if (mmap(p, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) abort();
	pthread_mutex_lock(&mu);
	hole *before = NULL, *h = malloc(sizeof *h);
	for (hole *x = holes; x != NULL && x->at < p; x = x->next) before = x;
	*h = (hole){p, bytes, before == NULL ? holes : before->next};
	if (before == NULL)
		holes = h;
	else
		before->next = h;
	merge(h);
	if (before != NULL) merge(before);
	pthread_mutex_unlock(&mu);
}

static int order_has(const soft_order *o, uint32_t encoder) {
	if (encoder < o->below) return 1;
	for (int i = 0; i < o->count; i++)
		if (o->other[i] == encoder) return 1;
	return 0;
}

/* Forgets what is below below, and raises it as far as the others reach. */
static void order_compact(soft_order *o) {
	for (int found = 1; found;) {
		found = 0;
		int n = 0;
		for (int i = 0; i < o->count; i++) {
			if (o->other[i] == o->below) {
				o->below++;
				found = 1;
			} else if (o->other[i] > o->below) {
				o->other[n++] = o->other[i];
			}
		}
		o->count = n;
	}
}

void soft_order_add(soft_order *o, uint32_t encoder) {
	if (order_has(o, encoder)) return;
	if (o->count == o->room) {
		o->room = o->room == 0 ? 8 : o->room * 2;
		o->other = realloc(o->other, (size_t)o->room * sizeof *o->other);
		if (o->other == NULL) abort();
	}
	o->other[o->count++] = encoder;
	order_compact(o);
}

void soft_order_join(soft_order *o, const soft_order *more) {
	if (more->below > o->below) o->below = more->below;
	order_compact(o);
	for (int i = 0; i < more->count; i++) soft_order_add(o, more->other[i]);
}

void soft_order_free(soft_order *o) {
	free(o->other);
	*o = (soft_order){0};
}

/* The last dispatches, by number: those before them are over. */
enum { LOG = 1 << 16 };
static soft_dispatch log_[LOG];
static uint32_t logged;
static uint32_t running; /* 0: accesses are not watched */
static const soft_order *running_after;
static const soft_range *running_ranges;
static int running_count, last_range;
static uint32_t before[64]; /* dispatches that is_before said yes to, by number */

void soft_watch(soft_dispatch what, const soft_order *after, const soft_range *ranges, int count) {
	log_[++logged % LOG] = what;
	running_after = after;
	running_ranges = ranges;
	running_count = count;
	last_range = 0;
	memset(before, 0, sizeof before);
	running = logged;
}

void soft_unwatch(void) { running = 0; }

/* Whether an earlier dispatch is over when the running one begins. */
static int is_before(uint32_t earlier) {
	const soft_dispatch *a = &log_[earlier % LOG], *b = &log_[running % LOG];
	if (running - earlier >= LOG) return 1;
	if (a->encoder == b->encoder) return a->segment < b->segment;
	return order_has(running_after, a->encoder);
}

static void hazard(uint32_t other, int wrote, int write, const char *p) {
	const soft_dispatch *a = &log_[other % LOG], *b = &log_[running % LOG];
	soft_violation("hazard: kernel %s %s memory that kernel %s %s, and no %s orders them (offset %ld of its range)", b->kernel,
		       write ? "writes" : "reads", a->kernel, wrote ? "wrote" : "read", a->encoder == b->encoder ? "barrier" : "fence or wait",
		       (long)(p - running_ranges[last_range].from));
}

static inline const soft_range *range_of(const char *p, size_t bytes) {
	if (last_range < running_count) {
		const soft_range *r = &running_ranges[last_range];
		if (r->from <= p && p + bytes <= r->end) return r;
	}
	for (int i = 0; i < running_count; i++) {
		const soft_range *r = &running_ranges[i];
		if (r->from <= p && p + bytes <= r->end) {
			last_range = i;
			return r;
		}
	}
	return NULL;
}

/* Whether an earlier dispatch is over, which is asked for each of its cells. */
static inline int is_over(uint32_t earlier) {
	uint32_t *known = &before[earlier % 64];
	if (*known == earlier) return 1;
	if (!is_before(earlier)) return 0;
	*known = earlier;
	return 1;
}

/* Whether an access to bytes of a cell, if there was one, is not over yet. */
static inline int collides(uint32_t earlier, uint8_t bytes, uint8_t mask) {
	return earlier != 0 && earlier != running && (bytes & mask) != 0 && !is_over(earlier);
}

static inline void touch(cell *c, uint8_t mask, int write, int tracked, const char *p) {
	if (!tracked) {
		if (collides(c->writer, c->written, mask)) hazard(c->writer, 1, write, p);
		if (write && collides(c->reader, c->read, mask)) hazard(c->reader, 0, write, p);
		if (write && collides(c->beside, c->read_beside, mask)) hazard(c->beside, 0, write, p);
	}
	if (write) {
		c->written = c->writer == running ? c->written | mask : mask;
		c->writer = running;
		return;
	}
	if (c->reader == running) {
		c->read |= mask;
		return;
	}
	if (c->reader != 0 && !is_over(c->reader)) {
		c->beside = c->reader;
		c->read_beside = c->read;
	}
	c->reader = running;
	c->read = mask;
}

/* Whether a dispatch is none, the running one, or one that is known to be over. */
static inline int is_no_matter(uint32_t d) { return d == 0 || d == running || before[d % 64] == d; }

/* Notes an access to a whole cell by what most of them are: the first one of the dispatch
 * after others that are over, or one that was noted before. Returns 0 for what needs a
 * closer look. */
static inline int note_cell(cell *c, int write) {
	if (!is_no_matter(c->writer)) return 0;
	if (write) {
		if (!is_no_matter(c->reader) || !is_no_matter(c->beside)) return 0;
		c->writer = running;
		c->written = 15;
		return 1;
	}
	if (!is_no_matter(c->reader)) return 0;
	c->reader = running;
	c->read = 15;
	return 1;
}

/* Notes an access to whole cells by what most of them are. */
static inline int note_cells(const char *p, size_t at, size_t bytes, int write) {
	if ((at & 3) != 0 || (bytes & 3) != 0 || range_of(p, bytes) == NULL) return 0;
	for (cell *c = &cells[at / 4], *end = c + bytes / 4; c < end; c++)
		if (!note_cell(c, write)) return 0;
	return 1;
}

static __attribute__((noinline)) void look(const char *p, size_t bytes, int write) {
	const soft_range *r = range_of(p, bytes);
	if (r == NULL)
		soft_violation("kernel %s %s %lu bytes of GPU memory outside of the buffers that it was given", log_[running % LOG].kernel,
			       write ? "writes" : "reads", (unsigned long)bytes);
	for (size_t at = (size_t)(p - arena), end = at + bytes; at < end;) {
		size_t next = (at / 4 + 1) * 4;
		size_t stop = next < end ? next : end;
		uint8_t mask = (uint8_t)(((1u << (stop - at)) - 1) << (at & 3));
		touch(&cells[at / 4], mask, write, r->tracked, arena + at);
		at = stop;
	}
}

static inline void note(const char *p, size_t bytes, int write) {
	size_t at = (size_t)(p - arena);
	if (at >= arena_bytes || running == 0 || note_cells(p, at, bytes, write)) return;
	look(p, bytes, write);
}

void soft_note(const char *p, size_t bytes, int write) { note(p, bytes, write); }

/* What compiled kernels call at each access. */
#define ACCESS(n)                                                                                                      \
	void __sanitizer_cov_load##n(const void *p) { note(p, n, 0); }                                                 \
	void __sanitizer_cov_store##n(const void *p) { note(p, n, 1); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
