#pragma once
// The launches, over `start` of who compiles them.

#include <einparallel/device/launch.hpp>

#include <einparallel/device/copy_launch.ipp>
#include <einparallel/device/join_launch.ipp>
#include <einparallel/device/softmax_launch.ipp>

namespace einparallel::detail::launch {

void copy(stream on, const strided_copy& work) {
    launch_copy(on, work);
}

void join(stream on, const strided_join& work, const op_program& program) {
    launch_join(on, work, program);
}

void softmax(stream on, const strided_join& work, element_type element) {
    launch_softmax(on, work, element);
}

}  // namespace einparallel::detail::launch
