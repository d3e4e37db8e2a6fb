/* What the files of the bridge know of a device. */
#ifndef KGEN_METAL_DEVICE_H
#define KGEN_METAL_DEVICE_H

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <pthread.h>

#include "bridge.h"

/* The most heaps that small memory comes from. */
enum { KGM_HEAPS = 1024 };

struct kgm_device {
	id<MTLDevice> dev;
	id<MTLCommandQueue> queue, copies; /* programs, transfers */
	id<MTLFence> order;                /* of the programs, whose memory Metal does not track */
	int32_t unified;

	pthread_mutex_t mem_mu; /* guards the heaps */
	id<MTLHeap> heap[KGM_HEAPS];
	int32_t nheap;

	pthread_mutex_t copy_mu; /* guards the staging memory */
	id<MTLBuffer> stage;

	pthread_mutex_t turn_mu; /* guards the order of submission, and settled */
	pthread_cond_t turn;
	uint64_t submitted;

	/* Of MetalPerformanceShaders: its classes, and the event that its encoders wait for,
	 * with the last value that was asked of it. Nil where it is not opened. */
	Class matrix, descriptor, multiplication;
	id<MTLEvent> event;
	uint64_t settled;

	pthread_mutex_t done_mu; /* guards what completion handlers note, done among it */
	pthread_cond_t done;
	uint64_t complete[KGM_HISTORY]; /* the numbers of programs that are complete, by place */
};

/* Notes an error once: of several the first counts. err may be nil. */
void kgm_fail(kgm_error *e, const char *what, NSError *err);

/* Lets what is encoded next begin when all that was encoded before is done. No encoder is
 * open. The caller holds turn_mu. */
void kgm_settle(kgm_device *d, id<MTLCommandBuffer> commands);

NSString *kgm_product_label(const kgm_product *p);

/* Encodes a product of matrices that lie in such places, with an encoder of its own. */
void kgm_multiply(kgm_device *d, id<MTLCommandBuffer> commands, const kgm_product *p, kgm_place a, kgm_place b, kgm_place c);

#endif
