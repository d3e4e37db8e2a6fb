/* Encoders of dispatches. */
#include "commands.h"

@implementation SoftComputeEncoder
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline {
	[self check:"setComputePipelineState:"];
	if (pipeline == nil) soft_violation("-[encoder setComputePipelineState:] of nil");
	[_commands keep:pipeline];
	_pipeline = (SoftPipeline *)pipeline;
}
- (binding *)at:(NSUInteger)index {
	if (index >= MOST_BUFFERS) soft_violation("buffer index %lu, a kernel has 0 to %d", (unsigned long)index, MOST_BUFFERS - 1);
	binding *b = &_bind[index];
	free(b->bytes);
	*b = (binding){{nil, 0}, 0, NULL, 0};
	return b;
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
	[self check:"setBuffer:offset:atIndex:"];
	binding *b = [self at:index];
	if (buffer == nil) return;
	if (soft_serial(buffer) == 0) soft_violation("-[encoder setBuffer:offset:atIndex:%lu] of a buffer that was released", (unsigned long)index);
	[_commands keep:buffer];
	NSUInteger length = ((SoftBuffer *)buffer)->_length;
	if (offset > length) soft_violation("-[encoder setBuffer:offset:atIndex:%lu]: offset %lu of a buffer of %lu bytes", (unsigned long)index, (unsigned long)offset, (unsigned long)length);
	b->buffer = soft_use_of(buffer);
	b->offset = offset;
	b->length = length - offset;
}
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
	[self check:"setBytes:length:atIndex:"];
	if (length == 0 || length > MOST_BYTES) soft_violation("-[encoder setBytes:length:atIndex:]: %lu bytes, 1 to %d are possible", (unsigned long)length, MOST_BYTES);
	binding *b = [self at:index];
	b->bytes = malloc(length);
	if (b->bytes == NULL) abort();
	memcpy(b->bytes, bytes, length);
	b->length = length;
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
	[self check:"setThreadgroupMemoryLength:atIndex:"];
	if (index >= MOST_BUFFERS || length % 16 != 0) soft_violation("-[encoder setThreadgroupMemoryLength:%lu atIndex:%lu]: a multiple of 16 bytes, at 0 to %d", (unsigned long)length, (unsigned long)index, MOST_BUFFERS - 1);
	_threadgroup[index] = length;
}
/* The bytes that an offset of an argument is a multiple of. */
- (NSUInteger)alignmentOf:(soft_argument)a {
	if (a.reference) return soft_is_discrete() ? 32 : 4; /* constant memory */
	for (NSUInteger n = 16; n > 1; n /= 2)
		if (a.size % n == 0) return n < 8 || a.size == n ? n : 8; /* a structure's largest members have 8 bytes */
	return 1;
}
- (void)checkArgument:(soft_argument)a of:(const soft_kernel *)k {
	binding *b = &_bind[a.index];
	if (a.threadgroup) {
		if (_threadgroup[a.index] == 0) soft_violation("kernel %s: threadgroup memory at index %u has no length", k->name, a.index);
		return;
	}
	if (b->buffer.object == nil && b->bytes == NULL) soft_violation("kernel %s: nothing is bound to buffer index %u", k->name, a.index);
	if (b->length < a.size) soft_violation("kernel %s: buffer index %u has %lu bytes from its offset on, an element of the argument has %lu", k->name, a.index, (unsigned long)b->length, a.size);
	if (b->bytes == NULL && b->offset % [self alignmentOf:a] != 0) soft_violation("kernel %s: buffer index %u has offset %lu, the argument wants a multiple of %lu", k->name, a.index, (unsigned long)b->offset, (unsigned long)[self alignmentOf:a]);
}
- (void)checkGrid:(MTLSize)groups threads:(MTLSize)threads of:(const soft_kernel *)k {
	if (groups.width == 0 || groups.height == 0 || groups.depth == 0) soft_violation("kernel %s: a grid of %lu x %lu x %lu threadgroups", k->name, (unsigned long)groups.width, (unsigned long)groups.height, (unsigned long)groups.depth);
	NSUInteger n = threads.width * threads.height * threads.depth;
	if (n == 0 || n > k->max_threads) soft_violation("kernel %s: a threadgroup of %lu threads, the pipeline's limit is %u", k->name, (unsigned long)n, k->max_threads);
	if (groups.width > UINT32_MAX / threads.width) soft_violation("kernel %s: a grid of %lu threadgroups, positions have 32 bits", k->name, (unsigned long)groups.width);
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
	[self check:"dispatchThreadgroups:threadsPerThreadgroup:"];
	if (_pipeline == nil) soft_violation("-[encoder dispatchThreadgroups:threadsPerThreadgroup:] without a pipeline");
	const soft_kernel *k = &_pipeline->_function->_kernel;
	[self checkGrid:groups threads:threads of:k];
	for (unsigned i = 0; i < k->count; i++) [self checkArgument:soft_kernel_argument(k, i) of:k];
	op *o = [_commands add:OpDispatch];
	o->object = soft_use_of(_pipeline);
	o->bind = calloc(MOST_BUFFERS, sizeof *o->bind);
	if (o->bind == NULL) abort();
	for (int i = 0; i < MOST_BUFFERS; i++) {
		o->bind[i] = _bind[i];
		if (_bind[i].bytes == NULL) continue;
		o->bind[i].bytes = malloc(_bind[i].length);
		if (o->bind[i].bytes == NULL) abort();
		memcpy(o->bind[i].bytes, _bind[i].bytes, _bind[i].length);
	}
	memcpy(o->threadgroup, _threadgroup, sizeof _threadgroup);
	o->grid[0] = (unsigned)groups.width;
	o->grid[1] = (unsigned)groups.height;
	o->grid[2] = (unsigned)groups.depth;
	o->group[0] = (unsigned)threads.width;
	o->group[1] = (unsigned)threads.height;
	o->group[2] = (unsigned)threads.depth;
}
- (void)call:(call)what buffers:(const id *)buffers offsets:(const NSUInteger *)offsets {
	op *o = [_commands add:OpCall];
	o->call = what;
	o->bind = calloc(CALL_BUFFERS, sizeof *o->bind);
	if (o->bind == NULL) abort();
	for (int i = 0; i < CALL_BUFFERS; i++) {
		[_commands keep:buffers[i]];
		o->bind[i] = (binding){soft_use_of(buffers[i]), offsets[i], NULL, [(id<MTLBuffer>)buffers[i] length] - offsets[i]};
	}
}
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
	[self check:"memoryBarrierWithScope:"];
	if (scope & MTLBarrierScopeBuffers) [_commands add:OpBarrier];
}
- (void)add:(kind)kind fence:(id<MTLFence>)fence {
	[_commands keep:fence];
	[_commands add:kind]->object = soft_use_of(fence);
}
- (void)waitForFence:(id<MTLFence>)fence {
	[self check:"waitForFence:"];
	[self add:OpWait fence:fence];
}
- (void)updateFence:(id<MTLFence>)fence {
	[self check:"updateFence:"];
	[self add:OpUpdate fence:fence];
}
- (void)dealloc {
	for (int i = 0; i < MOST_BUFFERS; i++) free(_bind[i].bytes);
	[super dealloc];
}
@end
