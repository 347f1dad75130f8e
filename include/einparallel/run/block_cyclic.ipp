#pragma once

#include <einparallel/run/block_cyclic.hpp>

#include <einparallel/run/agreement.hpp>
#include <einparallel/run/collect.ipp>

#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::shared_ptr<const distributed_part> deal(context& world, const std::array<index, 9>& descriptor,
                                                                const process_grid& grid, void* local,
                                                                element_type element) {
    const exclusive guard(*world.state(), "block_cyclic");
    auto made = std::make_shared<distributed_part>();
    fingerprint common_numbers;
    const std::string failure = failure_of("block_cyclic", [&] {
        const auto expect = [](bool holds, const std::string& otherwise) {
            if (!holds) {
                throw error("block_cyclic: " + otherwise);
            }
        };
        const auto& [type, unused, rows, columns, row_block, column_block, first_row, first_column, leading] =
            descriptor;
        expect(type == 1, "the descriptor is of type " + std::to_string(type) + ", dense matrices have 1");
        expect(rows >= 0 && columns >= 0 && is_countable(std::array{rows, columns}),
               "a matrix cannot be " + std::to_string(rows) + " x " + std::to_string(columns));
        expect(row_block >= 1 && column_block >= 1,
               "blocks cannot be " + std::to_string(row_block) + " x " + std::to_string(column_block));
        expect(grid.rows >= 1 && grid.columns >= 1 && index{grid.rows} * grid.columns <= world.size(),
               "a grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns) +
                   " processes does not fit a context of " + std::to_string(world.size()));
        expect(first_row >= 0 && first_row < grid.rows && first_column >= 0 && first_column < grid.columns,
               "the first block is on process (" + std::to_string(first_row) + ", " + std::to_string(first_column) +
                   "), the grid is " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns));
        const dealt_matrix how{{{{rows, row_block, grid.rows, static_cast<int>(first_row)},
                                 {columns, column_block, grid.columns, static_cast<int>(first_column)}}},
                               grid.order};
        std::array<index, 2> held{0, 0};
        if (world.rank() < how.holders()) {
            const std::array<int, 2> place = how.place_of(world.rank());
            held = {how.dimensions[0].count_of(place[0]), how.dimensions[1].count_of(place[1])};
        }
        expect(held[0] * held[1] == 0 || leading >= held[0],
               "rank " + std::to_string(world.rank()) + ": the leading dimension is " + std::to_string(leading) +
                   ", this rank has " + std::to_string(held[0]) + " rows");
        made->elements = {static_cast<std::byte*>(local), whole_box({held[0], held[1]}), {1, leading}, element.bytes};
        made->world = world.state();
        made->dealt = std::make_shared<const dealt_matrix>(how);
        for (std::size_t place = 0; place < 8; ++place) {
            common_numbers.add(place == 1 ? index{0} : descriptor[place]);
        }
        common_numbers.add(grid.rows).add(grid.columns).add(static_cast<int>(grid.order)).add(name_of_element(element));
    });
    agree(world.control(), failure,
          {{common_numbers.value(), "block_cyclic: the descriptor or the grid is not the same on all ranks"}});
    return made;
}

/// Calls visit(part in `whole`, the same in `memory`) for every part of a holder's box that a process has and that is
/// regular in both: the same order wherever it is called. Either may be another rank's, without data.
EINPARALLEL_INLINE void for_each_dealt_part(const dealt_matrix& how, int process, const strided_box& whole,
                                            const strided_box& memory,
                                            function_ref<void(const strided_box&, const strided_box&)> visit) {
    if (process >= how.holders() || whole.held.empty()) {
        return;
    }
    const auto [rows, columns] = how.dimensions;
    const std::array<int, 2> place = how.place_of(process);
    const auto [top, left] = std::pair(whole.held.sides[0], whole.held.sides[1]);
    const index down = whole.strides[0];
    const index right = whole.strides[1];
    const index leading = memory.strides[1];
    for (const dealt_run& row : rows.runs_in(top, place[0])) {
        for (const dealt_run& column : columns.runs_in(left, place[1])) {
            const auto part = [&](const strided_box& of, index first, std::vector<index> strides) {
                std::byte* const data =
                    of.data == nullptr ? nullptr : of.data + first * static_cast<index>(of.element_bytes);
                return strided_box{data, whole_box({row.cycles, row.length, column.cycles, column.length}),
                                   std::move(strides), of.element_bytes};
            };
            visit(part(whole, (row.first - top.begin) * down + (column.first - left.begin) * right,
                       {rows.processes * rows.block * down, down, columns.processes * columns.block * right, right}),
                  part(memory, row.local + column.local * leading, {rows.block, 1, columns.block * leading, leading}));
        }
    }
}

/// Brings a matrix from block-cyclic memory to `mine`, this rank's box of `where`, or back (`deals`). Collective.
/// Returns the bytes that this rank sent. @throws error, the same on every rank
EINPARALLEL_INLINE std::size_t move_dealt(const context_state& world, const distributed_part& dealt,
                                          const distribution& where, const strided_box& mine, bool deals) {
    return move_boxes(world, "block_cyclic", {}, [&] {
        moving_program made;
        step& now = made.add_step();
        const auto exchange = [&](bool sends, int peer, const strided_box& place) {
            (sends ? now.sends : now.receives).push_back({peer, made.add(place), place.held});
        };
        const strided_box anybodys{nullptr, {}, {1, 1}, mine.element_bytes};
        for (int peer = 0; peer < world.payload.size(); ++peer) {
            if (peer == world.payload.rank()) {
                for_each_dealt_part(*dealt.dealt, peer, mine, dealt.elements, [&](const auto& here, const auto& there) {
                    const buffer_id in_box = made.add(here);
                    const buffer_id in_memory = made.add(there);
                    now.work.emplace_back(
                        local_move{deals ? in_memory : in_box, deals ? in_box : in_memory, here.held});
                });
                continue;
            }
            // What lies in this rank's box and in the peer's memory, and the other way round.
            for_each_dealt_part(*dealt.dealt, peer, mine, anybodys,
                                [&](const auto& here, const auto&) { exchange(deals, peer, here); });
            const strided_box theirs{nullptr, where.held_by(peer), {0, 0}, mine.element_bytes};
            for_each_dealt_part(*dealt.dealt, world.payload.rank(), theirs, dealt.elements,
                                [&](const auto&, const auto& here) { exchange(!deals, peer, here); });
        }
        return made;
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
