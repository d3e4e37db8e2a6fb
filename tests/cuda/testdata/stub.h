/* stub.h: what NVRTC has built in, as far as generated kernels use it, so that clang
 * can compile them for a device without CUDA's headers. */
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
struct uint3 { unsigned x, y, z; };
extern const __device__ uint3 threadIdx, blockIdx, blockDim, gridDim;
extern "C" {
__device__ float __int_as_float(int); __device__ float __uint_as_float(unsigned); __device__ unsigned __float_as_uint(float);
__device__ void __syncthreads(void); __device__ void __threadfence(void); __device__ void __threadfence_block(void); __device__ void __nanosleep(unsigned);
__device__ int __float2int_rz(float); __device__ unsigned __umulhi(unsigned, unsigned);
__device__ int __any_sync(unsigned, int); __device__ int __all_sync(unsigned, int);
__device__ float __fdividef(float, float); __device__ float expf(float); __device__ float logf(float); __device__ float log1pf(float); __device__ float expm1f(float); __device__ float tanhf(float); __device__ float erff(float);
__device__ float powf(float, float); __device__ float sqrtf(float); __device__ float fabsf(float); __device__ float fmaf(float,float,float); __device__ float floorf(float); __device__ float ceilf(float); __device__ float rintf(float);
}
__device__ bool isnan(float); __device__ bool isinf(float); __device__ int abs(int); __device__ float abs(float); __device__ int min(int,int); __device__ int max(int,int);
__device__ unsigned min(unsigned, unsigned); __device__ long long min(long long, long long); __device__ long long max(long long, long long); __device__ long long abs(long long);
__device__ float __shfl_up_sync(unsigned, float, unsigned); __device__ float __shfl_xor_sync(unsigned, float, int); __device__ int __shfl_xor_sync(unsigned, int, int); __device__ unsigned __shfl_xor_sync(unsigned, unsigned, int);
__device__ unsigned atomicCAS(unsigned*, unsigned, unsigned); __device__ unsigned atomicExch(unsigned*, unsigned);
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
__device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
__device__ inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
__device__ float __expf(float);
