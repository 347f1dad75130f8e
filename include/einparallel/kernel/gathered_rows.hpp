#pragma once
// Rows of operands that do not lie in memory as a worker reads them.

#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// Copies `count` stretches of `length` bytes, at most 256: a call for each would take longer. Words overlap where they
/// do not fill a stretch.
template <class Word>
void copy_stretches(std::byte* into, const std::byte* from, index length, index into_step, index from_step,
                    index count) {
    constexpr auto bytes = index(sizeof(Word));
    for (index stretch = 0; stretch < count; ++stretch, into += into_step, from += from_step) {
        for (index at = 0; at + bytes <= length; at += bytes) {
            __builtin_memcpy(into + at, from + at, sizeof(Word));
        }
        if (length % bytes != 0) {
            __builtin_memcpy(into + length - bytes, from + length - bytes, sizeof(Word));
        }
    }
}

EINPARALLEL_INLINE void copy_rows(index bytes, const row_steps& to, const row_steps& from, index length, index count) {
    if (const index size = length * bytes; to.move == 1 && from.move == 1 && size >= 4 && size <= 256) {
        const auto copy = size >= 16  ? &copy_stretches<std::array<std::uint64_t, 2>>
                          : size >= 8 ? &copy_stretches<std::uint64_t>
                                      : &copy_stretches<std::uint32_t>;
        copy(static_cast<std::byte*>(const_cast<void*>(to.first)), static_cast<const std::byte*>(from.first), size,
             to.beyond * bytes, from.beyond * bytes, count);
        return;
    }
    // By value: otherwise the compiler must assume that writing elements changes what a reference refers to.
    const auto copy = [to, from, length, count](auto word) {
        using T = decltype(word);
        T* into = static_cast<T*>(const_cast<void*>(to.first));
        const T* x = static_cast<const T*>(from.first);
        for (index stretch = 0; stretch < count; ++stretch, into += to.beyond, x += from.beyond) {
            if (to.move == 1 && from.move <= 1 && from.move >= 0) {
                from.move == 0 ? std::fill_n(into, length, T(*x)) : std::copy_n(x, length, into);
                continue;
            }
            for (index at = 0; at < length; ++at) {
                into[at * to.move] = x[at * from.move];
            }
        }
    };
    switch (bytes) {
        case 1:
            return copy(std::uint8_t());
        case 2:
            return copy(std::uint16_t());
        case 4:
            return copy(std::uint32_t());
        case 8:
            return copy(std::uint64_t());
        default:
            return copy(std::array<std::uint64_t, 2>());
    }
}

/// Points of rows that are copied together, at most.
inline constexpr index most_points_beside = 256;
/// How many rows of elements of so many bytes are copied together: four cache lines along the operand, so that
/// processors fetch ahead, and a tile that fits into the second-level cache.
constexpr index gathered_together(index bytes) {
    return 256 / bytes;
}

/// Copies of rows of operands that do not lie in memory as a worker reads them. A copy is kept while the same row is
/// read again. Where the next rows lie beside a row in memory, it and they are copied together, transposed in
/// registers.
EINPARALLEL_INLINE class gathered_rows {
public:
    gathered_rows(const row_operands& operands, index width) : operands_(operands), rows_(operands.size()) {
        for (const row_operand& each : operands) {
            pitch_ = std::max(pitch_, row_pitch(width * each.bytes()));
        }
    }

    /// @param gathers  whether rows of the operand are copied
    /// @param beside   how many rows follow one another whose first points lie side by side
    void use(std::size_t operand, bool gathers, index beside) {
        const index together = std::min(gathers ? beside : 1, gathered_together(operands_[operand].bytes()));
        rows_[operand].together = together;
        rows_[operand].memory = gathers ? used_ : -1;
        used_ += gathers ? rows_[operand].together * (pitch_ + line_bytes) : 0;
        rows_[operand].tables = used_;
        used_ += rows_[operand].together > 1 ? 3 * most_points_beside * index(sizeof(index)) : 0;
    }

    /// The operand's row from an offset on: `stretches` stretches of `length` points.
    /// @param left  how many rows lie beside it from there on, with itself
    const std::byte* read(std::size_t operand, index offset, index move, index length, index beyond, index stretches,
                          index left) {
        const index bytes = operands_[operand].bytes();
        const index counted = operands_[operand].counts_from;
        const std::byte* const first = counted < 0 ? operands_[operand].data + offset * bytes
                                                   : reinterpret_cast<const std::byte*>(counted + offset);
        row& own = rows_[operand];
        if (own.memory < 0) {
            return first;
        }
        if (memory_.data() == nullptr) {
            memory_ = scratch_memory(std::size_t(used_));
        }
        std::byte* const into = memory_.data() + own.memory;
        const index behind = counted < 0 ? (first - own.from) / bytes : first == own.from ? 0 : 1;
        if (behind >= 0 && behind < own.count && stretches * length <= own.filled) {
            return into + behind * (pitch_ + line_bytes);
        }
        own.from = first;
        own.filled = stretches * length;
        own.count = 1;
        if (own.together > 1 && stretches == 1 && left > 1 && length <= most_points_beside) {
            own.count = left <= own.together ? left : std::min(own.together, (left + 1) / 2);
            copy_beside(bytes, into, first, move, length, own);
        } else if (counted >= 0) {
            count_rows(reinterpret_cast<index*>(into), {first, move, beyond}, length, stretches);
        } else {
            length < stretches&& move != 1 && (move != 0 || length < 4)
                ? copy_rows(bytes, {into, length, 1}, {first, beyond, move}, stretches, length)
                : copy_rows(bytes, {into, 1, length}, {first, move, beyond}, length, stretches);
        }
        return into;
    }

private:
    struct row {
        const std::byte* from = nullptr;
        index filled = 0;    ///< points of a row
        index count = 0;     ///< rows that are kept
        index together = 1;  ///< rows that are copied together
        index memory = -1;   ///< where its rows are in memory_; −1: not gathered
        index tables = 0;    ///< where its tables of offsets are
        index listed = 0;    ///< offsets in the tables
    };

    /// Writes `count` stretches of indices; `from.first` is the first of them.
    static void count_rows(index* into, const row_steps& from, index length, index count) {
        index begin = index(reinterpret_cast<std::uintptr_t>(from.first));
        for (index stretch = 0; stretch < count; ++stretch, into += length, begin += from.beyond) {
            for (index at = 0; at < length; ++at) {
                into[at] = begin + at * from.move;
            }
        }
    }

    /// Copies the rows of `own`, whose points lie side by side.
    void copy_beside(index bytes, std::byte* into, const std::byte* from, index move, index length, row& own) {
        index* const points = reinterpret_cast<index*>(memory_.data() + own.tables);
        index* const read = points + most_points_beside;
        index* const rows = read + most_points_beside;
        for (; own.listed < std::max(length, own.count); ++own.listed) {
            points[own.listed] = own.listed;
            read[own.listed] = own.listed * move;
            rows[own.listed] = own.listed * (pitch_ + line_bytes) / bytes;
        }
        copy_tile tile;
        tile.columns = {points, read, length, length, true};
        tile.rows = {rows, points, own.count, own.count, true};
        tile.unit = bytes;
        copy_functions::best(bytes, std::min(length, own.count)).copy(into, from, tile);
    }

    const row_operands& operands_;
    small_vector<row, 8> rows_;
    index used_ = 0;
    index pitch_ = 0;
    scratch_memory memory_{0};
    static constexpr index line_bytes = 64;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
