#pragma once
// Rows of operands that do not lie in memory as a worker reads them.

#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// Copies of rows of operands that do not lie in memory as a worker reads them. A copy is kept while the same row is
/// read again.
EINPARALLEL_INLINE class gathered_rows {
public:
    gathered_rows(const row_operands& operands, index width) : operands_(operands), rows_(operands.size()) {
        for (const row_operand& each : operands) {
            pitch_ = std::max(pitch_, row_pitch(width * each.bytes()));
        }
    }

    void use(std::size_t operand, bool gathers) { rows_[operand].number = gathers ? used_++ : -1; }

    /// The operand's row from an offset on: `stretches` stretches of `length` points.
    const std::byte* read(std::size_t operand, index offset, index move, index length, index beyond, index stretches) {
        const index bytes = operands_[operand].bytes();
        const index counted = operands_[operand].counts_from;
        const std::byte* const first = counted < 0 ? operands_[operand].data + offset * bytes
                                                   : reinterpret_cast<const std::byte*>(counted + offset);
        row& own = rows_[operand];
        if (own.number < 0) {
            return first;
        }
        if (memory_.data() == nullptr) {
            memory_ = scratch_memory(std::size_t(used_ * pitch_));
        }
        std::byte* const into = memory_.data() + own.number * pitch_;
        if (first != own.from || stretches * length > own.filled) {
            counted >= 0 ? count_rows(reinterpret_cast<index*>(into), {first, move, beyond}, length, stretches)
            : length < stretches && (move != 0 || length < 4)
                ? copy_rows(bytes, {into, length, 1}, {first, beyond, move}, stretches, length)
                : copy_rows(bytes, {into, 1, length}, {first, move, beyond}, length, stretches);
            own = {first, stretches * length, own.number};
        }
        return into;
    }

private:
    /// Writes `count` stretches of indices; `from.first` is the first of them.
    static void count_rows(index* into, const row_steps& from, index length, index count) {
        index begin = index(reinterpret_cast<std::uintptr_t>(from.first));
        for (index stretch = 0; stretch < count; ++stretch, into += length, begin += from.beyond) {
            for (index at = 0; at < length; ++at) {
                into[at] = begin + at * from.move;
            }
        }
    }

    struct row {
        const std::byte* from = nullptr;
        index filled = 0;
        index number = -1;  ///< its row in memory_; −1: not gathered
    };

    const row_operands& operands_;
    small_vector<row, 8> rows_;
    index used_ = 0;
    index pitch_ = 0;
    scratch_memory memory_{0};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
