/* Queues, command buffers and encoders. What is encoded is checked at once, and runs later
 * on the queue's own thread, in an order of its own where nothing asks for another. */
#include "metal.h"

#include <Block.h>
#include <time.h>
#include <unistd.h>

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

typedef enum kind { OpBegin, OpEnd, OpDispatch, OpBarrier, OpWait, OpUpdate, OpCopy, OpSignpost } kind;

/* A command as it was encoded. */
typedef struct op {
	kind kind;
	int concurrent;   /* OpBegin */
	use object;       /* a pipeline or a fence */
	binding *bind;    /* OpDispatch: MOST_BUFFERS; OpCopy: to and from */
	unsigned grid[3], group[3];
	unsigned long threadgroup[MOST_BUFFERS];
	NSUInteger length; /* OpCopy */
	char *text;        /* OpSignpost; OpBegin: the encoder's label */
	struct op *next;
} op;

static use use_of(id object) { return (use){object, soft_serial(object)}; }

/* Ends the program if an object is gone. */
static id alive(use u, const char *what) {
	if (soft_serial(u.object) != u.serial) soft_violation("a command buffer uses a %s that was released before it was complete", what);
	return u.object;
}

/* What is known of an encoder of a command buffer that failed. */
@interface SoftEncoderInfo : NSObject <MTLCommandBufferEncoderInfo> {
@public
	NSString *_label;
	NSArray *_signposts;
	MTLCommandEncoderErrorState _state;
}
@end

@implementation SoftEncoderInfo
- (NSString *)label {
	return _label;
}
- (NSArray *)debugSignposts {
	return _signposts;
}
- (MTLCommandEncoderErrorState)errorState {
	return _state;
}
- (void)dealloc {
	[_label release];
	[_signposts release];
	[super dealloc];
}
@end

@interface SoftCommandBuffer : NSObject <MTLCommandBuffer> {
@public
	SoftQueue *_queue;
	int _retains, _committed, _open, _counted;
	op *_first, **_end;
	soft_order _after; /* what was complete, as the host knows, at the commit */
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
- (op *)add:(kind)kind;
- (void)keep:(id)object;
- (void)run;
- (void)learn;
- (void)complete;
@end

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Numbers that look random, the same in each process. */
static uint32_t dice(void) {
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

/* One dispatch runs at a time, whatever queue it is on. */
static pthread_mutex_t gpu = PTHREAD_MUTEX_INITIALIZER;
static uint32_t encoders; /* that began */

/* Encoders that are complete, and those of which the host knows it: it has waited for a
 * command buffer that was complete no sooner, seen its status, or a handler was called. */
static pthread_mutex_t known_mu = PTHREAD_MUTEX_INITIALIZER;
static soft_order over = {.below = 1}, known = {.below = 1};

/* Threads that handlers run on: a list of what is complete on the GPU. */
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
		if (dice() % 4 == 0) usleep(dice() % 200); /* the host learns late */
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

/* Encoders record commands in their command buffer. */
@interface SoftEncoder : NSObject <MTLCommandEncoder> {
@public
	SoftCommandBuffer *_commands;
	op *_begin;
	int _ended;
}
@end

@implementation SoftEncoder
- (void)check:(const char *)what {
	if (_ended) soft_violation("-[encoder %s] after endEncoding", what);
}
- (void)endEncoding {
	[self check:"endEncoding"];
	_ended = 1;
	[_commands add:OpEnd];
	_commands->_open = 0;
}
- (void)setLabel:(NSString *)label {
	free(_begin->text);
	_begin->text = strdup([label UTF8String]);
}
- (void)insertDebugSignpost:(NSString *)name {
	[self check:"insertDebugSignpost:"];
	if (name == nil) soft_violation("-[encoder insertDebugSignpost:] of nil");
	[_commands add:OpSignpost]->text = strdup([name UTF8String]);
}
- (void)dealloc {
	if (!_ended) soft_violation("an encoder is released without endEncoding");
	[_commands release];
	[super dealloc];
}
@end

@interface SoftComputeEncoder : SoftEncoder <MTLComputeCommandEncoder> {
	SoftPipeline *_pipeline;
	binding _bind[MOST_BUFFERS];
	unsigned long _threadgroup[MOST_BUFFERS];
}
@end

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
	b->buffer = use_of(buffer);
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
	o->object = use_of(_pipeline);
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
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
	[self check:"memoryBarrierWithScope:"];
	if (scope & MTLBarrierScopeBuffers) [_commands add:OpBarrier];
}
- (void)add:(kind)kind fence:(id<MTLFence>)fence {
	[_commands keep:fence];
	[_commands add:kind]->object = use_of(fence);
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

@interface SoftBlitEncoder : SoftEncoder <MTLBlitCommandEncoder>
@end

@implementation SoftBlitEncoder
- (binding)bind:(id<MTLBuffer>)buffer offset:(NSUInteger)offset size:(NSUInteger)size {
	if (buffer == nil || soft_serial(buffer) == 0) soft_violation("a blit with nil or a buffer that was released");
	NSUInteger length = ((SoftBuffer *)buffer)->_length;
	if (offset > length || size > length - offset) soft_violation("a blit of %lu bytes at offset %lu of a buffer of %lu", (unsigned long)size, (unsigned long)offset, (unsigned long)length);
	if (offset % 4 != 0 || size % 4 != 0) soft_violation("a blit of %lu bytes at offset %lu: multiples of 4 are possible", (unsigned long)size, (unsigned long)offset);
	[_commands keep:buffer];
	return (binding){use_of(buffer), offset, NULL, size};
}
- (void)copyFromBuffer:(id<MTLBuffer>)from sourceOffset:(NSUInteger)source toBuffer:(id<MTLBuffer>)to destinationOffset:(NSUInteger)destination size:(NSUInteger)size {
	[self check:"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"];
	if (size == 0) soft_violation("a blit of 0 bytes");
	binding t = [self bind:to offset:destination size:size], f = [self bind:from offset:source size:size];
	op *o = [_commands add:OpCopy];
	o->length = size;
	o->bind = calloc(2, sizeof *o->bind);
	if (o->bind == NULL) abort();
	o->bind[0] = t;
	o->bind[1] = f;
}
@end

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

/* What an encoder is while it runs. */
typedef struct running {
	uint32_t number, segment;
	int concurrent;
	soft_order after;
} running;

static void run_dispatch(const op *o, const running *e) {
	SoftPipeline *p = alive(o->object, "pipeline");
	void *buffers[MOST_BUFFERS] = {NULL};
	unsigned long sizes[MOST_BUFFERS] = {0};
	soft_range ranges[MOST_BUFFERS];
	int n = 0;
	for (int i = 0; i < MOST_BUFFERS; i++) {
		const binding *b = &o->bind[i];
		buffers[i] = b->bytes;
		sizes[i] = b->length;
		if (b->buffer.object == nil) continue;
		SoftBuffer *x = alive(b->buffer, "buffer");
		buffers[i] = x->_base + b->offset;
		ranges[n++] = (soft_range){buffers[i], x->_base + x->_length, x->_tracked};
	}
	const soft_kernel *k = &p->_function->_kernel;
	soft_watch((soft_dispatch){e->number, e->segment, k->name}, &e->after, ranges, n);
	int status = soft_kernel_run(p->_function->_run, k, buffers, sizes, o->threadgroup, o->grid, o->group);
	soft_unwatch();
	if (status != 0) soft_violation("kernel %s did not come to its end", k->name);
}

static void run_copy(const op *o, const running *e) {
	SoftBuffer *to = alive(o->bind[0].buffer, "buffer"), *from = alive(o->bind[1].buffer, "buffer");
	char *dst = to->_base + o->bind[0].offset, *src = from->_base + o->bind[1].offset;
	soft_range ranges[] = {{dst, dst + o->length, to->_tracked}, {src, src + o->length, from->_tracked}};
	soft_watch((soft_dispatch){e->number, e->segment, "copyFromBuffer"}, &e->after, ranges, 2);
	soft_note(src, o->length, 0);
	soft_note(dst, o->length, 1);
	soft_unwatch();
	memmove(dst, src, o->length);
}

/* Runs the dispatches of a segment of a concurrent encoder, in any order. */
static void run_segment(op *const *list, int n, const running *e) {
	op **order = malloc((size_t)n * sizeof *order);
	if (order == NULL) abort();
	memcpy(order, list, (size_t)n * sizeof *order);
	for (int i = n - 1; i > 0; i--) {
		int j = (int)(dice() % (uint32_t)(i + 1));
		op *x = order[i];
		order[i] = order[j];
		order[j] = x;
	}
	for (int i = 0; i < n; i++) run_dispatch(order[i], e);
	free(order);
}

/* Whether the GPU fails at a kernel: at the one that SOFTMETAL_FAIL in the environment
 * names, as a GPU does that a kernel hangs or that has no memory left. */
static int fails(const op *o) {
	const char *name = getenv("SOFTMETAL_FAIL");
	return name != NULL && o->kind == OpDispatch && strcmp(((SoftPipeline *)alive(o->object, "pipeline"))->_function->_kernel.name, name) == 0;
}

/* Notes that the encoder that begins at first failed at an operation, and with
 * encoder information, where that was asked for. */
- (void)fail:(const op *)at of:(const op *)first {
	@autoreleasepool {
		SoftEncoderInfo *info = [[[SoftEncoderInfo alloc] init] autorelease];
		info->_label = [soft_string("%s", first->text == NULL ? "" : first->text) retain];
		info->_state = MTLCommandEncoderErrorStateFaulted;
		id posts[1024];
		NSUInteger n = 0;
		for (const op *o = first; o != at && n < 1024; o = o->next)
			if (o->kind == OpSignpost) posts[n++] = soft_string("%s", o->text);
		info->_signposts = [[NSArray alloc] initWithObjects:posts count:n];
		id text = @"Caused GPU Address Fault Error", infos = [[[NSArray alloc] initWithObjects:(id[]){info} count:1] autorelease];
		BOOL wanted = (_options & MTLCommandBufferErrorOptionEncoderExecutionStatus) != 0;
		NSDictionary *user = [[[NSDictionary alloc] initWithObjects:(id[]){text, infos} forKeys:(id[]){NSLocalizedDescriptionKey, MTLCommandBufferEncoderInfoErrorKey} count:wanted ? 2 : 1] autorelease];
		_error = [[NSError errorWithDomain:MTLCommandBufferErrorDomain code:MTLCommandBufferErrorPageFault userInfo:user] retain];
	}
}
- (const op *)runEncoder:(const op *)o {
	const op *first = o;
	running e = {.number = ++encoders, .concurrent = o->concurrent};
	_encoders = realloc(_encoders, (size_t)(_nencoders + 1) * sizeof *_encoders);
	if (_encoders == NULL) abort();
	_encoders[_nencoders++] = e.number;
	soft_order_join(&e.after, &_after);
	op *list[256];
	int n = 0;
	for (o = o->next; o->kind != OpEnd; o = o->next) {
		if (o->kind == OpSignpost) continue;
		if (_error == nil && fails(o)) [self fail:o of:first];
		if (_error != nil) continue;
		SoftFence *f = o->kind == OpWait || o->kind == OpUpdate ? alive(o->object, "fence") : nil;
		if (n > 0 && (o->kind != OpDispatch || n == 256)) {
			run_segment(list, n, &e);
			n = 0;
		}
		switch (o->kind) {
		case OpWait: soft_order_join(&e.after, &f->_order); break;
		case OpUpdate:
			soft_order_join(&f->_order, &e.after);
			soft_order_add(&f->_order, e.number);
			break;
		case OpBarrier: e.segment++; break;
		case OpCopy:
			run_copy(o, &e);
			e.segment++;
			break;
		case OpDispatch:
			if (e.concurrent) {
				list[n++] = (op *)o;
				break;
			}
			run_dispatch(o, &e);
			e.segment++;
			break;
		default: abort();
		}
	}
	if (n > 0) run_segment(list, n, &e);
	soft_order_free(&e.after);
	return o;
}
- (void)run {
	pthread_mutex_lock(&gpu);
	_gpu_start = seconds();
	for (const op *o = _first; o != NULL; o = o->next) o = [self runEncoder:o];
	_gpu_end = seconds();
	pthread_mutex_unlock(&gpu);
	pthread_once(&finisher_once, start_finisher);
	pthread_mutex_lock(&finished_mu);
	_next = nil;
	*finished_end = self;
	finished_end = &_next;
	pthread_cond_signal(&finished_changed);
	pthread_mutex_unlock(&finished_mu);
}
- (void)dealloc {
	[self uncount];
	for (op *o = _first; o != NULL;) {
		op *next = o->next;
		free(o->text);
		if (o->kind == OpDispatch)
			for (int i = 0; i < MOST_BUFFERS; i++) free(o->bind[i].bytes);
		free(o->bind);
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
	soft_order_free(&_past);
	pthread_cond_destroy(&_changed);
	pthread_mutex_destroy(&_mu);
	[_queue release];
	[super dealloc];
}
@end

@implementation SoftQueue
static void *work(void *queue) {
	[(SoftQueue *)queue work];
	return NULL;
}
- (instancetype)initWithDevice:(id)device limit:(NSUInteger)limit {
	_device = [device retain];
	_limit = limit;
	_end = &_first;
	pthread_mutex_init(&_mu, NULL);
	pthread_cond_init(&_changed, NULL);
	if (pthread_create(&_worker, NULL, work, self) != 0) abort();
	return self;
}
- (void)work {
	pthread_mutex_lock(&_mu);
	for (;;) {
		while (_first == nil && !_stop) pthread_cond_wait(&_changed, &_mu);
		if (_first == nil) break;
		SoftCommandBuffer *b = _first;
		_first = b->_next;
		if (_first == nil) _end = &_first;
		pthread_mutex_unlock(&_mu);
		if (dice() % 8 == 0) usleep(dice() % 100); /* the GPU begins late */
		[b run];
		pthread_mutex_lock(&_mu);
	}
	pthread_mutex_unlock(&_mu);
}
- (void)setLabel:(NSString *)label {
	(void)label;
}
- (void)push:(SoftCommandBuffer *)b {
	pthread_mutex_lock(&_mu);
	b->_next = nil;
	*_end = b;
	_end = &b->_next;
	pthread_cond_broadcast(&_changed);
	pthread_mutex_unlock(&_mu);
}
- (void)uncount {
	pthread_mutex_lock(&_mu);
	_live--;
	pthread_cond_broadcast(&_changed);
	pthread_mutex_unlock(&_mu);
}
- (id<MTLCommandBuffer>)make:(BOOL)retains options:(MTLCommandBufferErrorOption)options {
	pthread_mutex_lock(&_mu);
	while (_live == _limit) pthread_cond_wait(&_changed, &_mu);
	_live++;
	pthread_mutex_unlock(&_mu);
	return [[[SoftCommandBuffer alloc] initWithQueue:self retains:retains options:options] autorelease];
}
- (id<MTLCommandBuffer>)commandBuffer {
	return [self make:YES options:MTLCommandBufferErrorOptionNone];
}
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)what {
	return [self make:[what retainedReferences] options:[what errorOptions]];
}
- (void)dealloc {
	pthread_mutex_lock(&_mu);
	_stop = 1;
	pthread_cond_broadcast(&_changed);
	pthread_mutex_unlock(&_mu);
	pthread_join(_worker, NULL);
	pthread_cond_destroy(&_changed);
	pthread_mutex_destroy(&_mu);
	[_device release];
	[super dealloc];
}
@end
