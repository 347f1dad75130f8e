#pragma once
// The kernels on device memory: for a unit that nvcc compiles.

#include <einparallel/device/start.ipp>

#include <einparallel/device/launch.ipp>
