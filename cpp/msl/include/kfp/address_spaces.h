// Metal's address spaces in terms of OpenCL's. `constant` is const __global, not __constant, because only __global
// converts to the generic address space, through which structs in constant memory are copied and their methods called.
#ifndef KFP_ADDRESS_SPACES_H
#define KFP_ADDRESS_SPACES_H

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define device __attribute__((opencl_global_device))
#define constant const __global
#define threadgroup __local
#define thread __private

#define METAL_FUNC inline __attribute__((__always_inline__))

#define KFP_INLINE inline __attribute__((always_inline))
#define KFP_CONSTEXPR constexpr __attribute__((always_inline))

#endif
