#pragma once
// The launches, over `start` of who compiles them.

#include <einparallel/device/launch.hpp>

#include <einparallel/device/copy_launch.ipp>
#include <einparallel/device/join_launch.ipp>
#include <einparallel/device/softmax_body.hpp>

#include <algorithm>

namespace einparallel::detail::launch {

void copy(stream on, const strided_join& work, std::size_t element_bytes) {
    launch_copy(on, work, element_bytes);
}

void join(stream on, const strided_join& work, const op_program& program) {
    launch_join(on, work, program);
}

template <class T>
void softmax_of(stream on, const strided_join& work) {
    const int row = work.loops - 1;
    const join_shape shape = shape_of(work);
    strided_join rows = work;
    rows.loops = row;
    softmax_body<T> body{};
    body.output = static_cast<T*>(work.output);
    body.from = static_cast<const T*>(work.operands[0]);
    body.rows = static_cast<std::uint32_t>(shape.points);
    body.length = work.extents[row];
    std::copy_n(work.strides[row], 2, body.steps);
    body.across = shape.across;
    body.along = shape.along;
    body.sum_fast = shape.sum_fast;
    body.loops = loops_of<1>(rows);
    const int threads = shape.across * shape.along;
    start(on, body, {(shape.points + shape.across - 1) / shape.across, threads, threads * static_cast<int>(sizeof(T))});
}

void softmax(stream on, const strided_join& work, element_type element) {
    element.bytes == sizeof(float) ? softmax_of<float>(on, work) : softmax_of<double>(on, work);
}

}  // namespace einparallel::detail::launch
