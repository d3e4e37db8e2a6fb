/* The kernels of a compiled library: what gen/sim/include/rt/dispatch.h is, for C. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct soft_kernel {
	const void *kernel;
	const char *name;
	unsigned count, max_threads;
} soft_kernel;

typedef struct soft_argument {
	unsigned index;
	int threadgroup; /* of threadgroup memory, else of a buffer */
	int reference;   /* to one element, else a pointer to any number */
	unsigned long size; /* of an element */
} soft_argument;

/* find and run are the library's msl_find and msl_dispatch. */
int soft_kernel_find(void *find, const char *name, soft_kernel *out);
soft_argument soft_kernel_argument(const soft_kernel *k, unsigned i);
int soft_kernel_run(void *run, const soft_kernel *k, void *const *buffers, const unsigned long *sizes, const unsigned long *threadgroup,
		    const unsigned *grid, const unsigned *group);

#ifdef __cplusplus
}
#endif
