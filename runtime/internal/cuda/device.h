/* A card: its memory, its modules, and the programs that run on it. Every function
 * may be called on any thread. Addresses on the card are uint64_t here. */
#ifndef KGEN_CUDA_DEVICE_H
#define KGEN_CUDA_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include "driver.h"

/* KGC_ALIGNMENT is that of the operands of products: the same for all, so that a product
 * has one algorithm, and its result the same bits, wherever its operands lie.
 * KGC_HISTORY is how many of the last programs are remembered: more than are ever in
 * flight. KGC_AFTER is the most programs that one may depend on. */
enum { KGC_HISTORY = 512, KGC_AFTER = 256, KGC_STAGE = 4 << 20, KGC_WORKSPACE = 32 << 20, KGC_ALIGNMENT = 16 };

/* What a call of the driver returned: its name and a CUresult, 0 for success. */
typedef struct kgc_status {
	const char *call;
	int32_t code;
} kgc_status;

/* The fault word, as in the kernels of the CPU. */
typedef struct kg_fault {
	int32_t lock, set, op, tensor;
	int64_t pos, value, bound;
} kg_fault;

/* What a parameter buffer begins with, and what its last part is. Between them lie
 * the table of addresses and the parameter blocks. kernels.cu has both structs too. */
typedef struct kgc_head {
	uint64_t seq;
	int64_t nafter;
	uint64_t after[KGC_AFTER];
} kgc_head;

typedef struct kgc_state {
	kg_fault fault;
	int32_t skipped, unused;
} kgc_state;

/* A matrix product of cuBLASLt, column-major: out = left·right. */
typedef struct kgc_product {
	void *desc, *left, *right, *out;
	cublasLtMatmulAlgo_t algo;
} kgc_product;

/* A command: a kernel, with the offsets of its addresses and of its block in the
 * parameter buffer. */
typedef struct kgc_cmd {
	void *fn;
	kgc_product *product;                       /* in the place of a kernel */
	int32_t left_at, right_at, out_at, bias_at; /* its addresses among the command's; bias_at may be negative */
	uint32_t grid[3], threads;
	int32_t op;
	bool early; /* the kernel waits itself for those before it, and may begin before their end */
	int64_t buf, block;
} kgc_cmd;

/* One run of a program at a time. host is the pinned twin of the parameter buffer
 * dev; what lies before the offset state is copied to the card when a run begins, the
 * kgc_state there back when it ends. */
typedef struct kgc_program {
	char *host;
	uint64_t dev;
	int64_t state;
	void *graph;   /* of a run, from the second on */
	int32_t ran;   /* it ran once */
	int32_t plain; /* it cannot be captured */
	uint64_t *seen; /* the addresses of its products in the last run, which a graph holds */
	void **event;  /* of a timed program: the base, the beginning, each command's end */
	int64_t nevent;
	int64_t base; /* kgc_now a little before event[0] */
	kgc_status status;
} kgc_program;

typedef struct kgc_device {
	kgc_driver cu;
	kgc_nvrtc rtc;
	kgc_lt lt;
	char why[256]; /* a library cannot be used */
	CUdevice dev;
	CUcontext ctx;
	int32_t major, minor, version, pools;
	int32_t rtc_major, rtc_minor;
	CUstream run, copy, mem; /* programs, transfers, allocation */
	CUfunction begin, end;
	void *products;        /* the handle of cuBLASLt, NULL without it */
	CUdeviceptr workspace; /* of its kernels */
	CUdeviceptr failed; /* int32_t[KGC_HISTORY], by seq: the program failed */

	pthread_mutex_t mu;
	pthread_cond_t turn;
	uint64_t submitted;        /* the last program on the stream */
	CUevent done[KGC_HISTORY]; /* by seq: the program is complete */
	int64_t replays;

	pthread_mutex_t stage_mu;
	char *stage[2];
	CUevent staged[2]; /* the piece may be used again */
} kgc_device;

/* NULL if memory is out. */
kgc_device *kgc_new(void);

/* Opens a library; on failure it returns 0 and d->why says why. */
int32_t kgc_load_driver(kgc_device *d, const char *path);
int32_t kgc_load_nvrtc(kgc_device *d, const char *path);

/* Opens cuBLASLt for a card that is open, and takes memory for it. */
int32_t kgc_load_lt(kgc_device *d, const char *path);

/* A product of row-major matrices, as in package backend; type is a cudaDataType, compute
 * a cublasComputeType_t. NULL if the library has none. */
kgc_product *kgc_new_product(kgc_device *d, int32_t type, int64_t batch, int64_t m, int64_t n, int64_t k,
			     int32_t trans_a, int32_t trans_b, int32_t epilogue, int32_t compute);
void kgc_free_product(kgc_device *d, kgc_product *p);

/* Puts a product of a run on the stream. */
kgc_status kgc_multiply(kgc_device *d, const kgc_cmd *c, const uint64_t *addresses);

/* Opens a card. After a failure kgc_close is still due. */
kgc_status kgc_open(kgc_device *d, int32_t ordinal);

/* The kernels that begin and end a run. */
void kgc_set_frame(kgc_device *d, void *begin, void *end);

void kgc_close(kgc_device *d);

/* The name of a CUresult and what it means. */
const char *kgc_error_name(kgc_device *d, int32_t code);
const char *kgc_error_text(kgc_device *d, int32_t code);

/* Memory on the card, aligned to 256 bytes. Neither call waits for programs. */
kgc_status kgc_alloc(kgc_device *d, int64_t bytes, uint64_t *p);
void kgc_free(kgc_device *d, uint64_t p);

/* A pinned piece of host memory and one on the card. */
kgc_status kgc_alloc_twins(kgc_device *d, int64_t bytes, void **host, uint64_t *dev);
void kgc_free_twins(kgc_device *d, void *host, uint64_t dev);

/* Copies that are done when they return and do not wait for programs. */
kgc_status kgc_upload(kgc_device *d, uint64_t dst, const void *src, int64_t n);
kgc_status kgc_download(kgc_device *d, void *dst, uint64_t src, int64_t n);

/* Compiles CUDA C++. *out is what came of it, a cubin of *n bytes or the log, for the
 * caller to free. It returns a nvrtcResult. */
int32_t kgc_compile(kgc_device *d, const char *source, const char *name, char **option, int32_t noption, void **out,
		    int64_t *n);
const char *kgc_compile_error(kgc_device *d, int32_t code);

kgc_status kgc_load_module(kgc_device *d, const void *cubin, void **module);
/* A kernel, and the most threads that a block of it may have. */
kgc_status kgc_function(kgc_device *d, void *module, const char *name, void **fn, int32_t *threads);
void kgc_unload_module(kgc_device *d, void *module);

/* Puts a program on the stream, when the one before it is there. What fails is noted
 * in p->status. */
void kgc_submit(kgc_device *d, kgc_program *p, const kgc_cmd *cmd, int64_t n, uint64_t seq);

/* Waits until a program is complete, and returns what failed. */
kgc_status kgc_wait(kgc_device *d, kgc_program *p, uint64_t seq);

/* Waits for it, but no longer than ns nanoseconds. Returns 1 if it is complete. */
int32_t kgc_await(kgc_device *d, uint64_t seq, int64_t ns);

/* Makes the runs of a program of n commands timed. */
kgc_status kgc_time(kgc_device *d, kgc_program *p, int64_t n);
void kgc_untime(kgc_device *d, kgc_program *p);

/* When a timed run began and when each command ended, as of kgc_now: nevent-1 times. */
void kgc_times(kgc_device *d, kgc_program *p, int64_t *out);

/* Releases what a program has beside its parameter buffer. */
void kgc_release(kgc_device *d, kgc_program *p);

int64_t kgc_replays(kgc_device *d);

/* Nanoseconds of the system's monotonic clock. */
int64_t kgc_now(void);

/* Leaves the function with the status of a driver call that fails. */
#define KGC_TRY(call, ...)                                                                                             \
	do {                                                                                                           \
		CUresult result_ = d->cu.call(__VA_ARGS__);                                                            \
		if (result_ != CUDA_SUCCESS) return (kgc_status){#call, result_};                                      \
	} while (0)

#define KGC_OK ((kgc_status){NULL, CUDA_SUCCESS})

#endif
