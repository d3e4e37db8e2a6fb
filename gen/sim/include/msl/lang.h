// Included before every Metal source, in both modes of the stand-in.
//
// MSL_CHECK: clang's C++ for OpenCL; the address-space words are real
// qualifiers. MSL_RUN: plain C++ for the host; the words vanish.
#pragma once

#if defined(MSL_CHECK)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION __cl_clang_non_portable_kernel_param_types : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
#define device __global
#define constant __constant
#define threadgroup __local
#define thread __private
#define kernel __kernel
// Words of OpenCL that Metal leaves to the user.
#define global msl_name_global
#define local msl_name_local
#define generic msl_name_generic
#define pipe msl_name_pipe
#define vec_step msl_name_vec_step
#define read_only msl_name_read_only
#define write_only msl_name_write_only
#define read_write msl_name_read_write
#define event_t msl_name_event_t
#define queue_t msl_name_queue_t
#define atomic_int msl_atomic_int
#define atomic_uint msl_atomic_uint
#define atomic_float msl_atomic_float
#define atomic_ulong msl_atomic_ulong
#define MSL_FN
#define MSL_IS(...) ;
#define MSL_BODY(...) ;
#define MSL_EACH(V, N, E) ;
// A call that is right and may go wrong; "fast math: " where only fast math makes it so.
#define MSL_WARN(text) __attribute__((diagnose_if(true, text, "warning")))
#else
#define device
#define constant const
#define threadgroup
#define thread
#define kernel
#define MSL_FN static inline
#define MSL_IS(...) { return __VA_ARGS__; }
#define MSL_BODY(...) { __VA_ARGS__ }
#define MSL_WARN(text)
#define MSL_EACH(V, N, E) { V r = {}; for (int i = 0; i < N; ++i) r[i] = (E); return r; }
#endif

// A function constant has a value of its own in the check, none in a run.
#define is_function_constant_defined(x) (bool(sizeof(x)))

#define __METAL__ 1
#define __METAL_MACOS__ 1
#define __METAL_VERSION__ 310
#define __HAVE_BFLOAT__ 1
#define METAL_FUNC inline __attribute__((__always_inline__))
