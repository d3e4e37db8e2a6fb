#include "metal.h"

/* Captures are files of Apple's tools: here the rules of starting and ending one hold, and
 * the file says what it is. */
NSString *const MTLCaptureErrorDomain = @"MTLCaptureErrorDomain";

@implementation MTLCaptureDescriptor
- (void)setCaptureObject:(id)object {
	_object = object;
}
- (id)captureObject {
	return _object;
}
- (void)setDestination:(MTLCaptureDestination)destination {
	_destination = destination;
}
- (MTLCaptureDestination)destination {
	return _destination;
}
- (void)setOutputURL:(NSURL *)url {
	[url retain];
	[_url release];
	_url = url;
}
- (NSURL *)outputURL {
	return _url;
}
- (void)dealloc {
	[_url release];
	[super dealloc];
}
@end

@implementation MTLCaptureManager
static MTLCaptureManager *manager;
static pthread_once_t manager_once = PTHREAD_ONCE_INIT;
static void make_manager(void) { manager = [[MTLCaptureManager alloc] init]; }
+ (MTLCaptureManager *)sharedCaptureManager {
	pthread_once(&manager_once, make_manager);
	return manager;
}
- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
	const char *on = getenv("MTL_CAPTURE_ENABLED");
	return destination == MTLCaptureDestinationGPUTraceDocument && on != NULL && strcmp(on, "1") == 0;
}
- (BOOL)isCapturing {
	return _capturing;
}
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)what error:(NSError **)error {
	if (_capturing || [what captureObject] == nil || [what outputURL] == nil) {
		if (error != NULL) *error = soft_error(MTLCaptureErrorDomain, _capturing ? MTLCaptureErrorAlreadyCapturing : MTLCaptureErrorInvalidDescriptor, "%s", _capturing ? "a capture runs already" : "a capture needs an object and an URL");
		return NO;
	}
	FILE *f = fopen([[[what outputURL] path] UTF8String], "wx");
	if (f == NULL) {
		if (error != NULL) *error = soft_error(MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor, "%s cannot be made", [[[what outputURL] path] UTF8String]);
		return NO;
	}
	fputs("a capture of the software Metal, which records nothing\n", f);
	fclose(f);
	_capturing = YES;
	return YES;
}
- (void)stopCapture {
	if (!_capturing) soft_violation("-[MTLCaptureManager stopCapture] without a capture");
	_capturing = NO;
}
@end
