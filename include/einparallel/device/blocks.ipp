#pragma once

#include <einparallel/device/blocks.hpp>

#include <einparallel/device/join_shape.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/softmax.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops and tensors of a join, in launches of no more loops and points than one takes.
class join_cuts {
public:
    join_cuts(std::span<const index> element_bytes, join_function visit) : visit_(visit), bytes_(element_bytes) {}

    /// @param nest sorted by the output
    void visit(const loop_nest& nest, launch::strided_join work) const {
        index counts[2] = {1, 1};
        std::size_t longest[2] = {0, 0};
        std::size_t shortest = 0;
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            const std::size_t side = nest.in_output(loop) ? 0 : 1;
            longest[side] =
                counts[side] == 1 || nest.extents[loop] > nest.extents[longest[side]] ? loop : longest[side];
            counts[side] *= nest.extents[loop];
            shortest = nest.extents[loop] < nest.extents[shortest] ? loop : shortest;
        }
        const std::size_t side = counts[1] > counts[0] ? 1 : 0;
        if (counts[side] > most_count) {
            cut(nest, work, longest[side], (nest.extents[longest[side]] + 1) / 2);
        } else if (nest.size() + (nest.sum_empty ? 1 : 0) > launch::most_loops) {
            cut(nest, work, shortest, 1);
        } else {
            whole(nest, work);
        }
    }

private:
    static constexpr index most_count = (index{1} << 31) - 1;

    /// The parts of one loop, `length` of it in each.
    void cut(const loop_nest& nest, launch::strided_join work, std::size_t loop, index length) const {
        const index extent = nest.extents[loop];
        const launch::strided_join first = work;
        for (index begin = 0; begin < extent; begin += length) {
            loop_nest part = nest;
            part.extents[loop] = std::min(length, extent - begin);
            const index* const moves = nest.of(loop);
            work.output = static_cast<std::byte*>(first.output) + begin * moves[0] * bytes_[0];
            for (std::size_t slot = 1; slot < nest.slots; ++slot) {
                work.operands[slot - 1] =
                    static_cast<const std::byte*>(first.operands[slot - 1]) + begin * moves[slot] * bytes_[slot];
            }
            work.combine = first.combine || (begin > 0 && !nest.in_output(loop));
            if (part.extents[loop] == 1) {
                part.remove(loop);
            }
            visit(part, work);
        }
    }

    void whole(const loop_nest& nest, launch::strided_join work) const {
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            work.extents[work.loops] = nest.extents[loop];
            std::copy_n(nest.of(loop), nest.slots, work.strides[work.loops++]);
            work.output_loops += nest.in_output(loop) ? 1 : 0;
        }
        if (nest.sum_empty) {
            work.extents[work.loops++] = 0;
        }
        visit_(work);
    }

    join_function visit_;
    std::span<const index> bytes_;
};

EINPARALLEL_INLINE void for_each_join(std::span<const index> element_bytes, loop_nest& nest, launch::strided_join work,
                                      join_function visit) {
    if (nest.output_empty || (nest.sum_empty && work.combine)) {
        return;
    }
    work.operand_count = int(element_bytes.size() - 1);
    nest.sort_by(0);
    join_cuts(element_bytes, visit).visit(nest, work);
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

EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, loop_nest& nest) {
    if (!program.is_opaque()) {
        static_cast<void>(code_of(program));  // throws where a device cannot run it
    }
    std::size_t most = 0;
    for_each_join(program, nest, {}, [&](const launch::strided_join& part) {
        most = std::max(most, shape_of(part).workspace_bytes(program.type().bytes));
    });
    return most;
}

EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, const block_call& call) {
    loop_nest nest(call);
    return join_workspace_bytes(program, nest);
}

EINPARALLEL_INLINE void join_on_device(const op_program& program, const block_call& call, void* workspace,
                                       join_function launch) {
    loop_nest nest(call);
    launch::strided_join work;
    work.output = call.output.data;
    work.combine = call.mode == write_mode::combine;
    work.workspace = workspace;
    for (std::size_t operand = 0; operand < std::min<std::size_t>(call.operands.size(), launch::most_operands);
         ++operand) {
        work.operands[operand] = call.operands[operand].data;
    }
    for_each_join(program, nest, work, launch);
}

EINPARALLEL_INLINE void join_on_device(launch::stream on, const op_program& program, const block_call& call,
                                       void* workspace) {
    join_on_device(program, call, workspace,
                   [&](const launch::strided_join& part) { launch::join(on, part, program); });
}

EINPARALLEL_INLINE op_program reduction_program(reduction by, element_type type) {
    return op_program(by, std::array{type});
}

EINPARALLEL_INLINE void combine_on_device(const op_program& sum, std::span<const index> extents, void* into,
                                          std::span<const index> into_strides, const void* from,
                                          std::span<const index> from_strides, join_function launch) {
    loop_nest nest(2);
    if (!nest.add_box(extents, into_strides, from_strides)) {
        return;
    }
    launch::strided_join work;
    work.output = into;
    work.operands[0] = from;
    work.combine = true;
    for_each_join(sum, nest, work, launch);
}

EINPARALLEL_INLINE void softmax_on_device(launch::stream on, element_type element, const block_call& call,
                                          label_id along) {
    softmax_loops loops(call, along);
    loops.rows.sum_empty = true;  // a join of rows over nothing: a loop behind theirs
    launch::strided_join work;
    work.output = call.output.data;
    work.operands[0] = call.operands[0].data;
    const auto bytes = index(element.bytes);
    for_each_join(std::array{bytes, bytes}, loops.rows, work, [&](launch::strided_join part) {
        part.extents[part.loops - 1] = loops.length;
        std::copy_n(loops.steps, 2, part.strides[part.loops - 1]);
        launch::softmax(on, part, element);
    });
}

EINPARALLEL_INLINE void copy_on_device(launch::stream on, std::span<const index> extents, std::size_t element_bytes,
                                       void* into, std::span<const index> into_strides, const void* from,
                                       std::span<const index> from_strides) {
    loop_nest nest(2);
    if (!nest.add_box(extents, into_strides, from_strides)) {
        return;
    }
    launch::strided_join work;
    work.output = into;
    work.operands[0] = from;
    const auto bytes = index(element_bytes);
    for_each_join(std::array{bytes, bytes}, nest, work,
                  [&](const launch::strided_join& part) { launch::copy(on, part, element_bytes); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
