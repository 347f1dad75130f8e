#pragma once
// Plans by hand: somebody else says how every vertex is cut; axis orders, rings and costs are found as for EinDecomp's
// own plans, so that the two can be compared, and run.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/build.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/kept_wishes.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/wishes.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel {

/// Parts of some labels of one vertex: {{"i", 4}, {"k", 2}}. Labels that are not named stay whole.
using label_parts = std::vector<std::pair<std::string, int>>;

/// What a rule is asked: how to cut this einsum.
struct vertex_to_cut {
    const vertex& einsum;
    std::string name;                     ///< the user's name, or "v3" by position in the plan
    int processes = 1;                    ///< ranks that the plan is for
    label_parts from_operands;            ///< the cut that the operands bring, see plan_with
    std::span<const std::string> labels;  ///< of all einsums of the graph, sorted

    /// Extent of a label; -1 where the einsum does not have it.
    [[nodiscard]] index extent(std::string_view label) const {
        const auto known = std::find(einsum.form.names.begin(), einsum.form.names.end(), label);
        return known == einsum.form.names.end()
                   ? -1
                   : einsum.extents[static_cast<std::size_t>(known - einsum.form.names.begin())];
    }
    [[nodiscard]] bool has(std::string_view label) const { return extent(label) >= 0; }

    /// For rules that speak of labels by name: a misspelt one would cut nothing anywhere.
    /// @throws error where no einsum of the graph has the label
    void expect_somewhere(const std::string& label) const {
        if (!std::binary_search(labels.begin(), labels.end(), label)) {
            throw error("plan_with: the rule speaks of " +
                        (label.empty() ? "a label without a name" : "label " + label) +
                        ", which no einsum of this graph has");
        }
    }
};

/// A decomposition made by hand: called once for every einsum, after the einsums that it reads. A rule that has nothing
/// to say about a vertex returns its from_operands.
using cutting_rule = std::function<label_parts(const vertex_to_cut&)>;

/// A rule that names tensors: `hand_cuts().cut(Z, {{"i", 4}}).cut(W, {{"k", 2}, {"j", 2}})`. What it does not name
/// keeps the cut of its operands.
class hand_cuts {
public:
    /// How the vertex that makes this tensor is cut; the last word counts. @throws error for a handle on nothing
    template <class T, std::size_t Rank>
    hand_cuts& cut(const tensor<T, Rank>& made, label_parts parts) {
        if (made.node() == nullptr) {
            throw error("hand_cuts: a tensor that nothing was assigned to cannot be cut");
        }
        cuts_[made.node().get()] = {made.node(), std::move(parts)};
        return *this;
    }

    [[nodiscard]] label_parts operator()(const vertex_to_cut& each) const {
        const auto known = cuts_.find(&each.einsum);
        return known == cuts_.end() ? each.from_operands : known->second.second;
    }

    /// @throws error where a named tensor is an input, or is not in this graph
    void check_all_are_in(const detail::einsum_graph& graph) const {
        std::size_t found = 0;
        for (const std::shared_ptr<vertex>& each : graph.vertices) {
            const bool named = cuts_.contains(each.get());
            if (named && each->is_input()) {
                throw error("plan_with: '" + each->name +
                            "' is an input, which rests as the vertices that read it are cut");
            }
            found += named ? 1 : 0;
        }
        if (const std::size_t missing = cuts_.size() - found; missing > 0) {
            throw error("plan_with: " +
                        (cuts_.size() == 1 ? "the tensor that is cut by hand"
                                           : std::to_string(missing) + " of the " + std::to_string(cuts_.size()) +
                                                 " tensors that are cut by hand") +
                        (missing == 1 ? " is" : " are") + " not part of this graph");
        }
    }

private:
    std::map<const vertex*, std::pair<std::shared_ptr<vertex>, label_parts>> cuts_;
};

namespace detail {

/// The cut that a vertex's operands bring: by label, the parts into which the first operand that cuts it is cut there,
/// as far as the ranks suffice.
template <class Lazy = void>
label_parts parts_from_operands(const einsum_graph& graph, std::size_t number,
                                const std::vector<vertex_decision>& decisions, int processes) {
    const vertex& einsum = *graph.vertices[number];
    std::vector<int> parts(einsum.extents.size(), 1);
    int ranks = 1;
    for (std::size_t operand = 0; operand < graph.inputs[number].size(); ++operand) {
        const std::size_t input = graph.inputs[number][operand];
        if (graph.vertices[input]->is_input()) {
            continue;
        }
        const std::vector<label_id>& made = graph.vertices[input]->form.output;
        for (std::size_t dimension = 0; dimension < made.size(); ++dimension) {
            const label_id label = einsum.form.operands[operand][dimension];
            const int wanted = decisions[input].parts[static_cast<std::size_t>(made[dimension])];
            if (label != no_label && parts[static_cast<std::size_t>(label)] == 1 && wanted <= processes / ranks) {
                parts[static_cast<std::size_t>(label)] = wanted;
                ranks *= wanted;
            }
        }
    }
    label_parts named;
    for (std::size_t label = 0; label < parts.size(); ++label) {
        if (parts[label] > 1) {
            named.emplace_back(einsum.form.names[label], parts[label]);
        }
    }
    return named;
}

/// The label that `name` means, to be cut into `count` parts. `parts` holds what is known so far, 0 for nothing.
/// @throws error where the vertex cannot be cut so
template <class Lazy = void>
std::size_t checked_label(const vertex_to_cut& asked, const std::string& name, int count,
                          const std::vector<int>& parts) {
    const vertex& einsum = asked.einsum;
    const std::string who = "plan_with: " + asked.name + " (" + einsum.form.text() + ") ";
    const auto known = std::find(einsum.form.names.begin(), einsum.form.names.end(), name);
    if (known == einsum.form.names.end()) {
        throw error(who + "has no label " + name + " to cut");
    }
    const auto label = static_cast<std::size_t>(known - einsum.form.names.begin());
    if (parts[label] != 0) {
        throw error(who + "is told twice how to cut label " + name);
    }
    if (count < 1 || (count > 1 && count > einsum.extents[label])) {
        throw error(who + "cannot cut label " + name + " of extent " + std::to_string(einsum.extents[label]) +
                    " into " + std::to_string(count) + " parts");
    }
    index blocks = count;
    for (const int part : parts) {
        blocks *= std::max(part, 1);
    }
    if (blocks > asked.processes) {
        throw error(who + "is cut over " + std::to_string(blocks) + " ranks or more, the plan is for " +
                    std::to_string(asked.processes));
    }
    return label;
}

/// The partition vector that `wanted` means. @throws error where it means none
template <class Lazy = void>
std::vector<int> checked_parts(const vertex_to_cut& asked, const label_parts& wanted) {
    std::vector<int> parts(asked.einsum.extents.size(), 0);
    for (const auto& [name, count] : wanted) {
        parts[checked_label(asked, name, count, parts)] = count;
    }
    std::replace(parts.begin(), parts.end(), 0, 1);
    return parts;
}

/// Every label of a graph once, sorted.
template <class Lazy = void>
std::vector<std::string> labels_of(const einsum_graph& graph) {
    std::vector<std::string> labels;
    for (const std::shared_ptr<vertex>& each : graph.vertices) {
        labels.insert(labels.end(), each->form.names.begin(), each->form.names.end());
    }
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return labels;
}

template <class Lazy = void>
plan plan_by_rule(const options& asked, const cutting_rule& rule, const einsum_graph& graph) {
    if (!rule) {
        throw error("plan_with: there is no rule that says how to cut");
    }
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    const std::vector<std::string> labels = labels_of(graph);
    std::vector<vertex_decision> decisions(graph.vertices.size());
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        if (each.is_input()) {
            continue;
        }
        const vertex_to_cut question{each, graph.name_of(number), processes,
                                     parts_from_operands(graph, number, decisions, processes), labels};
        decisions[number].parts = checked_parts(question, rule(question));
        decisions[number].wanted = each.work->is_contraction() ? asked.algorithm : algorithm::automatic;
    }
    plan made = plan_builder::build(graph, asked, decisions);
    check_kept(made, "plan_with");
    for (int rank = 0; asked.memory_limit > 0 && rank < processes; ++rank) {
        const std::size_t peak = made.peak_bytes(rank);
        if (peak > asked.memory_limit) {
            throw error("plan_with: the plan needs " + std::to_string(peak) + " bytes on rank " + std::to_string(rank) +
                        ", options.memory_limit is " + std::to_string(asked.memory_limit));
        }
    }
    return made;
}

template <class Lazy = void>
einsum_graph checked_graph(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs) {
    check_options(asked);
    einsum_graph graph = collect(outputs);
    check_sources(graph, planned_processes(asked.processes, asked.powers_of_two));
    check_wishes(graph, asked);
    return graph;
}

}  // namespace detail

/// plan_with for outputs whose types are not known.
template <class Lazy = void>
[[nodiscard]] plan plan_vertices_with(const options& asked, const cutting_rule& rule,
                                      const std::vector<std::shared_ptr<vertex>>& outputs) {
    return detail::plan_by_rule(asked, rule, detail::checked_graph(asked, outputs));
}

/// The plan in which every vertex is cut as `rule` says: a value like every plan, with its cost, bytes and seconds, and
/// it runs. A rule may leave ranks idle. options.objective decides nothing here, options.algorithm only what travels.
///
/// The cut that a vertex's operands bring (from_operands): each label has the parts that the first computed operand
/// with this label was made with, in the order of operands and dimensions; where that takes more ranks than the plan
/// has, the label stays whole. Inputs bring nothing.
///
/// Needs no MPI; the same call gives the same plan on every rank.
/// @throws error: options that make no sense, a graph whose recording failed; a label that the vertex does not have or
/// that is named twice, more parts than its extent, more blocks than ranks, each with the vertex's name; a plan that
/// needs more than options.memory_limit, or that does not obey a pin or a mark of the graph
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan plan_with(const options& asked, const cutting_rule& rule, const tensor<T, Rank>& output,
                             const More&... more) {
    return plan_vertices_with(asked, rule, {output.node(), more.node()...});
}

/// The same with some vertices cut by name; see hand_cuts.
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan plan_with(const options& asked, const hand_cuts& cuts, const tensor<T, Rank>& output,
                             const More&... more) {
    const detail::einsum_graph graph = detail::checked_graph(asked, {output.node(), more.node()...});
    cuts.check_all_are_in(graph);
    return detail::plan_by_rule(asked, std::ref(cuts), graph);
}

}  // namespace einparallel
