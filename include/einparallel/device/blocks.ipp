#pragma once

#include <einparallel/device/blocks.hpp>

#include <einparallel/device/join_shape.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/work/softmax.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Calls visit(launch) for a join. If it has more loops, points or terms than one launch can have, cuts it along one
/// loop into several launches.
/// @param nest  sorted by the output
EINPARALLEL_INLINE void visit_cut(index_span bytes, const loop_nest& nest, launch::strided_join work,
                                  join_function visit) {
    constexpr index most_count = (index{1} << 31) - 1;
    index counts[2] = {1, 1};
    std::size_t longest[2] = {0, 0};
    std::size_t shortest = 0;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const std::size_t side = nest.in_output(loop) ? 0 : 1;
        longest[side] = counts[side] == 1 || nest.extents[loop] > nest.extents[longest[side]] ? loop : longest[side];
        counts[side] *= nest.extents[loop];
        shortest = nest.extents[loop] < nest.extents[shortest] ? loop : shortest;
    }
    const std::size_t side = counts[1] > counts[0] ? 1 : 0;
    const bool has_many_points = counts[side] > most_count;
    if (has_many_points || nest.size() + (nest.sum_empty ? 1 : 0) > launch::most_loops) {
        const std::size_t loop = has_many_points ? longest[side] : shortest;
        const index extent = nest.extents[loop];
        const index length = has_many_points ? (extent + 1) / 2 : 1;
        const index* const moves = nest.of(loop);
        for (index begin = 0; begin < extent; begin += length) {
            loop_nest own = nest;
            own.extents[loop] = std::min(length, extent - begin);
            if (own.extents[loop] == 1) {
                own.remove(loop);
            }
            launch::strided_join from = work;
            from.output = static_cast<std::byte*>(work.output) + begin * moves[0] * bytes[0];
            for (std::size_t slot = 1; slot < nest.slots; ++slot) {
                from.operands[slot - 1] =
                    static_cast<const std::byte*>(work.operands[slot - 1]) + begin * moves[slot] * bytes[slot];
            }
            from.combine = work.combine || (begin > 0 && !nest.in_output(loop));
            visit_cut(bytes, own, from, visit);
        }
        return;
    }
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        work.extents[work.loops] = nest.extents[loop];
        std::copy_n(nest.of(loop), nest.slots, work.strides[work.loops++]);
        work.output_loops += nest.in_output(loop) ? 1 : 0;
    }
    if (nest.sum_empty) {
        work.extents[work.loops++] = 0;
    }
    visit(work);
}

EINPARALLEL_INLINE void for_each_join(index_span element_bytes, loop_nest& nest, launch::strided_join work,
                                      join_function visit) {
    if (nest.output_empty || (nest.sum_empty && work.combine)) {
        return;
    }
    work.operand_count = int(element_bytes.size() - 1);
    nest.sort_by(0);
    visit_cut(element_bytes, nest, work, visit);
}

EINPARALLEL_INLINE void for_each_join(const op_program& program, loop_nest& nest, const launch::strided_join& work,
                                      join_function visit) {
    if (program.operand_count() > launch::most_operands) {
        static_cast<void>(code_of(program));  // throws
    }
    index bytes[1 + launch::most_operands] = {index(program.type().bytes)};
    for (std::size_t operand = 0; operand < program.operand_count(); ++operand) {
        bytes[1 + operand] = index(program.instructions()[operand].type().bytes);
    }
    for_each_join({bytes, 1 + program.operand_count()}, nest, work, visit);
}

EINPARALLEL_INLINE void for_each_join(const box_pair& boxes, bool combine, join_function visit) {
    loop_nest nest(2);
    if (nest.add_box(boxes.extents, boxes.into_strides, boxes.from_strides)) {
        const launch::strided_join work{.output = boxes.into, .operands = {boxes.from}, .combine = combine};
        const auto bytes = index(boxes.element_bytes);
        for_each_join(std::array{bytes, bytes}, nest, work, visit);
    }
}

EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, loop_nest nest) {
    if (!program.is_opaque()) {
        static_cast<void>(code_of(program));  // throws where a device cannot run it
    }
    std::size_t most = 0;
    for_each_join(program, nest, {}, [&](const launch::strided_join& each) {
        most = std::max(most, shape_of(each).workspace_bytes(program.type().bytes));
    });
    return most;
}

EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, const block_call& call) {
    return join_workspace_bytes(program, loop_nest(call));
}

EINPARALLEL_INLINE void join_on_device(const op_program& program, const block_call& call, void* workspace,
                                       std::uint32_t* divided, join_function launch) {
    loop_nest nest(call);
    launch::strided_join work{.output = call.output.data,
                              .combine = call.mode == write_mode::combine,
                              .workspace = workspace,
                              .divided = divided};
    for (std::size_t operand = 0; operand < std::min<std::size_t>(call.operands.size(), launch::most_operands);
         ++operand) {
        work.operands[operand] = call.operands[operand].data;
    }
    for_each_join(program, nest, work, launch);
}

EINPARALLEL_INLINE void softmax_on_device(launch::stream on, element_type element, const block_call& call,
                                          label_id along) {
    row_loops loops(call, along, along);
    loops.rows.sum_empty = true;  // adds a summed loop behind those of rows; its extent is set below
    const launch::strided_join work{.output = call.output.data, .operands = {call.operands[0].data}};
    const auto bytes = index(element.bytes);
    for_each_join(std::array{bytes, bytes}, loops.rows, work, [&](launch::strided_join rows) {
        rows.extents[rows.loops - 1] = loops.lengths[0];
        std::copy_n(loops.steps, 2, rows.strides[rows.loops - 1]);
        launch::softmax(on, rows, element);
    });
}

EINPARALLEL_INLINE bool select_on_device(launch::stream on, const select_work& work, const block_call& call) {
    const std::size_t count = work.indices.size();
    const auto bytes = index(work.element.bytes);
    if (count > launch::most_chosen) {
        expect(!work.replaces, "device: more than 4 indices that are data name the element that is written");
        return false;
    }
    small_vector<index, 16> extents(call.extents.size());
    std::copy(call.extents.begin(), call.extents.end(), extents.begin());
    launch::chosen_index chosen[launch::most_chosen] = {};
    index sizes[2 + launch::most_chosen] = {bytes, bytes};
    launch::strided_join whole{.output = call.output.data,
                               .operands = {call.operands[0].data},
                               .combine = work.replaces};  // nothing happens where there is no point
    bool in_output = false;
    for (std::size_t each = 0; each < count; ++each) {
        const label_id label = call.operands[1 + count + each].labels[0];
        const index first = call.first_along(label);
        chosen[each] = {work.indices[each].element,
                        first,
                        call.extents[std::size_t(label)],
                        {stride_along(call.output, label), stride_along(call.operands[0], label)}};
        sizes[2 + each] = index(work.indices[each].element.bytes);
        whole.operands[1 + each] = call.operands[1 + each].data;
        in_output = in_output || found_in(label, call.output.labels);
        extents[std::size_t(label)] = 1;
    }
    loop_nest nest(call, {extents.data(), extents.size()}, 1 + count);
    const bool fills = !work.replaces && !in_output && !nest.sum_empty && nest.all_in_output();
    if (!work.replaces && (!fills || call.mode != write_mode::overwrite)) {
        return false;
    }
    if (work.replaces && call.mode == write_mode::overwrite && call.operands.back().data != call.output.data) {
        const small_vector<index, 8> box = extents_of(call, call.output.labels);
        copy_on_device(on, {{box.data(), box.size()},
                            call.output.data,
                            call.output.steps(),
                            call.operands.back().data,
                            call.operands.back().steps(),
                            work.element.bytes});
    }
    for_each_join({sizes, 2 + count}, nest, whole, [&](const launch::strided_join& each) {
        launch::select(on, each, chosen, work.element.bytes, fills);
    });
    return true;
}

EINPARALLEL_INLINE void copy_on_device(launch::stream on, const box_pair& boxes) {
    for_each_join(boxes, false, [&](const launch::strided_join& each) { launch::copy(on, each, boxes.element_bytes); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
