#pragma once

#include <einparallel/kernel/work/softmax.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_softmax.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/operations/op_code.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// z = softmax of x, a row of `count` contiguous elements. z and x may be the same memory.
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

/// Rows of fewer elements are computed side by side, in the lanes of vectors.
inline constexpr index short_row = 32;

/// Rows that are short, or not contiguous, are first copied to memory where they are side by side, or contiguous, as
/// many rows at a time as fit into a cache.
template <class T>
void softmax_block(const block_call& call, label_id along) {
    constexpr index worth = index{1} << 15;  // elements for each thread, at an exp apiece
    const row_loops loops(call, along, along);
    const index count = loops.lengths[0];
    const index* const moves = loops.moves;
    const bool is_short = count < short_row;
    const bool contiguous = !is_short && loops.steps[0] == 1 && loops.steps[1] == 1;
    constexpr index line = 64 / index(sizeof(T));
    const index room = (is_short ? index{24} << 10 : index{192} << 10) / index(sizeof(T));  // of a cache
    const index together =
        std::max<index>(room / (is_short ? std::max<index>(count, 1) : count + line) / line * line, line);
    // Elements from one row to the next, and along a row, lest rows fall into the same sets of a cache.
    const index lines[2] = {is_short ? 1 : count + line, is_short ? together + line : 1};
    loops.for_each_run(count, worth, 1, [&](index z, index x, index rows) {
        const scratch_memory memory(contiguous ? 0 : std::size_t((together + line) * (count + line)) * sizeof(T));
        T* const scratch = reinterpret_cast<T*>(memory.data());
        T* const output = static_cast<T*>(call.output.data) + z;
        const T* const operand = static_cast<const T*>(call.operands[0].data) + x;
        for (index row = 0; contiguous && row < rows; ++row) {
            softmax_row(output + row * moves[0], operand + row * moves[1], count);
        }
        for (index first = 0; !contiguous && first < rows; first += together) {
            const index extents[2] = {std::min(together, rows - first), count};
            copy_box(extents, sizeof(T), scratch, lines, operand + first * moves[1],
                     std::array{moves[1], loops.steps[1]});
            if (is_short) {
                const index whole = rounded_up(extents[0], line);
                for (index at = 0; at < count; ++at) {
                    std::fill(scratch + at * lines[1] + extents[0], scratch + at * lines[1] + whole, T(0));
                }
                with_best_instructions(
                    [&](auto set) { vector_softmax<T, set.value>::side_by_side(scratch, lines[1], count, whole); });
            }
            for (index row = 0; !is_short && row < extents[0]; ++row) {
                softmax_row(scratch + row * lines[0], scratch + row * lines[0], count);
            }
            copy_box(extents, sizeof(T), output + first * moves[0], std::array{moves[0], loops.steps[0]}, scratch,
                     lines);
        }
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
