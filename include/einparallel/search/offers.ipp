#pragma once

#include <einparallel/search/offers.hpp>

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/pins.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double elements_of(const vertex& tensor) {
    double count = 1;
    for (const index bound : tensor.bounds) {
        count *= static_cast<double>(bound);
    }
    return count;
}

/// The operands by which a vertex reads a tensor, as bits.
EINPARALLEL_INLINE std::uint64_t operands_reading(const einsum_graph& graph, std::size_t number, std::size_t tensor) {
    std::uint64_t operands = 0;
    for (std::size_t operand = 0; operand < graph.inputs[number].size() && operand < 64; ++operand) {
        operands |= graph.inputs[number][operand] == tensor ? std::uint64_t{1} << operand : 0;
    }
    return operands;
}

/// Sets of operands that a vertex may read in summands if their makers leave them so.
EINPARALLEL_INLINE std::vector<std::uint64_t> possible_reads(const einsum_graph& graph, std::size_t number,
                                                             const std::vector<bool>& leaves) {
    constexpr std::size_t few = 6;  // tensors of which all sets are tried; of more, each alone and all together
    const vertex& reader = *graph.vertices[number];
    if (reader.is_input() || reader.constraints.without_communication || reader.operands.size() > 64) {
        return {};
    }
    std::vector<std::pair<std::uint64_t, bool>> tensors;  // operands, and whether the reader makes fewer elements
    for (std::size_t operand = 0; operand < reader.operands.size(); ++operand) {
        const std::size_t input = graph.inputs[number][operand];
        const vertex& read = *graph.vertices[input];
        const std::uint64_t operands = operands_reading(graph, number, input);
        if (leaves[input] && static_cast<std::size_t>(std::countr_zero(operands)) == operand &&
            read.element == reader.element &&
            read.work->program().aggregates_by() == reader.work->program().aggregates_by()) {
            tensors.emplace_back(operands, elements_of(read) > elements_of(reader));
        }
    }
    std::vector<std::uint64_t> chosen;
    const std::uint64_t all = tensors.empty() ? 0 : ~std::uint64_t{0} >> (64 - tensors.size());
    for (std::uint64_t set = 1; set<all; set = tensors.size()> few ? set << 1U : set + 1) {
        chosen.push_back(set);
    }
    if (all > 0) {
        chosen.push_back(all);
    }
    std::vector<std::uint64_t> found;
    for (const std::uint64_t set : chosen) {
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
    std::vector<bool> aggregates(count, false);  // over a label that can be cut
    for (std::size_t number = 0; number < count; ++number) {
        const vertex& each = *graph.vertices[number];
        made.leaves[number] = !each.is_input() && !each.constraints.pin && !each.constraints.without_communication &&
                              each.work->program().aggregates_by() != reduction::unknown && elements_of(each) > 0 &&
                              !found_in(number, graph.outputs);
        for (std::size_t label = 0; label < each.extents.size(); ++label) {
            aggregates[number] =
                aggregates[number] || (each.extents[label] > 1 && !each.form.in_output(static_cast<label_id>(label)));
        }
        for (const std::size_t input : graph.inputs[number]) {
            readers[input].push_back(number);
        }
    }
    for (std::size_t number = 0; number < count; ++number) {
        made.reads[number] = possible_reads(graph, number, made.leaves);
    }
    // What nobody can read, or make, is dropped until nothing changes.
    for (bool dropped = true; std::exchange(dropped, false);) {
        for (std::size_t number = 0; number < count; ++number) {
            const std::vector<std::size_t>& inputs = graph.inputs[number];
            const auto lost = [&](std::uint64_t operands) {
                return any_in(inputs, [&](std::size_t input) {
                    return (operands & operands_reading(graph, number, input)) != 0 && !made.leaves[input];
                });
            };
            dropped = std::erase_if(made.reads[number], lost) > 0 || dropped;
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
        if (kind_of(each) == source_kind::resting) {
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
