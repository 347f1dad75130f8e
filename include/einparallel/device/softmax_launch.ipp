#pragma once
// How a softmax is given to threads.

#include <einparallel/device/launch.hpp>
#include <einparallel/device/softmax_body.hpp>
#include <einparallel/device/start.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
void launch_softmax_of(launch::stream on, const launch::strided_softmax& work) {
    constexpr int most_threads = 256;
    constexpr int most_shared = 48 << 10;
    softmax_body<T> body{};
    body.output = static_cast<T*>(work.output);
    body.operand = static_cast<const T*>(work.operand);
    const int last = work.loops - 1;
    const index length = work.extents[last];
    body.length = static_cast<std::uint32_t>(length);
    body.output_step = work.output_strides[last];
    body.operand_step = work.operand_strides[last];
    index rows = 1;
    body.along_fast = true;
    for (int loop = last; loop-- > 0;) {
        if (work.extents[loop] > 1) {
            auto& each = body.loop[body.loops++];
            each.size = static_cast<std::uint32_t>(work.extents[loop]);
            each.extent = divisor(each.size);
            each.output_stride = work.output_strides[loop];
            each.operand_stride = work.operand_strides[loop];
            rows *= work.extents[loop];
            body.along_fast = body.along_fast && std::abs(each.operand_stride) >= std::abs(body.operand_step);
        }
    }
    body.rows = static_cast<std::uint32_t>(rows);
    const auto power_above = [](index number) {
        return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<index>(number, 1, most_threads))));
    };
    const auto bytes = [&] {  // of shared memory, with whole rows in it
        const index threads = index{body.across} * body.along;
        return static_cast<index>(sizeof(T)) * threads * (1 + (length + body.along - 1) / body.along);
    };
    body.along = body.along_fast ? power_above((length + 3) / 4) : std::min(power_above(length), 8);
    body.across =
        std::min(most_threads / body.along, std::max(power_above(rows), warp_size / std::min(body.along, warp_size)));
    while (bytes() > most_shared && body.across > 8) {
        body.across /= 2;
        body.along *= body.along < most_threads / body.across ? 2 : 1;
    }
    while (bytes() > most_shared && body.across > 1 && body.across * body.along > warp_size) {
        body.across /= 2;
    }
    body.kept = bytes() <= most_shared;
    const int threads = body.across * body.along;
    start(on, body,
          {(rows + body.across - 1) / body.across, threads,
           static_cast<int>(body.kept ? bytes() : static_cast<index>(sizeof(T)) * threads)});
}

inline void launch_softmax(launch::stream on, const launch::strided_softmax& work) {
    work.element.bytes == 4 ? launch_softmax_of<float>(on, work) : launch_softmax_of<double>(on, work);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
