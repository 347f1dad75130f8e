#pragma once
// One index of a matrix product, made of any number of fused or unfused labels, and its walk in rectangular blocks.

#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// One index of a matrix product, made of loops, outermost first. Each loop has its strides, in elements, in the two
/// matrices that have the index: A and C for m, B and C for n, A and B for k.
struct gemm_axis {
    struct loop {
        index extent;
        index first;   ///< stride in the first of the two matrices
        index second;  ///< stride in the second
        index tile;    ///< iterations in a block

        [[nodiscard]] index tiles() const { return (extent + tile - 1) / tile; }
    };

    index size = 1;
    small_vector<loop, 4> loops;

    EINPARALLEL_INLINE void add(index extent, index first_stride, index second_stride) {
        size *= extent;
        loops.push_back({extent, first_stride, second_stride, extent});
    }

    /// Moves the loop along which the first matrix is contiguous to the innermost place. With `but_second` it stays
    /// outside an innermost loop along which the second matrix is contiguous.
    EINPARALLEL_INLINE void move_contiguous(bool but_second) {
        for (std::size_t position = 0; position + 1 < loops.size(); ++position) {
            if (loops[position].first == 1) {
                const std::size_t end = loops.size() - (but_second && loops.back().second == 1 ? 1 : 0);
                std::rotate(loops.begin() + position, loops.begin() + position + 1, loops.begin() + end);
                return;
            }
        }
    }

    /// Cuts the index into blocks of about `limit` values, rectangular in its loops. A block has at least `first_run`
    /// values of a loop along which the first matrix is contiguous, and `second_run` for the second matrix, so that
    /// memory is read and written in several whole cache lines. Inner loops stay whole as long as `limit` allows; outer
    /// loops are cut first. Blocks of a loop are even, and multiples of `unit` along the innermost loop.
    /// @return values of the largest block
    EINPARALLEL_INLINE index cut(index limit, index unit, index first_run, index second_run) {
        const auto least = [&](const loop& each) {
            return std::max({index{1}, each.first == 1 ? first_run : 1, each.second == 1 ? second_run : 1});
        };
        index block = 1;
        for (loop& each : loops) {
            each.tile = std::min(each.extent, least(each));
            block *= each.tile;
        }
        for (std::size_t position = loops.size(); position-- > 0;) {
            loop& each = loops[position];
            const index granule = position + 1 == loops.size() ? unit : std::min<index>(least(each), 8);
            const index room = std::max(limit / (block / each.tile), each.tile);
            if (room >= each.extent) {
                block = block / each.tile * each.extent;
                each.tile = each.extent;
                continue;
            }
            const index tiles = (each.extent + room - 1) / room;
            const index even = (each.extent + tiles - 1) / tiles;
            const index rounded = (even + granule - 1) / granule * granule;
            const index tile = std::min({rounded, std::max(room / granule * granule, each.tile), each.extent});
            block = block / each.tile * tile;
            each.tile = tile;
            break;
        }
        return block;
    }

    EINPARALLEL_INLINE [[nodiscard]] index block_count() const { return product_in(loops, index{1}, &loop::tiles); }
};

/// The indices of a product C(m, n) = Σ_k A(m, k) · B(k, n).
struct gemm_axes {
    gemm_axis m;  ///< strides of A, C
    gemm_axis n;  ///< strides of B, C; fastest where its last loop has stride 1 in C
    gemm_axis k;  ///< strides of A, B
};

/// The current block of an index: where it starts in the two matrices, and the offset of each of its values from there,
/// in the order of the loops.
class gemm_blocks {
public:
    /// @param tables memory for two offsets for each value of the largest block; it and the axis must outlive this
    /// object
    /// @param unit offsets in the first matrix are filled up to a multiple of `unit`, with copies of the last `copied`
    /// offsets
    gemm_blocks(const gemm_axis& axis, index largest, index* tables, index unit = 1, index copied = 1)
        : axis_(axis),
          first_(tables),
          second_(tables + largest),
          unit_(unit),
          copied_(copied),
          lengths_(axis.loops.size(), 0) {}

    /// Where a block starts in the two matrices, in elements.
    struct offsets {
        index first = 0;
        index second = 0;
    };
    EINPARALLEL_INLINE [[nodiscard]] offsets start_of(index number) const {
        offsets found;
        for (std::size_t position = axis_.loops.size(); position-- > 0;) {
            const gemm_axis::loop& each = axis_.loops[position];
            const index tiles = each.tiles();
            found.first += number % tiles * each.tile * each.first;
            found.second += number % tiles * each.tile * each.second;
            number /= tiles;
        }
        return found;
    }

    /// Goes to block `number`. Computes the offsets again only where this block has another shape than the last one.
    EINPARALLEL_INLINE void go_to(index number) {
        start = start_of(number);
        bool same = filled_;
        for (std::size_t position = axis_.loops.size(); position-- > 0;) {
            const gemm_axis::loop& each = axis_.loops[position];
            const index tiles = each.tiles();
            const index length = std::min(each.tile, each.extent - number % tiles * each.tile);
            same = same && lengths_[position] == length;
            lengths_[position] = length;
            number /= tiles;
        }
        if (!same) {
            fill();
        }
    }

    /// Makes all values one block.
    EINPARALLEL_INLINE void take_all() {
        for (std::size_t position = 0; position < lengths_.size(); ++position) {
            lengths_[position] = axis_.loops[position].extent;
        }
        fill();
    }

    offsets start;
    index count = 0;
    index filled = 0;  ///< offsets in first(), with the copies at the end
    [[nodiscard]] const index* first() const { return first_; }
    [[nodiscard]] const index* second() const { return second_; }
    /// The length of the runs of values that lie `step` elements apart in one of the matrices, which `side` chooses.
    EINPARALLEL_INLINE [[nodiscard]] index run_of(index gemm_axis::loop::*side, index step = 1) const {
        index run = 1;
        for (std::size_t position = lengths_.size(); position-- > 0 && axis_.loops[position].*side == run * step;) {
            run *= lengths_[position];
        }
        return run;
    }
    /// Finds the loop along which the first matrix is contiguous. `run` is its length in this block. `period` is the
    /// number of values of the loops inside it, or 0 where that is 1. Both are 0 where there is no such loop.
    EINPARALLEL_INLINE void stretch(index& period, index& run) const {
        period = 1;
        for (std::size_t position = axis_.loops.size(); position-- > 0;) {
            const gemm_axis::loop& each = axis_.loops[position];
            if (each.first == 1) {
                run = lengths_[position];
                period = period > 1 ? period : 0;
                return;
            }
            period *= lengths_[position];
        }
        period = 0;
        run = 0;
    }

private:
    EINPARALLEL_INLINE void fill() {
        filled_ = true;
        first_[0] = 0;
        second_[0] = 0;
        count = 1;
        for (std::size_t position = axis_.loops.size(); position-- > 0;) {
            const gemm_axis::loop& each = axis_.loops[position];
            for (index step = 1; step < lengths_[position]; ++step) {
                for (index inner = 0; inner < count; ++inner) {
                    first_[step * count + inner] = first_[inner] + step * each.first;
                    second_[step * count + inner] = second_[inner] + step * each.second;
                }
            }
            count *= lengths_[position];
        }
        for (filled = count; filled % unit_ != 0; ++filled) {
            first_[filled] = first_[filled - std::min(copied_, count)];
        }
    }

    const gemm_axis& axis_;
    index* first_;
    index* second_;
    index unit_;
    index copied_;
    small_vector<index, 4> lengths_;
    bool filled_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
