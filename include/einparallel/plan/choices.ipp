#pragma once
// The ways to cut one vertex that the planner weighs against each other, with what each of them costs.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/partition.hpp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/plan/wishes.ipp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Vectors that are enumerated for one vertex, and ways that are kept for the tables under the time objective. Beyond
/// the first, short labels stay uncut; beyond the second, the cheapest ways of every number of ranks are kept.
inline constexpr std::size_t enumeration_limit = 20'000;
inline constexpr std::size_t time_enumeration_limit = 8'192;
inline constexpr std::size_t time_choice_limit = 512;

/// How the ways to cut a vertex cut one of its tensors: equal cuts are one class.
struct tensor_choices {
    std::shared_ptr<const state_classes> classes;
    std::vector<std::vector<int>> parts;  ///< by class: parts of every dimension
    std::vector<int> pieces;              ///< by class
    std::vector<int> ranks;               ///< by class

    [[nodiscard]] tensor_cut cut(std::size_t number) const { return {parts[number], pieces[number], ranks[number]}; }
};

/// All ways to cut vertices of one shape.
struct choices {
    std::size_t labels = 0;
    std::vector<int> parts;  ///< partition vectors, one after the other
    std::shared_ptr<const std::vector<double>> cost;
    std::vector<double> memory;  ///< bytes on the rank with the largest share; only under a memory limit
    std::vector<tensor_choices> operands;
    tensor_choices output;
    algorithm wanted = algorithm::automatic;
    bool fell_back = false;
    bool complete = true;  ///< nothing that competes was left out

    [[nodiscard]] std::size_t size() const { return cost->size(); }
    [[nodiscard]] std::span<const int> operator[](std::size_t number) const {
        return std::span<const int>(parts).subspan(number * labels, labels);
    }
};

/// The axes of a partition vector in their natural order: those that a pin names as it names them, labels of the output
/// as they stand there, then the others. A ring over a contracted label so runs between neighbouring ranks.
EINPARALLEL_INLINE mesh natural_mesh(const vertex& einsum, std::span<const int> parts) {
    const einsum_form& form = einsum.form;
    mesh ranks;
    const auto append = [&](label_id label) {
        if (label != no_label && parts[static_cast<std::size_t>(label)] > 1 && ranks.parts(label) == 1) {
            ranks.axes.push_back({label, parts[static_cast<std::size_t>(label)]});
        }
    };
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        append(axis.label);
    }
    for (const label_id label : form.output) {
        append(label);
    }
    for (std::size_t label = 0; label < parts.size(); ++label) {
        if (!form.in_output(static_cast<label_id>(label))) {
            append(static_cast<label_id>(label));
        }
    }
    return ranks;
}

EINPARALLEL_INLINE std::vector<std::size_t> operand_bytes_of(const vertex& einsum) {
    std::vector<std::size_t> bytes;
    for (const std::shared_ptr<vertex>& operand : einsum.operands) {
        bytes.push_back(operand->element.bytes);
    }
    return bytes;
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

/// Leaves the shortest labels uncut until there are at most `limit` vectors with this product.
EINPARALLEL_INLINE std::vector<index> longest_labels(std::vector<index> extents, int product, std::size_t limit) {
    std::vector<ranked> order;
    for (std::size_t label = 0; label < extents.size(); ++label) {
        order.emplace_back(static_cast<double>(extents[label]), label);
    }
    sort_range(order);
    for (const auto& [length, label] : order) {
        if (count_partitions(extents, product) <= limit) {
            break;
        }
        const index extent = std::exchange(extents[label], 1);
        if (count_partitions(extents, product) == 0) {
            extents[label] = extent;
        }
    }
    return extents;
}

/// Ranks up to which every smaller number of them competes under the time objective.
inline constexpr int every_number_limit = 16;

/// The numbers of ranks that compete for a vertex: the largest alone, or under `every` all of them down to 1. Of many
/// ranks, or where that makes too many vectors, the largest and its divisors, the divisors of p and the powers of two.
EINPARALLEL_INLINE std::vector<int> competing_products(std::span<const index> extents, const options& asked,
                                                       bool every) {
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    const int largest = largest_product(extents, asked.processes, asked.powers_of_two);
    if (!every) {
        return {largest};
    }
    std::vector<int> products;
    std::size_t count = 0;
    const bool all = largest <= every_number_limit;
    for (int product = largest; all && product >= 1 && count <= time_enumeration_limit; --product) {
        if (!asked.powers_of_two || (product & (product - 1)) == 0) {
            products.push_back(product);
            const std::size_t more = count_partitions(extents, product);
            count = more > time_enumeration_limit ? more : count + more;
        }
    }
    if (all && count <= time_enumeration_limit) {
        return products;
    }
    products.clear();
    for (int product = largest; product >= 1; --product) {
        if (largest % product == 0 || (product & (product - 1)) == 0 || processes % product == 0) {
            products.push_back(product);
        }
    }
    return products;
}

/// Partition vectors that compete for a vertex, and whether none was left out for their number.
struct competitors {
    std::vector<std::vector<int>> vectors;
    bool complete = true;
};

/// Every partition vector that competes for a vertex. Vectors with smaller largest blocks come first, and among equals
/// those that cut outer labels: of ways that cost the same the first is taken.
EINPARALLEL_INLINE competitors competing_vectors(std::span<const index> extents, const options& asked, bool every) {
    competitors made;
    std::vector<std::vector<int>> found;
    std::vector<ranked> order;
    const std::size_t limit = every ? time_enumeration_limit : enumeration_limit;
    for (const int product : competing_products(extents, asked, every)) {
        const std::vector<index> cuttable = longest_labels({extents.begin(), extents.end()}, product, limit);
        made.complete = made.complete && std::equal(cuttable.begin(), cuttable.end(), extents.begin());
        const partition_vectors rows = all_partitions(cuttable, product);
        for (std::size_t row = rows.size(); row-- > 0;) {
            double block = 1;
            for (std::size_t label = 0; label < extents.size(); ++label) {
                block *= static_cast<double>(block_of(extents[label], rows[row][label], 0).size());
            }
            order.emplace_back(block, found.size());
            found.emplace_back(rows[row].begin(), rows[row].end());
        }
    }
    sort_range(order);
    made.vectors.reserve(found.size());
    for (const auto& [block, position] : order) {
        made.vectors.push_back(std::move(found[position]));
    }
    return made;
}

/// Classes of equal cuts of one tensor. Under the paper's cost only the parts count: its blocks are not at any place.
EINPARALLEL_INLINE tensor_choices classify_cuts(const std::vector<label_id>& labels,
                                                const std::vector<std::vector<int>>& vectors, bool count_pieces) {
    tensor_choices made;
    auto classes = std::make_shared<state_classes>();
    numbering numbers;
    for (const std::vector<int>& vector : vectors) {
        std::vector<int> parts;
        int ranks = 1;
        for (const int part : vector) {
            ranks *= part;
        }
        int pieces = ranks;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            const label_id label = labels[dimension];
            parts.push_back(label == no_label ? 1 : vector[static_cast<std::size_t>(label)]);
            const auto before = labels.begin() + static_cast<std::ptrdiff_t>(dimension);
            pieces /= std::find(labels.begin(), before, label) == before ? parts.back() : 1;
        }
        std::vector<index> key(parts.begin(), parts.end());
        key.push_back(count_pieces ? pieces : 0);
        const auto [number, fresh] = numbers.number_of(std::move(key));
        classes->of_state.push_back(static_cast<int>(number));
        if (fresh) {
            made.parts.push_back(std::move(parts));
            made.pieces.push_back(pieces);
            made.ranks.push_back(ranks);
        }
    }
    classes->count = numbers.size();
    made.classes = std::move(classes);
    return made;
}

/// Keeps the ways that can be part of a cheapest plan: changing to the cheapest way of all costs at most
/// `largest_edges` on the edges, so ways that are dearer by more than that are never taken. Of what is then left, at
/// most time_choice_limit: the cheapest of every number of ranks, then the second cheapest, and so on; `complete` is
/// then no longer true.
EINPARALLEL_INLINE std::vector<std::size_t> worth_keeping(const std::vector<std::vector<int>>& vectors,
                                                          const std::vector<double>& cost, double largest_edges,
                                                          bool& complete) {
    const double bound = *std::min_element(cost.begin(), cost.end()) * (1 + 1e-9) + largest_edges;
    std::vector<ranked> cheapest;
    for (std::size_t way = 0; way < vectors.size(); ++way) {
        if (cost[way] <= bound) {
            cheapest.emplace_back(cost[way], way);
        }
    }
    sort_range(cheapest);
    std::vector<std::size_t> of_ranks;  // ways met so far, by number of ranks
    std::vector<ranked> turns;          // the how manieth of its number of ranks, and its place in `cheapest`
    for (std::size_t place = 0; place < cheapest.size(); ++place) {
        std::size_t ranks = 1;
        for (const int part : vectors[cheapest[place].second]) {
            ranks *= static_cast<std::size_t>(part);
        }
        of_ranks.resize(std::max(of_ranks.size(), ranks + 1), 0);
        turns.emplace_back(static_cast<double>(of_ranks[ranks]++), place);
    }
    sort_range(turns);
    complete = complete && turns.size() <= time_choice_limit;
    turns.resize(std::min(turns.size(), time_choice_limit));
    std::vector<bool> chosen(vectors.size(), false);
    for (const auto& [turn, place] : turns) {
        chosen[cheapest[place].second] = true;
    }
    std::vector<std::size_t> kept;
    for (std::size_t way = 0; way < vectors.size(); ++way) {
        if (chosen[way]) {
            kept.push_back(way);
        }
    }
    return kept;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
