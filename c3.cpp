#define EINPARALLEL_COMPILED 1
#define EINPARALLEL_HAS_MPI 1
#define EINPARALLEL_HAS_CUDA 1
#include <einparallel/source/cuda.hpp>
