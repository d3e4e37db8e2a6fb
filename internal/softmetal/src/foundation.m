/* The part of Foundation that the bridge and the software Metal use. */
#include "soft.h"

#include <stdarg.h>

void soft_violation(const char *format, ...) {
	va_list list;
	va_start(list, format);
	fputs("softmetal: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	abort();
}

/* What lies before an object. */
typedef struct head {
	long count;
	uint64_t serial;
	struct head *next, *prev; /* of those that live and have their place in the table */
} head;

/* All objects that live, by address. */
enum { PLACES = 4096 };
static pthread_mutex_t all_mu = PTHREAD_MUTEX_INITIALIZER;
static head *all[PLACES];
static uint64_t serials;
static int64_t live;

static head *head_of(id object) { return (head *)(void *)object - 1; }

static head **place_of(const head *h) { return &all[(uintptr_t)h / 16 % PLACES]; }

static void enlist(head *h) {
	pthread_mutex_lock(&all_mu);
	head **first = place_of(h);
	h->serial = ++serials;
	h->next = *first;
	if (h->next != NULL) h->next->prev = h;
	*first = h;
	live++;
	pthread_mutex_unlock(&all_mu);
}

static void strike(head *h) {
	pthread_mutex_lock(&all_mu);
	if (h->prev == NULL)
		*place_of(h) = h->next;
	else
		h->prev->next = h->next;
	if (h->next != NULL) h->next->prev = h->prev;
	live--;
	pthread_mutex_unlock(&all_mu);
}

uint64_t soft_serial(id object) {
	if (object == nil) return 0;
	uint64_t serial = 0;
	pthread_mutex_lock(&all_mu);
	for (head *h = *place_of(head_of(object)); h != NULL && serial == 0; h = h->next)
		if (h == head_of(object)) serial = h->serial;
	pthread_mutex_unlock(&all_mu);
	return serial;
}

int64_t soft_live_objects(void) {
	pthread_mutex_lock(&all_mu);
	int64_t n = live;
	pthread_mutex_unlock(&all_mu);
	return n;
}

@implementation NSObject
+ (void)initialize {
}
+ (instancetype)alloc {
	head *h = calloc(1, sizeof *h + class_getInstanceSize(self));
	if (h == NULL) abort();
	h->count = 1;
	NSObject *object = (id)(void *)(h + 1);
	object->isa = self;
	enlist(h);
	return object;
}
+ (instancetype)new {
	return [[self alloc] init];
}
+ (Class)class {
	return self;
}
- (instancetype)init {
	return self;
}
- (Class)class {
	return isa;
}
- (instancetype)self {
	return self;
}
- (void)dealloc {
	head *h = head_of(self);
	strike(h);
	free(h);
}
- (instancetype)retain {
	if (__atomic_fetch_add(&head_of(self)->count, 1, __ATOMIC_RELAXED) < 1) soft_violation("-[%s retain] of an object that is being released", class_getName(isa));
	return self;
}
- (void)release {
	long before = __atomic_fetch_sub(&head_of(self)->count, 1, __ATOMIC_ACQ_REL);
	if (before < 1) soft_violation("-[%s release] more often than it was retained", class_getName(isa));
	if (before == 1) [self dealloc];
}
- (NSUInteger)retainCount {
	return (NSUInteger)__atomic_load_n(&head_of(self)->count, __ATOMIC_RELAXED);
}
- (instancetype)autorelease {
	[NSAutoreleasePool addObject:self];
	return self;
}
- (BOOL)isEqual:(id)other {
	return self == other;
}
- (NSUInteger)hash {
	return (NSUInteger)(uintptr_t)self;
}
- (BOOL)isKindOfClass:(Class)c {
	for (Class k = isa; k != Nil; k = class_getSuperclass(k))
		if (k == c) return YES;
	return NO;
}
- (BOOL)respondsToSelector:(SEL)s {
	return class_respondsToSelector(isa, s);
}
- (NSString *)description {
	return soft_string("<%s %p>", class_getName(isa), (void *)self);
}
- (void)doesNotRecognizeSelector:(SEL)s {
	soft_violation("-[%s %s]: unrecognized selector", class_getName(isa), sel_getName(s));
}
/* The runtime of GNU sends this where a method is missing. */
- (void)forward:(SEL)s :(void *)arguments {
	(void)arguments;
	[self doesNotRecognizeSelector:s];
}
@end

/* A pool of objects to be released when it is drained. Pools are a stack of their thread. */
@implementation NSAutoreleasePool
static __thread NSAutoreleasePool *top;
- (instancetype)init {
	_below = top;
	top = self;
	return self;
}
+ (void)addObject:(id)object {
	if (top == nil) soft_violation("an object of class %s is autoreleased on a thread without a pool, and leaks", class_getName([object class]));
	[top addObject:object];
}
- (void)addObject:(id)object {
	if (_count == _room) {
		_room = _room == 0 ? 16 : _room * 2;
		_objects = realloc(_objects, _room * sizeof *_objects);
		if (_objects == NULL) abort();
	}
	_objects[_count++] = object;
}
- (void)drain {
	[self release];
}
- (instancetype)autorelease {
	soft_violation("a pool is autoreleased");
}
- (void)dealloc {
	if (top != self) soft_violation("a pool is drained that is not the last one made on this thread");
	while (_count > 0) [_objects[--_count] release];
	free(_objects);
	top = _below;
	[super dealloc];
}
@end

@implementation NSString
- (const char *)UTF8String {
	return "";
}
+ (instancetype)stringWithUTF8String:(const char *)text {
	return (id)soft_string("%s", text);
}
- (NSUInteger)length {
	return strlen([self UTF8String]);
}
- (BOOL)isEqualToString:(NSString *)other {
	return other != nil && strcmp([self UTF8String], [other UTF8String]) == 0;
}
- (BOOL)isEqual:(id)other {
	return self == other || ([other isKindOfClass:[NSString class]] && [self isEqualToString:other]);
}
- (NSString *)description {
	return self;
}
@end

/* What the compiler makes of @"…". */
@interface NSConstantString : NSString {
	char *_text;
	unsigned int _length;
}
@end
@implementation NSConstantString
- (const char *)UTF8String {
	return _text;
}
- (instancetype)retain {
	return self;
}
- (void)release {
}
- (instancetype)autorelease {
	return self;
}
- (void)dealloc {
	return;
	[super dealloc];
}
@end

@interface SoftString : NSString {
@public
	char *_text;
}
@end
@implementation SoftString
- (const char *)UTF8String {
	return _text;
}
- (void)dealloc {
	free(_text);
	[super dealloc];
}
@end

static NSString *format_string(const char *format, va_list list) {
	SoftString *s = [[[SoftString alloc] init] autorelease];
	if (vasprintf(&s->_text, format, list) < 0) abort();
	return s;
}

NSString *soft_string(const char *format, ...) {
	va_list list;
	va_start(list, format);
	NSString *s = format_string(format, list);
	va_end(list);
	return s;
}

@implementation NSArray
- (instancetype)initWithObjects:(const id *)objects count:(NSUInteger)n {
	_objects = calloc(n + 1, sizeof *_objects);
	if (_objects == NULL) abort();
	for (_count = 0; _count < n; _count++) _objects[_count] = [objects[_count] retain];
	return self;
}
+ (instancetype)arrayWithObjects:(const id *)objects count:(NSUInteger)n {
	return [[[self alloc] initWithObjects:objects count:n] autorelease];
}
- (NSUInteger)count {
	return _count;
}
- (id)objectAtIndex:(NSUInteger)i {
	if (i >= _count) soft_violation("NSRangeException: object %lu of an array of %lu", i, _count);
	return _objects[i];
}
- (void)dealloc {
	for (NSUInteger i = 0; i < _count; i++) [_objects[i] release];
	free(_objects);
	[super dealloc];
}
@end

@implementation NSDictionary
- (instancetype)initWithObjects:(const id *)objects forKeys:(const id *)keys count:(NSUInteger)n {
	_keys = [[NSArray alloc] initWithObjects:keys count:n];
	_objects = [[NSArray alloc] initWithObjects:objects count:n];
	return self;
}
+ (instancetype)dictionaryWithObjects:(const id *)objects forKeys:(const id *)keys count:(NSUInteger)n {
	return [[[self alloc] initWithObjects:objects forKeys:keys count:n] autorelease];
}
- (NSUInteger)count {
	return [_keys count];
}
- (id)objectForKey:(id)key {
	for (NSUInteger i = 0; i < [_keys count]; i++)
		if ([[_keys objectAtIndex:i] isEqual:key]) return [_objects objectAtIndex:i];
	return nil;
}
- (void)dealloc {
	[_keys release];
	[_objects release];
	[super dealloc];
}
@end

NSString *const NSLocalizedDescriptionKey = @"NSLocalizedDescription";

@implementation NSError
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)info {
	NSError *e = [[[self alloc] init] autorelease];
	e->_domain = [domain retain];
	e->_code = code;
	e->_info = [info retain];
	return e;
}
- (NSErrorDomain)domain {
	return _domain;
}
- (NSInteger)code {
	return _code;
}
- (NSDictionary *)userInfo {
	return _info;
}
- (NSString *)localizedDescription {
	return [_info objectForKey:NSLocalizedDescriptionKey];
}
- (void)dealloc {
	[_domain release];
	[_info release];
	[super dealloc];
}
@end

NSError *soft_error(NSString *domain, NSInteger code, const char *format, ...) {
	va_list list;
	va_start(list, format);
	id text = format_string(format, list), key = NSLocalizedDescriptionKey;
	va_end(list);
	return [NSError errorWithDomain:domain code:code userInfo:[NSDictionary dictionaryWithObjects:&text forKeys:&key count:1]];
}

/* The system is macOS 14, whose language is Metal 3.1. */
@implementation NSProcessInfo
static NSProcessInfo *process_info;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static void make_process_info(void) { process_info = [[NSProcessInfo alloc] init]; }
+ (NSProcessInfo *)processInfo {
	pthread_once(&process_once, make_process_info);
	return process_info;
}
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version {
	return version.majorVersion <= 14;
}
@end

Class NSClassFromString(NSString *name) { return objc_lookUpClass([name UTF8String]); }

@implementation NSURL
+ (instancetype)fileURLWithPath:(NSString *)path {
	NSURL *u = [[[self alloc] init] autorelease];
	u->_path = [path retain];
	return u;
}
- (NSString *)path {
	return _path;
}
- (void)dealloc {
	[_path release];
	[super dealloc];
}
@end
