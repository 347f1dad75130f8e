#pragma once
// Definitions of the launches, by the function `start` of the unit that includes this.

#include <einparallel/device/launch.hpp>

#include <einparallel/device/copy_launch.ipp>
#include <einparallel/device/join_launch.ipp>
#include <einparallel/device/softmax_body.hpp>

#include <algorithm>

namespace einparallel::detail::launch {

template <class T>
void softmax_of(stream on, const strided_join& work) {
    strided_join rows = work;
    --rows.loops;
    softmax_body<T> body{};
    body.output = static_cast<T*>(work.output);
    body.from = static_cast<const T*>(work.operands[0]);
    body.shape = shape_of(work);
    body.shape.splits = 1;
    std::copy_n(work.strides[rows.loops], 2, body.steps);
    body.loops = loops_of<1>(rows);
    const int threads = body.shape.threads();
    start(on, body, {body.shape.blocks(), threads, threads * int(sizeof(T))});
}

void softmax(stream on, const strided_join& work, element_type element) {
    element.bytes == sizeof(float) ? softmax_of<float>(on, work) : softmax_of<double>(on, work);
}

}  // namespace einparallel::detail::launch
