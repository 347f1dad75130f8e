#pragma once

#include <einparallel/kernel/softmax.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_exp.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// The vector functions of softmax with one instruction set.
template <class T>
struct softmax_functions {
    T (*largest)(const T*, index);
    T (*shifted)(T*, const T*, T, index);
    void (*divide)(T*, T, index);
    void (*larger_side_by_side)(T*, const T*, index);
    void (*shifted_side_by_side)(T*, const T*, const T*, T*, index);
    void (*divide_side_by_side)(T*, const T*, index);

    static softmax_functions best() {
        return with_instruction_set(best_instruction_set(), [](auto set) -> softmax_functions {
            using code = vector_exp<T, set.value>;
            return {&code::largest, &code::shifted, &code::divide, &code::larger, &code::shifted, &code::divide};
        });
    }
};

/// z = softmax of x along one loop. A row (or as many rows side by side as the second-level cache holds) is read once
/// and written once; the order of its sum depends on the processor's vectors, not on threads.
template <class T>
class softmax_rows {
public:
    /// @param nest slots 0 and 1 are z and x; every loop moves z, and `along` is the one of the softmax. z and x may
    /// be the same memory where they have the same strides.
    softmax_rows(loop_nest& nest, index along_extent, index along_z, index along_x, T* z, const T* x)
        : nest_(nest), extent_(along_extent), z_step_(along_z), x_step_(along_x), z_(z), x_(x) {}

    void run() {
        nest_.sort_by(0);
        // Side by side in z: what the nest has innermost, unless that is the softmax's own loop.
        const std::size_t inner = nest_.size() == 0 ? 0 : nest_.size() - 1;
        const bool side_by_side = z_step_ != 1 && nest_.size() > 0 && nest_.of(inner)[0] == 1;
        const index columns = side_by_side ? nest_.extents[inner] : 1;
        const bool copied = side_by_side ? nest_.of(inner)[1] != 1 : x_step_ != 1;
        odometer::loop_list outer;
        for (std::size_t loop = 0; loop < nest_.size() - (side_by_side ? 1 : 0); ++loop) {
            outer.push_back(loop);
        }
        const index strip = side_by_side ? strip_width(columns) : 1;
        const index strips = (columns + strip - 1) / strip;
        const index points = odometer(nest_, outer).size();
        constexpr index worth = index{1} << 15;  // elements for each thread, at an exp apiece
        const index share = points * columns * extent_ / worth;
        const auto threads =
            static_cast<int>(std::clamp<index>(std::min(share, points * strips), 1, available_threads()));
        on_threads(threads, [&](index part, index parts) {
            const even_part own(points * strips, part, parts);
            const bool gathered = !side_by_side && z_step_ != 1;
            const index elements = side_by_side ? 2 * strip : gathered ? extent_ : 0;
            const scratch_memory memory(static_cast<std::size_t>(elements) * sizeof(T));
            T* const scratch = reinterpret_cast<T*>(memory.data());
            odometer point(nest_, outer);
            index at[2] = {0, 0};
            point.go_to(own.begin / strips, at);
            for (index number = own.begin; number < own.end; ++number) {
                if (side_by_side) {
                    const index begin = number % strips * strip;
                    many(at, inner, begin, std::min(strip, columns - begin), copied, scratch);
                } else {
                    single(z_ + at[0], x_ + at[1], copied, gathered ? scratch : nullptr);
                }
                if (number % strips == strips - 1) {
                    point.advance(at);
                }
            }
        });
    }

private:
    /// So many rows side by side lie in the second-level cache, in whole cache lines.
    [[nodiscard]] index strip_width(index columns) const {
        constexpr index bytes = index{192} << 10;
        constexpr index line = 64 / static_cast<index>(sizeof(T));
        const index fits = bytes / (2 * extent_ * static_cast<index>(sizeof(T))) / line * line;
        return std::min(std::max(fits, 8 * line), columns);
    }

    void single(T* z, const T* x, bool copied, T* scratch) const {
        T* const row = scratch != nullptr ? scratch : z;
        if (copied) {
            for (index step = 0; step < extent_; ++step) {
                row[step] = x[step * x_step_];
            }
            x = row;
        }
        const T largest = functions_.largest(x, extent_);
        constexpr index stretch = 4096;  // summed by itself, so that long rows lose no digits
        T sum = 0;
        for (index begin = 0; begin < extent_; begin += stretch) {
            sum += functions_.shifted(row + begin, x + begin, largest, std::min(stretch, extent_ - begin));
        }
        functions_.divide(row, sum, extent_);
        if (scratch != nullptr) {
            for (index step = 0; step < extent_; ++step) {
                z[step * z_step_] = scratch[step];
            }
        }
    }

    void many(const index* at, std::size_t inner, index begin, index count, bool copied, T* scratch) const {
        T* const z = z_ + at[0] + begin;
        const T* x = x_ + at[1] + begin * nest_.of(inner)[1];
        index x_step = x_step_;
        if (copied) {
            const index extents[2] = {extent_, count};
            const index into[2] = {z_step_, 1};
            const index from[2] = {x_step_, nest_.of(inner)[1]};
            copy_box(extents, sizeof(T), z, into, x, from);
            x = z;
            x_step = z_step_;
        }
        T* const most = scratch;
        T* const sums = scratch + count;
        std::copy(x, x + count, most);
        for (index step = 1; step < extent_; ++step) {
            functions_.larger_side_by_side(most, x + step * x_step, count);
        }
        std::fill(sums, sums + count, T(0));
        for (index step = 0; step < extent_; ++step) {
            functions_.shifted_side_by_side(z + step * z_step_, x + step * x_step, most, sums, count);
        }
        for (index step = 0; step < extent_; ++step) {
            functions_.divide_side_by_side(z + step * z_step_, sums, count);
        }
    }

    loop_nest& nest_;
    index extent_;
    index z_step_;
    index x_step_;
    T* z_;
    const T* x_;
    softmax_functions<T> functions_ = softmax_functions<T>::best();
};

template <class T>
void exponentials(T* values, index count) {
    with_instruction_set(best_instruction_set(),
                         [&](auto set) { vector_exp<T, set.value>::exponentials(values, count); });
}

template <class T>
void softmax_block(const block_call& call, label_id along) {
    const auto step_of = [along](std::span<const label_id> labels, std::span<const index> strides) {
        index step = 0;  // the operand may have diagonals
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            step += labels[dimension] == along ? strides[dimension] : 0;
        }
        return step;
    };
    const auto label = static_cast<std::size_t>(along);
    const operand_block& x = call.operands[0];
    small_vector<index, 16> others;  // extents of the loops around
    for (const index extent : call.extents) {
        others.push_back(others.size() == label ? std::min<index>(extent, 1) : extent);
    }
    block_call around = call;
    around.extents = {others.data(), others.size()};
    loop_nest nest(around);
    if (!nest.output_empty) {
        softmax_rows<T>(nest, call.extents[label], step_of(call.output.labels, call.output.strides),
                        step_of(x.labels, x.strides), static_cast<T*>(call.output.data), static_cast<const T*>(x.data))
            .run();
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
