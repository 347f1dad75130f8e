#pragma once
// The application's functors on a device, as plain functions that launch their kernels.

#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/kernel.hpp>

namespace einparallel::detail {

/// Launches of a kernel that calls functors of the application's: functor_launch.hpp makes them where nvcc compiles
/// what is recorded.
struct device_functor {
    using launch_function = void (*)(launch::stream on, const launch::strided_join& work, const kernel& of);

    launch_function join;     ///< Z (⊕)= ⊕ f(X1, …, Xr)
    launch_function combine;  ///< Z (⊕)= ⊕ X
};

}  // namespace einparallel::detail
