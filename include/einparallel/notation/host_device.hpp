#pragma once
// Operators and maps are plain functors that a device compiler may compile for both sides.

#if defined(__CUDACC__)
#define EINPARALLEL_HOST_DEVICE __host__ __device__
#else
#define EINPARALLEL_HOST_DEVICE
#endif
