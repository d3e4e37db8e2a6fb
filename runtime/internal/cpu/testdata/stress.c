/* Runs programs from several threads under a sanitizer: every element of a
 * buffer is raised by one in each kernel, in steps that workers share. */
#include "../device.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 5000, ROUNDS = 300, COMMANDS = 4 };

static void bump(const kg_call *call, int64_t lo, int64_t hi) {
	int32_t *x = call->buf[0];
	int32_t *own = call->scratch;
	for (int64_t i = lo; i < hi; i++) {
		own[0] = x[i];
		x[i] = own[0] + 1;
	}
}

static void find(const kg_call *call, int64_t lo, int64_t hi) {
	kg_fault *f = call->fault;
	for (int64_t i = lo; i < hi; i++) {
		if (i < N / 2) continue;
		while (__atomic_exchange_n(&f->lock, 1, __ATOMIC_ACQUIRE)) {}
		if (!f->set || i < f->pos) f->pos = i;
		f->set = 1;
		__atomic_store_n(&f->lock, 0, __ATOMIC_RELEASE);
	}
}

static kgp_program *make(void **table, int32_t faulty) {
	kgp_program *p = calloc(1, sizeof *p);
	p->cmd = calloc(COMMANDS, sizeof *p->cmd);
	p->ncmd = COMMANDS;
	for (int i = 0; i < COMMANDS; i++)
		p->cmd[i] = (kgp_cmd){.kind = KGP_KERNEL, .fn = bump, .buf = table, .n = i == 3 ? 3 : N, .chunk = 10, .scratch = 64};
	if (faulty) p->cmd[2].fn = find;
	return p;
}

static void discard(kgp_program *p) {
	free(p->cmd);
	free(p->after);
	free(p);
}

static void *waiter(void *arg) {
	kgp_wait(arg, ROUNDS / 2);
	return NULL;
}

int main(void) {
	kgp_device *d = kgp_open(4, 0);
	int32_t *x = calloc(N, sizeof *x);
	void *table[] = {x};
	pthread_t other;
	pthread_create(&other, NULL, waiter, d);
	kgp_program *p[ROUNDS + 1];
	int bad = 0, want = 0;
	for (int i = 1; i <= ROUNDS; i++) {
		p[i] = make(table, i == ROUNDS / 3);
		p[i]->seq = (uint64_t)i;
		if (i == ROUNDS / 3 + 1) {
			kgp_reserve_after(p[i], 1);
			p[i]->after[0] = (uint64_t)i - 1;
			p[i]->nafter = 1;
		}
		if (i % 3 == 0)
			kgp_run(d, p[i]);
		else
			kgp_submit(d, p[i]);
		if (i % 7 == 0) kgp_wait(d, (uint64_t)i);
	}
	kgp_wait(d, ROUNDS);
	pthread_join(other, NULL);
	for (int i = 1; i <= ROUNDS; i++) {
		int status = i == ROUNDS / 3 ? KGP_FAULT : i == ROUNDS / 3 + 1 ? KGP_SKIPPED : KGP_OK;
		bad += p[i]->status != status;
		want += status == KGP_OK ? 3 : status == KGP_FAULT ? 2 : 0;
	}
	bad += p[ROUNDS / 3]->fault.pos != N / 2;
	for (int i = 3; i < N; i++) bad += x[i] != want;
	for (int i = 1; i <= ROUNDS; i++) discard(p[i]);
	kgp_close(d);
	free(x);
	printf("%d wrong\n", bad);
	return bad != 0;
}
