#pragma once
// The planner's problem as a sum over vertices and edges: which way to cut every vertex of a graph.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/axis_orders.ipp>
#include <einparallel/plan/choices.ipp>
#include <einparallel/plan/cost.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/eliminate.hpp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/source_cost.ipp>
#include <einparallel/plan/sums.hpp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/plan/wishes.ipp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes or seconds, as the objective asks, for a tensor that is cut otherwise than its reader wants it, with the best
/// orders of the mesh axes.
EINPARALLEL_INLINE double moving_estimate(const vertex& tensor, const tensor_cut& before, const tensor_cut& after,
                                          const options& asked) {
    const double bytes = tensor_bytes(tensor) * smallest_moved_share(tensor.bounds, before, after);
    return asked.objective == objective::bytes ? bytes : moving_seconds(before, after, bytes, asked.machine);
}

/// Builds the model of a graph under an objective. Vertices of one shape share their choices, and edges between equal
/// choices their tables: a loop of a thousand layers costs what one layer costs.
class model_builder {
public:
    /// `memory_price` is what a byte on the rank with the largest share costs; vertices whose task alone needs more
    /// than `memory_limit` bytes in every way throw.
    model_builder(const einsum_graph& graph, const options& asked, double memory_price)
        : graph_(graph), asked_(asked), memory_price_(memory_price), has_marks_(has_marks(graph)) {}

    /// Choices by variable. Variables are the einsums of the graph in its order.
    [[nodiscard]] const std::vector<std::shared_ptr<const choices>>& ways() const { return ways_; }
    [[nodiscard]] const std::vector<std::size_t>& vertex_of() const { return vertex_of_; }
    /// Equal for vertices with equal choices.
    [[nodiscard]] const std::vector<index>& shape_of() const { return shape_of_; }

    EINPARALLEL_INLINE pairwise_model build();

    /// True where no partition vector that competes was left out.
    EINPARALLEL_INLINE [[nodiscard]] bool is_complete() const;

    /// Less than what any plan costs. A copy of a tensor that several readers share is paid once, so of n readers each
    /// pays an n-th; under time, what moves costs nothing, for the model of the edges is an estimate. Vertices that may
    /// read or leave sums pending count nothing, nor what moves to and from them.
    EINPARALLEL_INLINE [[nodiscard]] double lower_bound(const pairwise_model& model,
                                                        const pending_offers& offers) const;

private:
    /// What reading an input that lies somewhere costs, by way of the reader.
    struct source_term {
        std::size_t variable = 0;
        std::size_t input = 0;
        std::vector<double> costs;
    };

    /// Adds what the last variable pays for reading an operand from where it lies: nothing in the paper's numbers, and
    /// what nothing can pay where the vertex may not move anything.
    EINPARALLEL_INLINE void add_source(std::size_t number, std::size_t operand, pairwise_model& model);

    EINPARALLEL_INLINE static std::shared_ptr<const std::vector<double>> sum_of(const std::vector<double>& costs,
                                                                                const std::vector<double>& more,
                                                                                double scale);

    /// What vertices with equal choices have in common.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<index> shape_of(std::size_t number) const;

    EINPARALLEL_INLINE [[nodiscard]] double vertex_cost(const vertex& einsum, const std::vector<int>& vector,
                                                        const task* work) const;

    EINPARALLEL_INLINE [[nodiscard]] std::shared_ptr<const choices> choices_of(std::size_t number);

    /// Vectors up to which the seconds of each are those of its best cuts; beyond, of the usual ones.
    static constexpr std::size_t few_vectors = 1024;

    /// Every combination of sensible cuts; operands that every rank reads as it likes keep the usual one.
    EINPARALLEL_INLINE static std::vector<task_cuts> other_cuts(const vertex& einsum, const mesh& ranks);

    template <class T>
    static void keep(const std::vector<std::size_t>& kept, std::vector<T>& all) {
        std::vector<T> chosen;
        chosen.reserve(kept.size());
        for (const std::size_t position : kept) {
            chosen.push_back(std::move(all[position]));
        }
        all = std::move(chosen);
    }

    /// Ways that break the memory limit on their own are none.
    EINPARALLEL_INLINE void drop_too_large(std::size_t number, std::vector<std::vector<int>>& vectors,
                                           std::vector<double>& price, std::vector<double>& memory) const;

    /// What all edges of a vertex together can cost at most under the time objective: every tensor that another vertex
    /// makes or reads, or that lies somewhere or will be bound there, moves whole, in one message per rank.
    EINPARALLEL_INLINE [[nodiscard]] double largest_edges(std::size_t number) const;

    EINPARALLEL_INLINE [[nodiscard]] pairwise_term term(std::size_t producer, std::size_t consumer,
                                                        std::size_t operand);

    /// True where some element has to change ranks between these cuts, whatever the order of the mesh axes: a rank
    /// wants something that had nothing, or more than one rank had. The reader shares no block.
    EINPARALLEL_INLINE [[nodiscard]] static bool must_move(const vertex& tensor, const tensor_cut& before,
                                                           const tensor_cut& after);

    EINPARALLEL_INLINE [[nodiscard]] double edge_cost(const vertex& tensor, const tensor_cut& before,
                                                      const tensor_cut& after) const;

    const einsum_graph& graph_;
    const options& asked_;
    double memory_price_;
    bool has_marks_;
    std::vector<std::size_t> vertex_of_;
    std::vector<std::size_t> consumers_;  // readings, by vertex
    std::vector<std::shared_ptr<const choices>> ways_;
    std::vector<source_term> sources_;
    numbering shapes_;
    std::vector<std::shared_ptr<const choices>> by_shape_;
    std::vector<index> shape_of_;  // by variable
    numbering edges_;
    std::vector<std::shared_ptr<const std::vector<double>>> by_edge_;
};

EINPARALLEL_INLINE pairwise_model model_builder::build() {
    pairwise_model model;
    consumers_.assign(graph_.vertices.size(), 0);
    for (const std::vector<std::size_t>& inputs : graph_.inputs) {
        for (const std::size_t input : inputs) {
            ++consumers_[input];
        }
    }
    std::vector<std::size_t> variable_of(graph_.vertices.size(), 0);
    for (std::size_t number = 0; number < graph_.vertices.size(); ++number) {
        if (graph_.vertices[number]->is_input()) {
            continue;
        }
        const std::size_t variable = vertex_of_.size();
        variable_of[number] = variable;
        vertex_of_.push_back(number);
        ways_.push_back(choices_of(number));
        model.variables.push_back(ways_.back()->cost);
        for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
            const std::size_t input = graph_.inputs[number][operand];
            if (!graph_.vertices[input]->is_input()) {
                model.terms.push_back(term(variable_of[input], variable, operand));
            } else if (lies_somewhere(*graph_.vertices[input])) {
                add_source(number, operand, model);
            }
        }
    }
    return model;
}

EINPARALLEL_INLINE bool model_builder::is_complete() const {
    return std::ranges::all_of(ways_, [](const auto& known) { return known->complete; });
}

EINPARALLEL_INLINE double model_builder::lower_bound(const pairwise_model& model, const pending_offers& offers) const {
    pairwise_model bound;
    for (std::size_t variable = 0; variable < ways_.size(); ++variable) {
        const bool counts = !offers.touch(vertex_of_[variable]);
        bound.variables.push_back(counts ? ways_[variable]->cost
                                         : std::make_shared<const std::vector<double>>(ways_[variable]->size(), 0));
    }
    if (asked_.objective == objective::bytes) {
        for (const source_term& each : sources_) {
            if (offers.touch(vertex_of_[each.variable])) {
                continue;
            }
            std::shared_ptr<const std::vector<double>>& cost = bound.variables[each.variable];
            cost = sum_of(*cost, each.costs, 1.0 / static_cast<double>(consumers_[each.input]));
        }
        numbering scaled_numbers;
        std::vector<std::shared_ptr<const std::vector<double>>> scaled;
        for (const pairwise_term& term : model.terms) {
            if (offers.touch(vertex_of_[term.producer]) || offers.touch(vertex_of_[term.consumer])) {
                continue;
            }
            const std::size_t count = consumers_[vertex_of_[term.producer]];
            const auto [number, fresh] =
                scaled_numbers.number_of({reinterpret_cast<index>(term.cost.get()), static_cast<index>(count)});
            if (fresh) {
                scaled.push_back(
                    sum_of(std::vector<double>(term.cost->size(), 0), *term.cost, 1.0 / static_cast<double>(count)));
            }
            bound.terms.push_back(term);
            bound.terms.back().cost = scaled[number];
        }
        if (const std::optional<std::vector<int>> states = minimise_exactly(bound)) {
            return total_cost(bound, *states) * (1 - 1e-12);
        }
    }
    double sum = 0;
    for (const std::shared_ptr<const std::vector<double>>& cost : bound.variables) {
        sum += *std::min_element(cost->begin(), cost->end());
    }
    return sum * (1 - 1e-12);
}

EINPARALLEL_INLINE void model_builder::add_source(std::size_t number, std::size_t operand, pairwise_model& model) {
    const vertex& einsum = *graph_.vertices[number];
    const bool marked = einsum.wishes.without_communication;
    if (asked_.objective == objective::paper && !marked) {
        return;
    }
    std::vector<double> costs = source_costs(einsum, operand, *ways_.back(), asked_);
    std::shared_ptr<const std::vector<double>>& all = model.variables.back();
    if (asked_.objective != objective::paper) {
        all = sum_of(*all, costs, 1);
        sources_.push_back({vertex_of_.size() - 1, graph_.inputs[number][operand], costs});
    }
    if (marked) {
        std::replace_if(
            costs.begin(), costs.end(), [](double cost) { return cost > 0; }, forbidden_move);
        all = sum_of(*all, costs, 1);
    }
}

EINPARALLEL_INLINE std::shared_ptr<const std::vector<double>> model_builder::sum_of(const std::vector<double>& costs,
                                                                                    const std::vector<double>& more,
                                                                                    double scale) {
    auto sum = std::make_shared<std::vector<double>>(costs);
    for (std::size_t position = 0; position < sum->size(); ++position) {
        (*sum)[position] += scale * more[position];
    }
    return sum;
}

EINPARALLEL_INLINE std::vector<index> model_builder::shape_of(std::size_t number) const {
    const vertex& einsum = *graph_.vertices[number];
    constexpr index end = -2;  // of a list of labels
    std::vector<index> key;
    for (std::size_t operand = 0; operand < einsum.form.operands.size(); ++operand) {
        for (const label_id label : einsum.form.operands[operand]) {
            key.push_back(label);
        }
        const vertex& read = *einsum.operands[operand];
        key.push_back(end);
        key.push_back(static_cast<index>(read.element.bytes));
        const std::size_t input = graph_.inputs[number][operand];
        key.push_back(!read.is_input()       ? 0
                      : lies_somewhere(read) ? 1
                      : is_placeholder(read) ? 2 + static_cast<index>(consumers_[input])
                                             : 2);
    }
    key.push_back(end);
    for (const label_id label : einsum.form.output) {
        key.push_back(label);
    }
    key.push_back(end);
    key.push_back(static_cast<index>(einsum.element.bytes));
    for (const index extent : einsum.extents) {
        key.push_back(extent);
    }
    key.push_back(einsum.work->is_contraction() ? 1 : 0);
    key.push_back(std::bit_cast<index>(einsum.work->operations_per_point()));
    key.push_back(asked_.objective == objective::time ? static_cast<index>(consumers_[number]) : 0);
    key.push_back(einsum.wishes.without_communication ? 1 : 0);
    key.push_back(einsum.wishes.pin ? 1 : 0);
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        key.push_back(axis.label);
        key.push_back(axis.parts);
    }
    return key;
}

EINPARALLEL_INLINE double model_builder::vertex_cost(const vertex& einsum, const std::vector<int>& vector,
                                                     const task* work) const {
    switch (asked_.objective) {
        case objective::paper:
            return cost::join(einsum.form, einsum.extents, vector) +
                   cost::aggregate(einsum.form, einsum.extents, vector);
        case objective::bytes:
            return task_bytes(*work);
        default:
            return task_seconds(*work, einsum.work->operations_per_point(), asked_.machine);
    }
}

EINPARALLEL_INLINE std::shared_ptr<const choices> model_builder::choices_of(std::size_t number) {
    const vertex& einsum = *graph_.vertices[number];
    const auto [shape, fresh] = shapes_.number_of(shape_of(number));
    shape_of_.push_back(static_cast<index>(shape));
    if (!fresh) {
        return by_shape_[shape];
    }
    auto made = std::make_shared<choices>();
    made->labels = einsum.extents.size();
    const int processes = planned_processes(asked_.processes, asked_.powers_of_two);
    const free_cuts left = cuts_left(einsum, processes);
    std::vector<index> extents = left.extents;
    if (asked_.algorithm != algorithm::automatic && einsum.work->is_contraction()) {
        made->wanted = asked_.algorithm;
        extents = cuttable_extents(einsum, left.extents, asked_.algorithm);
        if (pinned_axes(einsum).empty() && largest_product(extents, left.processes, asked_.powers_of_two) == 1 &&
            largest_product(left.extents, left.processes, asked_.powers_of_two) > 1) {
            made->wanted = algorithm::automatic;
            made->fell_back = true;
            extents = left.extents;
        }
    }
    // A contraction whose algorithm is asked for is cut as far as that algorithm allows: it is asked for to be run.
    const bool every = asked_.objective == objective::time && made->wanted == algorithm::automatic;
    options free = asked_;
    free.processes = left.processes;
    competitors competing = competing_vectors(extents, free, every || einsum.wishes.without_communication);
    std::vector<std::vector<int>> vectors = std::move(competing.vectors);
    for (std::vector<int>& vector : vectors) {
        for (std::size_t label = 0; label < vector.size(); ++label) {
            vector[label] *= left.fixed[label];
        }
    }
    made->complete = competing.complete;

    std::vector<double> price;
    for (const std::vector<int>& vector : vectors) {
        task work;
        if (asked_.objective != objective::paper || asked_.memory_limit > 0) {
            work = make_task(einsum.form, einsum.extents, operand_bytes_of(einsum), einsum.element.bytes,
                             natural_mesh(einsum, vector), made->wanted);
            choose_best_travelling(work, made->wanted, einsum.work->operations_per_point(), asked_);
        }
        price.push_back(vertex_cost(einsum, vector, &work));
        if (every && vectors.size() <= few_vectors) {
            for (const task_cuts& cuts : other_cuts(einsum, work.ranks)) {
                work = make_task(einsum.form, einsum.extents, operand_bytes_of(einsum), einsum.element.bytes,
                                 work.ranks, cuts);
                choose_best_travelling(work, made->wanted, einsum.work->operations_per_point(), asked_);
                price.back() = std::min(price.back(), vertex_cost(einsum, vector, &work));
            }
        }
        if (asked_.memory_limit > 0) {
            made->memory.push_back(task_memory(work));
            price.back() += memory_price_ * made->memory.back();
        }
    }
    if (asked_.memory_limit > 0) {
        drop_too_large(number, vectors, price, made->memory);
    }
    if (every) {
        const std::vector<std::size_t> kept = worth_keeping(vectors, price, largest_edges(number), made->complete);
        keep(kept, vectors);
        keep(kept, price);
        if (asked_.memory_limit > 0) {
            keep(kept, made->memory);
        }
    }
    for (const std::vector<int>& vector : vectors) {
        made->parts.insert(made->parts.end(), vector.begin(), vector.end());
    }
    const bool count_pieces = asked_.objective != objective::paper || has_marks_;
    for (const std::vector<label_id>& labels : einsum.form.operands) {
        made->operands.push_back(classify_cuts(labels, vectors, count_pieces));
    }
    made->output = classify_cuts(einsum.form.output, vectors, count_pieces);
    made->cost = std::make_shared<const std::vector<double>>(std::move(price));
    by_shape_.push_back(std::move(made));
    return by_shape_.back();
}

EINPARALLEL_INLINE std::vector<task_cuts> model_builder::other_cuts(const vertex& einsum, const mesh& ranks) {
    const task_cuts usual = choose_cuts(einsum.form, einsum.extents, ranks);
    std::vector<task_cuts> all{usual};
    const auto vary = [&](const std::vector<label_id>& labels, std::size_t usual_cut, int each, auto&& place) {
        const std::size_t before = all.size();
        for (const std::size_t cut : cuts_of(labels, einsum.extents, ranks, usual_cut, each, true)) {
            for (std::size_t position = 0; position < before && cut != usual_cut; ++position) {
                all.push_back(all[position]);
                place(all.back()) = cut;
            }
        }
    };
    for (std::size_t operand = 0; operand < einsum.form.operands.size(); ++operand) {
        const vertex& read = *einsum.operands[operand];
        if (is_moved(read)) {
            vary(einsum.form.operands[operand], usual.operands[operand], 1,
                 [&](task_cuts& cuts) -> std::size_t& { return cuts.operands[operand]; });
        }
    }
    vary(einsum.form.output, usual.output, 2, [](task_cuts& cuts) -> std::size_t& { return cuts.output; });
    return all;
}

EINPARALLEL_INLINE void model_builder::drop_too_large(std::size_t number, std::vector<std::vector<int>>& vectors,
                                                      std::vector<double>& price, std::vector<double>& memory) const {
    std::vector<std::size_t> kept;
    for (std::size_t way = 0; way < vectors.size(); ++way) {
        if (memory[way] <= static_cast<double>(asked_.memory_limit)) {
            kept.push_back(way);
        }
    }
    if (kept.empty()) {
        const double least = *std::min_element(memory.begin(), memory.end());
        throw error("decompose: " + graph_.name_of(number) + " alone needs at least " +
                    std::to_string(static_cast<std::size_t>(least)) +
                    " bytes on a rank however it is cut, options.memory_limit is " +
                    std::to_string(asked_.memory_limit));
    }
    keep(kept, vectors);
    keep(kept, price);
    keep(kept, memory);
}

EINPARALLEL_INLINE double model_builder::largest_edges(std::size_t number) const {
    const vertex& einsum = *graph_.vertices[number];
    const machine& constants = asked_.machine;
    const auto moving = [&](const vertex& tensor) {
        return planned_processes(asked_.processes, asked_.powers_of_two) * constants.seconds_per_message +
               tensor_bytes(tensor) * constants.seconds_per_byte;
    };
    if (has_marks_) {
        return std::numeric_limits<double>::infinity();  // a way that is dear may be the only one that is allowed
    }
    double seconds = static_cast<double>(consumers_[number]) * moving(einsum);
    for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
        const vertex& read = *einsum.operands[operand];
        if (!read.is_input() || lies_somewhere(read)) {
            seconds += moving(read);
        } else if (const std::size_t readers = consumers_[graph_.inputs[number][operand]];
                   is_placeholder(read) && readers > 1) {
            seconds += static_cast<double>(readers) * moving(read);  // it may have to be bound elsewhere
        }
    }
    return seconds;
}

EINPARALLEL_INLINE pairwise_term model_builder::term(std::size_t producer, std::size_t consumer, std::size_t operand) {
    const tensor_choices& made = ways_[producer]->output;
    const tensor_choices& read = ways_[consumer]->operands[operand];
    const vertex& tensor = *graph_.vertices[vertex_of_[producer]];
    const bool marked = graph_.vertices[vertex_of_[consumer]]->wishes.without_communication;
    const auto [edge, fresh] =
        edges_.number_of({shape_of_[producer], shape_of_[consumer], static_cast<index>(operand)});
    if (fresh) {
        auto filled = std::make_shared<std::vector<double>>();
        filled->reserve(made.parts.size() * read.parts.size());
        for (std::size_t before = 0; before < made.parts.size(); ++before) {
            for (std::size_t after = 0; after < read.parts.size(); ++after) {
                const double cost = edge_cost(tensor, made.cut(before), read.cut(after));
                const bool forbidden = marked && must_move(tensor, made.cut(before), read.cut(after));
                filled->push_back(forbidden ? forbidden_move : cost);
            }
        }
        by_edge_.push_back(std::move(filled));
    }
    return {producer, consumer, made.classes, read.classes, by_edge_[edge]};
}

EINPARALLEL_INLINE bool model_builder::must_move(const vertex& tensor, const tensor_cut& before,
                                                 const tensor_cut& after) {
    const auto is_finer = [&](std::size_t cut) {
        for (std::size_t dimension = 0; dimension < before.parts.size(); ++dimension) {
            const int pieces = before.parts[dimension] * (dimension == cut ? before.pieces : 1);
            if (std::min<index>(pieces, tensor.bounds[dimension]) > after.parts[dimension]) {
                return true;
            }
        }
        return false;
    };
    bool moves = after.ranks > before.ranks || is_finer(0);
    for (std::size_t cut = 1; cut < before.parts.size() && before.pieces > 1 && after.ranks <= before.ranks; ++cut) {
        moves = moves && is_finer(cut);
    }
    return moves && std::find(tensor.bounds.begin(), tensor.bounds.end(), 0) == tensor.bounds.end();
}

EINPARALLEL_INLINE double model_builder::edge_cost(const vertex& tensor, const tensor_cut& before,
                                                   const tensor_cut& after) const {
    if (asked_.objective == objective::paper) {
        return cost::repartition(tensor.bounds, before.parts, after.parts);
    }
    return moving_estimate(tensor, before, after, asked_);
}

EINPARALLEL_INLINE pairwise_model model_of(const einsum_graph& graph, const options& asked) {
    return model_builder(graph, asked, 0).build();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
