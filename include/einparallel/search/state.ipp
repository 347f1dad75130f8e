#pragma once
// All that can be decided about a vertex at once: how it is cut, on which ranks its blocks are, along which dimension
// shared blocks rest in pieces, which sums it takes and leaves unfinished, and whether a master feeds its ranks.

#include <einparallel/cost/lasting.hpp>
#include <einparallel/cost/places.hpp>
#include <einparallel/cost/traffic.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/search/axis_orders.ipp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/pins.ipp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What other vertices see of a vertex's tensors: which operands move to it, and whether its output is read.
struct seen_tensors {
    std::vector<bool> operands;
    std::vector<bool> rests;     ///< by operand: it rests somewhere, so that its distribution matters
    std::vector<bool> shares;    ///< by operand: other readers may hold the same blocks, and all pay for them together
    std::vector<place_id> from;  ///< by operand: its place before the run, where the states depend on it
    bool output = false;
    bool sees_places = true;  ///< it matters where blocks rest, and not only how large they are
    lasting_work lasting;

    friend bool operator==(const seen_tensors&, const seen_tensors&) = default;
};

/// A partition vector, and which of its states are written down.
struct listed_vector {
    state natural;          ///< the state with its axes in natural order and the usual cuts
    double least = 0;       ///< lower bound of the cost of the vertex's own work in all its placements
    bool is_whole = false;  ///< all its placements are among the states
};

EINPARALLEL_INLINE std::vector<std::size_t> operand_bytes_of(const vertex& einsum) {
    return list_of(einsum.operands, [](const auto& operand) { return std::size_t(operand->element.bytes); });
}

EINPARALLEL_INLINE task task_of(const vertex& einsum, const state& chosen, algorithm wanted, const options& asked,
                                const wired_machine& on, const lasting_work& lasting) {
    task work = make_task(with_sums(einsum.form, einsum.extents, chosen.sums, chosen.ranks), operand_bytes_of(einsum),
                          einsum.element.bytes, chosen.ranks, chosen.cuts);
    if (chosen.feed.slices > 0) {
        return fed_task(std::move(work), chosen.feed);
    }
    choose_best_travelling(work, wanted, einsum.work->operations_per_point(), on, asked.objective,
                           chosen.memory == 0 ? asked.memory_limit : chosen.memory, lasting, asked.level);
    return work;
}

EINPARALLEL_INLINE place_id given_place(const vertex& tensor, place_table& table) {
    if (kind_of(tensor) == source_kind::root) {
        return table.on_rank(tensor.bounds, tensor.origin->root());
    }
    const bool is_pinned = is_placeholder(tensor) && tensor.constraints.pin;
    return is_pinned || kind_of(tensor) == source_kind::resting ? table.exact(resting_of_source(tensor)) : anywhere;
}

/// The place of an operand of an einsum over a mesh.
/// @param extents by label, with the label of summands
EINPARALLEL_INLINE place_id operand_place(const einsum_form& form, const std::vector<index>& extents,
                                          std::size_t operand, const mesh& ranks, std::size_t cut, place_table& table) {
    if (!form.is_viewed(operand)) {
        const std::vector<label_id>& labels = form.operands[operand];
        return table.exact(bounds_of(labels, extents), ranks, labels, cut);
    }
    // The boxes overlap, and may leave elements out. All elements lie in blocks along the same labels.
    const std::vector<const operand_read*> reads = form.all_reads();
    const operand_read& read = **find_in(reads, operand, &operand_read::operand);
    std::vector<label_id> labels;
    for (const index_function& at : read.at.functions) {
        const label_id label = at.terms.empty() ? no_label : at.terms.front().label;
        labels.push_back(found_in(label, labels) ? no_label : label);
    }
    mesh even = ranks;
    for_each_in(even.axes, [](mesh_axis& axis) { axis.points.clear(); });
    return table.exact(operand_distribution(form, extents, operand, ranks, cut),
                       table.exact(read.at.bounds, even, labels, 0));
}

EINPARALLEL_INLINE place_id exact_place(const state& chosen, const einsum_form& form, const std::vector<index>& extents,
                                        std::size_t tensor, place_table& table) {
    const bool is_output = tensor == form.operands.size();
    const std::vector<label_id>& labels = is_output ? form.output : form.operands[tensor];
    if (chosen.feed.slices > 0) {
        return table.on_rank(bounds_of(labels, extents), chosen.feed.master);
    }
    return is_output ? table.exact(bounds_of(labels, extents), chosen.ranks, labels, chosen.cuts.output)
                     : operand_place(form, extents, tensor, chosen.ranks, chosen.cuts.operands[tensor], table);
}

/// Partition vectors of a family that have the cuts of a mesh over some labels. The ranks that are left go to any one
/// label.
EINPARALLEL_INLINE std::vector<std::vector<int>> parts_like(const partition_family& family, const mesh& like) {
    std::vector<std::vector<int>> made;
    std::vector<int> parts = family.fixed;
    int product = 1;
    for (const mesh_axis& axis : like.axes) {
        const auto label = std::size_t(axis.label);
        const bool is_first = &*find_in(like.axes, axis.label, &mesh_axis::label) == &axis;
        const int all = like.parts(axis.label);
        if (is_first && label < parts.size() && parts[label] == family.fixed[label] && family.free[label] >= all) {
            parts[label] *= all;
            product *= all;
        }
    }
    int numbers = 3;  // numbers of ranks that are tried
    std::vector<int> lefts;
    for (const int ranks : family.products) {
        if (ranks % product == 0 && numbers-- > 0) {
            lefts.push_back(ranks / product);
        }
    }
    if (const int most = family.products.front() / product; family.any_from > 0 && most > 0) {
        lefts.push_back(most * product >= family.any_from ? most : 0);
        lefts.push_back(product >= family.any_from ? 1 : 0);
    }
    for (const int left : lefts) {
        for (std::size_t label = 0; label < parts.size() && left > 0; ++label) {
            if (left == 1 ? label == 0 : family.free[label] >= index{left} * (parts[label] / family.fixed[label])) {
                made.push_back(parts);
                made.back()[label] *= left;
            }
        }
    }
    return made;
}

/// Choices of the dimension along which shared blocks of each tensor rest in pieces. The usual cuts come first, then
/// cuts that leave every sharer at least one slice (two of the output). With `all` every combination; otherwise one
/// tensor at a time has other cuts than the usual ones.
/// @param rests by operand: it matters where its blocks rest
EINPARALLEL_INLINE std::vector<task_cuts> resting_cuts(const summed_einsum& summed, const state& of,
                                                       const std::vector<bool>& rests, bool all) {
    const mesh& ranks = of.ranks;
    std::vector<task_cuts> found{choose_cuts(summed.form, summed.extents, ranks)};
    found.front().output = of.sums.output ? 0 : found.front().output;
    const auto vary = [&](const std::vector<label_id>& labels, int slices, auto&& cut_of) {
        const int pieces = sharers(labels, ranks);
        const std::size_t before = all ? found.size() : 1;
        for (std::size_t dimension = 0; dimension < labels.size() && pieces > 1; ++dimension) {
            const label_id label = labels[dimension];
            const index extent = label == no_label ? 1 : summed.extents[std::size_t(label)];
            if (dimension == cut_of(found.front()) || ranks.largest_block(label, extent) < index{slices} * pieces) {
                continue;
            }
            for (std::size_t position = 0; position < before; ++position) {
                task_cuts other = found[position];
                cut_of(other) = dimension;
                found.push_back(std::move(other));
            }
        }
    };
    const auto shared = count_if_in(summed.form.operands, [&](const std::vector<label_id>& labels) {
        return sharers(labels, ranks) > 1;  // two of them may travel together, cut along one label
    });
    for (std::size_t operand = 0; operand < summed.form.operands.size(); ++operand) {
        if (rests[operand] || shared > 1) {
            vary(summed.form.operands[operand], 1,
                 [&](task_cuts& cuts) -> std::size_t& { return cuts.operands[operand]; });
        }
    }
    if (!of.sums.output) {
        vary(summed.form.output, 2, [](task_cuts& cuts) -> std::size_t& { return cuts.output; });
    }
    return found;
}

/// The only rank that holds elements; nothing where several ranks hold some.
EINPARALLEL_INLINE std::optional<int> only_holder(const distribution& resting) {
    const std::vector<int> holders = resting.ranks_meeting(whole_box(resting.bounds()));
    return holders.size() == 1 ? std::optional(holders.front()) : std::nullopt;
}

/// The ranks below `ranks` of which each holds an operand alone, by the operands' places; rank 0 where there is none
/// and some master is asked for.
EINPARALLEL_INLINE std::vector<int> masters_among(const std::vector<place_id>& places, int ranks, bool asked_for,
                                                  const place_table& table) {
    std::vector<int> masters;
    for (const place_id from : places) {
        const std::optional<int> only = from == anywhere ? std::nullopt : only_holder(table.resting(from));
        if (only && *only < ranks && !found_in(*only, masters)) {
            masters.push_back(*only);
        }
    }
    if (masters.empty() && asked_for) {
        masters.push_back(0);
    }
    return masters;
}

/// The fastest master–worker task by the time model, whatever the objective. Slices are along a label of the output,
/// and their number is the power of two, up to 64, that pays most.
/// @param unfed the task over a mesh of one axis, along a label of the output
EINPARALLEL_INLINE task best_fed(const task& unfed, int master, double operations_per_point, const wired_machine& on) {
    constexpr int most = 64;
    std::vector<task> tried;
    for (const label_id label : unfed.form.output) {
        const index extent = label == no_label ? 0 : unfed.extents[std::size_t(label)];
        for (int slices = 1; label != no_label && slices <= most && slices <= std::max<index>(1, extent); slices *= 2) {
            tried.push_back(fed_task(unfed, {master, label, slices}));
        }
    }
    const auto seconds = [&](const task& each) { return task_seconds(each, operations_per_point, on); };
    return *std::min_element(tried.begin(), tried.end(),
                             [&](const task& a, const task& b) { return seconds(a) < seconds(b); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
