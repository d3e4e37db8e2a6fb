/* A card and its memory. */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kgc_device *kgc_new(void) {
	kgc_device *d = calloc(1, sizeof *d);
	if (d == NULL) return NULL;
	pthread_mutex_init(&d->mu, NULL);
	pthread_cond_init(&d->turn, NULL);
	pthread_mutex_init(&d->stage_mu, NULL);
	return d;
}

/* The library at path; NULL with a reason. It stays open: a driver does not unload. */
static void *open_library(kgc_device *d, const char *path) {
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		const char *why = dlerror();
		snprintf(d->why, sizeof d->why, "%s", why != NULL ? why : path);
	}
	return lib;
}

/* Sets a pointer to a function, which C has no conversion for. */
static int32_t find(kgc_device *d, void *lib, const char *path, const char *symbol, void *field) {
	void *p = dlsym(lib, symbol);
	if (p == NULL) {
		snprintf(d->why, sizeof d->why, "%s has no %s: it is too old", path, symbol);
		return 0;
	}
	memcpy(field, &p, sizeof p);
	return 1;
}

int32_t kgc_load_driver(kgc_device *d, const char *path) {
	void *lib = open_library(d, path);
	if (lib == NULL) return 0;
#define FIND(name, symbol, params)                                                                                     \
	if (!find(d, lib, path, symbol, &d->cu.name)) return 0;
	KGC_DRIVER(FIND)
#undef FIND
	return 1;
}

int32_t kgc_load_nvrtc(kgc_device *d, const char *path) {
	void *lib = open_library(d, path);
	if (lib == NULL) return 0;
#define FIND(result, name, params)                                                                                     \
	if (!find(d, lib, path, #name, &d->rtc.name)) return 0;
	KGC_NVRTC(FIND)
#undef FIND
	int major = 0, minor = 0;
	nvrtcResult r = d->rtc.nvrtcVersion(&major, &minor);
	if (r != NVRTC_SUCCESS) {
		snprintf(d->why, sizeof d->why, "%s: nvrtcVersion: %s", path, d->rtc.nvrtcGetErrorString(r));
		return 0;
	}
	d->rtc_major = major;
	d->rtc_minor = minor;
	return 1;
}

int32_t kgc_load_lt(kgc_device *d, const char *path) {
	void *lib = open_library(d, path);
	if (lib == NULL) return 0;
#define FIND(name, params)                                                                                             \
	if (!find(d, lib, path, #name, &d->lt.name)) return 0;
	KGC_LT(FIND)
#undef FIND
	uint64_t workspace = 0;
	void *handle = NULL;
	kgc_status s = kgc_alloc(d, KGC_WORKSPACE, &workspace);
	if (s.code != 0) {
		snprintf(d->why, sizeof d->why, "no memory for its workspace");
		return 0;
	}
	cublasStatus_t r = d->lt.cublasLtCreate(&handle);
	if (r != CUBLAS_STATUS_SUCCESS) {
		kgc_free(d, workspace);
		snprintf(d->why, sizeof d->why, "%s: cublasLtCreate: %d", path, r);
		return 0;
	}
	d->products = handle;
	d->workspace = workspace;
	return 1;
}

static kgc_status attribute(kgc_device *d, int which, int32_t *out) {
	int value = 0;
	KGC_TRY(cuDeviceGetAttribute, &value, which, d->dev);
	*out = value;
	return KGC_OK;
}

static kgc_status describe(kgc_device *d) {
	kgc_status s = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &d->major);
	if (s.code == 0) s = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &d->minor);
	if (s.code == 0) s = attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &d->pools);
	return s;
}

/* Streams and events. The streams do not wait for the default stream, which other
 * code of the process may use. */
static kgc_status make_streams(kgc_device *d) {
	KGC_TRY(cuStreamCreate, &d->run, CU_STREAM_NON_BLOCKING);
	KGC_TRY(cuStreamCreate, &d->copy, CU_STREAM_NON_BLOCKING);
	KGC_TRY(cuStreamCreate, &d->mem, CU_STREAM_NON_BLOCKING);
	for (int i = 0; i < KGC_HISTORY; i++)
		KGC_TRY(cuEventCreate, &d->done[i], CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
	for (int i = 0; i < 2; i++) {
		KGC_TRY(cuEventCreate, &d->staged[i], CU_EVENT_DISABLE_TIMING);
		KGC_TRY(cuMemHostAlloc, (void **)&d->stage[i], KGC_STAGE, 0);
	}
	return KGC_OK;
}

static kgc_status make_history(kgc_device *d) {
	uint64_t p = 0;
	kgc_status s = kgc_alloc(d, KGC_HISTORY * sizeof(int32_t), &p);
	if (s.code != 0) return s;
	d->failed = p;
	KGC_TRY(cuMemsetD32Async, d->failed, 0, KGC_HISTORY, d->mem);
	KGC_TRY(cuStreamSynchronize, d->mem);
	return KGC_OK;
}

kgc_status kgc_open(kgc_device *d, int32_t ordinal) {
	int version = 0;
	KGC_TRY(cuInit, 0);
	KGC_TRY(cuDriverGetVersion, &version);
	d->version = version;
	KGC_TRY(cuDeviceGet, &d->dev, ordinal);
	kgc_status s = describe(d);
	if (s.code != 0) return s;
	KGC_TRY(cuDevicePrimaryCtxRetain, &d->ctx, d->dev);
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	s = make_streams(d);
	return s.code != 0 ? s : make_history(d);
}

void kgc_set_frame(kgc_device *d, void *begin, void *end) {
	d->begin = begin;
	d->end = end;
}

static void close_stream(kgc_device *d, CUstream s) {
	if (s == NULL) return;
	d->cu.cuStreamSynchronize(s);
	d->cu.cuStreamDestroy(s);
}

void kgc_close(kgc_device *d) {
	if (d->ctx != NULL) {
		d->cu.cuCtxSetCurrent(d->ctx);
		if (d->run != NULL) d->cu.cuStreamSynchronize(d->run);
		if (d->failed != 0) kgc_free(d, d->failed);
		if (d->products != NULL) {
			d->lt.cublasLtDestroy(d->products);
			kgc_free(d, d->workspace);
		}
		close_stream(d, d->run);
		close_stream(d, d->copy);
		close_stream(d, d->mem);
		for (int i = 0; i < KGC_HISTORY; i++)
			if (d->done[i] != NULL) d->cu.cuEventDestroy(d->done[i]);
		for (int i = 0; i < 2; i++) {
			if (d->staged[i] != NULL) d->cu.cuEventDestroy(d->staged[i]);
			if (d->stage[i] != NULL) d->cu.cuMemFreeHost(d->stage[i]);
		}
		d->cu.cuCtxSetCurrent(NULL);
		d->cu.cuDevicePrimaryCtxRelease(d->dev);
	}
	pthread_mutex_destroy(&d->mu);
	pthread_cond_destroy(&d->turn);
	pthread_mutex_destroy(&d->stage_mu);
	free(d);
}

const char *kgc_error_name(kgc_device *d, int32_t code) {
	const char *s = NULL;
	return d->cu.cuGetErrorName(code, &s) == CUDA_SUCCESS && s != NULL ? s : "an unknown error";
}

const char *kgc_error_text(kgc_device *d, int32_t code) {
	const char *s = NULL;
	return d->cu.cuGetErrorString(code, &s) == CUDA_SUCCESS && s != NULL ? s : "";
}

/* Pools of the driver give and take memory in the order of a stream that nothing else
 * is on. cuMemFree waits for every program that runs. */
kgc_status kgc_alloc(kgc_device *d, int64_t bytes, uint64_t *p) {
	CUdeviceptr q = 0;
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	if (!d->pools) {
		KGC_TRY(cuMemAlloc, &q, (size_t)bytes);
		*p = q;
		return KGC_OK;
	}
	KGC_TRY(cuMemAllocAsync, &q, (size_t)bytes, d->mem);
	*p = q;
	KGC_TRY(cuStreamSynchronize, d->mem);
	return KGC_OK;
}

void kgc_free(kgc_device *d, uint64_t p) {
	if (p == 0 || d->cu.cuCtxSetCurrent(d->ctx) != CUDA_SUCCESS) return;
	if (d->pools)
		d->cu.cuMemFreeAsync(p, d->mem);
	else
		d->cu.cuMemFree(p);
}

kgc_status kgc_alloc_twins(kgc_device *d, int64_t bytes, void **host, uint64_t *dev) {
	*host = NULL;
	*dev = 0;
	kgc_status s = kgc_alloc(d, bytes, dev);
	if (s.code != 0) return s;
	CUresult r = d->cu.cuMemHostAlloc(host, (size_t)bytes, 0);
	if (r == CUDA_SUCCESS) return KGC_OK;
	kgc_free(d, *dev);
	return (kgc_status){"cuMemHostAlloc", r};
}

void kgc_free_twins(kgc_device *d, void *host, uint64_t dev) {
	kgc_free(d, dev);
	if (d->cu.cuCtxSetCurrent(d->ctx) == CUDA_SUCCESS) d->cu.cuMemFreeHost(host);
}

static int64_t piece(int64_t left) { return left < KGC_STAGE ? left : KGC_STAGE; }

/* The host fills one piece while the card takes the other. */
static kgc_status upload(kgc_device *d, uint64_t dst, const char *src, int64_t n) {
	int i = 0;
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	for (int64_t off = 0; off < n; off += KGC_STAGE, i ^= 1) {
		size_t m = (size_t)piece(n - off);
		KGC_TRY(cuEventSynchronize, d->staged[i]);
		memcpy(d->stage[i], src + off, m);
		KGC_TRY(cuMemcpyHtoDAsync, dst + off, d->stage[i], m, d->copy);
		KGC_TRY(cuEventRecord, d->staged[i], d->copy);
	}
	KGC_TRY(cuStreamSynchronize, d->copy);
	return KGC_OK;
}

static kgc_status fetch(kgc_device *d, int i, uint64_t src, int64_t left) {
	if (left <= 0) return KGC_OK;
	KGC_TRY(cuMemcpyDtoHAsync, d->stage[i], src, (size_t)piece(left), d->copy);
	KGC_TRY(cuEventRecord, d->staged[i], d->copy);
	return KGC_OK;
}

static kgc_status download(kgc_device *d, char *dst, uint64_t src, int64_t n) {
	int i = 0;
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	kgc_status s = fetch(d, 0, src, n);
	for (int64_t off = 0; off < n && s.code == 0; off += KGC_STAGE, i ^= 1) {
		s = fetch(d, i ^ 1, src + off + KGC_STAGE, n - off - KGC_STAGE);
		KGC_TRY(cuEventSynchronize, d->staged[i]);
		memcpy(dst + off, d->stage[i], (size_t)piece(n - off));
	}
	return s;
}

kgc_status kgc_upload(kgc_device *d, uint64_t dst, const void *src, int64_t n) {
	pthread_mutex_lock(&d->stage_mu);
	kgc_status s = upload(d, dst, src, n);
	pthread_mutex_unlock(&d->stage_mu);
	return s;
}

kgc_status kgc_download(kgc_device *d, void *dst, uint64_t src, int64_t n) {
	pthread_mutex_lock(&d->stage_mu);
	kgc_status s = download(d, dst, src, n);
	pthread_mutex_unlock(&d->stage_mu);
	return s;
}
