#pragma once
// Which partition vectors compete for a vertex: families of them, by the sums that it takes and leaves, its cut points
// and what the user fixed.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/domain.ipp>
#include <einparallel/search/offers.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/partition.ipp>
#include <einparallel/search/pins.hpp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
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
    std::vector<int> products{largest};
    for (int power = 1; every && power < largest; power *= 2) {
        products.push_back(power);
    }
    if (every && !powers_of_two) {
        for (int product = 1; product < largest && largest <= every_number_limit; ++product) {
            products.push_back(product);
        }
        for (const int number : {largest, processes}) {
            const std::vector<int> divisors = divisors_of(number);
            products.insert(products.end(), divisors.begin(), divisors.end());
        }
    }
    sort_unique(products);
    std::erase_if(products, [&](int product) { return product > largest; });
    std::ranges::reverse(products);
    return products;
}

/// What pin and mark leave to choose of a vertex whose sums are all finished; without numbers of ranks.
EINPARALLEL_INLINE partition_family family_of(const vertex& einsum) {
    partition_family made{
        {}, einsum.form.operands, einsum.extents, std::vector<int>(einsum.extents.size(), 1), einsum.extents, {}};
    made.tensors.push_back(einsum.form.output);
    for (std::size_t label = 0; label < made.free.size(); ++label) {
        const auto one = static_cast<label_id>(label);
        if ((einsum.constraints.pin && einsum.form.in_output(one)) ||
            (einsum.constraints.without_communication && einsum.form.class_of(one) != label_class::c)) {
            made.free[label] = 1;
        }
    }
    made.points.resize(made.free.size());
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        made.fixed[static_cast<std::size_t>(axis.label)] = axis.parts;
        made.points[static_cast<std::size_t>(axis.label)] = axis.points;
    }
    return made;
}

/// Ranks that a family has for the labels that are free.
EINPARALLEL_INLINE int processes_left(const partition_family& family, const options& asked) {
    return std::accumulate(family.fixed.begin(), family.fixed.end(),
                           planned_processes(asked.processes, asked.powers_of_two), std::divides<>());
}

/// Adds the families of a vertex that reads some operands in `read.summands` summands, or leaves its sum pending.
EINPARALLEL_INLINE void add_pending_family(const vertex& einsum, const options& asked, const pending_sums& sums,
                                           vertex_cuts& into) {
    partition_family made = family_of(einsum);
    const int processes = processes_left(made, asked);
    if (processes < sums.summands) {
        return;
    }
    made.sums = sums;
    const bool every = asked.objective == objective::time;
    made.products = competing_products(made.free, processes / sums.summands, every, asked.powers_of_two);
    // As many ranks compute as without, or more; under time any number.
    const int least = every ? 1 : largest_product(made.free, processes, asked.powers_of_two);
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
    partition_family family = family_of(einsum);
    const int processes = processes_left(family, asked);
    if (asked.algorithm == algorithm::master_worker && einsum.work->is_contraction()) {
        partition_family fed = family;
        int most = 1;  // ranks over one label of the output
        for (std::size_t label = 0; label < fed.free.size(); ++label) {
            fed.free[label] =
                may_be_fed(einsum) && einsum.form.in_output(static_cast<label_id>(label)) ? fed.free[label] : 1;
            std::vector<index> alone(fed.free.size(), 1);
            alone[label] = fed.free[label];
            most = std::max(most, largest_product(alone, processes, asked.powers_of_two));
        }
        if (most > 1) {
            made.wanted = asked.algorithm;
            fed.products = {most};
            made.families.push_back(std::move(fed));
            return made;
        }
        made.fell_back = true;
    } else if (asked.algorithm != algorithm::automatic && einsum.work->is_contraction()) {
        made.wanted = asked.algorithm;
        const std::vector<index> any = family.free;
        for (std::size_t label = 0; label < any.size(); ++label) {
            const bool allowed = may_cut(made.wanted, einsum.form.class_of(static_cast<label_id>(label)));
            family.free[label] = allowed ? any[label] : 1;
        }
        if (pinned_axes(einsum).empty() && largest_product(family.free, processes, asked.powers_of_two) == 1 &&
            largest_product(any, processes, asked.powers_of_two) > 1) {
            made.wanted = algorithm::automatic;
            made.fell_back = true;
            family.free = any;
        }
    }
    // A contraction whose algorithm is asked for is cut as far as that algorithm allows: it is asked for to be run.
    const bool every = (asked.objective == objective::time && made.wanted == algorithm::automatic) ||
                       einsum.constraints.without_communication;
    family.products = competing_products(family.free, processes, every, asked.powers_of_two);
    made.families.push_back(std::move(family));
    return made;
}

EINPARALLEL_INLINE vertex_cuts only_cuts(const vertex& einsum, std::vector<int> parts, const vertex_cuts& like) {
    partition_family family = family_of(einsum);
    family.fixed = std::move(parts);
    family.free.assign(einsum.extents.size(), 1);
    family.products = {1};
    const mesh ranks = natural_mesh(einsum, family.fixed, family.points);
    const bool unfed = like.wanted == algorithm::master_worker &&
                       (ranks.axes.size() != 1 || !einsum.form.in_output(ranks.axes.front().label));
    return {{std::move(family)}, unfed ? algorithm::automatic : like.wanted, like.fell_back || unfed};
}

/// Adds families in which some labels are cut at points that are known of them, each alone and several together; of as
/// many ranks as without, under time of any number.
EINPARALLEL_INLINE void add_families_at_points(const options& asked, const points_by_label& known, vertex_cuts& into) {
    constexpr std::size_t most = 24;
    const partition_family even = into.families.front();
    const bool every = even.products.size() > 1;  // numbers of ranks compete
    const int least = even.products.empty() || every ? 1 : even.products.front();
    std::vector<partition_family> made{even};
    for (std::size_t label = 0; label < even.free.size(); ++label) {
        for (std::size_t number = 0, count = made.size(); number < count && even.free[label] > 1; ++number) {
            for (const std::vector<index>& points : known[label]) {
                partition_family next = made[number];
                next.fixed[label] = static_cast<int>(points.size()) - 1;
                next.free[label] = 1;
                next.points[label] = points;
                const int left = processes_left(next, asked);
                const bool is_power = (next.fixed[label] & (next.fixed[label] - 1)) == 0;
                if (left > 0 && made.size() <= most && (is_power || !asked.powers_of_two)) {
                    made.push_back(std::move(next));
                }
            }
        }
    }
    for (std::size_t number = 1; number < made.size(); ++number) {
        int chosen = 1;
        for (std::size_t label = 0; label < even.fixed.size(); ++label) {
            chosen *= made[number].fixed[label] / even.fixed[label];
        }
        made[number].products =
            competing_products(made[number].free, processes_left(made[number], asked), every, asked.powers_of_two);
        std::erase_if(made[number].products, [&](int product) { return product * chosen < least; });
        if (!made[number].products.empty()) {
            into.families.push_back(std::move(made[number]));
        }
    }
}

EINPARALLEL_INLINE std::vector<vertex_cuts> cuts_of_graph(const einsum_graph& graph, const options& asked) {
    const pending_offers offers = offers_of(graph, asked);
    const std::vector<points_by_label> points = known_points(graph);
    std::vector<vertex_cuts> made(graph.vertices.size());
    const std::array<index, 1> all{planned_processes(asked.processes, asked.powers_of_two)};
    std::vector<int> counts = competing_products(all, asked.processes, true, asked.powers_of_two);  // of summands
    counts.pop_back();                                                                              // not one
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& einsum = *graph.vertices[number];
        if (einsum.is_input()) {
            continue;
        }
        made[number] = competing_cuts(einsum, asked);
        if (asked.objective != objective::paper && asked.method == method::exact) {
            add_families_at_points(asked, points[number], made[number]);
        }
        if (offers.leaves[number]) {
            add_pending_family(einsum, asked, {0, 1, true}, made[number]);
        }
        for (const std::uint64_t operands : offers.reads[number]) {
            for (const int count : counts) {
                add_pending_family(einsum, asked, {operands, count, false}, made[number]);
                if (offers.leaves[number]) {
                    add_pending_family(einsum, asked, {operands, count, true}, made[number]);
                }
            }
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
