/* Breaks one rule of Metal, the one that the argument names. Each case does what a bridge
 * with a mistake would: nothing here reaches into the software Metal. */
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct sized { long n; };\n"
    "kernel void twice(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant sized &b [[buffer(2)]],\n"
    "\t\tuint i [[thread_position_in_grid]]) {\n"
    "\tif (long(i) < b.n) {\n\t\ty[i] = 2.0f * x[i];\n\t}\n}\n"
    "[[max_total_threads_per_threadgroup(32)]]\n"
    "kernel void beyond(device float *y [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n\ty[i] = 1.0f;\n}\n";

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;
static id<MTLBuffer> x, y, z, size;

static MTLCompileOptions *options(void) {
	MTLCompileOptions *o = [[[MTLCompileOptions alloc] init] autorelease];
	[o setMathMode:MTLMathModeSafe];
	[o setLanguageVersion:MTLLanguageVersion2_3];
	return o;
}

static id<MTLComputePipelineState> pipeline(const char *name) {
	static id<MTLLibrary> library;
	NSError *err = nil;
	if (library == nil) library = [device newLibraryWithSource:[NSString stringWithUTF8String:source] options:options() error:&err];
	if (library == nil) {
		fprintf(stderr, "does not compile: %s\n", [[err localizedDescription] UTF8String]);
		exit(2);
	}
	id<MTLFunction> f = [library newFunctionWithName:[NSString stringWithUTF8String:name]];
	id<MTLComputePipelineState> p = [device newComputePipelineStateWithFunction:f error:&err];
	[f release];
	return p;
}

static id<MTLBuffer> untracked(NSUInteger bytes) {
	return [device newBufferWithLength:bytes options:MTLResourceStorageModeShared | MTLResourceHazardTrackingModeUntracked];
}

static void prepare(void) {
	device = MTLCreateSystemDefaultDevice();
	queue = [device newCommandQueue];
	x = untracked(256);
	y = untracked(256);
	z = untracked(256);
	size = untracked(16);
	if (dlopen(KGM_MPS, RTLD_LAZY) == NULL) exit(4);
	((int64_t *)[size contents])[0] = 64;
	for (int i = 0; i < 64; i++) ((float *)[x contents])[i] = (float)i;
}

static id<MTLComputeCommandEncoder> encoder(id<MTLCommandBuffer> commands) {
	return [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
}

static void bind(id<MTLComputeCommandEncoder> e, id<MTLBuffer> from, id<MTLBuffer> to) {
	[e setComputePipelineState:pipeline("twice")];
	[e setBuffer:from offset:0 atIndex:0];
	[e setBuffer:to offset:0 atIndex:1];
	[e setBuffer:size offset:0 atIndex:2];
}

static void dispatch(id<MTLComputeCommandEncoder> e, NSUInteger groups, NSUInteger threads) {
	[e dispatchThreadgroups:MTLSizeMake(groups, 1, 1) threadsPerThreadgroup:MTLSizeMake(threads, 1, 1)];
}

static void finish(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> e) {
	[e endEncoding];
	[commands commit];
	[commands waitUntilCompleted];
}

/* What is right: the other cases differ from it in one thing. */
static void right(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	id<MTLComputeCommandEncoder> e = encoder(commands);
	bind(e, x, y);
	dispatch(e, 2, 32);
	[e memoryBarrierWithScope:MTLBarrierScopeBuffers];
	bind(e, y, z);
	dispatch(e, 2, 32);
	finish(commands, e);
	for (int i = 0; i < 64; i++)
		if (((float *)[z contents])[i] != 4 * (float)i) exit(3);
}

static void unset_argument(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	[e setComputePipelineState:pipeline("twice")];
	[e setBuffer:x offset:0 atIndex:0];
	[e setBuffer:size offset:0 atIndex:2];
	dispatch(e, 2, 32);
}

static void argument_too_short(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	bind(e, x, y);
	[e setBytes:"1234" length:4 atIndex:2];
	dispatch(e, 2, 32);
}

static void offset_beyond(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	[e setBuffer:x offset:257 atIndex:0];
}

static void offset_misaligned(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	bind(e, x, y);
	[e setBuffer:x offset:2 atIndex:0];
	dispatch(e, 1, 32);
}

static void bytes_too_many(void) {
	static char many[4097];
	[encoder([queue commandBuffer]) setBytes:many length:sizeof many atIndex:0];
}

static void index_beyond(void) { [encoder([queue commandBuffer]) setBuffer:x offset:0 atIndex:31]; }

static void no_pipeline(void) { dispatch(encoder([queue commandBuffer]), 1, 32); }

static void too_many_threads(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	[e setComputePipelineState:pipeline("beyond")];
	[e setBuffer:y offset:0 atIndex:0];
	dispatch(e, 1, 64);
}

static void no_groups(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	bind(e, x, y);
	dispatch(e, 0, 32);
}

static void commit_twice(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	[commands commit];
	[commands commit];
}

static void commit_open(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	encoder(commands);
	[commands commit];
}

static void two_encoders(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	encoder(commands);
	encoder(commands);
}

static void end_twice(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	[e endEncoding];
	[e endEncoding];
}

static void encoder_dropped(void) {
	@autoreleasepool {
		encoder([queue commandBuffer]);
	}
}

static void handler_late(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	[commands commit];
	[commands addCompletedHandler:^(id<MTLCommandBuffer> c) {
		(void)c;
	}];
}

static void handler_without_pool(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	[commands addCompletedHandler:^(id<MTLCommandBuffer> c) {
		(void)c;
		[NSString stringWithUTF8String:"on a thread of Metal's"];
	}];
	[commands commit];
	[commands waitUntilCompleted];
	usleep(1000000);
}

static void wait_early(void) { [[queue commandBuffer] waitUntilCompleted]; }

static id<MTLCommandBuffer> unretained(void) {
	MTLCommandBufferDescriptor *what = [[[MTLCommandBufferDescriptor alloc] init] autorelease];
	[what setRetainedReferences:NO];
	return [queue commandBufferWithDescriptor:what];
}

static void use_after_release(void) {
	id<MTLCommandBuffer> commands = unretained();
	id<MTLComputeCommandEncoder> e = encoder(commands);
	bind(e, x, y);
	dispatch(e, 2, 32);
	[y release];
	finish(commands, e);
}

static void bind_after_release(void) {
	id<MTLComputeCommandEncoder> e = encoder([queue commandBuffer]);
	uintptr_t gone = (uintptr_t)y;
	[y release];
	[e setBuffer:(id)gone offset:0 atIndex:0];
}

static void release_twice(void) {
	[z retain];
	[z release];
	[z release];
	[z release];
}

static void private_contents(void) { [[device newBufferWithLength:64 options:MTLResourceStorageModePrivate] contents]; }

static void empty_buffer(void) { [device newBufferWithLength:0 options:MTLResourceStorageModeShared]; }

static void missing_barrier(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	id<MTLComputeCommandEncoder> e = encoder(commands);
	bind(e, x, y);
	dispatch(e, 2, 32);
	bind(e, y, z);
	dispatch(e, 2, 32);
	finish(commands, e);
}

static void missing_barrier_to_write(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	id<MTLComputeCommandEncoder> e = encoder(commands);
	bind(e, x, y);
	dispatch(e, 2, 32);
	bind(e, z, x);
	dispatch(e, 2, 32);
	finish(commands, e);
}

static void missing_fence(void) {
	for (int i = 0; i < 2; i++) {
		id<MTLCommandBuffer> commands = [queue commandBuffer];
		id<MTLComputeCommandEncoder> e = encoder(commands);
		bind(e, i == 0 ? x : y, i == 0 ? y : z);
		dispatch(e, 2, 32);
		[e endEncoding];
		[commands commit];
		if (i == 1) [commands waitUntilCompleted];
	}
}

static void out_of_bounds(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	id<MTLComputeCommandEncoder> e = encoder(commands);
	[e setComputePipelineState:pipeline("beyond")];
	[e setBuffer:y offset:0 atIndex:0];
	dispatch(e, 3, 32);
	finish(commands, e);
}

static void fast_math(void) {
	NSError *err = nil;
	[device newLibraryWithSource:[NSString stringWithUTF8String:source] options:nil error:&err];
}

static void blit_of_bytes(void) {
	id<MTLBlitCommandEncoder> e = [[queue commandBuffer] blitCommandEncoder];
	[e copyFromBuffer:x sourceOffset:1 toBuffer:y destinationOffset:0 size:8];
}

static void tracked_heap(void) {
	MTLHeapDescriptor *what = [[[MTLHeapDescriptor alloc] init] autorelease];
	[what setSize:4096];
	[what setHazardTrackingMode:MTLHazardTrackingModeTracked];
	[device newHeapWithDescriptor:what];
}

static void heap_storage(void) {
	MTLHeapDescriptor *what = [[[MTLHeapDescriptor alloc] init] autorelease];
	[what setSize:4096];
	[what setStorageMode:MTLStorageModePrivate];
	[[device newHeapWithDescriptor:what] newBufferWithLength:64 options:MTLResourceStorageModeShared];
}

static void array_beyond(void) { [MTLCopyAllDevices() objectAtIndex:7]; }

static void event_in_encoder(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	encoder(commands);
	[commands encodeSignalEvent:[device newEvent] value:1];
}

static void event_shrinks(void) {
	id<MTLEvent> event = [device newEvent];
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	[commands encodeSignalEvent:event value:2];
	[commands encodeWaitForEvent:event value:1];
	[commands encodeSignalEvent:event value:2];
	[commands commit];
	[commands waitUntilCompleted];
}

/* A matrix in a buffer. */
static MPSMatrix *matrix(id<MTLBuffer> in, NSUInteger offset, NSUInteger rows, NSUInteger columns, NSUInteger row, MPSDataType type) {
	MPSMatrixDescriptor *what = [NSClassFromString(@"MPSMatrixDescriptor") matrixDescriptorWithRows:rows columns:columns matrices:1 rowBytes:row matrixBytes:rows * row dataType:type];
	return [[[NSClassFromString(@"MPSMatrix") alloc] initWithBuffer:in offset:offset descriptor:what] autorelease];
}

static MPSMatrix *square(id<MTLBuffer> in) { return matrix(in, 0, 4, 4, 16, MPSDataTypeFloat32); }

/* z = x · x */
static void multiply(id<MTLCommandBuffer> commands, MPSMatrix *from, MPSMatrix *to) {
	MPSMatrixMultiplication *m = [[[NSClassFromString(@"MPSMatrixMultiplication") alloc] initWithDevice:device transposeLeft:NO transposeRight:NO resultRows:4 resultColumns:4 interiorColumns:4 alpha:1 beta:0] autorelease];
	[m encodeToCommandBuffer:commands leftMatrix:from rightMatrix:from resultMatrix:to];
}

/* z = y · y, where y = 2 x, in one command buffer, parted by an event or by nothing. */
static void multiply_twice(int parted) {
	id<MTLEvent> event = [device newEvent];
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	id<MTLComputeCommandEncoder> e = encoder(commands);
	bind(e, x, y);
	dispatch(e, 2, 32);
	[e endEncoding];
	if (parted) {
		[commands encodeSignalEvent:event value:1];
		[commands encodeWaitForEvent:event value:1];
	}
	multiply(commands, square(y), square(z));
	[commands commit];
	[commands waitUntilCompleted];
}

static void product_right(void) {
	multiply_twice(1);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			float sum = 0;
			for (int k = 0; k < 4; k++) sum += 4 * (float)(4 * i + k) * (float)(4 * k + j);
			if (((float *)[z contents])[4 * i + j] != sum) exit(3);
		}
}

static void product_unordered(void) { multiply_twice(0); }

static void product_in_encoder(void) {
	id<MTLCommandBuffer> commands = [queue commandBuffer];
	encoder(commands);
	multiply(commands, square(x), square(z));
}

static void product_of_short_rows(void) { matrix(x, 0, 4, 4, 12, MPSDataTypeFloat32); }

static void product_of_odd_rows(void) { multiply([queue commandBuffer], matrix(x, 0, 4, 4, 20, MPSDataTypeFloat32), square(z)); }

static void product_at_odd_offset(void) { multiply([queue commandBuffer], matrix(x, 8, 4, 4, 16, MPSDataTypeFloat32), square(z)); }

static void product_beyond(void) { matrix(x, 224, 4, 4, 16, MPSDataTypeFloat32); }

static void product_too_small(void) { multiply([queue commandBuffer], matrix(x, 0, 4, 3, 16, MPSDataTypeFloat32), square(z)); }

static void product_of_types(void) { multiply([queue commandBuffer], matrix(x, 0, 4, 4, 16, MPSDataTypeFloat16), square(z)); }

static void product_of_bfloat(void) { matrix(x, 0, 4, 4, 16, MPSDataTypeBFloat16); }

static void not_in_software(void) { [device newSharedEvent]; }

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(right), CASE(unset_argument), CASE(argument_too_short), CASE(offset_beyond), CASE(offset_misaligned), CASE(bytes_too_many),
    CASE(index_beyond), CASE(no_pipeline), CASE(too_many_threads), CASE(no_groups), CASE(commit_twice), CASE(commit_open),
    CASE(two_encoders), CASE(end_twice), CASE(encoder_dropped), CASE(handler_late), CASE(handler_without_pool), CASE(wait_early),
    CASE(use_after_release), CASE(bind_after_release), CASE(release_twice), CASE(private_contents), CASE(empty_buffer),
    CASE(missing_barrier), CASE(missing_barrier_to_write), CASE(missing_fence), CASE(out_of_bounds), CASE(fast_math),
    CASE(blit_of_bytes), CASE(tracked_heap), CASE(heap_storage), CASE(array_beyond), CASE(not_in_software),
    CASE(event_in_encoder), CASE(event_shrinks), CASE(product_right), CASE(product_unordered), CASE(product_in_encoder),
    CASE(product_of_short_rows), CASE(product_of_odd_rows), CASE(product_at_odd_offset), CASE(product_beyond), CASE(product_too_small),
    CASE(product_of_types), CASE(product_of_bfloat),
};

static void no_pool(void) { [NSString stringWithUTF8String:"no pool"]; }

static void pools_crossed(void) {
	NSAutoreleasePool *a = [[NSAutoreleasePool alloc] init];
	[[NSAutoreleasePool alloc] init];
	[a drain];
}

int main(int argc, char **argv) {
	if (argc != 2) return 2;
	if (strcmp(argv[1], "no_pool") == 0) no_pool();
	if (strcmp(argv[1], "pools_crossed") == 0) pools_crossed();
	@autoreleasepool {
		prepare();
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
			if (strcmp(cases[i].name, argv[1]) == 0) {
				cases[i].run();
				return 0;
			}
	}
	return 2;
}
