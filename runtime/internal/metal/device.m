//go:build darwin

/* A device, its libraries and pipelines. */
#include "device.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* More command buffers than the 64 that a queue takes by default, since it blocks where
 * there are more: as many as there are programs in flight, and some. */
enum { KGM_BUFFERS = 256 + 8 };

void kgm_fail(kgm_error *e, const char *what, NSError *err) {
	if (e->text != NULL) return;
	const char *why = err == nil ? NULL : [[err localizedDescription] UTF8String];
	const char *domain = err == nil ? NULL : [[err domain] UTF8String];
	size_t n = strlen(what) + (why == NULL ? 0 : strlen(why)) + 3;
	e->text = malloc(n);
	if (e->text != NULL) snprintf(e->text, n, why == NULL ? "%s" : "%s: %s", what, why);
	snprintf(e->domain, sizeof e->domain, "%s", domain == NULL ? "" : domain);
	e->code = err == nil ? 0 : [err code];
}

void kgm_free_text(char *text) { free(text); }

/* Whether a device is in an array already. */
static int has(id<MTLDevice> const *list, int n, id<MTLDevice> dev) {
	for (int i = 0; i < n; i++)
		if ([list[i] registryID] == [dev registryID]) return 1;
	return 0;
}

/* The device with this number, retained. Either call of Metal may give nothing where the
 * other one does: the default device in a process without a window server, the list in
 * some others. */
static id<MTLDevice> find(int32_t number, int32_t *count) {
	enum { MOST = 16 };
	id<MTLDevice> list[MOST];
	int n = 0;
	id<MTLDevice> first = MTLCreateSystemDefaultDevice();
	if (first != nil) list[n++] = first;
	NSArray<id<MTLDevice>> *all = MTLCopyAllDevices();
	for (NSUInteger i = 0; i < [all count] && n < MOST; i++) {
		id<MTLDevice> dev = [all objectAtIndex:i];
		if (!has(list, n, dev)) list[n++] = [dev retain];
	}
	[all release];
	*count = n;
	id<MTLDevice> found = number < n ? [list[number] retain] : nil;
	for (int i = 0; i < n; i++) [list[i] release];
	return found;
}

static int32_t open_device(kgm_device *d, int32_t number, kgm_error *e) {
	int32_t count = 0;
	d->dev = find(number, &count);
	if (d->dev == nil) {
		char why[96];
		snprintf(why, sizeof why, "no device %d: the system has %d", number, count);
		kgm_fail(e, why, nil);
		return 0;
	}
	if (![d->dev supportsFamily:MTLGPUFamilyApple7] && ![d->dev supportsFamily:MTLGPUFamilyMac2]) {
		kgm_fail(e, "the GPU has no reductions over SIMD groups, which kernels use: it is of neither family Apple7 nor Mac2", nil);
		return 0;
	}
	d->unified = [d->dev hasUnifiedMemory] ? 1 : 0;
	d->queue = [d->dev newCommandQueueWithMaxCommandBufferCount:KGM_BUFFERS];
	d->copies = [d->dev newCommandQueue];
	d->order = [d->dev newFence];
	if (d->queue == nil || d->copies == nil || d->order == nil) {
		kgm_fail(e, "the device gives no command queue or no fence", nil);
		return 0;
	}
	[d->queue setLabel:@"kgen programs"];
	[d->copies setLabel:@"kgen transfers"];
	[d->order setLabel:@"kgen order"];
	return 1;
}

kgm_device *kgm_open(int32_t number, kgm_error *e) {
	@autoreleasepool {
		kgm_device *d = calloc(1, sizeof *d);
		if (d == NULL) {
			kgm_fail(e, "no memory", nil);
			return NULL;
		}
		pthread_mutex_init(&d->mem_mu, NULL);
		pthread_mutex_init(&d->copy_mu, NULL);
		pthread_mutex_init(&d->turn_mu, NULL);
		pthread_mutex_init(&d->done_mu, NULL);
		pthread_cond_init(&d->turn, NULL);
		pthread_cond_init(&d->done, NULL);
		if (!open_device(d, number, e)) {
			kgm_close(d);
			return NULL;
		}
		return d;
	}
}

void kgm_close(kgm_device *d) {
	pthread_mutex_lock(&d->done_mu); /* the last handler may still be at its end */
	pthread_mutex_unlock(&d->done_mu);
	@autoreleasepool {
		for (int i = 0; i < d->nheap; i++) [d->heap[i] release];
		[d->stage release];
		[d->event release];
		[d->order release];
		[d->copies release];
		[d->queue release];
		[d->dev release];
	}
	pthread_cond_destroy(&d->done);
	pthread_cond_destroy(&d->turn);
	pthread_mutex_destroy(&d->done_mu);
	pthread_mutex_destroy(&d->turn_mu);
	pthread_mutex_destroy(&d->copy_mu);
	pthread_mutex_destroy(&d->mem_mu);
	free(d);
}

void kgm_describe(kgm_device *d, kgm_description *out) {
	@autoreleasepool {
		snprintf(out->name, sizeof out->name, "%s", [[d->dev name] UTF8String]);
		out->registry = [d->dev registryID];
		out->max_buffer = (int64_t)[d->dev maxBufferLength];
		out->working_set = (int64_t)[d->dev recommendedMaxWorkingSetSize];
		out->threadgroup_memory = (int64_t)[d->dev maxThreadgroupMemoryLength];
		out->unified = d->unified;
	}
}

/* Floats are IEEE's: no fast math, and precise functions where a kernel does not say
 * otherwise. Before macOS 15 one switch says both. */
static void set_math(MTLCompileOptions *options) {
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunguarded-availability-new"
	if ([options respondsToSelector:@selector(setMathMode:)]) {
		[options setMathMode:MTLMathModeSafe];
		[options setMathFloatingPointFunctions:MTLMathFloatingPointFunctionsPrecise];
		return;
	}
#pragma clang diagnostic pop
#endif
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
	[options setFastMathEnabled:NO];
#pragma clang diagnostic pop
}

/* The language that sources are in: products of bf16 are in 3.1, of macOS 14, all else is
 * in 2.3, of macOS 11. The default depends on the system. */
static MTLLanguageVersion language(void) {
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 140000
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunguarded-availability-new"
	NSOperatingSystemVersion macos14 = {14, 0, 0};
	if ([[NSProcessInfo processInfo] isOperatingSystemAtLeastVersion:macos14]) return MTLLanguageVersion3_1;
#pragma clang diagnostic pop
#endif
	return MTLLanguageVersion2_3;
}

void *kgm_compile(kgm_device *d, const char *source, const char *label, kgm_error *e) {
	@autoreleasepool {
		MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
		set_math(options);
		[options setLanguageVersion:language()];
		NSError *err = nil;
		NSString *text = [NSString stringWithUTF8String:source];
		if (text == nil) {
			kgm_fail(e, "the source is not UTF-8", nil);
			return NULL;
		}
		id<MTLLibrary> library = [d->dev newLibraryWithSource:text options:options error:&err];
		if (library == nil) { /* with warnings err is set, too */
			kgm_fail(e, "newLibraryWithSource", err);
			return NULL;
		}
		[library setLabel:[NSString stringWithUTF8String:label]];
		return library;
	}
}

int32_t kgm_new_pipeline(kgm_device *d, void *library, const char *name, kgm_pipeline *out, kgm_error *e) {
	@autoreleasepool {
		NSString *label = [NSString stringWithUTF8String:name];
		id<MTLFunction> function = [(id<MTLLibrary>)library newFunctionWithName:label];
		if (function == nil) {
			kgm_fail(e, "the library has no function of this name", nil);
			return 0;
		}
		NSError *err = nil;
		id<MTLComputePipelineState> state = [d->dev newComputePipelineStateWithFunction:function error:&err];
		[function release];
		if (state == nil) {
			kgm_fail(e, "newComputePipelineStateWithFunction", err);
			return 0;
		}
		out->state = state;
		out->label = [label retain];
		out->max_threads = (int64_t)[state maxTotalThreadsPerThreadgroup];
		out->width = (int64_t)[state threadExecutionWidth];
		return 1;
	}
}

void kgm_free_pipeline(kgm_pipeline *p) {
	kgm_release(p->state);
	kgm_release(p->label);
}

void kgm_release(void *object) {
	@autoreleasepool {
		[(id)object release];
	}
}

void kgm_begin_capture(kgm_device *d, const char *path, kgm_error *e) {
	@autoreleasepool {
		MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
		if (![manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]) {
			kgm_fail(e, "the system captures to no file: set MTL_CAPTURE_ENABLED=1 before the program starts", nil);
			return;
		}
		MTLCaptureDescriptor *what = [[[MTLCaptureDescriptor alloc] init] autorelease];
		[what setCaptureObject:d->queue];
		[what setDestination:MTLCaptureDestinationGPUTraceDocument];
		[what setOutputURL:[NSURL fileURLWithPath:[NSString stringWithUTF8String:path]]];
		NSError *err = nil;
		if (![manager startCaptureWithDescriptor:what error:&err]) kgm_fail(e, "startCaptureWithDescriptor", err);
	}
}

void kgm_end_capture(kgm_device *d) {
	(void)d;
	@autoreleasepool {
		[[MTLCaptureManager sharedCaptureManager] stopCapture];
	}
}
