#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/by_hand.hpp>

#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/build.ipp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/decompose.ipp>
#include <einparallel/plan/partition.hpp>

#include <algorithm>

namespace einparallel {

EINPARALLEL_INLINE index vertex_to_cut::extent(std::string_view label) const {
    const auto known = std::find(einsum.form.names.begin(), einsum.form.names.end(), label);
    return known == einsum.form.names.end()
               ? -1
               : einsum.extents[static_cast<std::size_t>(known - einsum.form.names.begin())];
}

EINPARALLEL_INLINE void vertex_to_cut::expect_somewhere(const std::string& label) const {
    detail::expect(std::binary_search(labels.begin(), labels.end(), label),
                   "plan_with: the rule speaks of " + (label.empty() ? "a label without a name" : "label " + label) +
                       ", which no einsum of this graph has");
}

EINPARALLEL_INLINE void hand_cuts::set(const std::shared_ptr<vertex>& made, label_parts parts) {
    const auto known = std::ranges::find(cuts_, made, &std::pair<std::shared_ptr<vertex>, label_parts>::first);
    if (known == cuts_.end()) {
        cuts_.emplace_back(made, std::move(parts));
    } else {
        known->second = std::move(parts);
    }
}

EINPARALLEL_INLINE label_parts hand_cuts::operator()(const vertex_to_cut& each) const {
    for (const auto& [made, parts] : cuts_) {
        if (made.get() == &each.einsum) {
            return parts;
        }
    }
    return each.from_operands;
}

EINPARALLEL_INLINE void hand_cuts::check_all_are_in(const detail::einsum_graph& graph) const {
    std::size_t found = 0;
    for (const std::shared_ptr<vertex>& each : graph.vertices) {
        const bool named = detail::any_in(cuts_, [&](const auto& cut) { return cut.first == each; });
        detail::expect(!named || !each->is_input(),
                       "plan_with: '" + each->name + "' is an input, which rests as the vertices that read it are cut");
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

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// The labels that are cut, by name.
EINPARALLEL_INLINE label_parts named_parts(const einsum_form& form, const std::vector<int>& parts) {
    label_parts named;
    for (std::size_t label = 0; label < parts.size(); ++label) {
        if (parts[label] > 1) {
            named.emplace_back(form.names[label], parts[label]);
        }
    }
    return named;
}

/// The cut that a vertex's operands bring: by label, the parts into which the first operand that cuts it is cut there,
/// as far as the ranks suffice.
EINPARALLEL_INLINE label_parts parts_from_operands(const einsum_graph& graph, std::size_t number,
                                                   const std::vector<std::vector<int>>& decided, int processes) {
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
            const int wanted = decided[input][static_cast<std::size_t>(made[dimension])];
            if (label != no_label && parts[static_cast<std::size_t>(label)] == 1 && wanted <= processes / ranks) {
                parts[static_cast<std::size_t>(label)] = wanted;
                ranks *= wanted;
            }
        }
    }
    return named_parts(einsum.form, parts);
}

/// The partition vector that `wanted` means. @throws error where the vertex cannot be cut so
EINPARALLEL_INLINE std::vector<int> checked_parts(const vertex_to_cut& asked, const label_parts& wanted) {
    const vertex& einsum = asked.einsum;
    const std::string who = "plan_with: " + asked.name + " (" + einsum.form.text() + ") ";
    std::vector<int> parts(einsum.extents.size(), 0);
    index blocks = 1;
    for (const auto& [name, count] : wanted) {
        const index extent = asked.extent(name);
        expect(extent >= 0, who + "has no label " + name + " to cut");
        int& known =
            parts[static_cast<std::size_t>(std::ranges::find(einsum.form.names, name) - einsum.form.names.begin())];
        expect(known == 0, who + "is told twice how to cut label " + name);
        expect(count == 1 || (count > 1 && count <= extent), who + "cannot cut label " + name + " of extent " +
                                                                 std::to_string(extent) + " into " +
                                                                 std::to_string(count) + " parts");
        known = count;
        blocks *= count;
        expect(blocks <= asked.processes, who + "is cut over " + std::to_string(blocks) +
                                              " ranks or more, the plan is for " + std::to_string(asked.processes));
    }
    std::replace(parts.begin(), parts.end(), 0, 1);
    return parts;
}

/// Every label of a graph once, sorted.
EINPARALLEL_INLINE std::vector<std::string> labels_of(const einsum_graph& graph) {
    std::vector<std::string> labels;
    for (const std::shared_ptr<vertex>& each : graph.vertices) {
        labels.insert(labels.end(), each->form.names.begin(), each->form.names.end());
    }
    sort_unique(labels);
    return labels;
}

EINPARALLEL_INLINE plan plan_by_rule(const options& asked, const cutting_rule& rule, const einsum_graph& graph) {
    expect(static_cast<bool>(rule), "plan_with: there is no rule that says how to cut");
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    const std::vector<std::string> labels = labels_of(graph);
    std::vector<std::vector<int>> parts(graph.vertices.size());
    std::vector<vertex_cuts> may_be(graph.vertices.size());
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        if (each.is_input()) {
            continue;
        }
        const vertex_to_cut question{each, graph.name_of(number), processes,
                                     parts_from_operands(graph, number, parts, processes), labels};
        parts[number] = checked_parts(question, rule(question));
        may_be[number].wanted = each.work->is_contraction() ? asked.algorithm : algorithm::automatic;
    }
    place_table table(true);
    const std::vector<state> states = place_vectors(graph, asked, may_be, parts, table);
    plan made = plan_builder::build(graph, asked, may_be, states, table);
    check_kept(made, "plan_with");
    for (int rank = 0; asked.memory_limit > 0 && rank < processes; ++rank) {
        const std::size_t peak = made.peak_bytes(rank);
        expect(peak <= asked.memory_limit, "plan_with: the plan needs " + std::to_string(peak) + " bytes on rank " +
                                               std::to_string(rank) + ", options.memory_limit is " +
                                               std::to_string(asked.memory_limit));
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE plan plan_vertices_with(const options& asked, const cutting_rule& rule,
                                           const std::vector<std::shared_ptr<vertex>>& outputs) {
    const detail::einsum_graph graph = detail::checked_graph(asked, outputs);
    if (const hand_cuts* const named = rule.target<hand_cuts>()) {
        named->check_all_are_in(graph);
    }
    return detail::plan_by_rule(asked, rule, graph);
}

}  // namespace einparallel
