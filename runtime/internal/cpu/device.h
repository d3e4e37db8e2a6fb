/* The parts of a device. */
#ifndef KGEN_DEVICE_H
#define KGEN_DEVICE_H

#include "pool.h"
#include "team.h"

/* How many of the last programs' outcomes are remembered: more than are ever
 * in flight. */
enum { KGP_HISTORY = 512 };

struct kgp_device {
	kgp_team team;
	pthread_mutex_t mu;
	pthread_cond_t queued, completed_more;
	pthread_t thread; /* runs what is queued, once there was something */
	int running, stop;
	_Atomic(kgp_program *) head;
	kgp_program *tail;
	_Atomic uint64_t completed;
	uint8_t failed[KGP_HISTORY];
};

#endif
