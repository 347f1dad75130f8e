#pragma once
// Operands whose elements lie side by side across the rows of a nest: blocks of them are turned round in a buffer,
// where they lie along the rows.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/row_order.ipp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// The operands of a nest that are read in blocks, and the blocks.
class turned_operands {
public:
    /// Points of a block along the row, and rows.
    static constexpr index width = 512;
    static constexpr index height = 32;

    turned_operands(const loop_nest& nest, const row_order& order, const row_operands& operands)
        : turned_(found(nest, order, operands)), memory_(bytes_of(turned_)) {
        std::byte* memory = memory_.data();
        for (turned& each : turned_) {
            each.tables = reinterpret_cast<index*>(memory);
            each.block = memory + table_bytes;
            memory += table_bytes + height * pitch(each.bytes);
            for (index column = 0; column < std::min(width, nest.extents[order.inner]); ++column) {
                each.tables[column] = column * each.bytes;
                each.tables[width + column] = column * each.column;
            }
            for (index row = 0; row < std::min(height, nest.extents[order.tiled]); ++row) {
                each.tables[2 * width + row] = row * pitch(each.bytes);
                each.tables[2 * width + height + row] = row * each.bytes;
            }
        }
    }

    [[nodiscard]] bool empty() const { return turned_.empty(); }

    /// Reads the block that begins where the sum of both offsets says.
    void read(const index* offsets, const index* starts, index rows, index columns) {
        for (const turned& each : turned_) {
            const index* const row_tables = each.tables + 2 * width;
            turned_block block;
            block.columns = {each.tables, each.tables + width, columns, columns};
            block.rows = {row_tables, row_tables + height, rows, rows};
            each.turn(each.block, each.data + (offsets[each.slot] + starts[each.slot]) * each.bytes, block);
        }
    }

    /// Points the slots of these operands, less that of the output, to row `number` of the block.
    void point_to(index number, const std::byte** starts) const {
        for (const turned& each : turned_) {
            starts[each.slot - 1] = each.block + number * pitch(each.bytes);
        }
    }
    /// Rows of these operands move by one.
    void straighten(index* moves) const {
        for (const turned& each : turned_) {
            moves[each.slot] = 1;
        }
    }

private:
    struct turned {
        std::size_t slot;
        const std::byte* data;
        index bytes;
        index column;  ///< bytes from one point of a row to the next
        block_function turn;
        index* tables = nullptr;  ///< where columns and rows lie in the block and in the operand
        std::byte* block = nullptr;
    };
    using turned_list = small_vector<turned, 4>;

    /// Bytes from one row of a block to the next: a line more than a power of two.
    static constexpr index pitch(index bytes) { return width * bytes + 64; }

    static turned_list found(const loop_nest& nest, const row_order& order, const row_operands& operands) {
        turned_list list;
        constexpr index least = 256;  // points that are worth what a block takes to set up
        constexpr index shortest = 4;
        const bool sums_inside = !order.outer_contracted.empty() && nest.in_output(order.inner);
        if (order.tiled == row_order::none || sums_inside ||
            std::min(nest.extents[order.tiled], nest.extents[order.inner]) < shortest ||
            nest.extents[order.tiled] * nest.extents[order.inner] < least) {
            return list;
        }
        for (std::size_t slot = 1; slot < nest.slots; ++slot) {
            const index along = nest.of(order.inner)[slot];
            if (along != 0 && along != 1 && nest.of(order.tiled)[slot] == 1) {
                const row_operand& operand = operands[slot - 1];
                const index column = along * operand.bytes;
                const bool turns =
                    (operand.bytes == 4 || operand.bytes == 8) &&
                    (reinterpret_cast<std::uintptr_t>(operand.data) | static_cast<std::uintptr_t>(column)) %
                            static_cast<std::uintptr_t>(operand.bytes) ==
                        0;
                list.push_back(
                    {slot, operand.data, operand.bytes, column, copy_functions::best(operand.bytes, turns).turn});
            }
        }
        return list;
    }

    static std::size_t bytes_of(const turned_list& list) {
        index bytes = 0;
        for (const turned& each : list) {
            bytes += table_bytes + height * pitch(each.bytes);
        }
        return static_cast<std::size_t>(bytes);
    }
    static constexpr index table_bytes = 2 * (width + height) * static_cast<index>(sizeof(index));

    turned_list turned_;
    scratch_memory memory_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
