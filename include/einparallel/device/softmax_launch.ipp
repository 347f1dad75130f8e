#pragma once
// How a softmax is given to threads.

#include <einparallel/device/join_shape.hpp>
#include <einparallel/device/join_start.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/device/softmax_body.hpp>
#include <einparallel/device/start.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
void launch_softmax_of(launch::stream on, const launch::strided_join& work) {
    constexpr int most_threads = 256;
    constexpr index most_shared = 48 << 10;
    const int row = work.loops - 1;
    join_shape shape;
    softmax_body<T> body{};
    body.length = static_cast<int>(work.extents[row]);
    std::copy_n(work.strides[row], 2, body.steps);
    for (int loop = 0; loop < row; ++loop) {
        shape.points *= work.extents[loop];
        body.along_fast = body.along_fast && std::abs(work.strides[loop][1]) >= std::abs(body.steps[1]);
    }
    fill_join(body, work, shape);
    const auto power_above = [](index number) {
        return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<index>(number, 1, most_threads))));
    };
    const auto bytes = [&](int rounds) {  // of shared memory, with so many elements of each thread in it
        return index{sizeof(T)} * body.across * body.along * (1 + rounds);
    };
    const auto rounds = [&] { return (body.length + body.along - 1) / body.along; };
    if (body.along_fast) {
        body.along = power_above((body.length + 3) / 4);
        body.across =
            std::clamp(power_above(shape.points), std::max(warp_size / body.along, 1), most_threads / body.along);
    } else {  // four rows side by side read half a sector of floats in vain
        body.across = std::min(power_above(shape.points), warp_size);
        body.along = std::clamp(power_above(body.length), warp_size / body.across, most_threads / body.across);
        for (; bytes(rounds()) > most_shared && body.across > 4; body.across /= 2) {
            body.along *= 2;
        }
    }
    body.kept = bytes(rounds()) <= most_shared;
    start(on, body,
          {(shape.points + body.across - 1) / body.across, body.across * body.along,
           static_cast<int>(bytes(body.kept ? rounds() : 0))});
}

inline void launch_softmax(launch::stream on, const launch::strided_join& work, element_type element) {
    element.bytes == sizeof(float) ? launch_softmax_of<float>(on, work) : launch_softmax_of<double>(on, work);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
