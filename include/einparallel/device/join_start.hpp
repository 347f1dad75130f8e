#pragma once
// Starts a join of any program with the blocks and threads of its shape.

#include <einparallel/device/join_body.hpp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/device/start.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a launch as its body needs them: first those of the output, then the summed ones, each fastest first.
template <int Operands>
join_loops<Operands> loops_of(const launch::strided_join& work) {
    join_loops<Operands> loops{};
    const auto add = [&](int first, int end) {
        for (int loop = end; loop-- > first;) {
            if (work.extents[loop] > 1) {
                auto& into = loops.loop[loops.all++];
                into.size = std::uint32_t(work.extents[loop]);
                into.extent = divisor(into.size);
                std::copy_n(work.strides[loop], 1 + work.operand_count, into.strides);
            }
        }
    };
    add(0, work.output_loops);
    loops.outputs = loops.all;
    add(work.output_loops, work.loops);
    return loops;
}

/// Starts a join; where its sums are split, also starts the join that sums the splits.
template <class Program>
void start_join(launch::stream on, const launch::strided_join& work, const Program& program) {
    const int bytes = std::max(program.register_bytes(), int(sizeof(typename Program::value)));
    int threads = most_threads;
    while (threads > warp_size && threads * bytes > most_shared_bytes) {
        threads /= 2;
    }
    expect(threads * bytes <= most_shared_bytes,
           "device: an expression needs more values at a time than a device has registers for");
    const join_shape shape = shape_of(work, threads);
    join_body<Program> body{program};
    body.output = shape.splits > 1 ? work.workspace : work.output;
    std::copy_n(work.operands, work.operand_count, body.from);
    body.shape = shape;
    body.by_splits = divisor(shape.splits);
    body.combine = work.combine && shape.splits == 1;
    body.loops = loops_of<Program::most_operands>(work);
    start(on, body, {shape.blocks(shape.sums ? 1 : join_points), shape.threads(), shape.threads() * bytes});
    if (shape.splits > 1) {
        start_join(on, sum_of_splits(work, shape), program.of_sums());
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
