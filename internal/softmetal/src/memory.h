/* The memory of the software GPU, and what is known of who used it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Memory of whole pages, cleared; NULL if there is none. */
char *soft_take(size_t bytes);
void soft_give(char *p, size_t bytes);

/* A dispatch, as accesses are noted for it. Dispatches count from 1. */
typedef struct soft_dispatch {
	uint32_t encoder, segment; /* the barriers of a concurrent encoder part segments */
	const char *kernel;
} soft_dispatch;

/* What encoders an encoder comes after: all with a number below below, and others. */
typedef struct soft_order {
	uint32_t below;
	uint32_t *other;
	int count, room;
} soft_order;

void soft_order_add(soft_order *o, uint32_t encoder);
void soft_order_join(soft_order *o, const soft_order *more);
void soft_order_free(soft_order *o);

/* A piece of memory that a dispatch may use. */
typedef struct soft_range {
	char *from, *end;
	int tracked; /* Metal orders what uses it */
} soft_range;

/* Begins and ends a dispatch, whose accesses are watched: outside of its ranges, or not
 * ordered with those of other dispatches, they are violations. A serial encoder gives
 * each dispatch a segment of its own. One dispatch runs at a time. */
void soft_watch(soft_dispatch what, const soft_order *after, const soft_range *ranges, int count);
void soft_unwatch(void);

/* Notes accesses that no kernel makes. */
void soft_note(const char *p, size_t bytes, int write);
