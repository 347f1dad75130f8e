#pragma once
// The launches, over `start` of who compiles them.

#include <einparallel/device/launch.hpp>

#include <einparallel/device/copy_launch.ipp>

namespace einparallel::launch {

void copy(stream on, const strided_copy& work) {
    detail::launch_copy(on, work);
}

}  // namespace einparallel::launch
