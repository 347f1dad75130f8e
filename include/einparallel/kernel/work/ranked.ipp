#pragma once

#include <einparallel/kernel/work/ranked.hpp>

#include <einparallel/kernel/work/softmax.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/operations/op_program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void run_ranked(const block_call& call, const ranked_work& work) {
    const row_loops loops(call);
    if (loops.rows.output_empty) {
        return;
    }
    const auto* const ranks = static_cast<const index*>(call.operands[1].data);
    const index last = ranks[(loops.lengths[0] - 1) * call.operands[1].strides[0]];
    require(last < loops.lengths[1], {too_many_ranks(last + 1, loops.lengths[1])});
    constexpr index worth = index{1} << 13;  // elements for each thread
    loops.for_each_run(loops.lengths[1], worth, 1, [&](index into, index from, index rows) {
        const scratch_memory positions(std::size_t(loops.lengths[1]) * sizeof(index));
        for (index row = 0; row < rows; ++row) {
            const index z = (into + row * loops.moves[0]) * index(work.made.bytes);
            const index x = (from + row * loops.moves[1]) * index(work.element.bytes);
            work.row({static_cast<std::byte*>(call.output.data) + z, loops.steps[0],
                      static_cast<const std::byte*>(call.operands[0].data) + x, loops.steps[1], loops.lengths[1], ranks,
                      call.operands[1].strides[0], loops.lengths[0], reinterpret_cast<index*>(positions.data())});
        }
    });
}

EINPARALLEL_INLINE std::shared_ptr<const kernel> make_ranked_kernel(const ranked_work& work, index count) {
    op_program program(reduction::unknown, std::array{work.element, element_type_of<index>()});
    const op_register read[] = {0, 1};
    op_function function;
    function.name = work.is_position ? "place_of_largest" : "largest";
    program.call(function, work.made, work.made, read);
    // For each pair of the two labels' values: about one comparison for each element of a row.
    const double operations = 4.0 / double(std::max<index>(count, 1));
    return std::make_shared<const kernel>(
        work, std::move(program), row_reduction{}, operations,
        [](const block_call& call, const kernel& of) { run_ranked(call, *of.as<ranked_work>()); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
