/* Command buffers, as the host knows them. */
#include "commands.h"

#include <Block.h>

use soft_use_of(id object) { return (use){object, soft_serial(object)}; }

id soft_alive(use u, const char *what) {
	if (soft_serial(u.object) != u.serial) soft_violation("a command buffer uses a %s that was released before it was complete", what);
	return u.object;
}

/* Encoders that are complete, and those of which the host knows it: it has waited for a
 * command buffer that was complete no sooner, seen its status, or a handler was called. */
static pthread_mutex_t known_mu = PTHREAD_MUTEX_INITIALIZER;
static soft_order over = {.below = 1}, known = {.below = 1};

@implementation MTLCommandBufferDescriptor
- (instancetype)init {
	_retains = YES;
	return self;
}
- (BOOL)retainedReferences {
	return _retains;
}
- (void)setRetainedReferences:(BOOL)on {
	_retains = on;
}
- (MTLCommandBufferErrorOption)errorOptions {
	return _options;
}
- (void)setErrorOptions:(MTLCommandBufferErrorOption)options {
	_options = options;
}
@end

NSString *const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";
NSString *const MTLCommandBufferEncoderInfoErrorKey = @"MTLCommandBufferEncoderInfoErrorKey";

@implementation SoftCommandBuffer
- (instancetype)initWithQueue:(SoftQueue *)queue retains:(BOOL)retains options:(MTLCommandBufferErrorOption)options {
	_queue = [queue retain];
	_retains = retains;
	_options = options;
	_end = &_first;
	_counted = 1;
	pthread_mutex_init(&_mu, NULL);
	pthread_cond_init(&_changed, NULL);
	return self;
}
- (void)check:(const char *)what {
	if (_committed) soft_violation("-[MTLCommandBuffer %s] after commit", what);
}
- (op *)add:(kind)kind {
	[self check:"encoding"];
	op *o = calloc(1, sizeof *o);
	if (o == NULL) abort();
	o->kind = kind;
	*_end = o;
	_end = &o->next;
	return o;
}
- (void)keep:(id)object {
	if (!_retains || object == nil) return;
	if (_nkept == _room) {
		_room = _room == 0 ? 16 : _room * 2;
		_kept = realloc(_kept, _room * sizeof *_kept);
		if (_kept == NULL) abort();
	}
	_kept[_nkept++] = [object retain];
}
- (id)begin:(Class)c concurrent:(int)concurrent {
	[self check:"…CommandEncoder"];
	if (_open) soft_violation("an encoder is made while another one of its command buffer is open");
	SoftEncoder *e = [[[c alloc] init] autorelease];
	e->_commands = [self retain];
	_open = 1;
	e->_begin = [self add:OpBegin];
	e->_begin->concurrent = concurrent;
	return e;
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
	return [self computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
	return [self begin:[SoftComputeEncoder class] concurrent:type == MTLDispatchTypeConcurrent];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
	return [self begin:[SoftBlitEncoder class] concurrent:0];
}
- (void)add:(kind)kind event:(id<MTLEvent>)event value:(uint64_t)value {
	if (event == nil || soft_serial(event) == 0) soft_violation("-[MTLCommandBuffer encode…Event:value:] of nil or an event that was released");
	if (_open) soft_violation("-[MTLCommandBuffer encode…Event:value:] while an encoder is open");
	[self keep:event];
	op *o = [self add:kind];
	o->object = soft_use_of(event);
	o->value = value;
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
	[self add:OpSignal event:event value:value];
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
	[self add:OpWaitEvent event:event value:value];
}
- (void)setLabel:(NSString *)label {
	(void)label;
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
	[self check:"addCompletedHandler:"];
	_handlers = realloc(_handlers, (size_t)(_nhandlers + 1) * sizeof *_handlers);
	if (_handlers == NULL) abort();
	_handlers[_nhandlers++] = Block_copy(handler);
}
- (void)commit {
	[self check:"commit"];
	if (_open) soft_violation("-[MTLCommandBuffer commit] with an encoder that is open");
	_committed = 1;
	_status = MTLCommandBufferStatusCommitted;
	pthread_mutex_lock(&known_mu);
	soft_order_join(&_after, &known);
	pthread_mutex_unlock(&known_mu);
	[_queue push:[self retain]];
}
- (MTLCommandBufferStatus)status {
	pthread_mutex_lock(&_mu);
	MTLCommandBufferStatus s = _status;
	pthread_mutex_unlock(&_mu);
	if (s >= MTLCommandBufferStatusCompleted) [self learn];
	return s;
}
- (NSError *)error {
	return [self status] == MTLCommandBufferStatusError ? _error : nil;
}
- (CFTimeInterval)GPUStartTime {
	return [self status] >= MTLCommandBufferStatusCompleted ? _gpu_start : 0;
}
- (CFTimeInterval)GPUEndTime {
	return [self status] >= MTLCommandBufferStatusCompleted ? _gpu_end : 0;
}
- (void)waitUntilCompleted {
	if (!_committed) soft_violation("-[MTLCommandBuffer waitUntilCompleted] before commit");
	pthread_mutex_lock(&_mu);
	while (_status < MTLCommandBufferStatusCompleted) pthread_cond_wait(&_changed, &_mu);
	pthread_mutex_unlock(&_mu);
	[self learn];
}
/* The host learns that the GPU is done. */
- (void)learn {
	pthread_mutex_lock(&known_mu);
	soft_order_join(&known, &_past);
	pthread_mutex_unlock(&known_mu);
}
/* The GPU is done. */
- (void)complete {
	pthread_mutex_lock(&known_mu);
	for (int i = 0; i < _nencoders; i++) soft_order_add(&over, _encoders[i]);
	soft_order_join(&_past, &over);
	pthread_mutex_unlock(&known_mu);
	if (_nhandlers > 0) [self learn];
	[self uncount];
	pthread_mutex_lock(&_mu);
	_status = _error == nil ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError;
	pthread_cond_broadcast(&_changed);
	pthread_mutex_unlock(&_mu);
	for (int i = 0; i < _nhandlers; i++) _handlers[i](self);
}
- (void)uncount {
	if (_counted) [_queue uncount];
	_counted = 0;
}
- (void)dealloc {
	[self uncount];
	for (op *o = _first; o != NULL;) {
		op *next = o->next;
		free(o->text);
		if (o->kind == OpDispatch)
			for (int i = 0; i < MOST_BUFFERS; i++) free(o->bind[i].bytes);
		free(o->bind);
		free(o->call.what);
		free(o);
		o = next;
	}
	for (int i = 0; i < _nhandlers; i++) Block_release(_handlers[i]);
	for (NSUInteger i = 0; i < _nkept; i++) [_kept[i] release];
	free(_kept);
	free(_handlers);
	free(_encoders);
	[_error release];
	soft_order_free(&_after);
	soft_order_free(&_done);
	soft_order_free(&_past);
	pthread_cond_destroy(&_changed);
	pthread_mutex_destroy(&_mu);
	[_queue release];
	[super dealloc];
}
@end
