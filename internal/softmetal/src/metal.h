/* The classes of the software Metal. */
#pragma once

#include "kernel.h"
#include "memory.h"
#include "soft.h"

/* What SOFTMETAL_DEVICE in the environment says the machine's devices are: "unified", as
 * Apple's GPUs are, or "discrete", with memory of their own. */
int soft_is_discrete(void);

@interface SoftDevice : NSObject <MTLDevice>
@end

@class SoftHeap;

/* A resource: where its memory lies, and who must order what uses it. */
@interface SoftBuffer : NSObject <MTLBuffer> {
@public
	SoftHeap *_heap; /* that it is a part of, or nil */
	char *_base;
	NSUInteger _length;
	MTLStorageMode _storage;
	int _tracked;
}
@end

@interface SoftHeap : NSObject <MTLHeap> {
	char *_base;
	NSUInteger _size;
	MTLStorageMode _storage;
	SoftBuffer **_parts; /* by address */
	NSUInteger _count, _room;
	pthread_mutex_t _mu;
}
- (instancetype)initWithDescriptor:(MTLHeapDescriptor *)what;
/* Takes back the memory of a part. */
- (void)give:(SoftBuffer *)part;
@end

@interface SoftFunction : NSObject <MTLFunction> {
@public
	id _library;
	soft_kernel _kernel;
	void *_run;
}
@end

@interface SoftPipeline : NSObject <MTLComputePipelineState> {
@public
	SoftFunction *_function;
}
@end

@interface SoftFence : NSObject <MTLFence> {
@public
	soft_order _order; /* what its last update comes after */
}
@end

@interface SoftEvent : NSObject <MTLEvent> {
@public
	uint64_t _value;
	soft_order _order; /* what its last signal comes after */
}
@end

@class SoftCommandBuffer;

@interface SoftQueue : NSObject <MTLCommandQueue> {
	id _device;
	NSUInteger _limit, _live; /* command buffers that are not complete */
	pthread_t _worker;
	pthread_mutex_t _mu;
	pthread_cond_t _changed;
	SoftCommandBuffer *_first, **_end;
	int _stop;
}
- (instancetype)initWithDevice:(id)device limit:(NSUInteger)limit;
- (void)work;
/* Takes a command buffer to be run. */
- (void)push:(SoftCommandBuffer *)b;
/* Notes that a command buffer is complete, or never will be. */
- (void)uncount;
@end

/* Makes a library of a source, nil with an error. */
id<MTLLibrary> soft_compile(NSString *source, NSError **error);
