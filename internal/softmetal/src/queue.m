/* Queues: a thread each, which runs their command buffers in order. */
#include "commands.h"

#include <unistd.h>

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
		if (soft_dice() % 8 == 0) usleep(soft_dice() % 100); /* the GPU begins late */
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
