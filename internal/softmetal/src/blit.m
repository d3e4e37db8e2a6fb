/* Encoders of copies. */
#include "commands.h"

@implementation SoftBlitEncoder
- (binding)bind:(id<MTLBuffer>)buffer offset:(NSUInteger)offset size:(NSUInteger)size {
	if (buffer == nil || soft_serial(buffer) == 0) soft_violation("a blit with nil or a buffer that was released");
	NSUInteger length = ((SoftBuffer *)buffer)->_length;
	if (offset > length || size > length - offset) soft_violation("a blit of %lu bytes at offset %lu of a buffer of %lu", (unsigned long)size, (unsigned long)offset, (unsigned long)length);
	if (offset % 4 != 0 || size % 4 != 0) soft_violation("a blit of %lu bytes at offset %lu: multiples of 4 are possible", (unsigned long)size, (unsigned long)offset);
	[_commands keep:buffer];
	return (binding){soft_use_of(buffer), offset, NULL, size};
}
- (void)copyFromBuffer:(id<MTLBuffer>)from sourceOffset:(NSUInteger)source toBuffer:(id<MTLBuffer>)to destinationOffset:(NSUInteger)destination size:(NSUInteger)size {
	[self check:"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"];
	if (size == 0) soft_violation("a blit of 0 bytes");
	binding t = [self bind:to offset:destination size:size], f = [self bind:from offset:source size:size];
	op *o = [_commands add:OpCopy];
	o->length = size;
	o->bind = calloc(2, sizeof *o->bind);
	if (o->bind == NULL) abort();
	o->bind[0] = t;
	o->bind[1] = f;
}
@end
