#pragma once
// All that can be decided about one vertex at once: how it is cut, on which ranks its blocks are, and along which
// dimension shared blocks rest in pieces.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/axis_orders.ipp>
#include <einparallel/plan/choices.ipp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Of a tensor that nobody has to move.
inline constexpr resting_id in_place = -1;

/// Of a way that is none of the vertex's choices: it reads or leaves sums pending.
inline constexpr std::size_t no_vector = static_cast<std::size_t>(-1);

/// One way to run a vertex. Ways that look the same to all other vertices are one, with the smallest cost.
struct vertex_way {
    std::size_t vector = 0;  ///< position of the partition vector among the vertex's choices, or no_vector
    mesh ranks;
    task_cuts cuts;
    std::vector<resting_id> operands;  ///< where each is wanted; in_place where every rank reads what it wants
    resting_id output = in_place;      ///< in_place where nobody reads it
    double cost = 0;                   ///< without what moves to it
    pending_sums sums;
};

/// The costs of a vertex's own work by partition vector and cuts, as the objective counts them.
class way_costs {
public:
    way_costs(const vertex& einsum, const choices& known, const options& asked, double memory_price)
        : einsum_(einsum), known_(known), asked_(asked), memory_price_(memory_price) {}

    EINPARALLEL_INLINE double of(std::size_t vector, const mesh& ranks, const task_cuts& cuts);

    /// With pending sums; infinity where the task alone needs more than the memory limit.
    EINPARALLEL_INLINE double of(const summed_einsum& summed, const mesh& ranks, const task_cuts& cuts);

private:
    EINPARALLEL_INLINE [[nodiscard]] double cost_of(const task& work) const;

    const vertex& einsum_;
    const choices& known_;
    const options& asked_;
    double memory_price_;
    numbering numbers_;
    std::vector<double> costs_;
};

EINPARALLEL_INLINE double way_costs::of(std::size_t vector, const mesh& ranks, const task_cuts& cuts) {
    std::vector<index> key{static_cast<index>(vector), static_cast<index>(cuts.output)};
    key.insert(key.end(), cuts.operands.begin(), cuts.operands.end());
    const auto [number, fresh] = numbers_.number_of(std::move(key));
    if (fresh) {
        task work =
            make_task(einsum_.form, einsum_.extents, operand_bytes_of(einsum_), einsum_.element.bytes, ranks, cuts);
        choose_best_travelling(work, known_.wanted, einsum_.work->operations_per_point(), asked_);
        costs_.push_back(cost_of(work) + (known_.memory.empty() ? 0 : memory_price_ * known_.memory[vector]));
    }
    return costs_[number];
}

EINPARALLEL_INLINE double way_costs::of(const summed_einsum& summed, const mesh& ranks, const task_cuts& cuts) {
    std::vector<index> key{-1, summed.carried, summed.pending, static_cast<index>(cuts.output)};
    key.insert(key.end(), cuts.operands.begin(), cuts.operands.end());
    for (std::size_t label = 0; label < summed.extents.size(); ++label) {
        key.push_back(ranks.parts(static_cast<label_id>(label)));
    }
    for (const std::vector<label_id>& labels : summed.form.operands) {
        key.push_back(!labels.empty() && labels.front() == summed.carried ? 1 : 0);
    }
    const auto [number, fresh] = numbers_.number_of(std::move(key));
    if (fresh) {
        task work = make_task(summed, operand_bytes_of(einsum_), einsum_.element.bytes, ranks, cuts);
        choose_best_travelling(work, known_.wanted, einsum_.work->operations_per_point(), asked_);
        const double memory = asked_.memory_limit > 0 ? task_memory(work) : 0;
        costs_.push_back(memory > static_cast<double>(asked_.memory_limit) ? std::numeric_limits<double>::infinity()
                                                                           : cost_of(work) + memory_price_ * memory);
    }
    return costs_[number];
}

EINPARALLEL_INLINE double way_costs::cost_of(const task& work) const {
    return asked_.objective == objective::bytes
               ? task_bytes(work)
               : task_seconds(work, einsum_.work->operations_per_point(), asked_.machine);
}

/// The tensors of a vertex that others see: which operands move to it, and whether anybody reads its output.
struct seen_tensors {
    std::vector<bool> operands;
    bool output = false;
};

/// Fills in where a way puts the tensors that others see. `summed` is looked at only where the way has pending sums.
EINPARALLEL_INLINE void put_tensors(vertex_way& way, const vertex& einsum, const summed_einsum& summed,
                                    const seen_tensors& seen, overlap_table& table) {
    const bool whole = way.sums.none();
    const einsum_form& form = whole ? einsum.form : summed.form;
    const std::vector<index>& extents = whole ? einsum.extents : summed.extents;
    way.operands.clear();
    for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
        const std::vector<label_id>& labels = form.operands[operand];
        way.operands.push_back(seen.operands[operand] ? table.number_of(bounds_of(labels, extents), way.ranks, labels,
                                                                        way.cuts.operands[operand])
                                                      : in_place);
    }
    if (way.sums.output) {
        way.output =
            table.number_of(bounds_of(form.output, extents), axes_of_summands(way.ranks, form.output), form.output, 0);
    } else if (seen.output) {
        way.output = table.number_of(einsum.bounds, way.ranks, einsum.form.output, way.cuts.output);
    }
}

/// Ways to run one vertex, of those that look alike the cheapest.
class way_collector {
public:
    way_collector(const vertex& einsum, const seen_tensors& seen, way_costs& costs, overlap_table& table)
        : einsum_(einsum), seen_(seen), costs_(costs), table_(table) {}

    /// Every sensible combination of cuts of what rests in pieces.
    EINPARALLEL_INLINE void add_cuts(std::size_t vector, const mesh& ranks, const pending_sums& sums = {});

    /// With the same cuts as a way that finishes its sum, but leaving it pending.
    EINPARALLEL_INLINE void add_pending(const vertex_way& finished);

    [[nodiscard]] std::size_t size() const { return ways_.size(); }
    [[nodiscard]] std::vector<vertex_way> take() { return std::move(ways_); }

private:
    EINPARALLEL_INLINE void keep(vertex_way made);

    const vertex& einsum_;
    const seen_tensors& seen_;
    way_costs& costs_;
    overlap_table& table_;
    numbering looks_;
    std::vector<vertex_way> ways_;
};

EINPARALLEL_INLINE void way_collector::add_cuts(std::size_t vector, const mesh& ranks, const pending_sums& sums) {
    const summed_einsum summed = sums.none() ? summed_einsum{} : with_sums(einsum_.form, einsum_.extents, sums, ranks);
    const einsum_form& form = sums.none() ? einsum_.form : summed.form;
    const std::vector<index>& extents = sums.none() ? einsum_.extents : summed.extents;
    const task_cuts usual = choose_cuts(form, extents, ranks);
    std::vector<std::vector<std::size_t>> options;
    for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
        options.push_back(
            cuts_of(form.operands[operand], extents, ranks, usual.operands[operand], 1, seen_.operands[operand]));
    }
    options.push_back(sums.output ? std::vector<std::size_t>{0}
                                  : cuts_of(form.output, extents, ranks, usual.output, 2, true));
    std::vector<std::size_t> turn(options.size(), 0);
    for (bool more = true; more;) {
        vertex_way made;
        made.vector = vector;
        made.ranks = ranks;
        made.sums = sums;
        made.cuts.output = options.back()[turn.back()];
        for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
            made.cuts.operands.push_back(options[operand][turn[operand]]);
        }
        made.cost = sums.none() ? costs_.of(vector, ranks, made.cuts) : costs_.of(summed, ranks, made.cuts);
        put_tensors(made, einsum_, summed, seen_, table_);
        keep(std::move(made));
        std::size_t at = turn.size();
        while (at > 0 && ++turn[at - 1] == options[at - 1].size()) {
            turn[--at] = 0;
        }
        more = at > 0;
    }
}

EINPARALLEL_INLINE void way_collector::add_pending(const vertex_way& finished) {
    vertex_way made = finished;
    made.vector = no_vector;
    made.sums.output = true;
    made.cuts.output = 0;
    const summed_einsum summed = with_sums(einsum_.form, einsum_.extents, made.sums, made.ranks);
    made.cost = costs_.of(summed, made.ranks, made.cuts);
    put_tensors(made, einsum_, summed, seen_, table_);
    keep(std::move(made));
}

EINPARALLEL_INLINE void way_collector::keep(vertex_way made) {
    if (made.cost == std::numeric_limits<double>::infinity()) {
        return;
    }
    std::vector<index> look(made.operands.begin(), made.operands.end());
    look.push_back(made.output);
    const auto [number, fresh] = looks_.number_of(std::move(look));
    if (fresh) {
        ways_.push_back(std::move(made));
    } else if (better(made.cost, ways_[number].cost)) {
        ways_[number] = std::move(made);
    }
}

/// Adds every way to run a vertex with this partition vector (with the summands of pending operands behind its own
/// labels); false where there are more than `most` in all. Of vectors that cut more than four labels only some orders
/// of the mesh axes are tried; `every_order` gives up instead.
EINPARALLEL_INLINE bool add_ways(way_collector& into, const vertex& einsum, std::size_t vector,
                                 std::span<const int> parts, const pending_sums& sums, std::size_t most,
                                 bool every_order) {
    const mesh natural = natural_mesh(einsum, parts);
    if (every_order && natural.axes.size() > 4) {
        return false;
    }
    for (const mesh& ranks : axis_orders(einsum, natural, {})) {
        into.add_cuts(vector, ranks, sums);
        if (into.size() > most) {
            return false;
        }
    }
    return true;
}

/// Every way to run a vertex with one of these of its choices, no sum pending; nothing where there are too many, see
/// add_ways.
EINPARALLEL_INLINE std::optional<std::vector<vertex_way>> ways_of(const vertex& einsum, const choices& known,
                                                                  way_costs& costs,
                                                                  const std::vector<std::size_t>& vectors,
                                                                  const seen_tensors& seen, std::size_t most,
                                                                  bool every_order, overlap_table& table) {
    way_collector ways(einsum, seen, costs, table);
    for (const std::size_t vector : vectors) {
        if (!add_ways(ways, einsum, vector, known[vector], {}, most, every_order)) {
            return std::nullopt;
        }
    }
    return ways.take();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
