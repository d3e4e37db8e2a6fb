//go:build darwin

/* Matrix products by MetalPerformanceShaders. The framework is opened when it is asked for:
 * a program runs without it. It encodes with encoders of its own, which wait for no fence,
 * and memory is not tracked: so an event parts them from the others. */
#include "device.h"

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include <dlfcn.h>
#include <stdlib.h>

#ifndef KGM_MPS
#define KGM_MPS "/System/Library/Frameworks/MetalPerformanceShaders.framework/MetalPerformanceShaders"
#endif

struct kgm_product {
	MPSMatrixMultiplication *kernel;
	MPSMatrixDescriptor *a, *b, *c;
};

int32_t kgm_open_products(kgm_device *d, kgm_error *e) {
	@autoreleasepool {
		if (d->event != nil) return 1;
		void *framework = dlopen(KGM_MPS, RTLD_LAZY | RTLD_LOCAL);
		if (framework == NULL) {
			kgm_fail(e, dlerror(), nil);
			return 0;
		}
		BOOL (*supports)(id<MTLDevice>) = (BOOL(*)(id<MTLDevice>))dlsym(framework, "MPSSupportsMTLDevice");
		d->matrix = NSClassFromString(@"MPSMatrix");
		d->descriptor = NSClassFromString(@"MPSMatrixDescriptor");
		d->multiplication = NSClassFromString(@"MPSMatrixMultiplication");
		if (supports == NULL || d->matrix == Nil || d->descriptor == Nil || d->multiplication == Nil) {
			kgm_fail(e, "the framework has no MPSMatrixMultiplication", nil);
			return 0;
		}
		if (!supports(d->dev)) {
			kgm_fail(e, "the framework does not support this GPU", nil);
			return 0;
		}
		d->event = [d->dev newEvent];
		if (d->event == nil) kgm_fail(e, "the device gives no event", nil);
		[d->event setLabel:@"kgen products"];
		return d->event != nil;
	}
}

/* What describes a matrix, retained. */
static MPSMatrixDescriptor *describe(kgm_device *d, const kgm_shape *s, int64_t rows, int64_t columns, int64_t row) {
	MPSDataType type = s->type == KGM_F16 ? MPSDataTypeFloat16 : MPSDataTypeFloat32;
	return [[d->descriptor matrixDescriptorWithRows:(NSUInteger)rows
						columns:(NSUInteger)columns
					       matrices:(NSUInteger)s->batch
					       rowBytes:(NSUInteger)row
					    matrixBytes:(NSUInteger)(rows * row)
					       dataType:type] retain];
}

kgm_product *kgm_new_product(kgm_device *d, const kgm_shape *s, kgm_error *e) {
	@autoreleasepool {
		kgm_product *p = calloc(1, sizeof *p);
		if (p == NULL) {
			kgm_fail(e, "no memory", nil);
			return NULL;
		}
		p->a = describe(d, s, s->trans_a ? s->k : s->m, s->trans_a ? s->m : s->k, s->row_a);
		p->b = describe(d, s, s->trans_b ? s->n : s->k, s->trans_b ? s->k : s->n, s->row_b);
		p->c = describe(d, s, s->m, s->n, s->row_c);
		p->kernel = [[d->multiplication alloc] initWithDevice:d->dev
							transposeLeft:s->trans_a ? YES : NO
						       transposeRight:s->trans_b ? YES : NO
							   resultRows:(NSUInteger)s->m
							resultColumns:(NSUInteger)s->n
						      interiorColumns:(NSUInteger)s->k
								alpha:1
								 beta:0];
		[p->kernel setBatchSize:(NSUInteger)s->batch];
		[p->kernel setLabel:@"MPSMatrixMultiplication"];
		if (p->a != nil && p->b != nil && p->c != nil && p->kernel != nil) return p;
		kgm_fail(e, "MPSMatrixMultiplication cannot be made", nil);
		kgm_free_product(p);
		return NULL;
	}
}

void kgm_free_product(kgm_product *p) {
	@autoreleasepool {
		[p->kernel release];
		[p->a release];
		[p->b release];
		[p->c release];
	}
	free(p);
}

NSString *kgm_product_label(const kgm_product *p) { return [p->kernel label]; }

void kgm_settle(kgm_device *d, id<MTLCommandBuffer> commands) {
	d->settled++;
	[commands encodeSignalEvent:d->event value:d->settled];
	[commands encodeWaitForEvent:d->event value:d->settled];
}

static MPSMatrix *at(kgm_device *d, kgm_place p, MPSMatrixDescriptor *what) {
	return [[[d->matrix alloc] initWithBuffer:(id<MTLBuffer>)p.buffer offset:(NSUInteger)p.off descriptor:what] autorelease];
}

void kgm_multiply(kgm_device *d, id<MTLCommandBuffer> commands, const kgm_product *p, kgm_place a, kgm_place b, kgm_place c) {
	[p->kernel encodeToCommandBuffer:commands leftMatrix:at(d, a, p->a) rightMatrix:at(d, b, p->b) resultMatrix:at(d, c, p->c)];
}
