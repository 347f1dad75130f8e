#pragma once
// Which partition vectors compete for a vertex: by the options, by what the user fixed, and by the sums that it may
// take and leave unfinished.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/domain.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition.ipp>
#include <einparallel/plan/partition_search.ipp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

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

}  // namespace einparallel::EINPARALLEL_DETAIL
