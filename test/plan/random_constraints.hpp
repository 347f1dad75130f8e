#pragma once
// Random pins and marks for the planner's tests, and what they mean, worked out apart from the planner.

#include "random_graph.hpp"

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/plan/plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// Pins every other einsum and placeholder in some way that makes sense, and marks one in `marks` (0: none) einsums
/// that are not pinned to run without communication. Returns how many constraints there are. `uneven`: some at cut
/// points.
inline int pin_some(random_graphs& random, const std::vector<node>& outputs, int processes, int marks,
                    bool uneven = false) {
    int count = 0;
    for (const node& each : ep::detail::collect(outputs).vertices) {
        const bool placeholder = each->is_input() && each->origin->kind() == ep::source_kind::placeholder;
        each->constraints = {};
        if (!each->is_input() && marks > 0 && random.one_in(marks)) {
            each->constraints.without_communication = true;
            ++count;
        } else if ((!each->is_input() || placeholder) && random.one_in(marks > 0 ? 4 : 2)) {
            std::vector<ep::pinned_part> parts;
            int left = processes;
            for (int dimension = 0; dimension < static_cast<int>(each->bounds.size()); ++dimension) {
                const auto place = static_cast<std::size_t>(dimension);
                const auto most = std::clamp<ep::index>(each->bounds[place], 1, left);
                const int cut = random.between(1, static_cast<int>(most));
                left /= cut;
                if (uneven && random.one_in(2)) {
                    parts.emplace_back(dimension, ep::cut_points(random.cut_points(each->bounds[place], cut)));
                } else if (each->is_input() || random.one_in(2)) {
                    parts.emplace_back(dimension, cut);
                } else {
                    parts.emplace_back(each->form.names[static_cast<std::size_t>(each->form.output[place])], cut);
                }
                std::swap(parts.back(), parts[static_cast<std::size_t>(random.between(0, dimension))]);
            }
            each->constraints.pin = std::move(parts);
            ++count;
        }
    }
    return count;
}

/// The dimension that a part of a pin names.
inline std::size_t dimension_of(const ep::vertex& pinned, const ep::pinned_part& part) {
    std::size_t dimension = static_cast<std::size_t>(part.dimension);
    for (std::size_t place = 0; !part.label.empty() && place < pinned.form.output.size(); ++place) {
        const ep::label_id label = pinned.form.output[place];
        dimension = pinned.form.names[static_cast<std::size_t>(label)] == part.label ? place : dimension;
    }
    return dimension;
}

/// True where a partition vector is what the constraints of its vertex allow.
inline bool obeys(const ep::vertex& einsum, const std::vector<int>& vector) {
    for (std::size_t label = 0; label < vector.size() && einsum.constraints.without_communication; ++label) {
        const auto has = [&](const std::vector<ep::label_id>& labels) {
            return std::count(labels.begin(), labels.end(), static_cast<ep::label_id>(label)) > 0;
        };
        if (vector[label] > 1 &&
            !(has(einsum.form.output) && std::all_of(einsum.form.operands.begin(), einsum.form.operands.end(), has))) {
            return false;
        }
    }
    if (!einsum.constraints.pin) {
        return true;
    }
    std::vector<int> wanted(einsum.bounds.size(), 1);
    for (const ep::pinned_part& part : *einsum.constraints.pin) {
        wanted[dimension_of(einsum, part)] = part.parts;
    }
    for (std::size_t dimension = 0; dimension < wanted.size(); ++dimension) {
        if (vector[static_cast<std::size_t>(einsum.form.output[dimension])] != wanted[dimension]) {
            return false;
        }
    }
    return true;
}

/// True where the axes that a pin names stand in its order.
inline bool keeps_order(const ep::vertex& einsum, const ep::mesh& ranks) {
    std::size_t last = 0;
    for (std::size_t part = 0; einsum.constraints.pin && part < einsum.constraints.pin->size(); ++part) {
        const ep::label_id label = einsum.form.output[dimension_of(einsum, (*einsum.constraints.pin)[part])];
        for (std::size_t axis = 0; axis < ranks.axes.size(); ++axis) {
            if (ranks.axes[axis].label == label) {
                if (axis < last) {
                    return false;
                }
                last = axis;
            }
        }
    }
    return true;
}

/// Where a pinned placeholder rests: the last part named varies fastest with the rank.
inline ep::distribution pinned_layout(const ep::vertex& input) {
    int ranks = 1;
    for (const ep::pinned_part& part : *input.constraints.pin) {
        ranks *= part.parts;
    }
    std::vector<ep::box> boxes;
    for (int rank = 0; rank < ranks; ++rank) {
        boxes.push_back(ep::whole_box(input.bounds));
        int rest = rank;
        for (std::size_t place = input.constraints.pin->size(); place-- > 0;) {
            const ep::pinned_part& part = (*input.constraints.pin)[place];
            const auto dimension = static_cast<std::size_t>(part.dimension);
            const auto turn = static_cast<std::size_t>(rest % part.parts);
            boxes.back().sides[dimension] = part.points.empty()
                                                ? ep::block_of(input.bounds[dimension], part.parts, rest % part.parts)
                                                : ep::interval{part.points[turn], part.points[turn + 1]};
            rest /= part.parts;
        }
    }
    return {input.bounds, std::move(boxes)};
}

/// The constraints of a graph in its plan, read off the ranks' boxes.
inline void check_obeyed(const ep::plan& made) {
    for (const ep::planned_vertex& each : made.vertices()) {
        if (each.constraints.pin && each.is_input()) {
            CHECK(each.resting == pinned_layout(*each.origin));
        } else if (each.constraints.pin) {
            std::vector<int> vector;
            for (std::size_t label = 0; label < each.work.extents.size(); ++label) {
                vector.push_back(each.work.ranks.parts(static_cast<ep::label_id>(label)));
            }
            CHECK(obeys(*each.origin, vector));
            CHECK(keeps_order(*each.origin, each.work.ranks));
            for (const ep::pinned_part& part : *each.constraints.pin) {  // the blocks, of which pieces may rest
                std::vector<ep::interval> blocks;
                const std::size_t dimension = dimension_of(*each.origin, part);
                const std::size_t pending = each.resting.bounds().size() - each.bounds.size();
                for (int rank = 0; rank < each.work.ranks.size(); ++rank) {
                    blocks.push_back(each.resting.block_of_rank(rank).sides[dimension + pending]);
                }
                for (std::size_t at = 0; at + 1 < part.points.size(); ++at) {
                    CHECK(std::ranges::find(blocks, ep::interval{part.points[at], part.points[at + 1]}) !=
                          blocks.end());
                }
            }
        }
        if (each.constraints.without_communication) {
            CHECK(each.work.output.replication() == 1);
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                CHECK(each.work.operands[operand].replication() == 1);
                const ep::planned_vertex& read = made.vertices()[each.inputs[operand]];
                const bool anywhere = read.is_input() && read.origin->origin->kind() == ep::source_kind::everywhere;
                for (int rank = 0; rank < made.processes() && !anywhere; ++rank) {
                    const ep::box wanted = each.work.operands[operand].held_by(rank);
                    CHECK((wanted.empty() || intersect(read.resting.held_by(rank), wanted) == wanted));
                }
            }
        }
    }
}

}  // namespace test
