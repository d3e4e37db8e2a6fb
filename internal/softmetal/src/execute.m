/* The GPU: runs the commands of one command buffer at a time. */
#include "commands.h"

#include <time.h>

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

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One dispatch runs at a time, whatever queue it is on. */
static pthread_mutex_t gpu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER; /* an event was */
static uint32_t encoders; /* that began */

/* What an encoder is while it runs. */
typedef struct running {
	uint32_t number, segment;
	int concurrent;
	soft_order after;
} running;

static void run_dispatch(const op *o, const running *e) {
	SoftPipeline *p = soft_alive(o->object, "pipeline");
	void *buffers[MOST_BUFFERS] = {NULL};
	unsigned long sizes[MOST_BUFFERS] = {0};
	soft_range ranges[MOST_BUFFERS];
	int n = 0;
	for (int i = 0; i < MOST_BUFFERS; i++) {
		const binding *b = &o->bind[i];
		buffers[i] = b->bytes;
		sizes[i] = b->length;
		if (b->buffer.object == nil) continue;
		SoftBuffer *x = soft_alive(b->buffer, "buffer");
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
	SoftBuffer *to = soft_alive(o->bind[0].buffer, "buffer"), *from = soft_alive(o->bind[1].buffer, "buffer");
	char *dst = to->_base + o->bind[0].offset, *src = from->_base + o->bind[1].offset;
	soft_range ranges[] = {{dst, dst + o->length, to->_tracked}, {src, src + o->length, from->_tracked}};
	soft_watch((soft_dispatch){e->number, e->segment, "copyFromBuffer"}, &e->after, ranges, 2);
	soft_note(src, o->length, 0);
	soft_note(dst, o->length, 1);
	soft_unwatch();
	memmove(dst, src, o->length);
}

static void run_call(const op *o, const running *e) {
	char *at[CALL_BUFFERS];
	soft_range ranges[CALL_BUFFERS];
	for (int i = 0; i < CALL_BUFFERS; i++) {
		SoftBuffer *x = soft_alive(o->bind[i].buffer, "buffer");
		at[i] = x->_base + o->bind[i].offset;
		ranges[i] = (soft_range){at[i], x->_base + x->_length, x->_tracked};
	}
	soft_watch((soft_dispatch){e->number, e->segment, o->call.name}, &e->after, ranges, CALL_BUFFERS);
	o->call.run(o->call.what, at);
	soft_unwatch();
}

/* Signals an event, or waits for one, which another queue may signal. The caller holds gpu. */
static void run_event(const op *o, soft_order *after, const soft_order *done) {
	SoftEvent *event = soft_alive(o->object, "event");
	if (o->kind == OpSignal) {
		if (o->value <= event->_value) soft_violation("an event of value %lu is signalled with %lu: it can only grow", (unsigned long)event->_value, (unsigned long)o->value);
		event->_value = o->value;
		soft_order_join(&event->_order, done);
		pthread_cond_broadcast(&signalled);
		return;
	}
	while (event->_value < o->value) pthread_cond_wait(&signalled, &gpu);
	soft_order_join(after, &event->_order);
}

/* Runs the dispatches of a segment of a concurrent encoder, in any order. */
static void run_segment(op *const *list, int n, const running *e) {
	op **order = malloc((size_t)n * sizeof *order);
	if (order == NULL) abort();
	memcpy(order, list, (size_t)n * sizeof *order);
	for (int i = n - 1; i > 0; i--) {
		int j = (int)(soft_dice() % (uint32_t)(i + 1));
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
	return name != NULL && o->kind == OpDispatch && strcmp(((SoftPipeline *)soft_alive(o->object, "pipeline"))->_function->_kernel.name, name) == 0;
}

@implementation SoftCommandBuffer (Running)
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
		SoftFence *f = o->kind == OpWait || o->kind == OpUpdate ? soft_alive(o->object, "fence") : nil;
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
		case OpCall:
			run_call(o, &e);
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
	soft_order_join(&_done, &e.after);
	soft_order_add(&_done, e.number);
	soft_order_free(&e.after);
	return o;
}
- (void)run {
	pthread_mutex_lock(&gpu);
	_gpu_start = seconds();
	for (const op *o = _first; o != NULL; o = o->next) {
		if (o->kind == OpBegin)
			o = [self runEncoder:o];
		else
			run_event(o, &_after, &_done);
	}
	_gpu_end = seconds();
	pthread_mutex_unlock(&gpu);
	soft_finished(self);
}
@end
