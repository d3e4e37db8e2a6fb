/* What the files of the software Metal know of each other. */
#pragma once

#include "softmetal_api.h"

#include <objc/runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says which rule of Metal the program broke and ends it, as Metal's debug layer does. */
void soft_violation(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* An NSError of a domain. */
NSError *soft_error(NSString *domain, NSInteger code, const char *format, ...) __attribute__((format(printf, 3, 4)));

NSString *soft_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number of the object, which no later one has; 0 if it is none that lives. */
uint64_t soft_serial(id object);

/* Objects that live, of all classes. */
int64_t soft_live_objects(void);

/* The tables have it with keys of a type that they do not have. */
@interface NSDictionary (Soft)
- (instancetype)initWithObjects:(const id *)objects forKeys:(const id *)keys count:(NSUInteger)n;
@end
