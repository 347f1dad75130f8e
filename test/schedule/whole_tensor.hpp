#pragma once
// Tensors as one process sees them: the oracle of the schedules' tests.

#include "random_task.hpp"

#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/task.hpp>

#include <support/play.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace einparallel::testing {

/// A tensor of small integers, so that every order of summation gives the same double.
struct whole_tensor {
    std::vector<index> bounds;
    std::vector<double> elements;

    [[nodiscard]] double at(const std::vector<index>& point) const {
        index offset = 0;
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            offset = offset * bounds[dimension] + point[dimension];
        }
        return elements[static_cast<std::size_t>(offset)];
    }
};

inline whole_tensor random_tensor(const std::vector<index>& bounds, random_tasks& random) {
    whole_tensor made{bounds, {}};
    for_each_point(bounds, [&](const std::vector<index>&) { made.elements.push_back(random.between(-3, 3)); });
    return made;
}

/// The einsum by its definition.
inline whole_tensor reference(const task& work, const std::vector<whole_tensor>& operands, played_operators operators) {
    whole_tensor made{work.output.bounds(), {}};
    for_each_point(made.bounds, [&](const std::vector<index>&) { made.elements.push_back(identity_of(operators)); });
    for_each_point(work.extents, [&](const std::vector<index>& point) {
        double joined = unit_of(operators);
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            std::vector<index> at;
            for (const label_id label : work.form.operands[operand]) {
                at.push_back(label == no_label ? 0 : point[static_cast<std::size_t>(label)]);
            }
            joined = join(operators, joined, operands[operand].at(at));
        }
        index offset = 0;
        for (std::size_t dimension = 0; dimension < made.bounds.size(); ++dimension) {
            const label_id label = work.form.output[dimension];
            offset = offset * made.bounds[dimension] + (label == no_label ? 0 : point[static_cast<std::size_t>(label)]);
        }
        double& place = made.elements[static_cast<std::size_t>(offset)];
        place = aggregate(operators, place, joined);
    });
    return made;
}

/// Fills a box from a tensor: what stands behind a read_source. The tensor must stay alive.
inline std::function<void(const box&, double*)> reader_of(const whole_tensor& tensor) {
    return [&tensor](const box& region, double* destination) {
        for_each_point(region, [&](const std::vector<index>& point) { *destination++ = tensor.at(point); });
    };
}

/// True where every rank's first result is its box of `expected`, element by element, and the boxes hold every element
/// once.
inline bool results_agree(const distribution& resting, const std::vector<program>& programs,
                          std::vector<played_memory>& memories, const whole_tensor& expected) {
    index held_by_all = 0;
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
        const box held = resting.held_by(static_cast<int>(rank));
        std::vector<double> wanted(static_cast<std::size_t>(held.size()));
        if (!held.empty()) {
            reader_of(expected)(held, wanted.data());
        }
        if (memories[rank].pack(programs[rank].results[0], held) != wanted) {
            return false;
        }
        held_by_all += held.size();
    }
    return held_by_all == static_cast<index>(expected.elements.size());
}

}  // namespace einparallel::testing
