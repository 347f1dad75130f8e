#pragma once
// Which partition vectors compete for a vertex. They are families by the sums that the vertex reads and leaves pending,
// by its cut points, and by what the user has fixed.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/domain.ipp>
#include <einparallel/search/offers.ipp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/partition.ipp>
#include <einparallel/search/pins.ipp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Up to this many competing numbers of ranks are all listed. Of more, only the usual ones are listed.
inline constexpr int every_number_limit = 16;

/// The numbers of ranks that compete for a vertex with these extents, descending. They reach from nine tenths of the
/// largest number that has a partition vector, so that few ranks are idle, or with `every` from 1. Few numbers are all
/// listed. Of many these are listed: the divisors of the largest, of `processes` and of a handy number near the
/// largest, and with `every` powers of two; with `powers_of_two` only those. `any_from` becomes
/// partition_family::any_from.
EINPARALLEL_INLINE std::vector<int> competing_products(std::span<const index> extents, int processes, bool every,
                                                       bool powers_of_two, int& any_from) {
    const int largest = largest_product(extents, processes, powers_of_two);
    const int least = powers_of_two ? (every ? 1 : largest) : every ? 1 : largest - largest / 10;
    std::vector<int> products{largest};
    any_from = 0;
    if (!powers_of_two && largest - least < every_number_limit) {
        for (int product = least; product < largest; ++product) {
            products.push_back(product);
        }
    } else if (largest > least) {
        any_from = powers_of_two ? 0 : least;
        const int handy = handy_number(largest);
        const bool is_handy = 2 * divisors_of(largest).size() >= divisors_of(handy).size();
        for (const int number : {largest, processes, is_handy ? largest : handy}) {
            const std::vector<int> divisors = powers_of_two ? std::vector<int>{} : divisors_of(number);
            std::copy_if(divisors.begin(), divisors.end(), std::back_inserter(products),
                         [&](int divisor) { return divisor >= least && divisor <= largest; });
        }
        for (int product = 1; product < largest && every; product *= 2) {
            products.push_back(product);
        }
    }
    sort_unique(products);
    std::reverse(products.begin(), products.end());
    return products;
}

/// The family of a vertex whose sums are all finished: what its pin and its mark leave to choose. `products` is empty.
EINPARALLEL_INLINE partition_family family_of(const vertex& einsum) {
    const std::size_t labels = einsum.extents.size();
    partition_family made{{}, einsum.form.operands, einsum.extents, std::vector<int>(labels, 1), einsum.extents, {}};
    made.tensors.push_back(einsum.form.output);
    made.points.resize(labels);
    for (std::size_t label = 0; label < labels; ++label) {
        const auto one = label_id(label);
        if ((einsum.constraints.pin && einsum.form.in_output(one)) || !einsum.may_cut(one) ||
            (einsum.constraints.without_communication &&
             (einsum.form.class_of(one) != label_class::c || one == einsum.form.running.sums))) {
            made.free[label] = 1;
        }
    }
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        made.fixed[std::size_t(axis.label)] = axis.parts;
        made.points[std::size_t(axis.label)] = axis.points;
    }
    return made;
}

/// The product of the fixed parts of all labels.
EINPARALLEL_INLINE index fixed_parts(const partition_family& family) {
    return product_in(family.fixed, index{1});
}

/// The vectors that compete where every sum is finished, in one family. Blocks are even unless a pin gives cut points.
EINPARALLEL_INLINE vertex_cuts competing_cuts(const vertex& einsum, const options& asked) {
    partition_family family = family_of(einsum);
    const auto processes = int(planned_processes(asked.processes, asked.powers_of_two) / fixed_parts(family));
    const std::vector<index> any = family.free;
    std::vector<index> extents = any;  // over which the ranks are dealt out
    vertex_cuts made;
    if (asked.algorithm != algorithm::automatic && einsum.work->is_contraction()) {
        const bool feeds = asked.algorithm == algorithm::master_worker;
        index longest = 1;
        for (std::size_t label = 0; label < any.size(); ++label) {
            const auto one = label_id(label);
            const bool allowed = feeds ? einsum.is_free_contraction() && einsum.form.in_output(one)
                                       : may_cut(asked.algorithm, einsum.form.class_of(one));
            family.free[label] = allowed ? any[label] : 1;
            longest = std::max(longest, family.free[label]);
        }
        extents = feeds ? std::vector<index>{longest} : family.free;  // a master feeds along one label
        made.fell_back =
            largest_product(extents, processes, asked.powers_of_two) == 1 &&
            (feeds || (pinned_axes(einsum).empty() && largest_product(any, processes, asked.powers_of_two) > 1));
        made.wanted = made.fell_back ? algorithm::automatic : asked.algorithm;
        if (made.fell_back) {
            family.free = extents = any;
        }
    }
    // A contraction whose algorithm the user asks for is cut as far as the algorithm allows, so that it is really used.
    made.every = (asked.objective == objective::time && made.wanted == algorithm::automatic) ||
                 einsum.constraints.without_communication;
    family.products = competing_products(extents, processes, made.every, asked.powers_of_two, family.any_from);
    made.families.push_back(std::move(family));
    return made;
}

EINPARALLEL_INLINE vertex_cuts only_cuts(const vertex& einsum, const mesh& cut, const vertex_cuts& like) {
    partition_family family = family_of(einsum);
    for (std::size_t label = 0; label < family.fixed.size(); ++label) {
        family.fixed[label] = cut.parts(label_id(label));
    }
    family.free.assign(einsum.extents.size(), 1);
    family.products = {1};
    const mesh ranks = natural_mesh(einsum, family.fixed, family.points);
    const bool unfed =
        like.wanted == algorithm::master_worker &&
        (!einsum.is_free_contraction() || ranks.axes.size() != 1 || !einsum.form.in_output(ranks.axes.front().label));
    return {{std::move(family)}, false, unfed ? algorithm::automatic : like.wanted, like.fell_back || unfed};
}

/// Adds a family beside the first one of a vertex, if it has competing numbers of ranks that are not below those of the
/// first.
EINPARALLEL_INLINE void add_family(partition_family made, const options& asked, vertex_cuts& into) {
    const partition_family& first = into.families.front();
    const index least = first.least() * fixed_parts(first);
    const index fixed = fixed_parts(made);
    const index processes = planned_processes(asked.processes, asked.powers_of_two) / fixed;
    if (processes > 0) {
        made.products = competing_products(made.free, int(processes), into.every, asked.powers_of_two, made.any_from);
        std::erase_if(made.products, [&](int product) { return product * fixed < least; });
        made.any_from = made.any_from == 0 ? 0 : std::max(made.any_from, int((least + fixed - 1) / fixed));
        if (!made.products.empty()) {
            into.families.push_back(std::move(made));
        }
    }
}

/// Adds the family of partition vectors for a vertex with these pending sums. Such a vertex reads some operands as
/// `sums.summands` summands that are not added up yet, or leaves its own output as summands for its readers, or both.
EINPARALLEL_INLINE void add_pending_family(const pending_sums& sums, const options& asked, vertex_cuts& into) {
    partition_family made = into.families.front();
    made.sums = sums;
    if (sums.operands != 0) {
        const label_id carried = carried_label(made.extents.size());
        made.extents.push_back(sums.summands);
        made.fixed.push_back(sums.summands);
        made.free.push_back(1);
        for (std::size_t operand = 0; operand + 1 < made.tensors.size(); ++operand) {
            if (sums.reads(operand)) {
                made.tensors[operand].insert(made.tensors[operand].begin(), carried);
            }
        }
    }
    add_family(std::move(made), asked, into);
}

/// Adds families in which one or several labels are cut at cut points from `known`.
EINPARALLEL_INLINE void add_families_at_points(const points_by_label& known, const options& asked, vertex_cuts& into) {
    constexpr std::size_t most = 24;
    for (std::size_t label = 0; label < known.size(); ++label) {
        const bool is_free = into.families.front().free[label] > 1;
        for (std::size_t number = 0, count = into.families.size(); number < count && is_free; ++number) {
            for (const std::vector<index>& points : known[label]) {
                const int parts = int(points.size()) - 1;
                const bool is_power = (parts & (parts - 1)) == 0;
                if (into.families.size() <= most && (is_power || !asked.powers_of_two)) {
                    partition_family next = into.families[number];
                    next.fixed[label] = parts;
                    next.free[label] = 1;
                    next.points[label] = points;
                    add_family(std::move(next), asked, into);
                }
            }
        }
    }
}

EINPARALLEL_INLINE std::vector<vertex_cuts> cuts_of_graph(const einsum_graph& graph, const options& asked) {
    const pending_offers offers = offers_of(graph, asked);
    const std::vector<points_by_label> points = known_points(graph);
    std::vector<vertex_cuts> made(graph.vertices.size());
    const std::array<index, 1> all{planned_processes(asked.processes, asked.powers_of_two)};
    int any = 0;
    std::vector<int> counts = competing_products(all, asked.processes, true, asked.powers_of_two, any);  // of summands
    counts.pop_back();                                                                                   // not one
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& einsum = *graph.vertices[number];
        if (einsum.is_input()) {
            continue;
        }
        made[number] = competing_cuts(einsum, asked);
        if (asked.objective != objective::paper && asked.method == method::exact) {
            add_families_at_points(points[number], asked, made[number]);
        }
        if (offers.leaves[number]) {
            add_pending_family({0, 1, true}, asked, made[number]);
        }
        for (const std::uint64_t operands : offers.reads[number]) {
            for (const int count : counts) {
                add_pending_family({operands, count, false}, asked, made[number]);
                if (offers.leaves[number]) {
                    add_pending_family({operands, count, true}, asked, made[number]);
                }
            }
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
