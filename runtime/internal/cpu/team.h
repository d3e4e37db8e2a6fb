/* The threads that share the work of one kernel. */
#ifndef KGEN_TEAM_H
#define KGEN_TEAM_H

#include <pthread.h>
#include <stdatomic.h>

#include "pool.h"

enum { KGP_ALIGN = 64, KGP_SPINS = 2000 };

static inline void kgp_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

typedef struct kgp_worker {
	struct kgp_team *team;
	pthread_t thread;
	void *scratch;
	int64_t scratch_bytes;
} kgp_worker;

/* One job at a time is open to the workers. gate is twice the number of workers
 * inside, plus one while the job may be entered; the job's fields change only
 * while gate is zero. */
typedef struct kgp_team {
	_Atomic uint32_t gate;
	_Atomic uint32_t serial; /* of the job, so that a worker enters it once */
	_Alignas(KGP_ALIGN) _Atomic int64_t next; /* first item that nobody has taken */
	_Alignas(KGP_ALIGN) const kgp_cmd *cmd;
	kg_fault *fault;
	int64_t step;

	int32_t workers, started, isa;
	kgp_worker *worker; /* the first is the calling thread */

	pthread_mutex_t mu;
	pthread_cond_t wake;
	_Atomic int32_t asleep;
	_Atomic int32_t stop;
} kgp_team;

int kgp_team_init(kgp_team *t, int32_t workers, int32_t isa);
void kgp_team_close(kgp_team *t);

/* Runs a kernel command; 0 if there is no memory for its scratch. */
int kgp_team_run(kgp_team *t, const kgp_cmd *c, kg_fault *fault);

/* Starts a thread that takes no signals meant for the process. */
int32_t kgp_thread(pthread_t *thread, void *(*start)(void *), void *arg);

/* How a thread treats numbers below the normal ones. */
typedef unsigned kgp_floats;

/* Makes the calling thread take subnormal floats for zero, as operands and as results:
 * processors take a hundred times as long for some of them, and training makes many, of
 * probabilities that are nearly zero. Kernels of the baseline keep them: they convert
 * Float16 by arithmetic on subnormal numbers, which the others leave to the processor.
 * Returns how it was. */
static inline kgp_floats kgp_flush_subnormals(const kgp_team *t) {
	kgp_floats before = 0;
#if defined(__SSE2__)
	__asm__ volatile("stmxcsr %0" : "=m"(before));
	kgp_floats now = t->isa > 0 ? before | 0x8040 : before; /* flush to zero, denormals are zeros */
	__asm__ volatile("ldmxcsr %0" : : "m"(now));
#else
	(void)t;
#endif
	return before;
}

static inline void kgp_restore_floats(kgp_floats before) {
#if defined(__SSE2__)
	__asm__ volatile("ldmxcsr %0" : : "m"(before));
#else
	(void)before;
#endif
}

#endif
