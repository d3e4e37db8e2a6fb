/* What all encoders do. */
#include "commands.h"

@implementation SoftEncoder
- (void)check:(const char *)what {
	if (_ended) soft_violation("-[encoder %s] after endEncoding", what);
}
- (void)endEncoding {
	[self check:"endEncoding"];
	_ended = 1;
	[_commands add:OpEnd];
	_commands->_open = 0;
}
- (void)setLabel:(NSString *)label {
	free(_begin->text);
	_begin->text = label == nil ? NULL : strdup([label UTF8String]);
}
- (void)insertDebugSignpost:(NSString *)name {
	[self check:"insertDebugSignpost:"];
	if (name == nil) soft_violation("-[encoder insertDebugSignpost:] of nil");
	[_commands add:OpSignpost]->text = strdup([name UTF8String]);
}
- (void)dealloc {
	if (!_ended) soft_violation("an encoder is released without endEncoding");
	[_commands release];
	[super dealloc];
}
@end
