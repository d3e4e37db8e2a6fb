//go:build darwin

/* Programs: one command buffer each, on one queue, in the order of their numbers. */
#include "device.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Waiting for a program, the host looks for so long whether it is complete before it
 * sleeps. */
enum { SPIN_NS = 50 * 1000 };

int64_t kgm_now(void) {
	struct timespec t;
#ifdef __APPLE__
	clock_gettime(CLOCK_UPTIME_RAW, &t); /* that of mach_absolute_time, which GPUStartTime is on */
#else
	clock_gettime(CLOCK_MONOTONIC, &t);
#endif
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Says in which encoder, and after which of its kernels, a command buffer failed, as far
 * as Metal knows. The text is the caller's. */
static char *where(NSError *err) {
	NSArray<id<MTLCommandBufferEncoderInfo>> *infos = [[err userInfo] objectForKey:MTLCommandBufferEncoderInfoErrorKey];
	for (NSUInteger i = 0; i < [infos count]; i++) {
		id<MTLCommandBufferEncoderInfo> info = [infos objectAtIndex:i];
		MTLCommandEncoderErrorState state = [info errorState];
		if (state != MTLCommandEncoderErrorStateFaulted && state != MTLCommandEncoderErrorStateAffected) continue;
		NSArray<NSString *> *posts = [info debugSignposts];
		const char *label = [[info label] UTF8String];
		const char *last = [posts count] == 0 ? NULL : [[posts objectAtIndex:[posts count] - 1] UTF8String];
		char text[512];
		snprintf(text, sizeof text, "encoder %s %s%s%s", label == NULL ? "without a name" : label,
			 state == MTLCommandEncoderErrorStateFaulted ? "failed" : "was affected",
			 last == NULL ? "" : ", the last kernel that it came to is ", last == NULL ? "" : last);
		return strdup(text);
	}
	return NULL;
}

/* Notes in e why a command buffer failed. */
static void note_error(kgm_error *e, id<MTLCommandBuffer> commands) {
	NSError *err = [commands error];
	char *at = err == nil ? NULL : where(err);
	char what[640];
	snprintf(what, sizeof what, "the program did not complete (status %d)%s%s", (int)[commands status], at == NULL ? "" : ": ", at == NULL ? "" : at);
	free(at);
	kgm_fail(e, what, err);
}

/* Counts n command buffers of a program as complete. The caller holds done_mu. */
static void count(kgm_device *d, kgm_program *p, uint64_t seq, int64_t n) {
	p->left -= n;
	if (p->left > 0) return;
	__atomic_store_n(&d->complete[seq % KGM_HISTORY], seq, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&d->done);
}

/* Notes that command buffer i of a program is complete. Metal calls this on a thread of
 * its own; it calls nothing of Go. */
static void completed(kgm_device *d, kgm_program *p, uint64_t seq, int64_t i, id<MTLCommandBuffer> commands) {
	int failed = [commands status] != MTLCommandBufferStatusCompleted;
	double begin = [commands GPUStartTime], end = [commands GPUEndTime];
	pthread_mutex_lock(&d->done_mu);
	if (failed) note_error(&p->error, commands);
	if (p->ends != NULL) {
		if (i == 0) p->ends[0] = begin;
		p->ends[i + 1] = end;
	}
	count(d, p, seq, 1);
	pthread_mutex_unlock(&d->done_mu);
}

/* Where a binding lies in this run. */
static kgm_place place_of(const kgm_program *p, const kgm_bind *b) {
	kgm_place at = b->slot < 0 ? (kgm_place){p->param.buffer, 0} : p->slot[b->slot];
	at.off += b->off;
	return at;
}

static void dispatch(id<MTLComputeCommandEncoder> encoder, const kgm_program *p, const kgm_cmd *c, const kgm_bind *bind) {
	[encoder setComputePipelineState:(id<MTLComputePipelineState>)c->pipeline->state];
	for (int64_t i = c->first; i < c->first + c->n; i++) {
		kgm_place at = place_of(p, &bind[i]);
		[encoder setBuffer:(id<MTLBuffer>)at.buffer offset:(NSUInteger)at.off atIndex:(NSUInteger)bind[i].index];
	}
	[encoder insertDebugSignpost:(NSString *)c->pipeline->label];
	[encoder dispatchThreadgroups:MTLSizeMake(c->groups[0], c->groups[1], c->groups[2])
		threadsPerThreadgroup:MTLSizeMake(c->threads, 1, 1)];
}

static NSString *label_of(const kgm_cmd *c) {
	return c->product != NULL ? kgm_product_label(c->product) : (NSString *)c->pipeline->label;
}

/* Makes an encoder whose first command is c. */
static id<MTLComputeCommandEncoder> open_encoder(id<MTLCommandBuffer> commands, const kgm_cmd *c) {
	id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
	[encoder setLabel:label_of(c)];
	return encoder;
}

/* Encodes a product between the encoder that is open, which ends, and a new one. */
static id<MTLComputeCommandEncoder> multiply(kgm_device *d, id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder, const kgm_program *p, const kgm_cmd *c, const kgm_bind *bind) {
	const kgm_bind *b = &bind[c->first];
	[encoder endEncoding];
	kgm_settle(d, commands);
	kgm_multiply(d, commands, c->product, place_of(p, b), place_of(p, b + 1), place_of(p, b + 2));
	kgm_settle(d, commands);
	return open_encoder(commands, c);
}

/* A command buffer for commands. The runtime keeps what they use until they are complete;
 * what MetalPerformanceShaders uses beside matrices the command buffer has to keep. */
static id<MTLCommandBuffer> new_commands(kgm_device *d, const kgm_cmd *cmd, int64_t n) {
	BOOL retain = NO;
	for (int64_t i = 0; i < n; i++)
		if (cmd[i].product != NULL) retain = YES;
	MTLCommandBufferDescriptor *what = [[[MTLCommandBufferDescriptor alloc] init] autorelease];
	[what setRetainedReferences:retain];
	[what setErrorOptions:MTLCommandBufferErrorOptionEncoderExecutionStatus];
	return [d->queue commandBufferWithDescriptor:what];
}

/* Commits the commands [from, to) as command buffer i of a program. Commands that depend
 * on each other are told apart by barriers, programs by the fence. */
static int32_t commit(kgm_device *d, kgm_program *p, const kgm_cmd *cmd, const kgm_bind *bind, uint64_t seq, int64_t i, int64_t from, int64_t to) {
	id<MTLCommandBuffer> commands = new_commands(d, cmd + from, to - from);
	id<MTLComputeCommandEncoder> encoder = open_encoder(commands, &cmd[from]);
	[encoder waitForFence:d->order];
	for (int64_t k = from; k < to && encoder != nil; k++) {
		if (cmd[k].product != NULL) {
			encoder = multiply(d, commands, encoder, p, &cmd[k], bind);
			continue;
		}
		if (cmd[k].barrier && k > from) [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
		dispatch(encoder, p, &cmd[k], bind);
	}
	if (encoder == nil) {
		kgm_fail(&p->error, "the queue gives no command buffer or no encoder", nil);
		return 0;
	}
	[encoder updateFence:d->order];
	[encoder endEncoding];
	[commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
		@autoreleasepool {
			completed(d, p, seq, i, done);
		}
	}];
	[commands commit];
	return 1;
}

/* Puts a whole run on the queue, and counts what could not be as complete. */
static void start(kgm_device *d, kgm_program *p, const kgm_cmd *cmd, int64_t ncmd, const kgm_bind *bind, uint64_t seq) {
	int64_t n = p->ends == NULL ? 1 : ncmd;
	kgm_free_text(p->error.text);
	p->error = (kgm_error){.text = NULL};
	p->left = n;
	for (int64_t i = 0; i < n; i++) {
		@autoreleasepool {
			int64_t from = n == 1 ? 0 : i, to = n == 1 ? ncmd : i + 1;
			if (commit(d, p, cmd, bind, seq, i, from, to)) continue;
		}
		pthread_mutex_lock(&d->done_mu);
		count(d, p, seq, n - i);
		pthread_mutex_unlock(&d->done_mu);
		return;
	}
}

void kgm_submit(kgm_device *d, kgm_program *p, const kgm_cmd *cmd, int64_t n, const kgm_bind *bind, uint64_t seq) {
	((kgm_head *)p->param.address)->seq = seq;
	pthread_mutex_lock(&d->turn_mu);
	while (d->submitted != seq - 1) pthread_cond_wait(&d->turn, &d->turn_mu);
	start(d, p, cmd, n, bind, seq);
	d->submitted = seq;
	pthread_cond_broadcast(&d->turn);
	pthread_mutex_unlock(&d->turn_mu);
}

/* Whether a program is complete: its number, or that of a later one, is in its place. */
static int is_complete(kgm_device *d, uint64_t seq) { return d->complete[seq % KGM_HISTORY] >= seq; }

void kgm_wait(kgm_device *d, uint64_t seq) {
	for (int64_t end = kgm_now() + SPIN_NS; kgm_now() < end;)
		if (__atomic_load_n(&d->complete[seq % KGM_HISTORY], __ATOMIC_RELAXED) >= seq) break;
	pthread_mutex_lock(&d->done_mu);
	while (!is_complete(d, seq)) pthread_cond_wait(&d->done, &d->done_mu);
	pthread_mutex_unlock(&d->done_mu);
}

int32_t kgm_await(kgm_device *d, uint64_t seq, int64_t ns) {
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end); /* that of pthread_cond_timedwait */
	int64_t sec = ns / 1000000000, most = (int64_t)1 << 31;
	end.tv_sec += sec < most ? sec : most;
	end.tv_nsec += ns % 1000000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	int late = 0;
	pthread_mutex_lock(&d->done_mu);
	while (!is_complete(d, seq) && !late) late = pthread_cond_timedwait(&d->done, &d->done_mu, &end) != 0;
	int32_t complete = is_complete(d, seq);
	pthread_mutex_unlock(&d->done_mu);
	return complete;
}
