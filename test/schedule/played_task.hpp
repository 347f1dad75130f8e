#pragma once
// One vertex's programs on all ranks, played in one process against scalar loops on whole tensors.

#include "random_task.hpp"
#include "whole_tensor.hpp"

#include <einparallel/layout/levels.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <support/check_programs.hpp>
#include <support/make_task.hpp>
#include <support/play.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace einparallel::testing {

/// Programs of all ranks, idle ones included: phase 0 reads the operands, vertex r being operand r and the last one the
/// einsum.
inline std::vector<program> programs_of(const task& work, int world, const rank_groups& groups = {}) {
    std::vector<program> programs;
    for (int rank = 0; rank < world; ++rank) {
        program mine;
        std::vector<buffer_id> operands;
        step reads;
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            operands.push_back(mine.add_buffer(work.operands[operand].held_by(rank), work.operand_bytes[operand]));
            if (!mine.buffers.back().region.empty()) {
                reads.work.emplace_back(read_source{operand, operands.back()});
            }
        }
        if (!reads.work.empty()) {
            mine.steps.push_back(std::move(reads));
        }
        mine.results = {schedule_vertex(mine, work.operands.size(), work, rank, operands, 1, groups)};
        programs.push_back(std::move(mine));
    }
    return programs;
}

inline std::string describe(const task& work) {
    std::string text = work.form.text() + " extents";
    for (const index extent : work.extents) {
        text += std::to_string(extent).insert(0, 1, ' ');
    }
    text += " mesh";
    for (const mesh_axis& axis : work.ranks.axes) {
        text += std::to_string(axis.label).insert(0, 1, ' ');
        text += std::to_string(axis.parts).insert(0, 1, ':');
    }
    return text + " travelling " + std::to_string(work.travelling);
}

/// A task's operands, and what it must make of them.
struct played_task {
    played_operators operators;
    loop_kernel loops{operators};
    std::vector<whole_tensor> operands;
    std::vector<played_vertex> vertices;  ///< operands, then the einsum
    whole_tensor expected;

    played_task(const task& work, random_tasks& random)
        : operators(random.one_in(2) ? played_operators::sum_of_products : played_operators::max_of_sums) {
        for (const distribution& operand : work.operands) {
            operands.push_back(random_tensor(operand.bounds(), random));
        }
        for (const whole_tensor& operand : operands) {
            vertices.push_back({{}, nullptr, reader_of(operand)});
        }
        vertices.push_back({work.form, &loops, {}});
        expected = reference(work, operands, operators);
    }
    played_task(const played_task&) = delete;
    played_task& operator=(const played_task&) = delete;

    [[nodiscard]] std::string broken(const std::vector<program>& programs) const {
        return check_programs(programs,
                              [&](std::size_t vertex) -> const einsum_form& { return vertices[vertex].form; });
    }
    [[nodiscard]] bool agrees(const task& work, const std::vector<program>& programs, bool together) const {
        std::vector<played_memory> memories = play(programs, vertices, together);
        return results_agree(work.output, programs, memories, expected);
    }
};

}  // namespace einparallel::testing
