#pragma once

#include <einparallel/kernel/softmax.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_softmax.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/op_code.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// z = softmax of x, rows of `count` neighbours, which may be the same memory.
template <class T>
void softmax_row(T* z, const T* x, index count) {
    with_best_instructions([&](auto set) {
        using code = vector_softmax<T, set.value>;
        const T largest = code::largest(x, count);
        constexpr index stretch = 4096;  // summed by itself, so that long rows lose no digits
        T sum = 0;
        for (index begin = 0; begin < count; begin += stretch) {
            sum += code::shifted(z + begin, x + begin, largest, std::min(stretch, count - begin));
        }
        code::divide(z, sum, count);
    });
}

/// z = softmax of x along a loop of `count` points, which the nest around it does not have; its slots 0 and 1 are z and
/// x. Rows that are not contiguous are copied to memory where they are, as many at a time as the second-level cache
/// holds.
template <class T>
void softmax_rows(loop_nest& nest, index count, index z_step, index x_step, T* z, const T* x) {
    constexpr index cached = (index{192} << 10) / index(sizeof(T));
    constexpr index worth = index{1} << 15;  // elements for each thread, at an exp apiece
    const odometer::loop_list loops = output_loops(nest);
    const index points = element_count(nest.extents);
    const bool contiguous = z_step == 1 && x_step == 1;
    const index pitch = count + 64 / index(sizeof(T));  // lest rows fall into the same sets of a cache
    const index together = contiguous ? points : std::max<index>(cached / pitch, 8);
    const index none[2] = {0, 0};
    const index* const moves = loops.empty() ? none : nest.of(nest.size() - 1);
    const auto threads = int(std::clamp<index>(std::min(points * count / worth, points), 1, available_threads()));
    for_each_stretch(nest, loops, count, threads, [&](const index* at, index first, index rows) {
        const scratch_memory memory(contiguous ? 0 : std::size_t(together * pitch) * sizeof(T));
        T* const scratch = reinterpret_cast<T*>(memory.data());
        for (const index end = first + rows; first < end; first += together) {
            const index extents[2] = {std::min(together, end - first), count};
            T* const into = z + at[0] + first * moves[0];
            const T* const from = x + at[1] + first * moves[1];
            if (contiguous) {
                for (index row = 0; row < extents[0]; ++row) {
                    softmax_row(into + row * moves[0], from + row * moves[1], count);
                }
                continue;
            }
            const index lines[2] = {pitch, 1};
            copy_box(extents, sizeof(T), scratch, lines, from, std::array{moves[1], x_step});
            for (index row = 0; row < extents[0]; ++row) {
                softmax_row(scratch + row * pitch, scratch + row * pitch, count);
            }
            copy_box(extents, sizeof(T), into, std::array{moves[0], z_step}, scratch, lines);
        }
    });
}

template <class T>
void softmax_block(const block_call& call, label_id along) {
    row_loops loops(call, along, along);
    if (!loops.rows.output_empty) {
        softmax_rows(loops.rows, loops.lengths[0], loops.steps[0], loops.steps[1], static_cast<T*>(call.output.data),
                     static_cast<const T*>(call.operands[0].data));
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
