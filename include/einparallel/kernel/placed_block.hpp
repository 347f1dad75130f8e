#pragma once
// A block of a copy with the tables of where its columns and rows lie.

#include <einparallel/kernel/vector_copy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// A block and where it lies; the tables are its own.
struct placed_block {
    static constexpr index longest = 512;    ///< columns or rows
    static constexpr index none = -longest;  ///< no column begins there, for lines or not

    index tables[4][longest];    ///< of columns in the output and in the input, then of rows
    index buffer_rows[longest];  ///< where the rows are in the buffer, where there is one
    turned_block block;
    std::byte* into = nullptr;
    const std::byte* from = nullptr;
    index column = none;  ///< number of the first
    index row = none;

    /// Whether a row lies behind the one before it in the output, with nothing between; rows of `length` bytes.
    [[nodiscard]] bool follows(index row_number, index length) const {
        const index* const rows = block.rows.into;
        return block.columns.together(0) == block.columns.count && rows[row_number] == rows[row_number - 1] + length;
    }

    /// Address of the first element that is read.
    [[nodiscard]] index first() const {
        return static_cast<index>(reinterpret_cast<std::intptr_t>(from)) + tables[1][0] + tables[3][0];
    }

    /// Rows that follow one another do so in the buffer; others begin there with a line, an odd number of lines apart.
    void lay_in_buffer(index element) {
        const index length = block.columns.count * element;
        buffer_rows[0] = 0;
        for (index each = 1; each < block.rows.count; ++each) {
            buffer_rows[each] =
                buffer_rows[each - 1] + (follows(each, length) ? length : ((length + 63) / 64 | 1) * 64);
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
