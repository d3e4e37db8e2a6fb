/* From CUDA C++ to functions. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

/* The log of a compilation, or what the error is called where there is no log. */
static void take_log(kgc_device *d, nvrtcProgram p, nvrtcResult r, void **out, int64_t *n) {
	size_t bytes = 0;
	if (d->rtc.nvrtcGetProgramLogSize(p, &bytes) == NVRTC_SUCCESS && bytes > 1 && (*out = calloc(1, bytes)) != NULL &&
	    d->rtc.nvrtcGetProgramLog(p, *out) == NVRTC_SUCCESS) {
		*n = (int64_t)strlen(*out);
		return;
	}
	free(*out);
	*out = strdup(d->rtc.nvrtcGetErrorString(r));
	*n = *out == NULL ? 0 : (int64_t)strlen(*out);
}

static nvrtcResult take_cubin(kgc_device *d, nvrtcProgram p, void **out, int64_t *n) {
	size_t bytes = 0;
	nvrtcResult r = d->rtc.nvrtcGetCUBINSize(p, &bytes);
	if (r != NVRTC_SUCCESS) return r;
	*out = calloc(1, bytes + 1);
	*n = (int64_t)bytes;
	if (*out == NULL) return 1; /* NVRTC_ERROR_OUT_OF_MEMORY */
	return d->rtc.nvrtcGetCUBIN(p, *out);
}

int32_t kgc_compile(kgc_device *d, const char *source, const char *name, char **option, int32_t noption, void **out,
		    int64_t *n) {
	nvrtcProgram p = NULL;
	*out = NULL;
	*n = 0;
	nvrtcResult r = d->rtc.nvrtcCreateProgram(&p, source, name, 0, NULL, NULL);
	if (r != NVRTC_SUCCESS) return r;
	r = d->rtc.nvrtcCompileProgram(p, noption, (const char *const *)option);
	if (r == NVRTC_SUCCESS)
		r = take_cubin(d, p, out, n);
	else
		take_log(d, p, r, out, n);
	d->rtc.nvrtcDestroyProgram(&p);
	return r;
}

const char *kgc_compile_error(kgc_device *d, int32_t code) { return d->rtc.nvrtcGetErrorString(code); }

kgc_status kgc_load_module(kgc_device *d, const void *cubin, void **module) {
	CUmodule m = NULL;
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	KGC_TRY(cuModuleLoadData, &m, cubin);
	*module = m;
	return KGC_OK;
}

kgc_status kgc_function(kgc_device *d, void *module, const char *name, void **fn, int32_t *threads) {
	CUfunction f = NULL;
	int most = 0;
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	KGC_TRY(cuModuleGetFunction, &f, module, name);
	KGC_TRY(cuFuncGetAttribute, &most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
	*fn = f;
	*threads = most;
	return KGC_OK;
}

void kgc_unload_module(kgc_device *d, void *module) {
	if (d->cu.cuCtxSetCurrent(d->ctx) == CUDA_SUCCESS) d->cu.cuModuleUnload(module);
}
