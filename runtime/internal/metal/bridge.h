/* The bridge to Metal: a device, its memory, its pipelines and the programs that run on
 * it. Every function may be called on any thread, and has an autorelease pool of its
 * own; what it returns for the caller to keep is retained, and given back with the
 * function that says so. */
#ifndef KGEN_METAL_BRIDGE_H
#define KGEN_METAL_BRIDGE_H

#include <stdint.h>

/* KGM_HISTORY is how many of the last programs are remembered: more than are ever in
 * flight. KGM_AFTER is the most programs that one may depend on. KGM_ALIGN is the
 * alignment of what a program binds in its parameter buffer: what Metal asks of constant
 * memory on the GPUs of Macs, 32 bytes, and more than it asks of the others. */
enum { KGM_HISTORY = 512, KGM_AFTER = 256, KGM_ALIGN = 32 };

/* What a call of Metal reported: a text that the caller frees with kgm_free_text, NULL
 * for success, and the domain and the number of the NSError, if there was one. */
typedef struct kgm_error {
	char *text;
	char domain[64];
	int64_t code;
	int32_t memory; /* more free memory would have avoided it */
} kgm_error;

void kgm_free_text(char *text);

typedef struct kgm_device kgm_device;

/* What a device is. */
typedef struct kgm_description {
	char name[128];
	uint64_t registry;
	int64_t max_buffer, working_set, threadgroup_memory;
	int32_t unified; /* host and GPU share memory */
} kgm_description;

/* Opens a device: number 0 is the system's default one, the others follow as the system
 * lists them. NULL with an error. */
kgm_device *kgm_open(int32_t number, kgm_error *e);

/* Releases the device. No program may be queued or running, and all else that it gave
 * has been given back. */
void kgm_close(kgm_device *d);

void kgm_describe(kgm_device *d, kgm_description *out);

/* A piece of memory: an MTLBuffer, and the address that stands for it. Where the host
 * shares memory with the GPU it is that of the contents; else no memory lies there, so
 * that no other address is in its range. */
typedef struct kgm_memory {
	void *buffer, *heap;
	char *address;
	int64_t bytes;
} kgm_memory;

/* Memory for tensors. Returns 0 if there is none. */
int32_t kgm_alloc(kgm_device *d, int64_t bytes, kgm_memory *out);
void kgm_free(kgm_device *d, kgm_memory *m);

/* Memory that the host and the GPU share, cleared, for parameters. */
int32_t kgm_alloc_shared(kgm_device *d, int64_t bytes, kgm_memory *out);

/* Copies between the host and memory for tensors, from an offset of it. They are done
 * when they return, and do not wait for programs. */
void kgm_upload(kgm_device *d, const kgm_memory *m, int64_t off, const void *src, int64_t n, kgm_error *e);
void kgm_download(kgm_device *d, void *dst, const kgm_memory *m, int64_t off, int64_t n, kgm_error *e);

/* Compiles Metal source; the caller releases the library with kgm_release. */
void *kgm_compile(kgm_device *d, const char *source, const char *label, kgm_error *e);

/* A pipeline, and what the hardware makes of it. */
typedef struct kgm_pipeline {
	void *state, *label;
	int64_t max_threads, width;
} kgm_pipeline;

/* Makes the pipeline of a kernel of a library. Returns 0 with an error. */
int32_t kgm_new_pipeline(kgm_device *d, void *library, const char *name, kgm_pipeline *out, kgm_error *e);
void kgm_free_pipeline(kgm_pipeline *p);

void kgm_release(void *object);

/* Opens MetalPerformanceShaders, once. Returns 0 with an error where it cannot be used. */
int32_t kgm_open_products(kgm_device *d, kgm_error *e);

enum { KGM_F32, KGM_F16 };

/* C[batch, m, n] = A[batch, m, k] · B[batch, k, n]; with trans_a A is [batch, k, m], with
 * trans_b B is [batch, n, k]. Rows begin so many bytes apart, matrices of a batch follow
 * each other. */
typedef struct kgm_shape {
	int32_t type, trans_a, trans_b;
	int64_t batch, m, n, k, row_a, row_b, row_c;
} kgm_shape;

/* A product that MetalPerformanceShaders computes. NULL with an error. */
typedef struct kgm_product kgm_product;
kgm_product *kgm_new_product(kgm_device *d, const kgm_shape *shape, kgm_error *e);
void kgm_free_product(kgm_product *p);

/* The fault word, as in the kernels of the CPU. */
typedef struct kg_fault {
	int32_t lock, set, op, tensor;
	int64_t pos, value, bound;
} kg_fault;

/* What a parameter buffer begins with, and the state of a run, which lies before the
 * fault words. kernels.metal has these structs too. */
typedef struct kgm_head {
	uint64_t seq;
	int64_t nafter, nword;
	uint64_t after[KGM_AFTER];
} kgm_head;

typedef struct kgm_state {
	int32_t skipped, unused;
} kgm_state;

/* Where a binding of a command lies: in a memory slot of the program, or, where the
 * slot is negative, in its parameter buffer. */
typedef struct kgm_bind {
	int32_t slot, index;
	int64_t off;
} kgm_bind;

/* A command: a dispatch of threadgroups along x, y, z, with the bindings bind[first] to
 * bind[first+n-1]; or, without a pipeline, a product, whose bindings are A, B and C. Before
 * one with barrier set, and before and after a product, all that come before it end. */
typedef struct kgm_cmd {
	const kgm_pipeline *pipeline;
	int64_t first, n;
	uint32_t groups[3], threads;
	int32_t barrier;
	kgm_product *product;
} kgm_cmd;

/* A memory slot of a run. */
typedef struct kgm_place {
	void *buffer;
	int64_t off;
} kgm_place;

/* One run of a program at a time. */
typedef struct kgm_program {
	kgm_memory param;
	kgm_place *slot;
	double *ends;  /* of a timed program: its beginning on the GPU and each command's end, in seconds of kgm_now */
	int64_t nends;
	int64_t left;  /* command buffers that are not complete */
	kgm_error error;
} kgm_program;

/* Hands a program of n commands to the GPU, when the one before it is there. What fails is
 * noted in p->error. A timed program has a command buffer for each command, else it is one. */
void kgm_submit(kgm_device *d, kgm_program *p, const kgm_cmd *cmd, int64_t n, const kgm_bind *bind, uint64_t seq);

/* Waits until a program is complete. */
void kgm_wait(kgm_device *d, uint64_t seq);

/* Waits for it, but no longer than ns nanoseconds. Returns 1 if it is complete. */
int32_t kgm_await(kgm_device *d, uint64_t seq, int64_t ns);

/* Nanoseconds of the clock that Metal's times are on. */
int64_t kgm_now(void);

/* Writes what the GPU does from now on to a new .gputrace file, until kgm_end_capture. */
void kgm_begin_capture(kgm_device *d, const char *path, kgm_error *e);
void kgm_end_capture(kgm_device *d);

#endif
