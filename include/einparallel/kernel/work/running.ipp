#pragma once

#include <einparallel/kernel/work/running.hpp>

#include <einparallel/kernel/work/softmax.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/operations/op_program.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void run_running(const block_call& call, const running_work& work, label_id terms, label_id sums) {
    const row_loops loops(call, sums, terms);
    const auto range = [&](label_id label, index length) {
        const index begin = call.first_along(label);
        return interval{begin, begin + length};
    };
    const interval written = range(sums, loops.lengths[0]);
    const interval summed = range(terms, loops.lengths[1]);
    const index bytes = index(work.element.bytes);
    const index widest = loops.moves[0] == 1 && loops.moves[1] == 1 ? 8192 / bytes : 1;
    const bool combines = call.mode == write_mode::combine;
    constexpr index worth = index{1} << 15;  // elements for each thread
    loops.for_each_run(written.size(), worth, widest, [&](index into, index from, index rows) {
        const scratch_memory memory(std::size_t(widest * bytes));
        for (index first = 0; first < rows; first += widest) {
            const index width = std::min(widest, rows - first);
            std::byte* z = static_cast<std::byte*>(call.output.data) + (into + first * loops.moves[0]) * bytes;
            const std::byte* x =
                static_cast<const std::byte*>(call.operands[0].data) + (from + first * loops.moves[1]) * bytes;
            copy_rows(bytes, {memory.data()}, {work.sum.identity.data(), 0}, width);
            const auto run = [&](index count, bool writes, bool reads) {
                work.rows(memory.data(), writes ? z : nullptr, reads ? x : nullptr, count, width, loops.steps[0],
                          loops.steps[1], combines);
                z += writes ? count * loops.steps[0] * bytes : 0;
                x += reads ? count * loops.steps[1] * bytes : 0;
            };
            run(std::clamp<index>(written.begin - summed.begin, 0, summed.size()), false, true);
            const index before = std::clamp<index>(summed.begin - written.begin, 0, written.size());
            const index both = std::max<index>(0, intersect(summed, written).size());
            run(before, true, false);
            run(both, true, true);
            run(written.size() - before - both, true, false);
        }
    });
}

EINPARALLEL_INLINE std::shared_ptr<const kernel> make_running_kernel(const running_work& work, index extent) {
    const auto contract = [](const block_call& call, const kernel& of) {
        run_running(call, *of.as<running_work>(), row_loops::other_label(call.operands[0].labels, call.output.labels),
                    row_loops::other_label(call.output.labels, call.operands[0].labels));
    };
    const double operations = 2.0 / double(std::max<index>(extent, 1));  // for each pair of the two labels' values
    return std::make_shared<const kernel>(work, op_program(work.by, {&work.element, 1}), work.sum, operations,
                                          contract);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
