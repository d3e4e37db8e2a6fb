//go:build darwin

/* Memory of a device. Metal does not track what uses it: the barriers of a program, the
 * fence between programs, and the host's waiting do. */
#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Memory of at most KGM_SMALL bytes comes from heaps, since a great number of resources
 * of their own makes submission slow. KGM_STAGE is the size of the memory through which
 * transfers go where the host does not share the GPU's, by blits of words. */
enum { KGM_SMALL = 1 << 20, KGM_HEAP = 32 << 20, KGM_STAGE = 4 << 20, WORD = 4 };

static MTLResourceOptions options(const kgm_device *d) {
	return (d->unified ? MTLResourceStorageModeShared : MTLResourceStorageModePrivate) | MTLResourceHazardTrackingModeUntracked;
}

static id<MTLHeap> new_heap(kgm_device *d) {
	if (d->nheap == KGM_HEAPS) return nil;
	MTLHeapDescriptor *what = [[[MTLHeapDescriptor alloc] init] autorelease];
	[what setSize:KGM_HEAP];
	[what setStorageMode:d->unified ? MTLStorageModeShared : MTLStorageModePrivate];
	[what setHazardTrackingMode:MTLHazardTrackingModeUntracked];
	id<MTLHeap> heap = [d->dev newHeapWithDescriptor:what];
	if (heap == nil) return nil;
	[heap setLabel:@"kgen tensors"];
	d->heap[d->nheap++] = heap;
	return heap;
}

/* A buffer out of a heap, nil if there is none. The caller holds mem_mu. */
static id<MTLBuffer> take(kgm_device *d, NSUInteger bytes, void **from) {
	MTLSizeAndAlign need = [d->dev heapBufferSizeAndAlignWithLength:bytes options:options(d)];
	id<MTLHeap> heap = nil;
	for (int i = 0; i < d->nheap && heap == nil; i++)
		if ([d->heap[i] maxAvailableSizeWithAlignment:need.align] >= need.size) heap = d->heap[i];
	if (heap == nil) heap = new_heap(d);
	*from = heap;
	return [heap newBufferWithLength:bytes options:options(d)];
}

/* Sets the address of memory: where the host cannot reach it, that of as many bytes that
 * nothing is mapped to. */
static int32_t place(kgm_memory *m, int32_t reachable) {
	if (reachable) {
		m->address = [(id<MTLBuffer>)m->buffer contents];
		return m->address != NULL;
	}
	void *p = mmap(NULL, (size_t)m->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
	m->address = p == MAP_FAILED ? NULL : p;
	return p != MAP_FAILED;
}

int32_t kgm_alloc(kgm_device *d, int64_t bytes, kgm_memory *out) {
	@autoreleasepool {
		*out = (kgm_memory){.bytes = bytes};
		if ((uint64_t)bytes > [d->dev maxBufferLength]) return 0;
		NSUInteger length = ((NSUInteger)bytes + WORD - 1) / WORD * WORD; /* a blit is of whole words */
		if (bytes <= KGM_SMALL) {
			pthread_mutex_lock(&d->mem_mu);
			out->buffer = take(d, length, &out->heap);
			pthread_mutex_unlock(&d->mem_mu);
		}
		if (out->buffer == nil) {
			out->heap = nil;
			out->buffer = [d->dev newBufferWithLength:length options:options(d)];
		}
		if (out->buffer == nil) return 0;
		if (place(out, d->unified)) return 1;
		[(id)out->buffer release];
		return 0;
	}
}

int32_t kgm_alloc_shared(kgm_device *d, int64_t bytes, kgm_memory *out) {
	@autoreleasepool {
		*out = (kgm_memory){.bytes = bytes};
		out->buffer = [d->dev newBufferWithLength:(NSUInteger)bytes options:MTLResourceStorageModeShared | MTLResourceHazardTrackingModeUntracked];
		if (out->buffer == nil) return 0;
		if (place(out, 1)) return 1;
		[(id)out->buffer release];
		return 0;
	}
}

/* Releases a heap that nothing is in, but for the last one. */
static void drop(kgm_device *d, id<MTLHeap> heap) {
	if (d->nheap < 2 || [heap usedSize] != 0) return;
	for (int i = 0; i < d->nheap; i++) {
		if (d->heap[i] != heap) continue;
		d->heap[i] = d->heap[--d->nheap];
		[heap release];
		return;
	}
}

void kgm_free(kgm_device *d, kgm_memory *m) {
	@autoreleasepool {
		if ([(id<MTLBuffer>)m->buffer storageMode] == MTLStorageModePrivate) munmap(m->address, (size_t)m->bytes);
		pthread_mutex_lock(&d->mem_mu);
		[(id)m->buffer release];
		if (m->heap != nil) drop(d, m->heap);
		pthread_mutex_unlock(&d->mem_mu);
	}
}

/* Copies n bytes between two buffers on the GPU, and waits. */
static void move(kgm_device *d, id<MTLBuffer> dst, NSUInteger to, id<MTLBuffer> src, NSUInteger from, NSUInteger n, kgm_error *e) {
	id<MTLCommandBuffer> commands = [d->copies commandBuffer];
	id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
	if (encoder == nil) {
		kgm_fail(e, "the queue of transfers gives no encoder", nil);
		return;
	}
	[encoder copyFromBuffer:src sourceOffset:from toBuffer:dst destinationOffset:to size:n];
	[encoder endEncoding];
	[commands commit];
	[commands waitUntilCompleted];
	if ([commands status] != MTLCommandBufferStatusCompleted) kgm_fail(e, "a transfer", [commands error]);
}

/* The staging memory, nil with an error. The caller holds copy_mu. */
static id<MTLBuffer> stage(kgm_device *d, kgm_error *e) {
	if (d->stage == nil) d->stage = [d->dev newBufferWithLength:KGM_STAGE options:MTLResourceStorageModeShared];
	if (d->stage == nil) {
		kgm_fail(e, "no memory for transfers", nil);
		e->memory = 1;
	}
	return d->stage;
}

/* A piece of a transfer is what lies in the words around it, and an upload leaves the
 * bytes of the first and the last one that are not its own. */
typedef struct span {
	NSUInteger from, n, skip; /* words of the device's memory; the first bytes are not the transfer's */
} span;

static span words(int64_t off, int64_t n) {
	NSUInteger from = (NSUInteger)off / WORD * WORD, end = ((NSUInteger)(off + n) + WORD - 1) / WORD * WORD;
	return (span){from, end - from, (NSUInteger)off - from};
}

static int64_t piece(int64_t left) { return left < KGM_STAGE - 2 * WORD ? left : KGM_STAGE - 2 * WORD; }

static void fetch(kgm_device *d, const kgm_memory *m, span s, kgm_error *e) {
	move(d, d->stage, 0, m->buffer, s.from, s.n, e);
}

void kgm_upload(kgm_device *d, const kgm_memory *m, int64_t off, const void *src, int64_t n, kgm_error *e) {
	if (d->unified) {
		memcpy(m->address + off, src, (size_t)n);
		return;
	}
	pthread_mutex_lock(&d->copy_mu);
	for (int64_t done = 0; done < n && e->text == NULL; done += piece(n - done)) {
		@autoreleasepool {
			int64_t k = piece(n - done);
			span s = words(off + done, k);
			if (stage(d, e) == nil) break;
			if (s.n != (NSUInteger)k) fetch(d, m, s, e);
			memcpy((char *)[d->stage contents] + s.skip, (const char *)src + done, (size_t)k);
			move(d, m->buffer, s.from, d->stage, 0, s.n, e);
		}
	}
	pthread_mutex_unlock(&d->copy_mu);
}

void kgm_download(kgm_device *d, void *dst, const kgm_memory *m, int64_t off, int64_t n, kgm_error *e) {
	if (d->unified) {
		memcpy(dst, m->address + off, (size_t)n);
		return;
	}
	pthread_mutex_lock(&d->copy_mu);
	for (int64_t done = 0; done < n && e->text == NULL; done += piece(n - done)) {
		@autoreleasepool {
			int64_t k = piece(n - done);
			span s = words(off + done, k);
			if (stage(d, e) == nil) break;
			fetch(d, m, s, e);
			memcpy((char *)dst + done, (char *)[d->stage contents] + s.skip, (size_t)k);
		}
	}
	pthread_mutex_unlock(&d->copy_mu);
}
