/* What instances of the classes that the headers declare hold: the ABI of GNU's
 * Objective-C wants it in the declaration. */
#pragma once

#include <pthread.h>

#define IVARS_NSAutoreleasePool NSAutoreleasePool *_below; id *_objects; size_t _count, _room;

#define IVARS_NSArray id *_objects; NSUInteger _count;

#define IVARS_NSDictionary NSArray *_keys, *_objects;

#define IVARS_NSError NSString *_domain; NSInteger _code; NSDictionary *_info;

#define IVARS_NSURL NSString *_path;

#define IVARS_MTLHeapDescriptor NSUInteger _size; MTLStorageMode _storage; MTLHazardTrackingMode _hazard;

#define IVARS_MTLCompileOptions MTLMathMode _math; BOOL _fast; MTLLanguageVersion _version; MTLMathFloatingPointFunctions _functions;

#define IVARS_MTLCommandBufferDescriptor BOOL _retains; MTLCommandBufferErrorOption _options;

#define IVARS_MTLCaptureDescriptor id _object; MTLCaptureDestination _destination; NSURL *_url;

#define IVARS_MPSKernel id<MTLDevice> _device; NSString *_label;

#define IVARS_MPSMatrixDescriptor NSUInteger _rows, _columns, _matrices, _row, _matrix; MPSDataType _type;

#define IVARS_MPSMatrix id<MTLBuffer> _buffer; NSUInteger _offset; MPSMatrixDescriptor *_what;

#define IVARS_MPSMatrixMultiplication BOOL _left, _right; NSUInteger _m, _n, _k, _batch; double _alpha, _beta;

#define IVARS_MTLCaptureManager BOOL _capturing;
