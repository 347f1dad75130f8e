#pragma once
// Tasks of einsums all of whose sums are finished.

#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::testing {

inline task make_task(einsum_form form, std::vector<index> extents, std::vector<std::size_t> operand_bytes,
                      std::size_t output_bytes, mesh ranks, const task_cuts& cuts, int travelling = nothing_travels) {
    return einparallel::make_task(summed_einsum{std::move(form), std::move(extents)}, std::move(operand_bytes),
                                  output_bytes, std::move(ranks), cuts, travelling);
}

/// With the cuts of choose_cuts() and the ring of choose_travelling().
inline task make_task(einsum_form form, std::vector<index> extents, std::vector<std::size_t> operand_bytes,
                      std::size_t output_bytes, mesh ranks, algorithm wanted = algorithm::automatic) {
    const task_cuts cuts = choose_cuts(form, extents, ranks);
    task made =
        make_task(std::move(form), std::move(extents), std::move(operand_bytes), output_bytes, std::move(ranks), cuts);
    made.travelling = choose_travelling(made, wanted);
    return made;
}

}  // namespace einparallel::testing
