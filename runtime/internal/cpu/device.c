/* Programs run one after another, in the order of their numbers: on the thread
 * that calls kgp_run, or on the device's own thread for kgp_submit. */
#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t kgp_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void *kgp_alloc(int64_t bytes) {
	void *p = NULL;
	if ((uint64_t)bytes > SIZE_MAX / 2 || posix_memalign(&p, KGP_ALIGN, (size_t)bytes) != 0) return NULL;
	return p;
}

void kgp_free(void *p) { free(p); }

int32_t kgp_reserve_after(kgp_program *p, int64_t n) {
	if (n <= p->after_cap) return 1;
	uint64_t *after = realloc(p->after, (size_t)n * sizeof *after);
	if (after == NULL) return 0;
	p->after = after;
	p->after_cap = n;
	return 1;
}

kgp_device *kgp_open(int32_t workers, int32_t isa) {
	kgp_device *d = kgp_alloc((sizeof *d + KGP_ALIGN - 1) / KGP_ALIGN * KGP_ALIGN);
	if (d == NULL) return NULL;
	memset(d, 0, sizeof *d);
	if (!kgp_team_init(&d->team, workers, isa)) {
		free(d);
		return NULL;
	}
	pthread_mutex_init(&d->mu, NULL);
	pthread_cond_init(&d->queued, NULL);
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
#ifndef __APPLE__
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
#endif
	pthread_cond_init(&d->completed_more, &attr);
	pthread_condattr_destroy(&attr);
	return d;
}

void kgp_close(kgp_device *d) {
	pthread_mutex_lock(&d->mu);
	d->stop = 1;
	pthread_cond_broadcast(&d->queued);
	int running = d->running;
	pthread_mutex_unlock(&d->mu);
	if (running) pthread_join(d->thread, NULL);
	kgp_team_close(&d->team);
	pthread_cond_destroy(&d->completed_more);
	pthread_cond_destroy(&d->queued);
	pthread_mutex_destroy(&d->mu);
	free(d);
}

int32_t kgp_threads(kgp_device *d) {
	pthread_mutex_lock(&d->mu);
	int32_t n = d->running + d->team.started;
	pthread_mutex_unlock(&d->mu);
	return n;
}

static void fill(unsigned char *dst, int64_t n, uint64_t pattern) {
	int64_t i = 0;
	for (; i + 8 <= n; i += 8) memcpy(dst + i, &pattern, 8);
	memcpy(dst + i, &pattern, (size_t)(n - i));
}

/* Runs the commands. After a fault only those run that undo what was written. */
static int32_t execute(kgp_device *d, kgp_program *p) {
	memset(&p->fault, 0, sizeof p->fault);
	int faulted = 0;
	int64_t *times = p->times;
	atomic_store_explicit(&p->at, 0, memory_order_relaxed);
	if (times != NULL) times[0] = kgp_now();
	for (int64_t i = 0; i < p->ncmd; i++) {
		const kgp_cmd *c = &p->cmd[i];
		if (((c->flags & KGP_ON_FAULT) != 0) != faulted) {
			if (times != NULL) times[i + 1] = times[i];
			continue;
		}
		switch (c->kind) {
		case KGP_KERNEL:
			if (!kgp_team_run(&d->team, c, &p->fault)) return KGP_NO_MEMORY;
			faulted = p->fault.set != 0;
			break;
		case KGP_COPY:
			memmove(c->buf[0], c->buf[1], (size_t)c->n);
			break;
		default:
			fill(c->buf[0], c->n, c->pattern);
		}
		if (times != NULL) times[i + 1] = kgp_now();
		atomic_store_explicit(&p->at, i + 1, memory_order_relaxed);
	}
	return faulted ? KGP_FAULT : KGP_OK;
}

static int depends_on_failed(const kgp_device *d, const kgp_program *p) {
	for (int64_t i = 0; i < p->nafter; i++)
		if (d->failed[p->after[i] % KGP_HISTORY]) return 1;
	return 0;
}

/* Runs a program whose turn it is. Only that thread touches failed and team. */
static void take_turn(kgp_device *d, kgp_program *p) {
	kgp_floats before = kgp_flush_subnormals(&d->team);
	p->status = depends_on_failed(d, p) ? KGP_SKIPPED : execute(d, p);
	kgp_restore_floats(before);
	d->failed[p->seq % KGP_HISTORY] = p->status != KGP_OK;
	uint64_t seq = p->seq; /* p is not ours once it is complete */
	pthread_mutex_lock(&d->mu);
	atomic_store_explicit(&d->completed, seq, memory_order_release);
	pthread_cond_broadcast(&d->completed_more);
	pthread_mutex_unlock(&d->mu);
}

void kgp_wait(kgp_device *d, uint64_t seq) {
	for (int i = 0; i < KGP_SPINS; i++) {
		if (atomic_load_explicit(&d->completed, memory_order_acquire) >= seq) return;
		kgp_pause();
	}
	pthread_mutex_lock(&d->mu);
	while (atomic_load_explicit(&d->completed, memory_order_acquire) < seq) pthread_cond_wait(&d->completed_more, &d->mu);
	pthread_mutex_unlock(&d->mu);
}

/* Waits for completed_more, which the caller holds d->mu for, until kgp_now gives end. */
static void wait_until(kgp_device *d, int64_t end) {
	struct timespec t;
#ifdef __APPLE__
	int64_t left = end - kgp_now();
	if (left <= 0) return;
	t.tv_sec = left / 1000000000;
	t.tv_nsec = left % 1000000000;
	pthread_cond_timedwait_relative_np(&d->completed_more, &d->mu, &t);
#else
	t.tv_sec = end / 1000000000;
	t.tv_nsec = end % 1000000000;
	pthread_cond_timedwait(&d->completed_more, &d->mu, &t);
#endif
}

int32_t kgp_await(kgp_device *d, uint64_t seq, int64_t ns) {
	int64_t now = kgp_now();
	int64_t end = ns > INT64_MAX - now ? INT64_MAX : now + ns;
	pthread_mutex_lock(&d->mu);
	while (atomic_load_explicit(&d->completed, memory_order_acquire) < seq && kgp_now() < end) wait_until(d, end);
	int32_t done = atomic_load_explicit(&d->completed, memory_order_acquire) >= seq;
	pthread_mutex_unlock(&d->mu);
	return done;
}

int64_t kgp_at(kgp_program *p) { return atomic_load_explicit(&p->at, memory_order_relaxed); }

void kgp_run(kgp_device *d, kgp_program *p) {
	kgp_wait(d, p->seq - 1);
	take_turn(d, p);
}

/* The queue's next program; NULL when the device closes. */
static kgp_program *next_queued(kgp_device *d) {
	for (int i = 0; i < KGP_SPINS; i++) {
		if (atomic_load_explicit(&d->head, memory_order_relaxed) != NULL) break;
		kgp_pause();
	}
	pthread_mutex_lock(&d->mu);
	kgp_program *p;
	while ((p = atomic_load_explicit(&d->head, memory_order_relaxed)) == NULL && !d->stop) pthread_cond_wait(&d->queued, &d->mu);
	if (p != NULL) {
		atomic_store_explicit(&d->head, p->next, memory_order_relaxed);
		if (p->next == NULL) d->tail = NULL;
	}
	pthread_mutex_unlock(&d->mu);
	return p;
}

static void *serve(void *arg) {
	kgp_device *d = arg;
	for (kgp_program *p; (p = next_queued(d)) != NULL;) kgp_run(d, p);
	return NULL;
}

int32_t kgp_submit(kgp_device *d, kgp_program *p) {
	int32_t err = 0;
	p->next = NULL;
	pthread_mutex_lock(&d->mu);
	if (!d->running) {
		err = kgp_thread(&d->thread, serve, d);
		d->running = err == 0;
	}
	if (err == 0) {
		if (d->tail != NULL)
			d->tail->next = p;
		else
			atomic_store_explicit(&d->head, p, memory_order_relaxed);
		d->tail = p;
		pthread_cond_signal(&d->queued);
	}
	pthread_mutex_unlock(&d->mu);
	return err;
}
