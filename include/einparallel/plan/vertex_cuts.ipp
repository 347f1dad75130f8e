#pragma once
// Which partition vectors compete for a vertex: by the options, by what the user fixed, and by the sums that it may
// take and leave unfinished.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/domain.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition.ipp>
#include <einparallel/plan/sums.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Numbers of ranks up to which every smaller one competes where a vertex may leave ranks idle.
inline constexpr int every_number_limit = 16;

/// The numbers of ranks that compete for a vertex with these extents: the largest alone, or under `every` also smaller
/// ones: all of few ranks; of many, divisors of the largest and of p, and powers of two. Descending.
EINPARALLEL_INLINE std::vector<int> competing_products(std::span<const index> extents, int processes, bool every,
                                                       bool powers_of_two) {
    const int largest = largest_product(extents, processes, powers_of_two);
    std::vector<int> products;
    for (int product = largest; product >= (every ? 1 : largest); --product) {
        const bool is_power = (product & (product - 1)) == 0;
        if (product == largest || is_power ||
            (!powers_of_two && (largest <= every_number_limit || largest % product == 0 || processes % product == 0))) {
            products.push_back(product);
        }
    }
    return products;
}

/// Extents as `wanted` allows them to be cut: 1 for the labels of other classes.
EINPARALLEL_INLINE std::vector<index> cuttable_extents(const vertex& einsum, std::vector<index> extents,
                                                       algorithm wanted) {
    for (std::size_t label = 0; label < extents.size(); ++label) {
        const bool allowed = may_cut(wanted, einsum.form.class_of(static_cast<label_id>(label)));
        extents[label] = allowed ? extents[label] : 1;
    }
    return extents;
}

/// The labels of a vertex's tensors, the output's last.
EINPARALLEL_INLINE std::vector<std::vector<label_id>> tensors_of(const vertex& einsum) {
    std::vector<std::vector<label_id>> tensors = einsum.form.operands;
    tensors.push_back(einsum.form.output);
    return tensors;
}

/// Adds the families of a vertex that reads some operands in `read.summands` summands, or leaves its sum pending.
EINPARALLEL_INLINE void add_pending_family(const vertex& einsum, const options& asked, const pending_sums& sums,
                                           vertex_cuts& into) {
    const free_cuts left = cuts_left(einsum, planned_processes(asked.processes, asked.powers_of_two));
    if (left.processes < sums.summands) {
        return;
    }
    const bool every = asked.objective == objective::time;
    partition_family made{
        sums,           tensors_of(einsum),
        einsum.extents, left.fixed,
        left.extents,   competing_products(left.extents, left.processes / sums.summands, every, asked.powers_of_two)};
    // As many ranks compute as without, or more; under time any number.
    const int least = every ? 1 : largest_product(left.extents, left.processes, asked.powers_of_two);
    std::erase_if(made.products, [&](int product) { return product * sums.summands < least; });
    if (sums.operands != 0) {
        made.extents.push_back(sums.summands);
        made.fixed.push_back(sums.summands);
        made.free.push_back(1);
        for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
            if (sums.reads(operand)) {
                made.tensors[operand].insert(made.tensors[operand].begin(), carried_label(einsum.extents.size()));
            }
        }
    }
    if (!made.products.empty()) {
        into.families.push_back(std::move(made));
    }
}

/// All that competes where every sum is finished.
EINPARALLEL_INLINE vertex_cuts competing_cuts(const vertex& einsum, const options& asked) {
    vertex_cuts made;
    const free_cuts left = cuts_left(einsum, planned_processes(asked.processes, asked.powers_of_two));
    std::vector<index> extents = left.extents;
    if (asked.algorithm != algorithm::automatic && einsum.work->is_contraction()) {
        made.wanted = asked.algorithm;
        extents = cuttable_extents(einsum, left.extents, asked.algorithm);
        if (pinned_axes(einsum).empty() && largest_product(extents, left.processes, asked.powers_of_two) == 1 &&
            largest_product(left.extents, left.processes, asked.powers_of_two) > 1) {
            made.wanted = algorithm::automatic;
            made.fell_back = true;
            extents = left.extents;
        }
    }
    // A contraction whose algorithm is asked for is cut as far as that algorithm allows: it is asked for to be run.
    const bool every = (asked.objective == objective::time && made.wanted == algorithm::automatic) ||
                       einsum.wishes.without_communication;
    std::vector<int> products = competing_products(extents, left.processes, every, asked.powers_of_two);
    made.families.push_back(
        {{}, tensors_of(einsum), einsum.extents, left.fixed, std::move(extents), std::move(products)});
    return made;
}

/// One partition vector and no other.
EINPARALLEL_INLINE vertex_cuts only_cuts(const vertex& einsum, std::vector<int> parts, algorithm wanted) {
    vertex_cuts made;
    made.wanted = wanted;
    made.families.push_back(
        {{}, tensors_of(einsum), einsum.extents, std::move(parts), std::vector<index>(einsum.extents.size(), 1), {1}});
    return made;
}

/// Numbers of summands in which a vertex may leave its output, ascending: ranks over the labels that the output lacks.
EINPARALLEL_INLINE std::vector<int> summands_left(const vertex& einsum, const vertex_cuts& may_be) {
    std::vector<int> counts;
    for (const partition_family& family : may_be.families) {
        if (!family.sums.output) {
            continue;
        }
        std::vector<index> kept = family.free;
        std::vector<index> summed = family.free;
        int fixed = 1;
        for (std::size_t label = 0; label < family.free.size(); ++label) {
            const bool in_output = einsum.form.in_output(static_cast<label_id>(label));
            (in_output ? summed : kept)[label] = 1;
            fixed *= in_output ? 1 : family.fixed[label];
        }
        for (const int product : family.products) {
            for (const int count : divisors_of(product)) {
                const bool known = std::ranges::find(counts, count * fixed) != counts.end();
                if (!known && count * fixed > 1 && count_partitions(summed, count) > 0 &&
                    count_partitions(kept, product / count) > 0) {
                    counts.push_back(count * fixed);
                }
            }
        }
    }
    std::sort(counts.begin(), counts.end());
    return counts;
}

/// How every vertex may be cut, with the sums that may be left pending.
EINPARALLEL_INLINE std::vector<vertex_cuts> cuts_of_graph(const einsum_graph& graph, const options& asked) {
    const pending_offers offers = offers_of(graph, asked);
    std::vector<vertex_cuts> made(graph.vertices.size());
    std::vector<std::vector<int>> left(graph.vertices.size());  // numbers of summands
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& einsum = *graph.vertices[number];
        if (einsum.is_input()) {
            continue;
        }
        made[number] = competing_cuts(einsum, asked);
        if (offers.leaves[number]) {
            add_pending_family(einsum, asked, {0, 1, true}, made[number]);
        }
        for (const std::uint64_t operands : offers.reads[number]) {
            std::optional<std::vector<int>> counts;  // that all makers of the operands may leave
            for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
                if (pending_sums{operands}.reads(operand)) {
                    const std::vector<int>& of = left[graph.inputs[number][operand]];
                    counts = counts ? *counts : of;
                    std::erase_if(*counts, [&](int count) { return std::ranges::find(of, count) == of.end(); });
                }
            }
            for (const int count : *counts) {
                add_pending_family(einsum, asked, {operands, count, false}, made[number]);
                if (offers.leaves[number]) {
                    add_pending_family(einsum, asked, {operands, count, true}, made[number]);
                }
            }
        }
        left[number] = summands_left(einsum, made[number]);
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
