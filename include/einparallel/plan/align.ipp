#pragma once
// Which rank does which block: the order of every vertex's mesh axes and the cuts of what rests in pieces, so that
// neighbouring vertices agree.

#include <einparallel/graph/source.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/axis_orders.ipp>
#include <einparallel/plan/choices.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/wishes.ipp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Where an input lies that one rank has, or that rests in a distribution of its own or a pinned one.
EINPARALLEL_INLINE distribution resting_of_source(const vertex& input) {
    if (is_pinned_input(input)) {
        return pinned_resting(input);
    }
    if (input.origin->kind() == source_kind::root) {
        return held_by_one(input.bounds, input.origin->root());
    }
    std::vector<box> boxes;
    for (int rank = 0; rank < input.origin->holders(); ++rank) {
        boxes.push_back(input.origin->held_by(rank));
    }
    return {input.bounds, std::move(boxes)};
}

/// Where an einsum's tensors rest.
struct placed_einsum {
    mesh ranks;
    task_cuts cuts;
    std::vector<resting_id> operands;
    resting_id output = 0;
    pending_sums sums;
};

/// Where everything rests, by number of the vertex.
struct placed_graph {
    std::vector<placed_einsum> einsums;
    /// A vertex's tensor; nothing for an input that every rank reads as each consumer wants it, or that nobody reads.
    std::vector<std::optional<resting_id>> resting;
};

/// Where everything rests, chosen for given partition vectors.
EINPARALLEL_INLINE class alignment {
public:
    /// `parts[number]` is the partition vector of vertex `number`; empty for inputs.
    alignment(const einsum_graph& graph, const std::vector<std::vector<int>>& parts, overlap_table& table)
        : graph_(graph),
          parts_(parts),
          table_(table),
          einsums_(graph.vertices.size()),
          inputs_(graph.vertices.size()),
          consumers_(graph.vertices.size()),
          kinds_(graph.vertices.size()),
          usual_(graph.vertices.size()) {
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            for (std::size_t operand = 0; operand < graph.inputs[number].size(); ++operand) {
                consumers_[graph.inputs[number][operand]].emplace_back(number, operand);
            }
        }
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            kinds_[number] = kind_of(number);
            graph.vertices[number]->is_input() ? place_input(number) : place_einsum(number);
        }
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            bool changed = false;
            for (std::size_t number = graph.vertices.size(); number-- > 0;) {
                changed = (!graph.vertices[number]->is_input() && replace_einsum(number)) || changed;
            }
            if (!changed) {
                break;
            }
        }
    }

    [[nodiscard]] placed_graph result() && {
        placed_graph made;
        for (std::size_t number = 0; number < graph_.vertices.size(); ++number) {
            made.resting.push_back(resting(number));
        }
        made.einsums = std::move(einsums_);
        return made;
    }

private:
    [[nodiscard]] std::optional<resting_id> resting(std::size_t number) const {
        return graph_.vertices[number]->is_input() ? inputs_[number] : einsums_[number].output;
    }

    /// Where operand `operand` of vertex `number` has to be moved from; nothing where it is read in place.
    [[nodiscard]] std::optional<resting_id> origin(std::size_t number, std::size_t operand) const {
        return resting(graph_.inputs[number][operand]);
    }

    static constexpr int sweeps = 4;

    struct reading {
        double bytes = 0;
        std::size_t cut = 0;
        resting_id where = 0;
    };

    /// An order of a mesh's axes, the cut of an output, and whether they are better than the present ones.
    struct arrangement {
        mesh ranks;
        std::size_t cut = 0;
        bool is_better = false;
    };

    /// Equal for einsums that are cut alike and see their tensors alike.
    std::size_t kind_of(std::size_t number) {
        const vertex& einsum = *graph_.vertices[number];
        std::vector<index> key{static_cast<index>(einsum.element.bytes), einsum.wishes.without_communication ? 1 : 0};
        key.insert(key.end(), einsum.extents.begin(), einsum.extents.end());
        key.insert(key.end(), parts_[number].begin(), parts_[number].end());
        const auto append = [&](const std::vector<label_id>& labels) {
            key.push_back(-2);
            key.insert(key.end(), labels.begin(), labels.end());
        };
        append(einsum.form.output);
        for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
            append(einsum.form.operands[operand]);
            key.push_back(static_cast<index>(einsum.operands[operand]->element.bytes));
        }
        for (const mesh_axis& axis : pinned_axes(einsum)) {
            key.insert(key.end(), {-3, axis.label, axis.parts});
        }
        return kind_numbers_.number_of(key).first;
    }

    /// What the best order of an einsum's axes depends on: its kind, where its operands come from, and the axes of
    /// producers that it may follow.
    [[nodiscard]] std::vector<index> surroundings(std::size_t number) const {
        std::vector<index> key{static_cast<index>(kinds_[number])};
        const auto cut = std::ranges::count_if(parts_[number], [](int part) { return part > 1; });
        for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
            const std::optional<resting_id> from = origin(number, operand);
            key.push_back(from ? *from : -1);
            if (const std::size_t producer = graph_.inputs[number][operand];
                cut > 4 && !graph_.vertices[producer]->is_input()) {
                key.push_back(static_cast<index>(kinds_[producer]));
                append_axes(einsums_[producer].ranks, key);
            }
        }
        return key;
    }

    static void append_axes(const mesh& ranks, std::vector<index>& key) {
        key.push_back(-2);
        for (const mesh_axis& axis : ranks.axes) {
            key.push_back(axis.label);
        }
    }

    /// What is found out once for equal keys, as the layers of a loop have.
    template <class Find>
    const arrangement& known(numbering& numbers, std::vector<arrangement>& found, const std::vector<index>& key,
                             const Find& find) {
        const auto [position, fresh] = numbers.number_of(key);
        if (fresh) {
            found.push_back(find());
        }
        return found[position];
    }

    void place_input(std::size_t number) {
        const vertex& input = *graph_.vertices[number];
        const source_kind kind = input.origin == nullptr ? source_kind::everywhere : input.origin->kind();
        if (kind == source_kind::root || kind == source_kind::resting || is_pinned_input(input)) {
            inputs_[number] = table_.number_of(resting_of_source(input));
        }
    }

    /// The cheapest of the sensible cuts for reading an operand over a mesh.
    reading read(std::size_t number, std::size_t operand, const mesh& ranks, std::size_t usual) {
        const vertex& einsum = *graph_.vertices[number];
        const std::vector<label_id>& labels = einsum.form.operands[operand];
        const vertex& tensor = *einsum.operands[operand];
        const std::optional<resting_id> from = origin(number, operand);
        reading best{std::numeric_limits<double>::infinity(), usual, 0};
        for (const std::size_t cut : cuts_of(labels, einsum.extents, ranks, usual, 1, from.has_value())) {
            const resting_id where = table_.number_of(tensor.bounds, ranks, labels, cut);
            double bytes = from ? table_.moved(*from, where) * static_cast<double>(tensor.element.bytes) : 0.0;
            bytes += bytes > 0 && einsum.wishes.without_communication ? forbidden_move : 0;
            if (better(bytes, best.bytes)) {
                best = {bytes, cut, where};
            }
        }
        return best;
    }

    /// The order of a vertex's axes that follows a producer's mesh: shared dimensions as they stand there.
    [[nodiscard]] mesh like_producer(std::size_t number, std::size_t operand, const mesh& natural) const {
        const vertex& einsum = *graph_.vertices[number];
        const std::size_t producer = graph_.inputs[number][operand];
        if (graph_.vertices[producer]->is_input()) {
            return natural;
        }
        const auto position = [&](const mesh_axis& axis) {
            const std::vector<mesh_axis>& axes = einsums_[producer].ranks.axes;
            for (std::size_t place = 0; place < axes.size(); ++place) {
                for (std::size_t dimension = 0; dimension < einsum.form.operands[operand].size(); ++dimension) {
                    if (einsum.form.operands[operand][dimension] == axis.label &&
                        graph_.vertices[producer]->form.output[dimension] == axes[place].label) {
                        return place;
                    }
                }
            }
            return axes.size();
        };
        std::vector<ranked> order;
        for (std::size_t axis = 0; axis < natural.axes.size(); ++axis) {
            order.emplace_back(static_cast<double>(position(natural.axes[axis])), axis);
        }
        sort_range(order);
        mesh ordered;
        for (const auto& [place, axis] : order) {
            ordered.axes.push_back(natural.axes[axis]);
        }
        return ordered;
    }

    [[nodiscard]] std::vector<mesh> orders_of(std::size_t number) const {
        const mesh natural = natural_mesh(*graph_.vertices[number], parts_[number]);
        std::vector<mesh> like;
        for (std::size_t operand = 0; operand < graph_.inputs[number].size() && natural.axes.size() > 4; ++operand) {
            like.push_back(like_producer(number, operand, natural));
        }
        return axis_orders(*graph_.vertices[number], natural, like);
    }

    /// The first time: the order with which the operands move least, given where the producers rest.
    void place_einsum(std::size_t number) {
        const vertex& einsum = *graph_.vertices[number];
        const task_cuts usual = choose_cuts(einsum.form, einsum.extents, natural_mesh(einsum, parts_[number]));
        usual_[number] = usual;
        einsums_[number].ranks = known(first_numbers_, first_, surroundings(number), [&] {
                                     arrangement best;
                                     double least = std::numeric_limits<double>::infinity();
                                     for (const mesh& ranks : orders_of(number)) {
                                         double bytes = 0;
                                         for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
                                             bytes += read(number, operand, ranks, usual.operands[operand]).bytes;
                                         }
                                         if (better(bytes, least)) {
                                             least = bytes;
                                             best.ranks = ranks;
                                         }
                                     }
                                     return best;
                                 }).ranks;
        einsums_[number].cuts = usual;
        settle(number);
    }

    /// Fixes the cuts of the operands for the order chosen, and the number of where the output rests.
    void settle(std::size_t number) {
        const vertex& einsum = *graph_.vertices[number];
        placed_einsum& chosen = einsums_[number];
        chosen.operands.clear();
        for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
            const reading best = read(number, operand, chosen.ranks, usual_[number].operands[operand]);
            chosen.cuts.operands[operand] = best.cut;
            chosen.operands.push_back(best.where);
            const std::size_t input = graph_.inputs[number][operand];
            const vertex& tensor = *graph_.vertices[input];
            const bool first = !inputs_[input] || einsum.wishes.without_communication;
            if (tensor.is_input() && first && !is_pinned_input(tensor) && tensor.origin != nullptr &&
                tensor.origin->kind() == source_kind::placeholder) {
                // Bound once, as its first reader wants it, or one that may not move it.
                const bool completed =
                    consumers_[input].size() > 1 ||
                    std::find(graph_.outputs.begin(), graph_.outputs.end(), input) != graph_.outputs.end();
                inputs_[input] = completed ? table_.whole_of(best.where) : best.where;
            }
        }
        chosen.output = table_.number_of(einsum.bounds, chosen.ranks, einsum.form.output, chosen.cuts.output);
    }

    /// Bytes that move into a vertex and out of it with this order and this cut of its output.
    double bytes_around(std::size_t number, const mesh& ranks, std::size_t output_cut) {
        const vertex& einsum = *graph_.vertices[number];
        double bytes = 0;
        for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
            bytes += read(number, operand, ranks, usual_[number].operands[operand]).bytes;
        }
        const resting_id before = einsums_[number].output;
        einsums_[number].output = table_.number_of(einsum.bounds, ranks, einsum.form.output, output_cut);
        for (const auto& [consumer, operand] : consumers_[number]) {
            bytes += read(consumer, operand, einsums_[consumer].ranks, usual_[consumer].operands[operand]).bytes;
        }
        einsums_[number].output = before;
        return bytes;
    }

    /// Looks both ways, at producers and consumers; true where another order or cut is better than the present one.
    bool replace_einsum(std::size_t number) {
        placed_einsum& chosen = einsums_[number];
        std::vector<index> key = surroundings(number);
        append_axes(chosen.ranks, key);
        key.push_back(static_cast<index>(chosen.cuts.output));
        for (const auto& [consumer, operand] : consumers_[number]) {
            key.insert(key.end(), {-3, static_cast<index>(kinds_[consumer]), static_cast<index>(operand)});
            append_axes(einsums_[consumer].ranks, key);
        }
        const arrangement best = known(again_numbers_, again_, key, [&] { return better_arrangement(number); });
        if (best.is_better) {
            chosen.ranks = best.ranks;
            chosen.cuts.output = best.cut;
            settle(number);
            for (const auto& [consumer, operand] : consumers_[number]) {
                settle(consumer);
            }
        }
        return best.is_better;
    }

    arrangement better_arrangement(std::size_t number) {
        const vertex& einsum = *graph_.vertices[number];
        arrangement made{einsums_[number].ranks, einsums_[number].cuts.output, false};
        double best = bytes_around(number, made.ranks, made.cut);
        if (best == 0) {
            return made;
        }
        for (const mesh& ranks : orders_of(number)) {
            for (const std::size_t cut : cuts_of(einsum.form.output, einsum.extents, ranks, usual_[number].output, 2,
                                                 !consumers_[number].empty())) {
                const double bytes = bytes_around(number, ranks, cut);
                if (better(bytes, best)) {
                    best = bytes;
                    made = {ranks, cut, true};
                }
            }
        }
        return made;
    }

    const einsum_graph& graph_;
    const std::vector<std::vector<int>>& parts_;
    overlap_table& table_;
    std::vector<placed_einsum> einsums_;
    std::vector<std::optional<resting_id>> inputs_;
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> consumers_;
    std::vector<std::size_t> kinds_;
    std::vector<task_cuts> usual_;
    numbering kind_numbers_;
    numbering first_numbers_;
    std::vector<arrangement> first_;
    numbering again_numbers_;
    std::vector<arrangement> again_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
