#pragma once
// All that can be decided about one vertex at once: how it is cut, on which ranks its blocks are, and along which
// dimension shared blocks rest in pieces.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/plan/align.hpp>
#include <einparallel/plan/choices.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.hpp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// Of a tensor that nobody has to move.
inline constexpr resting_id in_place = -1;

/// One way to run a vertex. Ways that look the same to all other vertices are one, with the smallest cost.
struct vertex_way {
    std::size_t vector = 0;  ///< position of the partition vector among the vertex's choices
    mesh ranks;
    task_cuts cuts;
    std::vector<resting_id> operands;  ///< where each is wanted; in_place where every rank reads what it wants
    resting_id output = in_place;      ///< in_place where nobody reads it
    double cost = 0;                   ///< without what moves to it
};

/// The costs of a vertex's own work by partition vector and cuts, as the objective counts them.
template <class Lazy = void>
class way_costs {
public:
    way_costs(const vertex& einsum, const choices& known, const options& asked, double memory_price)
        : einsum_(einsum), known_(known), asked_(asked), memory_price_(memory_price) {}

    double of(std::size_t vector, const mesh& ranks, const task_cuts& cuts) {
        std::vector<index> key{static_cast<index>(vector), static_cast<index>(cuts.output)};
        key.insert(key.end(), cuts.operands.begin(), cuts.operands.end());
        const auto [number, fresh] = numbers_.number_of(std::move(key));
        if (fresh) {
            task work =
                make_task(einsum_.form, einsum_.extents, operand_bytes_of(einsum_), einsum_.element.bytes, ranks, cuts);
            work.travelling = choose_travelling(work, known_.wanted);
            const double cost = asked_.objective == objective::bytes
                                    ? task_bytes(work)
                                    : task_seconds(work, einsum_.work->operations_per_point(), asked_.machine);
            costs_.push_back(cost + (known_.memory.empty() ? 0 : memory_price_ * known_.memory[vector]));
        }
        return costs_[number];
    }

private:
    const vertex& einsum_;
    const choices& known_;
    const options& asked_;
    double memory_price_;
    numbering<Lazy> numbers_;
    std::vector<double> costs_;
};

/// The tensors of a vertex that others see: which operands move to it, and whether anybody reads its output.
struct seen_tensors {
    std::vector<bool> operands;
    bool output = false;
};

/// Fills in where a way puts the tensors that others see.
template <class Lazy = void>
void put_tensors(vertex_way& way, const vertex& einsum, const seen_tensors& seen, overlap_table<Lazy>& table) {
    for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
        way.operands.push_back(seen.operands[operand]
                                   ? table.number_of(einsum.operands[operand]->bounds, way.ranks,
                                                     einsum.form.operands[operand], way.cuts.operands[operand])
                                   : in_place);
    }
    if (seen.output) {
        way.output = table.number_of(einsum.bounds, way.ranks, einsum.form.output, way.cuts.output);
    }
}

/// Every way to run a vertex with one of these partition vectors; nothing where there are more than `most`. Of vectors
/// that cut more than four labels only some orders of the mesh axes are tried; `every_order` gives nothing instead.
template <class Lazy = void>
std::optional<std::vector<vertex_way>> ways_of(const vertex& einsum, const choices& known, way_costs<Lazy>& costs,
                                               const std::vector<std::size_t>& vectors, const seen_tensors& seen,
                                               std::size_t most, bool every_order, overlap_table<Lazy>& table) {
    std::vector<vertex_way> ways;
    numbering<Lazy> looks;
    for (const std::size_t vector : vectors) {
        const mesh natural = natural_mesh(einsum, known[vector]);
        if (every_order && natural.axes.size() > 4) {
            return std::nullopt;
        }
        for (const mesh& ranks : axis_orders(einsum, natural, {})) {
            const task_cuts usual = choose_cuts(einsum.form, einsum.extents, ranks);
            std::vector<std::vector<std::size_t>> options;
            for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
                options.push_back(cuts_of(einsum.form.operands[operand], einsum.extents, ranks, usual.operands[operand],
                                          1, seen.operands[operand]));
            }
            options.push_back(cuts_of(einsum.form.output, einsum.extents, ranks, usual.output, 2, true));
            std::vector<std::size_t> turn(options.size(), 0);
            for (bool more = true; more;) {
                vertex_way made;
                made.vector = vector;
                made.ranks = ranks;
                made.cuts.output = options.back()[turn.back()];
                for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
                    made.cuts.operands.push_back(options[operand][turn[operand]]);
                }
                put_tensors(made, einsum, seen, table);
                std::vector<index> look(made.operands.begin(), made.operands.end());
                look.push_back(made.output);
                made.cost = costs.of(vector, ranks, made.cuts);
                const auto [number, fresh] = looks.number_of(std::move(look));
                if (fresh) {
                    ways.push_back(std::move(made));
                } else if (better(made.cost, ways[number].cost)) {
                    ways[number] = std::move(made);
                }
                std::size_t place = turn.size();
                while (place > 0 && ++turn[place - 1] == options[place - 1].size()) {
                    turn[--place] = 0;
                }
                more = place > 0;
            }
            if (ways.size() > most) {
                return std::nullopt;
            }
        }
    }
    return ways;
}

}  // namespace einparallel::detail
