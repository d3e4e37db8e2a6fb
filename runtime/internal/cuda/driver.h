/* The CUDA driver API, NVRTC and cuBLASLt as far as this package uses them, declared
 * here so that it builds where none is installed. Names, types and numbers are those of
 * cuda.h, nvrtc.h and cublasLt.h. */
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
	CUDA_ERROR_UNKNOWN = 999,
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

/* What a launch says beside its arguments. */
typedef struct CUlaunchAttribute {
	int id;
	char pad[4];
	union {
		char pad[64];
		int programmaticStreamSerializationAllowed;
	} value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned numAttrs;
} CUlaunchConfig;

enum { CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6 };

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
	X(cuLaunchKernelEx, "cuLaunchKernelEx", (const CUlaunchConfig *, CUfunction, void **, void **))

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

/* cuBLASLt. Its handles and descriptions are pointers to what only it knows. */
typedef int cublasStatus_t;

enum {
	CUBLAS_STATUS_SUCCESS = 0,
	CUDA_R_32F = 0,
	CUDA_R_16F = 2,
	CUDA_R_16BF = 14,
	CUBLAS_COMPUTE_32F = 68,
	CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
	CUBLAS_OP_T = 1,
	CUBLASLT_MATMUL_DESC_TRANSA = 3,
	CUBLASLT_MATMUL_DESC_TRANSB = 4,
	CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
	CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
	CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
	CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
	CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
	CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
	CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
	CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
	CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
	CUBLASLT_EPILOGUE_DEFAULT = 1,
	CUBLASLT_EPILOGUE_BIAS = 4,
	CUBLASLT_EPILOGUE_GELU = 32,
};

typedef struct cublasLtMatmulAlgo_t {
	uint64_t data[8];
} cublasLtMatmulAlgo_t;

typedef struct cublasLtMatmulHeuristicResult_t {
	cublasLtMatmulAlgo_t algo;
	size_t workspaceSize;
	cublasStatus_t state;
	float wavesCount;
	int reserved[4];
} cublasLtMatmulHeuristicResult_t;

#define KGC_LT(X) \
	X(cublasLtCreate, (void **)) \
	X(cublasLtDestroy, (void *)) \
	X(cublasLtMatmulDescCreate, (void **, int, int)) \
	X(cublasLtMatmulDescDestroy, (void *)) \
	X(cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t)) \
	X(cublasLtMatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t)) \
	X(cublasLtMatrixLayoutDestroy, (void *)) \
	X(cublasLtMatrixLayoutSetAttribute, (void *, int, const void *, size_t)) \
	X(cublasLtMatmulPreferenceCreate, (void **)) \
	X(cublasLtMatmulPreferenceDestroy, (void *)) \
	X(cublasLtMatmulPreferenceSetAttribute, (void *, int, const void *, size_t)) \
	X(cublasLtMatmulAlgoGetHeuristic, \
	  (void *, void *, void *, void *, void *, void *, void *, int, cublasLtMatmulHeuristicResult_t *, int *)) \
	X(cublasLtMatmul, \
	  (void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *, void *, \
	   void *, void *, const cublasLtMatmulAlgo_t *, void *, size_t, CUstream))

#define KGC_DRIVER_FIELD(name, symbol, params) CUresult(*name) params;
#define KGC_NVRTC_FIELD(result, name, params) result(*name) params;

#define KGC_LT_FIELD(name, params) cublasStatus_t(*name) params;

typedef struct kgc_driver {
	KGC_DRIVER(KGC_DRIVER_FIELD)
} kgc_driver;

typedef struct kgc_nvrtc {
	KGC_NVRTC(KGC_NVRTC_FIELD)
} kgc_nvrtc;

typedef struct kgc_lt {
	KGC_LT(KGC_LT_FIELD)
} kgc_lt;

#endif
