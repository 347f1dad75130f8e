#pragma once

#include <einparallel/search/offers.hpp>

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/pins.ipp>

#include <algorithm>
#include <bit>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Lists of cut points, by label.
using points_by_label = std::vector<std::vector<std::vector<index>>>;

/// The operands of vertex `number` that are this tensor, as bits.
EINPARALLEL_INLINE std::uint64_t operands_reading(const einsum_graph& graph, std::size_t number, std::size_t tensor) {
    std::uint64_t operands = 0;
    for (std::size_t operand = 0; operand < std::min<std::size_t>(graph.inputs[number].size(), 64); ++operand) {
        operands |= std::uint64_t{graph.inputs[number][operand] == tensor ? 1U : 0U} << operand;
    }
    return operands;
}

/// Sets of operands, as bits, that a vertex may read in summands if their makers leave them so.
EINPARALLEL_INLINE std::vector<std::uint64_t> possible_reads(const einsum_graph& graph, std::size_t number,
                                                             const std::vector<bool>& leaves) {
    constexpr std::size_t few = 6;  // tensors: all sets are tried; of more, each alone and all together
    const vertex& reader = *graph.vertices[number];
    std::vector<std::uint64_t> found;
    if (reader.is_input() || reader.constraints.without_communication || reader.operands.size() >= 64) {
        return found;
    }
    std::vector<std::pair<std::uint64_t, bool>> tensors;  // operands, and whether the reader makes fewer elements
    for (std::size_t operand = 0; operand < reader.operands.size(); ++operand) {
        const std::size_t input = graph.inputs[number][operand];
        const vertex& read = *graph.vertices[input];
        const std::uint64_t operands = operands_reading(graph, number, input);
        if (leaves[input] && reader.form.is_plain() && std::size_t(std::countr_zero(operands)) == operand &&
            read.element == reader.element &&
            read.work->program().aggregates_by() == reader.work->program().aggregates_by()) {
            tensors.emplace_back(operands, element_count(read.bounds) > element_count(reader.bounds));
        }
    }
    const std::uint64_t all = (std::uint64_t{1} << tensors.size()) - 1;
    const auto next = [&](std::uint64_t set) {
        return tensors.size() <= few || set == all ? set + 1 : std::min(2 * set, all);
    };
    for (std::uint64_t set = 1; set <= all; set = next(set)) {
        std::uint64_t operands = 0;
        bool gains = std::popcount(set) > 1;
        for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
            if (((set >> tensor) & 1U) != 0) {
                operands |= tensors[tensor].first;
                gains = gains || tensors[tensor].second;
            }
        }
        if (gains && reader.work->program().takes_summands(operands)) {
            found.push_back(operands);
        }
    }
    return found;
}

EINPARALLEL_INLINE pending_offers offers_of(const einsum_graph& graph, const options& asked) {
    const std::size_t count = graph.vertices.size();
    pending_offers made{std::vector<bool>(count, false), std::vector<std::vector<std::uint64_t>>(count)};
    if (asked.objective == objective::paper || asked.algorithm != algorithm::automatic) {
        return made;
    }
    std::vector<std::vector<std::size_t>> readers(count);
    std::vector<bool> aggregates(count, false);  // the vertex aggregates over a label that can be cut
    for (std::size_t number = 0; number < count; ++number) {
        const vertex& each = *graph.vertices[number];
        made.leaves[number] = !each.is_input() && !each.constraints.pin && !each.constraints.without_communication &&
                              each.work->program().aggregates_by() != reduction::unknown &&
                              element_count(each.bounds) > 0 && !found_in(number, graph.outputs);
        aggregates[number] = any_in(first_labels(each.extents.size()), [&](label_id label) {
            return each.extents[std::size_t(label)] > 1 && !each.form.in_output(label);
        });
        for (const std::size_t input : graph.inputs[number]) {
            readers[input].push_back(number);
        }
    }
    // Sums that nobody can read or make pending are dropped, until nothing changes. Readers are asked before their
    // operands.
    for (bool dropped = true; std::exchange(dropped, false);) {
        for (std::size_t number = count; number-- > 0;) {
            made.reads[number] = possible_reads(graph, number, made.leaves);
            const bool taken = all_in(readers[number], [&](std::size_t reader) {
                const std::uint64_t operands = operands_reading(graph, reader, number);
                return any_in(made.reads[reader], [&](std::uint64_t read) { return (read & operands) == operands; });
            });
            if (made.leaves[number] &&
                (readers[number].empty() || !taken || (!aggregates[number] && made.reads[number].empty()))) {
                made.leaves[number] = false;
                dropped = true;
            }
        }
    }
    return made;
}

/// By vertex and label (of an input, by dimension): lists of cut points at which it may be cut. They come from inputs
/// that lie in uneven blocks and from pins, and hold wherever the same index appears in the graph.
EINPARALLEL_INLINE std::vector<points_by_label> known_points(const einsum_graph& graph) {
    constexpr std::size_t most = 3;  // lists of cut points for one label
    const std::size_t count = graph.vertices.size();
    std::vector<points_by_label> made(count);
    const auto add = [](std::vector<std::vector<index>>& known, const std::vector<std::vector<index>>& lists) {
        const std::size_t before = known.size();
        for (const std::vector<index>& points : lists) {
            if (known.size() < most && !found_in(points, known)) {
                known.push_back(points);
            }
        }
        return known.size() > before;
    };
    for (std::size_t number = 0; number < count; ++number) {
        const vertex& each = *graph.vertices[number];
        made[number].resize((each.is_input() ? each.bounds : each.extents).size());
        const mesh ranks = kind_of(each) == source_kind::resting ? mesh_of(resting_of_source(each)).value_or(mesh{})
                                                                 : mesh{pinned_axes(each)};
        for (const mesh_axis& axis : ranks.axes) {
            if (!is_even(axis.points) && mesh{{axis}}.largest_block(axis.label, 0) < axis.points.back()) {
                add(made[number][std::size_t(axis.label)], {axis.points});
            }
        }
    }
    // Cut points go from operands to their readers and back, until nothing changes.
    for (bool changed = true, back = true; std::exchange(changed, false); back = !back) {
        for (std::size_t step = 0; step < count; ++step) {
            const std::size_t number = back ? count - 1 - step : step;
            const vertex& each = *graph.vertices[number];
            for (std::size_t operand = 0; operand < each.operands.size(); ++operand) {
                const std::size_t input = graph.inputs[number][operand];
                const vertex& read = *graph.vertices[input];
                const std::size_t rank = each.form.is_viewed(operand) ? 0 : read.bounds.size();
                for (std::size_t dimension = 0; dimension < rank; ++dimension) {
                    const label_id here = each.form.operands[operand][dimension];
                    const label_id there = read.is_input() ? label_id(dimension) : read.form.output[dimension];
                    if (here != no_label && there != no_label) {
                        std::vector<std::vector<index>>& reads = made[number][std::size_t(here)];
                        std::vector<std::vector<index>>& makes = made[input][std::size_t(there)];
                        changed = add(makes, reads) || changed;
                        changed = add(reads, makes) || changed;
                    }
                }
            }
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
