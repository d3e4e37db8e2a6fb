/* The CUDA driver API and NVRTC as far as this package uses them, declared here so
 * that it builds where neither is installed. Names, types and numbers are those of
 * cuda.h and nvrtc.h. */
#ifndef KGEN_CUDA_DRIVER_H
#define KGEN_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_READY = 600,
};

enum {
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
	CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
	CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
	CU_STREAM_NON_BLOCKING = 1,
	CU_EVENT_DEFAULT = 0,
	CU_EVENT_BLOCKING_SYNC = 1,
	CU_EVENT_DISABLE_TIMING = 2,
	CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

/* X(name, symbol of the library, parameters); cuda.h gives the newer of several
 * versions of a function its plain name. */
#define KGC_DRIVER(X) \
	X(cuInit, "cuInit", (unsigned)) \
	X(cuDriverGetVersion, "cuDriverGetVersion", (int *)) \
	X(cuGetErrorName, "cuGetErrorName", (CUresult, const char **)) \
	X(cuGetErrorString, "cuGetErrorString", (CUresult, const char **)) \
	X(cuDeviceGet, "cuDeviceGet", (CUdevice *, int)) \
	X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice)) \
	X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice)) \
	X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice)) \
	X(cuCtxSetCurrent, "cuCtxSetCurrent", (CUcontext)) \
	X(cuModuleLoadData, "cuModuleLoadData", (CUmodule *, const void *)) \
	X(cuModuleUnload, "cuModuleUnload", (CUmodule)) \
	X(cuFuncGetAttribute, "cuFuncGetAttribute", (int *, int, CUfunction)) \
	X(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *)) \
	X(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t)) \
	X(cuMemFree, "cuMemFree_v2", (CUdeviceptr)) \
	X(cuMemAllocAsync, "cuMemAllocAsync", (CUdeviceptr *, size_t, CUstream)) \
	X(cuMemFreeAsync, "cuMemFreeAsync", (CUdeviceptr, CUstream)) \
	X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned)) \
	X(cuMemFreeHost, "cuMemFreeHost", (void *)) \
	X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void *, size_t, CUstream)) \
	X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, CUdeviceptr, size_t, CUstream)) \
	X(cuMemsetD32Async, "cuMemsetD32Async", (CUdeviceptr, unsigned, size_t, CUstream)) \
	X(cuStreamCreate, "cuStreamCreate", (CUstream *, unsigned)) \
	X(cuStreamDestroy, "cuStreamDestroy_v2", (CUstream)) \
	X(cuStreamSynchronize, "cuStreamSynchronize", (CUstream)) \
	X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream, int)) \
	X(cuStreamEndCapture, "cuStreamEndCapture", (CUstream, CUgraph *)) \
	X(cuEventCreate, "cuEventCreate", (CUevent *, unsigned)) \
	X(cuEventDestroy, "cuEventDestroy_v2", (CUevent)) \
	X(cuEventRecord, "cuEventRecord", (CUevent, CUstream)) \
	X(cuEventQuery, "cuEventQuery", (CUevent)) \
	X(cuEventSynchronize, "cuEventSynchronize", (CUevent)) \
	X(cuEventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent)) \
	X(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", (CUgraphExec *, CUgraph, unsigned long long)) \
	X(cuGraphLaunch, "cuGraphLaunch", (CUgraphExec, CUstream)) \
	X(cuGraphDestroy, "cuGraphDestroy", (CUgraph)) \
	X(cuGraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec)) \
	X(cuLaunchKernel, "cuLaunchKernel", \
	  (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **))

typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

enum { NVRTC_SUCCESS = 0 };

#define KGC_NVRTC(X) \
	X(nvrtcResult, nvrtcVersion, (int *, int *)) \
	X(const char *, nvrtcGetErrorString, (nvrtcResult)) \
	X(nvrtcResult, nvrtcCreateProgram, \
	  (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
	X(nvrtcResult, nvrtcCompileProgram, (nvrtcProgram, int, const char *const *)) \
	X(nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram, size_t *)) \
	X(nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram, char *)) \
	X(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram, size_t *)) \
	X(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram, char *)) \
	X(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram *))

#define KGC_DRIVER_FIELD(name, symbol, params) CUresult(*name) params;
#define KGC_NVRTC_FIELD(result, name, params) result(*name) params;

typedef struct kgc_driver {
	KGC_DRIVER(KGC_DRIVER_FIELD)
} kgc_driver;

typedef struct kgc_nvrtc {
	KGC_NVRTC(KGC_NVRTC_FIELD)
} kgc_nvrtc;

#endif
