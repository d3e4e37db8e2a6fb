/* Programs and the threads that run them. */
#ifndef KGEN_POOL_H
#define KGEN_POOL_H

#include "kgen_abi.h"

enum { KGP_KERNEL, KGP_COPY, KGP_FILL };

enum { KGP_ON_FAULT = 1 };

/* A command. For a kernel, n is the number of work items; for the others, it
 * is a number of bytes, buf[0] the destination and buf[1] the source. */
typedef struct kgp_cmd {
	int32_t kind, flags, op, unused;
	kg_kernel fn;
	void **buf;
	const void *block;
	int64_t n, chunk, scratch;
	uint64_t pattern;
} kgp_cmd;

enum { KGP_OK, KGP_FAULT, KGP_SKIPPED, KGP_NO_MEMORY };

/* A program in flight. Its memory belongs to the caller until it is complete. */
typedef struct kgp_program {
	kgp_cmd *cmd;
	int64_t ncmd;
	uint64_t seq;
	uint64_t *after;
	int64_t nafter, after_cap;
	int64_t *times; /* ncmd + 1: the start and each command's end, as of kgp_now; or NULL */
	kg_fault fault;
	int32_t status, unused;
	_Atomic int64_t at; /* the command that runs */
	struct kgp_program *next;
} kgp_program;

typedef struct kgp_device kgp_device;

/* The best instruction set of this machine, as in kg_call. */
int32_t kgp_isa(void);

/* A device with up to workers threads for one kernel, the calling one included.
 * NULL if memory is out. */
kgp_device *kgp_open(int32_t workers, int32_t isa);

/* Ends all threads and frees the device. No program may be queued or running. */
void kgp_close(kgp_device *d);

/* Runs a program on the calling thread once all with lower numbers are complete. */
void kgp_run(kgp_device *d, kgp_program *p);

/* Queues a program for the device's own thread. Calls come in the order of the
 * programs' numbers. Returns 0, or an errno if the thread cannot be started. */
int32_t kgp_submit(kgp_device *d, kgp_program *p);

/* Waits until the program with this number is complete. */
void kgp_wait(kgp_device *d, uint64_t seq);

/* Waits for it, but no longer than ns nanoseconds. Returns 1 if it is complete. */
int32_t kgp_await(kgp_device *d, uint64_t seq, int64_t ns);

/* The position of the command that a program has come to. */
int64_t kgp_at(kgp_program *p);

/* The device's threads that exist now. */
int32_t kgp_threads(kgp_device *d);

/* Nanoseconds of the system's monotonic clock. */
int64_t kgp_now(void);

void *kgp_alloc(int64_t bytes);
void kgp_free(void *p);

/* Room for n entries in p->after; 0 if memory is out. */
int32_t kgp_reserve_after(kgp_program *p, int64_t n);

#endif
