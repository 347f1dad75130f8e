#pragma once

#include <einparallel/data/block_cyclic.hpp>

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The distribution of a block-cyclic matrix, as a tensor with rows and columns cut in cycles. `first` is the process
/// with the first block.
EINPARALLEL_SELDOM distribution boxes_in_cycles(const block_cycles& how, const process_grid& grid,
                                                std::array<index, 2> first) {
    const std::vector<index> bounds{how.extents[0] / how.cycles[0] + 1, how.cycles[0],
                                    how.extents[1] / how.cycles[1] + 1, how.cycles[1]};
    const std::array<int, 2> processes{grid.rows, grid.columns};
    std::vector<box> boxes(std::size_t(grid.rows * grid.columns), whole_box(bounds));
    for (int rank = 0; rank < grid.rows * grid.columns; ++rank) {
        const std::array<int, 2> coordinate = grid.order == grid_order::row_major
                                                  ? std::array{rank / grid.columns, rank % grid.columns}
                                                  : std::array{rank % grid.rows, rank / grid.rows};
        for (std::size_t side = 0; side < 2; ++side) {
            const index turn = (coordinate[side] - first[side] + processes[side]) % processes[side];
            boxes[std::size_t(rank)].sides[2 * side + 1] = {turn * how.blocks[side], (turn + 1) * how.blocks[side]};
        }
    }
    return {bounds, std::move(boxes)};
}

EINPARALLEL_SELDOM std::shared_ptr<const local_tensor> deal(context& world, const std::array<index, 9>& descriptor,
                                                            const process_grid& grid, void* local,
                                                            element_type element) {
    const exclusive guard(*world.state(), "block_cyclic");
    auto made = std::make_shared<local_tensor>();
    fingerprint common_numbers;
    const std::string failure = failure_of("block_cyclic", [&] {
        const auto& [type, unused, rows, columns, row_block, column_block, first_row, first_column, leading] =
            descriptor;
        require(type == 1, {"block_cyclic: the descriptor is of type ", type, ", but dense matrices are of type 1"});
        require(rows >= 0 && columns >= 0 && is_countable(std::array{rows, columns}),
                {"block_cyclic: a matrix cannot be ", rows, " x ", columns});
        require(row_block >= 1 && column_block >= 1,
                {"block_cyclic: blocks cannot be ", row_block, " x ", column_block});
        require(grid.rows >= 1 && grid.columns >= 1 && index{grid.rows} * grid.columns <= world.size(),
                {"block_cyclic: a grid of ", grid.rows, " x ", grid.columns, " processes does not fit a context of ",
                 world.size()});
        require(first_row >= 0 && first_row < grid.rows && first_column >= 0 && first_column < grid.columns,
                {"block_cyclic: the first block is on process (", first_row, ", ", first_column, "), the grid is ",
                 grid.rows, " x ", grid.columns});
        const index down = std::min(row_block, std::max<index>(rows, 1));
        const index right = std::min(column_block, std::max<index>(columns, 1));
        made->cyclic = {{rows, columns}, {down, right}, {down * grid.rows, right * grid.columns}};
        made->where =
            std::make_shared<const distribution>(boxes_in_cycles(*made->cyclic, grid, {first_row, first_column}));
        const box in_cycles = made->where->held_by(world.rank());
        std::vector<index> held{0, 0};  // rows and columns of this rank: ScaLAPACK's numroc
        for (std::size_t side = 0; side < 2 && !in_cycles.empty(); ++side) {
            const auto& [extents, blocks, cycles] = *made->cyclic;
            const index rest = extents[side] % cycles[side] - in_cycles.sides[2 * side + 1].begin;
            held[side] = extents[side] / cycles[side] * blocks[side] + std::clamp<index>(rest, 0, blocks[side]);
        }
        require(held[0] * held[1] == 0 || leading >= held[0],
                {"block_cyclic: rank ", world.rank(), ": the leading dimension is ", leading, ", this rank has ",
                 held[0], " rows"});
        require(held[0] * held[1] == 0 || local != nullptr,
                {"block_cyclic: rank ", world.rank(), ": the elements are at a null pointer"});
        made->elements = {static_cast<std::byte*>(local), whole_box(held), {1, leading}, element};
        made->world = world.state();
        for (std::size_t position = 0; position < 8; ++position) {
            common_numbers.add(position == 1 ? index{0} : descriptor[position]);
        }
        common_numbers.add(grid.rows).add(grid.columns).add(int(grid.order)).add(name_of_element(element));
    });
    agree(world.control(), failure,
          {{common_numbers.value(), "block_cyclic: the descriptor or the grid is not the same on all ranks"}});
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
