#pragma once
// Where labels may be cut into uneven blocks: at the cut points of pins and of inputs that rest somewhere.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/constraints.ipp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Lists of cut points, by label.
using points_by_label = std::vector<std::vector<std::vector<index>>>;

/// Cut points at which labels may be cut, by vertex and label (of an input, dimension): where an input lies in uneven
/// blocks, or a pin has them, and wherever the same index goes from there through the graph.
EINPARALLEL_INLINE std::vector<points_by_label> known_points(const einsum_graph& graph) {
    constexpr std::size_t most = 3;     // lists for one index
    std::vector<std::size_t> first{0};  // number of a vertex's first label
    for (const std::shared_ptr<vertex>& each : graph.vertices) {
        first.push_back(first.back() + (each->is_input() ? each->bounds : each->extents).size());
    }
    std::vector<std::size_t> same(first.back());  // labels of one index: a forest
    std::iota(same.begin(), same.end(), std::size_t{0});
    const auto root_of = [&](std::size_t vertex, label_id label) {
        std::size_t at = first[vertex] + static_cast<std::size_t>(label);
        while (same[at] != at) {
            at = same[at] = same[same[at]];
        }
        return at;
    };
    points_by_label lists(same.size());
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        for (std::size_t operand = 0; operand < each.operands.size(); ++operand) {
            const std::size_t input = graph.inputs[number][operand];
            const vertex& read = *graph.vertices[input];
            for (std::size_t dimension = 0; dimension < read.bounds.size(); ++dimension) {
                const label_id here = each.form.operands[operand][dimension];
                const label_id there = read.is_input() ? static_cast<label_id>(dimension) : read.form.output[dimension];
                if (here != no_label && there != no_label) {
                    same[root_of(number, here)] = root_of(input, there);
                }
            }
        }
    }
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        std::vector<mesh_axis> axes = pinned_axes(each);
        if (each.is_input() && each.origin != nullptr && each.origin->kind() == source_kind::resting) {
            axes = mesh_of(resting_of_source(each)).value_or(mesh{}).axes;
        }
        for (const mesh_axis& axis : axes) {
            std::vector<std::vector<index>>& known = lists[root_of(number, axis.label)];
            if (!is_even(axis.points) && mesh{{axis}}.largest_block(axis.label, 0) < axis.points.back() &&
                known.size() < most && !found_in(axis.points, known)) {
                known.push_back(axis.points);
            }
        }
    }
    std::vector<points_by_label> made(graph.vertices.size());
    for (std::size_t number = 0; number < made.size(); ++number) {
        for (std::size_t label = 0; label < first[number + 1] - first[number]; ++label) {
            made[number].push_back(lists[root_of(number, static_cast<label_id>(label))]);
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
