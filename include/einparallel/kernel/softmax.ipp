#pragma once

#include <einparallel/kernel/softmax.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/exp_form.hpp>
#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product_loops.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/vector_exp.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// z = softmax of x along one loop. Rows that are contiguous in both are read once and written once; of others a block
/// that fits the second-level cache is copied to where they are, and back. The order of a row's sum depends on the
/// processor's vectors, not on threads.
template <class T>
class softmax_rows {
public:
    /// @param nest slots 0 and 1 are z and x; every loop moves z, and `along` is the one of the softmax. z and x are
    /// not the same memory.
    softmax_rows(loop_nest& nest, index along_extent, index along_z, index along_x, T* z, const T* x)
        : nest_(nest), extent_(along_extent), z_step_(along_z), x_step_(along_x), z_(z), x_(x) {
        with_instruction_set(best_instruction_set(), [this](auto set) {
            using code = vector_exp<T, set.value>;
            largest_ = &code::largest;
            shifted_ = &code::shifted;
            divide_ = &code::divide;
        });
    }

    void run() {
        nest_.fuse();
        nest_.sort_by(0);
        odometer::loop_list outer;
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            outer.push_back(loop);
        }
        const bool in_place = z_step_ == 1 && x_step_ == 1;
        index columns = 1;
        index z_column = 0;
        index x_column = 0;
        if (!in_place && !outer.empty()) {
            columns = nest_.extents[outer.back()];
            z_column = nest_.of(outer.back())[0];
            x_column = nest_.of(outer.back())[1];
            outer.resize(outer.size() - 1);
        }
        constexpr index bytes = index{192} << 10;
        constexpr index line = 64 / static_cast<index>(sizeof(T));
        const index fits = bytes / (extent_ * static_cast<index>(sizeof(T))) / line * line;
        const index strip = std::min(std::max(fits, line), columns);
        const index strips = (columns + strip - 1) / strip;
        const index points = odometer(nest_, outer).size();
        constexpr index worth = index{1} << 15;  // elements for each thread, at an exp apiece
        const index share = std::min(points * columns * extent_ / worth, points * strips);
        const auto threads = static_cast<int>(std::clamp<index>(share, 1, available_threads()));
        visit_points(nest_, outer, strips, 0, threads, [&](const index* at, index first, index count) {
            const scratch_lease<scratch_purpose::reduction> lease(
                in_place ? 0 : static_cast<std::size_t>(strip * extent_) * sizeof(T));
            for (index number = first; number < first + count; ++number) {
                T* const z = z_ + at[0] + number * strip * z_column;
                const T* const x = x_ + at[1] + number * strip * x_column;
                if (in_place) {
                    row(z, x);
                    continue;
                }
                T* const block = reinterpret_cast<T*>(lease.data());
                const index extents[2] = {std::min(strip, columns - number * strip), extent_};
                const index dense[2] = {extent_, 1};
                const index from[2] = {x_column, x_step_};
                const index into[2] = {z_column, z_step_};
                copy_box(extents, sizeof(T), block, dense, x, from);
                for (index column = 0; column < extents[0]; ++column) {
                    row(block + column * extent_, block + column * extent_);
                }
                copy_box(extents, sizeof(T), z, into, block, dense);
            }
        });
    }

private:
    void row(T* z, const T* x) const {
        const T largest = largest_(x, extent_);
        constexpr index stretch = 4096;  // summed by itself, so that long rows lose no digits
        T sum = 0;
        for (index begin = 0; begin < extent_; begin += stretch) {
            sum += shifted_(z + begin, x + begin, largest, std::min(stretch, extent_ - begin));
        }
        divide_(z, sum, extent_);
    }

    loop_nest& nest_;
    index extent_;
    index z_step_;
    index x_step_;
    T* z_;
    const T* x_;
    T (*largest_)(const T*, index) = nullptr;
    T (*shifted_)(T*, const T*, T, index) = nullptr;
    void (*divide_)(T*, T, index) = nullptr;
};

template <class T>
void exponentials(T* values, index count) {
    with_instruction_set(best_instruction_set(),
                         [&](auto set) { vector_exp<T, set.value>::exponentials(values, count); });
}

template <class T>
void softmax_block(const block_call& call, label_id along) {
    const index extent = call.extents[static_cast<std::size_t>(along)];
    loop_nest nest(2);
    index along_z = 1;
    index along_x = 1;
    // Loops by the output's labels; the operand may have its dimensions in another order, and diagonals.
    for (std::size_t dimension = 0; dimension < call.output.labels.size(); ++dimension) {
        const label_id label = call.output.labels[dimension];
        index from = 0;
        for (std::size_t other = 0; other < call.operands[0].labels.size(); ++other) {
            from += call.operands[0].labels[other] == label ? call.operands[0].strides[other] : 0;
        }
        const index length = call.extents[static_cast<std::size_t>(label)];
        if (length == 0) {
            return;
        }
        if (label == along) {
            along_z = call.output.strides[dimension];
            along_x = from;
        } else if (length > 1) {
            index* const moves = nest.add(length);
            moves[0] = call.output.strides[dimension];
            moves[1] = from;
        }
    }
    softmax_rows<T>(nest, extent, along_z, along_x, static_cast<T*>(call.output.data),
                    static_cast<const T*>(call.operands[0].data))
        .run();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
