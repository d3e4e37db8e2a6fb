/* When things happen: later than a program may hope for. */
#include "commands.h"

#include <unistd.h>

uint32_t soft_dice(void) {
	static uint32_t state = 2463534242u;
	static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&mu);
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	uint32_t x = state;
	pthread_mutex_unlock(&mu);
	return x;
}

/* The thread that handlers run on has a list of what is complete on the GPU. */
static pthread_mutex_t finished_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished_changed = PTHREAD_COND_INITIALIZER;
static SoftCommandBuffer *finished, **finished_end = &finished;
static pthread_once_t finisher_once = PTHREAD_ONCE_INIT;

static void *finisher(void *unused) {
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&finished_mu);
		while (finished == nil) pthread_cond_wait(&finished_changed, &finished_mu);
		SoftCommandBuffer *b = finished;
		finished = b->_next;
		if (finished == nil) finished_end = &finished;
		pthread_mutex_unlock(&finished_mu);
		if (soft_dice() % 4 == 0) usleep(soft_dice() % 200); /* the host learns late */
		[b complete];
		[b release];
	}
	return NULL;
}

static void start_finisher(void) {
	pthread_t t;
	if (pthread_create(&t, NULL, finisher, NULL) != 0) abort();
	pthread_detach(t);
}

void soft_finished(SoftCommandBuffer *b) {
	pthread_once(&finisher_once, start_finisher);
	pthread_mutex_lock(&finished_mu);
	b->_next = nil;
	*finished_end = b;
	finished_end = &b->_next;
	pthread_cond_signal(&finished_changed);
	pthread_mutex_unlock(&finished_mu);
}
