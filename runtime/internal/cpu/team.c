/* A kernel's work items are taken in steps from one counter by the calling
 * thread and by workers that find the job open. The result does not depend on
 * who takes what. */
#include "team.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int32_t kgp_thread(pthread_t *thread, void *(*start)(void *), void *arg) {
	sigset_t all, old;
	sigfillset(&all);
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int err = pthread_create(thread, NULL, start, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

int kgp_team_init(kgp_team *t, int32_t workers, int32_t isa) {
	t->workers = workers;
	t->isa = isa;
	t->worker = calloc((size_t)workers, sizeof *t->worker);
	if (t->worker == NULL) return 0;
	for (int32_t i = 0; i < workers; i++) t->worker[i].team = t;
	pthread_mutex_init(&t->mu, NULL);
	pthread_cond_init(&t->wake, NULL);
	return 1;
}

void kgp_team_close(kgp_team *t) {
	pthread_mutex_lock(&t->mu);
	atomic_store(&t->stop, 1);
	pthread_cond_broadcast(&t->wake);
	pthread_mutex_unlock(&t->mu);
	for (int32_t i = 1; i <= t->started; i++) pthread_join(t->worker[i].thread, NULL);
	for (int32_t i = 0; i < t->workers; i++) free(t->worker[i].scratch);
	free(t->worker);
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->mu);
}

/* Takes steps of the open job until none is left. */
static void share(kgp_worker *w) {
	kgp_team *t = w->team;
	const kgp_cmd *c = t->cmd;
	kg_call call = {c->buf, c->block, t->fault, w->scratch, c->op, t->isa};
	for (;;) {
		int64_t lo = atomic_fetch_add_explicit(&t->next, t->step, memory_order_relaxed);
		if (lo >= c->n) return;
		int64_t hi = c->n - lo < t->step ? c->n : lo + t->step;
		c->fn(&call, lo, hi);
	}
}

/* Enters the job if it is open and new, works, and leaves. */
static void join_job(kgp_worker *w, uint32_t *seen) {
	kgp_team *t = w->team;
	uint32_t gate = atomic_load(&t->gate);
	if (!(gate & 1) || atomic_load(&t->serial) == *seen) return;
	if (!atomic_compare_exchange_strong(&t->gate, &gate, gate + 2)) return;
	*seen = atomic_load(&t->serial);
	share(w);
	atomic_fetch_sub(&t->gate, 2);
}

static int job_is_new(kgp_team *t, uint32_t seen) {
	return (atomic_load(&t->gate) & 1) && atomic_load(&t->serial) != seen;
}

static void *work(void *arg) {
	kgp_worker *w = arg;
	kgp_team *t = w->team;
	kgp_flush_subnormals(t);
	uint32_t seen = 0;
	int idle = 0;
	while (!atomic_load(&t->stop)) {
		if (job_is_new(t, seen)) {
			join_job(w, &seen);
			idle = 0;
			continue;
		}
		if (idle++ < KGP_SPINS) {
			kgp_pause();
			continue;
		}
		pthread_mutex_lock(&t->mu);
		atomic_fetch_add(&t->asleep, 1);
		while (!atomic_load(&t->stop) && !job_is_new(t, seen)) pthread_cond_wait(&t->wake, &t->mu);
		atomic_fetch_sub(&t->asleep, 1);
		pthread_mutex_unlock(&t->mu);
		idle = 0;
	}
	return NULL;
}

/* Starts the workers before the first job that is worth sharing. Where the
 * system gives fewer threads, fewer share. */
static void start(kgp_team *t) {
	while (t->started + 1 < t->workers) {
		kgp_worker *w = &t->worker[t->started + 1];
		if (kgp_thread(&w->thread, work, w) != 0) {
			t->workers = t->started + 1;
			return;
		}
		t->started++;
	}
}

static int reserve(kgp_worker *w, int64_t bytes) {
	if (bytes <= w->scratch_bytes) return 1;
	free(w->scratch);
	w->scratch = kgp_alloc((bytes + KGP_ALIGN - 1) / KGP_ALIGN * KGP_ALIGN);
	w->scratch_bytes = w->scratch == NULL ? 0 : bytes;
	return w->scratch != NULL;
}

static void publish(kgp_team *t, const kgp_cmd *c, kg_fault *fault, int64_t step) {
	t->cmd = c;
	t->fault = fault;
	t->step = step;
	atomic_store(&t->next, 0);
	uint32_t serial = atomic_load(&t->serial) + 1;
	atomic_store(&t->serial, serial == 0 ? 1 : serial);
	atomic_store(&t->gate, 1);
	if (atomic_load(&t->asleep) > 0) {
		pthread_mutex_lock(&t->mu);
		pthread_cond_broadcast(&t->wake);
		pthread_mutex_unlock(&t->mu);
	}
}

/* Closes the job and waits for the workers inside to leave. */
static void withdraw(kgp_team *t) {
	atomic_fetch_and(&t->gate, ~1u);
	for (int spins = 0; atomic_load(&t->gate) != 0; spins++) {
		if (spins < KGP_SPINS)
			kgp_pause();
		else
			sched_yield();
	}
}

int kgp_team_run(kgp_team *t, const kgp_cmd *c, kg_fault *fault) {
	int alone = t->workers == 1 || c->n <= c->chunk;
	for (int32_t i = 0; i < (alone ? 1 : t->workers); i++)
		if (!reserve(&t->worker[i], c->scratch)) return 0;
	if (alone) {
		kg_call call = {c->buf, c->block, fault, t->worker[0].scratch, c->op, t->isa};
		c->fn(&call, 0, c->n);
		return 1;
	}
	if (t->started + 1 < t->workers) start(t);
	int64_t step = c->n / (4 * (int64_t)t->workers) + 1;
	publish(t, c, fault, step < c->chunk ? c->chunk : step);
	share(&t->worker[0]);
	withdraw(t);
	return 1;
}
