/* Faults set by several threads in changing order: the lowest (op, pos) stays.
 * Prints the best instruction set of this machine. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "kgen.h"

enum { THREADS = 4, EACH = 20000 };

static kg_fault fault;
static int failures;

static void *set(void *arg) {
	int64_t t = (int64_t)(intptr_t)arg;
	for (int64_t i = 0; i < EACH; i++) {
		int64_t r = (i * 7919 + t * 104729) % EACH; /* every position once */
		kg_call call = {.fault = &fault, .op = (int32_t)(3 + r % 2)};
		kg_fault_set(&call, (int32_t)t, 1000 + r * THREADS + t, -r, 50 + t);
	}
	return NULL;
}

static void expect(int ok, const char *what) {
	if (!ok) {
		failures++;
		printf("FAIL %s: set %d op %d tensor %d pos %lld value %lld bound %lld lock %d\n", what, fault.set, fault.op,
		       fault.tensor, (long long)fault.pos, (long long)fault.value, (long long)fault.bound, fault.lock);
	}
}

int main(void) {
	kg_call call = {.fault = &fault, .op = 9};
	expect(!kg_fault_is_set(&call), "zeroed");
	kg_fault_set(&call, 1, 40, -7, 12);
	expect(kg_fault_is_set(&call) && fault.pos == 40 && fault.value == -7 && fault.bound == 12 && fault.tensor == 1, "first");
	kg_fault_set(&call, 2, 41, 99, 12);
	expect(fault.pos == 40 && fault.tensor == 1, "later position");
	kg_fault_set(&call, 2, 5, 99, 12);
	expect(fault.pos == 5 && fault.tensor == 2 && fault.value == 99, "earlier position");
	call.op = 8;
	kg_fault_set(&call, 3, 1 << 30, 98, 12);
	expect(fault.op == 8 && fault.pos == 1 << 30, "earlier op");
	for (int round = 0; round < 20; round++) {
		pthread_t id[THREADS];
		memset(&fault, 0, sizeof fault);
		for (intptr_t t = 0; t < THREADS; t++) {
			pthread_create(&id[t], NULL, set, (void *)t);
		}
		for (int t = 0; t < THREADS; t++) {
			pthread_join(id[t], NULL);
		}
		expect(fault.op == 3 && fault.pos == 1000 && fault.tensor == 0 && fault.value == 0 && fault.bound == 50 && fault.lock == 0,
		       "threads");
	}
	printf("isa %d\n", kg_isa_best());
	return failures != 0;
}
