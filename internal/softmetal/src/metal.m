/* Devices, memory, libraries and pipelines. */
#include "metal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int soft_is_discrete(void) {
	const char *kind = getenv("SOFTMETAL_DEVICE");
	return kind != NULL && strcmp(kind, "discrete") == 0;
}

/* How much memory the device has; no buffer may have more. */
static const NSUInteger most_bytes = (NSUInteger)8 << 30;

static NSUInteger align(NSUInteger n) { return (n + 255) / 256 * 256; }

static MTLStorageMode storage_of(MTLResourceOptions options) {
	return (MTLStorageMode)((options & MTLResourceStorageModeMask) >> MTLResourceStorageModeShift);
}

@implementation SoftBuffer
- (void *)contents {
	if (_storage == MTLStorageModePrivate) soft_violation("-[MTLBuffer contents] of private storage, which the host cannot reach");
	return _base;
}
- (NSUInteger)length {
	return _length;
}
- (MTLStorageMode)storageMode {
	return _storage;
}
- (void)dealloc {
	if (_heap != nil) {
		[_heap give:self];
		[_heap release];
	} else if (_base != NULL) {
		soft_give(_base, _length);
	}
	[super dealloc];
}
- (void)setLabel:(NSString *)label {
	(void)label;
}
@end

/* Checks what a buffer or a heap is to be. */
static void check_options(MTLResourceOptions options, const char *what) {
	switch (storage_of(options)) {
	case MTLStorageModeShared:
	case MTLStorageModePrivate: return;
	default: soft_violation("%s: storage mode %lu, which compute has no use for", what, (unsigned long)storage_of(options));
	}
}

@implementation SoftHeap
- (instancetype)initWithDescriptor:(MTLHeapDescriptor *)what {
	pthread_mutex_init(&_mu, NULL);
	_size = [what size];
	_storage = [what storageMode];
	if (_size == 0) soft_violation("-[MTLDevice newHeapWithDescriptor:]: a size of 0");
	if (_storage == MTLStorageModeShared && soft_is_discrete()) soft_violation("-[MTLDevice newHeapWithDescriptor:]: shared storage, which only GPUs of Apple have in heaps");
	if ([what hazardTrackingMode] == MTLHazardTrackingModeTracked) soft_violation("a tracked heap: all that is in it waits for each other");
	_base = soft_take(_size);
	if (_base == NULL) {
		[self release];
		return nil;
	}
	return self;
}
- (void)dealloc {
	if (_base != NULL) soft_give(_base, _size);
	free(_parts);
	pthread_mutex_destroy(&_mu);
	[super dealloc];
}
- (void)setLabel:(NSString *)label {
	(void)label;
}
- (NSUInteger)size {
	return _size;
}
- (NSUInteger)usedSize {
	NSUInteger used = 0;
	pthread_mutex_lock(&_mu);
	for (NSUInteger i = 0; i < _count; i++) used += align(_parts[i]->_length);
	pthread_mutex_unlock(&_mu);
	return used;
}
/* The end of part i, and the beginning of the one behind it. The caller holds _mu. */
- (NSUInteger)endOf:(NSUInteger)i {
	return (NSUInteger)(_parts[i]->_base - _base) + align(_parts[i]->_length);
}
- (NSUInteger)gapAt:(NSUInteger)i from:(NSUInteger *)from {
	*from = i == 0 ? 0 : [self endOf:i - 1];
	return (i == _count ? _size : (NSUInteger)(_parts[i]->_base - _base)) - *from;
}
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
	(void)alignment;
	NSUInteger most = 0, from;
	pthread_mutex_lock(&_mu);
	for (NSUInteger i = 0; i <= _count; i++) {
		NSUInteger gap = [self gapAt:i from:&from];
		if (gap > most) most = gap;
	}
	pthread_mutex_unlock(&_mu);
	return most;
}
- (void)insert:(SoftBuffer *)part at:(NSUInteger)i {
	if (_count == _room) {
		_room = _room == 0 ? 64 : _room * 2;
		_parts = realloc(_parts, _room * sizeof *_parts);
		if (_parts == NULL) abort();
	}
	memmove(_parts + i + 1, _parts + i, (_count - i) * sizeof *_parts);
	_parts[i] = part;
	_count++;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
	check_options(options, "-[MTLHeap newBufferWithLength:options:]");
	if (length == 0) soft_violation("-[MTLHeap newBufferWithLength:options:]: a length of 0");
	if (storage_of(options) != _storage) soft_violation("-[MTLHeap newBufferWithLength:options:]: storage mode %lu, the heap's is %lu", (unsigned long)storage_of(options), (unsigned long)_storage);
	SoftBuffer *b = nil;
	pthread_mutex_lock(&_mu);
	for (NSUInteger i = 0; i <= _count && b == nil; i++) {
		NSUInteger from;
		if ([self gapAt:i from:&from] < align(length)) continue;
		b = [[SoftBuffer alloc] init];
		b->_base = _base + from;
		b->_length = length;
		b->_storage = _storage;
		b->_tracked = (options & MTLResourceHazardTrackingModeMask) == MTLResourceHazardTrackingModeTracked;
		b->_heap = [self retain];
		[self insert:b at:i];
	}
	pthread_mutex_unlock(&_mu);
	if (b != nil) memset(b->_base, 0xff, length); /* a heap promises nothing of what is in its memory */
	return b;
}
/* Takes back the memory of a part. */
- (void)give:(SoftBuffer *)part {
	pthread_mutex_lock(&_mu);
	NSUInteger i = 0;
	while (_parts[i] != part) i++;
	memmove(_parts + i, _parts + i + 1, (_count - i - 1) * sizeof *_parts);
	_count--;
	memset(part->_base, 0xff, part->_length);
	pthread_mutex_unlock(&_mu);
}
@end

@implementation MTLHeapDescriptor
- (instancetype)init {
	_storage = MTLStorageModePrivate;
	return self;
}
- (NSUInteger)size {
	return _size;
}
- (void)setSize:(NSUInteger)size {
	_size = size;
}
- (MTLStorageMode)storageMode {
	return _storage;
}
- (void)setStorageMode:(MTLStorageMode)mode {
	_storage = mode;
}
- (MTLHazardTrackingMode)hazardTrackingMode {
	return _hazard;
}
- (void)setHazardTrackingMode:(MTLHazardTrackingMode)mode {
	_hazard = mode;
}
@end

@implementation MTLCompileOptions
- (instancetype)init {
	_fast = YES;
	_math = MTLMathModeFast;
	return self;
}
- (void)setMathMode:(MTLMathMode)mode {
	_math = mode;
	_fast = mode == MTLMathModeFast;
}
- (MTLMathMode)mathMode {
	return _math;
}
- (void)setMathFloatingPointFunctions:(MTLMathFloatingPointFunctions)functions {
	_functions = functions;
}
- (void)setFastMathEnabled:(BOOL)on {
	_fast = on;
	_math = on ? MTLMathModeFast : MTLMathModeSafe;
}
- (BOOL)fastMathEnabled {
	return _fast;
}
- (void)setLanguageVersion:(MTLLanguageVersion)version {
	_version = version;
}
- (MTLLanguageVersion)languageVersion {
	return _version;
}
@end

@implementation SoftFence
- (void)dealloc {
	soft_order_free(&_order);
	[super dealloc];
}
- (void)setLabel:(NSString *)label {
	(void)label;
}
@end

@implementation SoftEvent
- (void)dealloc {
	soft_order_free(&_order);
	[super dealloc];
}
- (void)setLabel:(NSString *)label {
	(void)label;
}
@end

@implementation SoftFunction
- (void)dealloc {
	[_library release];
	[super dealloc];
}
- (NSString *)name {
	return soft_string("%s", _kernel.name);
}
@end

@implementation SoftPipeline
- (void)dealloc {
	[_function release];
	[super dealloc];
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
	return _function->_kernel.max_threads;
}
- (NSUInteger)threadExecutionWidth {
	return 32;
}
@end

@interface SoftLibrary : NSObject <MTLLibrary> {
@public
	void *_handle, *_find, *_run;
}
@end
@implementation SoftLibrary
- (void)setLabel:(NSString *)label {
	(void)label;
}
- (id<MTLFunction>)newFunctionWithName:(NSString *)name {
	soft_kernel k;
	if (!soft_kernel_find(_find, [name UTF8String], &k)) return nil;
	SoftFunction *f = [[SoftFunction alloc] init];
	f->_library = [self retain];
	f->_kernel = k;
	f->_run = _run;
	return f;
}
- (void)dealloc {
	if (_handle != NULL) dlclose(_handle);
	[super dealloc];
}
@end

NSString *const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

/* Runs the compiler's process on a source. What it prints is the caller's. */
static char *run_compiler(const char *source, int *failed) {
	/* Another thread's compiler must not inherit an end of these pipes: this one would
	 * wait for that one to end. */
	int in[2], out[2];
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) abort();
	posix_spawn_file_actions_t files;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in[0], 0);
	posix_spawn_file_actions_adddup2(&files, out[1], 1);
	char *argv[] = {SOFTMETAL_COMPILER, "-dir", SOFTMETAL_KERNELS, SOFTMETAL_ASAN ? "-asan" : NULL, NULL};
	pid_t pid;
	int err = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	close(in[0]);
	close(out[1]);
	if (err != 0) soft_violation("the compiler %s cannot be run: %s", argv[0], strerror(err));
	for (size_t n = strlen(source); n > 0;) {
		ssize_t k = write(in[1], source, n);
		if (k < 0 && errno == EINTR) continue;
		if (k <= 0) break;
		source += k;
		n -= (size_t)k;
	}
	close(in[1]);
	size_t used = 0, room = 4096;
	char *text = malloc(room);
	for (;;) {
		if (used + 1 == room && (text = realloc(text, room *= 2)) == NULL) abort();
		ssize_t k = read(out[0], text + used, room - used - 1);
		if (k < 0 && errno == EINTR) continue;
		if (k <= 0) break;
		used += (size_t)k;
	}
	text[used] = 0;
	close(out[0]);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	*failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	return text;
}

id<MTLLibrary> soft_compile(NSString *source, NSError **error) {
	int failed = 0;
	char *text = run_compiler([source UTF8String], &failed);
	void *handle = failed ? NULL : dlopen(text, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		if (error != NULL) *error = soft_error(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, "%s", failed ? text : dlerror());
		free(text);
		return nil;
	}
	free(text);
	SoftLibrary *l = [[SoftLibrary alloc] init];
	l->_handle = handle;
	l->_find = dlsym(handle, "msl_find");
	l->_run = dlsym(handle, "msl_dispatch");
	return l;
}

@implementation SoftDevice
- (NSString *)name {
	return soft_is_discrete() ? @"Software Metal, discrete" : @"Software Metal";
}
- (uint64_t)registryID {
	return 1;
}
- (BOOL)hasUnifiedMemory {
	return !soft_is_discrete();
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
	return family == (soft_is_discrete() ? MTLGPUFamilyMac2 : MTLGPUFamilyApple7);
}
- (NSUInteger)maxBufferLength {
	return most_bytes;
}
- (uint64_t)recommendedMaxWorkingSetSize {
	return most_bytes;
}
- (NSUInteger)maxThreadgroupMemoryLength {
	return 32 << 10;
}
- (MTLSize)maxThreadsPerThreadgroup {
	return MTLSizeMake(1024, 1024, 1024);
}
- (id<MTLCommandQueue>)newCommandQueue {
	return [self newCommandQueueWithMaxCommandBufferCount:64];
}
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count {
	if (count == 0) soft_violation("-[MTLDevice newCommandQueueWithMaxCommandBufferCount:]: 0");
	return [[SoftQueue alloc] initWithDevice:self limit:count];
}
- (id<MTLFence>)newFence {
	return [[SoftFence alloc] init];
}
- (id<MTLEvent>)newEvent {
	return [[SoftEvent alloc] init];
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
	(void)options;
	return (MTLSizeAndAlign){align(length), 256};
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)what {
	return [[SoftHeap alloc] initWithDescriptor:what];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
	check_options(options, "-[MTLDevice newBufferWithLength:options:]");
	if (length == 0) soft_violation("-[MTLDevice newBufferWithLength:options:]: a length of 0");
	if (length > most_bytes) soft_violation("-[MTLDevice newBufferWithLength:options:]: %lu bytes, maxBufferLength is %lu", (unsigned long)length, (unsigned long)most_bytes);
	char *base = soft_take(length);
	if (base == NULL) return nil;
	SoftBuffer *b = [[SoftBuffer alloc] init];
	b->_base = base;
	b->_length = length;
	b->_storage = storage_of(options);
	b->_tracked = (options & MTLResourceHazardTrackingModeMask) != MTLResourceHazardTrackingModeUntracked;
	return b;
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error {
	if (options == nil || [options fastMathEnabled]) soft_violation("-[MTLDevice newLibraryWithSource:options:error:] with fast math, under which NaN and infinity are undefined");
	if ([options languageVersion] == 0) soft_violation("-[MTLDevice newLibraryWithSource:options:error:] without a language version, whose default depends on the system");
	if ([options languageVersion] < MTLLanguageVersion3_1 && strstr([source UTF8String], "bfloat") != NULL) {
		if (error != NULL) *error = soft_error(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, "program_source:1:1: error: unknown type name 'bfloat', which is of version 3.1 of the language");
		return nil;
	}
	return soft_compile(source, error);
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError **)error {
	(void)error;
	if (function == nil) soft_violation("-[MTLDevice newComputePipelineStateWithFunction:error:] of nil");
	SoftPipeline *p = [[SoftPipeline alloc] init];
	p->_function = [(id)function retain];
	return p;
}
@end

static SoftDevice *the_device;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_device(void) { the_device = [[SoftDevice alloc] init]; }

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
	pthread_once(&once, make_device);
	return [the_device retain];
}

NSArray *MTLCopyAllDevices(void) {
	pthread_once(&once, make_device);
	id device = the_device;
	return [[NSArray alloc] initWithObjects:&device count:1];
}
