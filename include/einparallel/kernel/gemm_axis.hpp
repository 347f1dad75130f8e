#pragma once
// One index of a matrix product, made of any number of fused or unfused labels, and its walk in rectangular blocks.

#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// An index made of loops (outermost first), with the strides in elements of the two matrices that have it: m moves A
/// and C, n moves B and C, k moves A and B.
struct gemm_axis {
    struct loop {
        index extent;
        index first;   ///< stride in the one matrix
        index second;  ///< stride in the other
        index tile;    ///< length in a block
    };

    index size = 1;
    small_vector<loop, 4> loops;

    EINPARALLEL_INLINE void add(index extent, index first_stride, index second_stride);

    /// Puts the loop along which the first matrix is contiguous innermost; `but_second`: just outside the one along
    /// which the second is.
    EINPARALLEL_INLINE void move_contiguous(bool but_second);

    /// Cuts the index into blocks of about `limit` values, rectangular in its loops. A loop along which the first
    /// matrix is contiguous keeps `first_run` values at least, and so the second: memory is read and written in whole
    /// cache lines, several of them. The others are cut from the outermost on. Blocks of a loop are even, and multiples
    /// of `unit` along the innermost one.
    /// @return values of the largest block
    EINPARALLEL_INLINE index cut(index limit, index unit, index first_run, index second_run);

    /// The offsets of all values in the second matrix.
    /// @param tables room for twice as many
    EINPARALLEL_INLINE const index* all(index* tables) const;

    /// Strides of a dense second matrix, `step` for the innermost loop.
    /// @return what one more loop around these would have
    EINPARALLEL_INLINE index lay_out(index step);

    EINPARALLEL_INLINE [[nodiscard]] index block_count() const;
};

/// A block of an index: where it starts in the two matrices, and the offsets of its values from there, in the order of
/// the loops.
class gemm_blocks {
public:
    /// @param tables room for twice the values of the largest block; it and the axis must outlive this
    gemm_blocks(const gemm_axis& axis, index largest, index* tables)
        : axis_(axis), first_(tables), second_(tables + largest), lengths_(axis.loops.size(), 0) {}

    /// Where block `number` starts; false where it has another shape than the present one.
    EINPARALLEL_INLINE bool peek(index number, index& first, index& second) const;

    /// Goes to block `number`. The offsets are computed again only where the block has another shape.
    EINPARALLEL_INLINE void go_to(index number);

    index first_start = 0;
    index second_start = 0;
    index count = 0;
    [[nodiscard]] const index* first() const { return first_; }
    [[nodiscard]] const index* second() const { return second_; }
    /// Values of the loops inside the one along which the first matrix is contiguous, and that one's length
    /// in this block; 0 where there is none, or where it is the innermost.
    EINPARALLEL_INLINE void stretch(index& period, index& run) const;

    /// Where the cache lines of the first matrix lie that this block meets, in bytes: all offsets, but one of each 64
    /// bytes along the loop of stride 1.
    /// @return how many
    EINPARALLEL_INLINE index lines(index element, index* into) const;

private:
    EINPARALLEL_INLINE void fill();

    const gemm_axis& axis_;
    index* first_;
    index* second_;
    small_vector<index, 4> lengths_;
    bool filled_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
