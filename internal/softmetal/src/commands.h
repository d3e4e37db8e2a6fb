/* What command buffers are made of: commands as they were encoded, and who encodes and
 * runs them. What is encoded is checked at once, and runs later on the queue's own thread,
 * in an order of its own where nothing asks for another. */
#pragma once

#include "metal.h"

enum { MOST_BUFFERS = 31, MOST_BYTES = 4096 };

/* An object that a command uses. Without retained references it may be gone when the
 * command runs. */
typedef struct use {
	id object;
	uint64_t serial;
} use;

typedef struct binding {
	use buffer;
	NSUInteger offset;
	char *bytes; /* of setBytes, in the buffer's place */
	NSUInteger length;
} binding;

/* OpSignal and OpWaitEvent stand between encoders, the others in one. */
typedef enum kind { OpBegin, OpEnd, OpDispatch, OpBarrier, OpWait, OpUpdate, OpCopy, OpCall, OpSignpost, OpSignal, OpWaitEvent } kind;

/* A kernel of a framework, which is built in: what it does with its matrices, whose
 * accesses it notes. */
typedef struct call {
	const char *name;
	void (*run)(const void *what, char *const *at);
	void *what; /* freed with the command buffer */
} call;

enum { CALL_BUFFERS = 3 };

/* A command as it was encoded. */
typedef struct op {
	kind kind;
	int concurrent;   /* OpBegin */
	use object;       /* a pipeline, a fence or an event */
	binding *bind;    /* OpDispatch: MOST_BUFFERS; OpCopy: to and from; OpCall: CALL_BUFFERS */
	unsigned grid[3], group[3];
	unsigned long threadgroup[MOST_BUFFERS];
	NSUInteger length; /* OpCopy */
	uint64_t value;    /* OpSignal, OpWaitEvent */
	call call;         /* OpCall */
	char *text;        /* OpSignpost; OpBegin: the encoder's label */
	struct op *next;
} op;

use soft_use_of(id object);

/* Ends the program if an object is gone. */
id soft_alive(use u, const char *what);

@interface SoftCommandBuffer : NSObject <MTLCommandBuffer> {
@public
	SoftQueue *_queue;
	int _retains, _committed, _open, _counted;
	op *_first, **_end;
	soft_order _after; /* what encoders come after: what was complete, as the host knows, at the commit, and what events say */
	soft_order _done;  /* what of this is complete, and what that comes after */
	soft_order _past;  /* what was complete when this was */
	MTLCommandBufferHandler *_handlers;
	int _nhandlers;
	MTLCommandBufferStatus _status;
	double _gpu_start, _gpu_end;
	pthread_mutex_t _mu;
	pthread_cond_t _changed;
	SoftCommandBuffer *_next;
	MTLCommandBufferErrorOption _options;
	NSError *_error;
	uint32_t *_encoders; /* their numbers */
	int _nencoders;
	NSUInteger _nkept, _room;
	id *_kept;
}
- (instancetype)initWithQueue:(SoftQueue *)queue retains:(BOOL)retains options:(MTLCommandBufferErrorOption)options;
/* Adds a command. */
- (op *)add:(kind)kind;
/* Retains what a command uses, where the command buffer is to. */
- (void)keep:(id)object;
/* The GPU is done, and tells the host. */
- (void)complete;
@end

@interface SoftCommandBuffer (Running)
/* Runs all commands on the GPU. */
- (void)run;
@end

/* Encoders record commands in their command buffer. */
@interface SoftEncoder : NSObject <MTLCommandEncoder> {
@public
	SoftCommandBuffer *_commands;
	op *_begin;
	int _ended;
}
/* Ends the program if the encoder is ended. */
- (void)check:(const char *)what;
@end

@interface SoftComputeEncoder : SoftEncoder <MTLComputeCommandEncoder> {
	SoftPipeline *_pipeline;
	binding _bind[MOST_BUFFERS];
	unsigned long _threadgroup[MOST_BUFFERS];
}
/* Encodes a call with such buffers, from an offset of each on. */
- (void)call:(call)what buffers:(const id *)buffers offsets:(const NSUInteger *)offsets;
@end

@interface SoftBlitEncoder : SoftEncoder <MTLBlitCommandEncoder>
@end

/* Numbers that look random, the same in each process. */
uint32_t soft_dice(void);

/* Takes a command buffer that the GPU is done with, to tell the host of it, late. */
void soft_finished(SoftCommandBuffer *b);
