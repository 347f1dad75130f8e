#pragma once

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/by_hand.hpp>

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/decompose.ipp>
#include <einparallel/plan/memory.ipp>
#include <einparallel/plan/paged_plan.ipp>
#include <einparallel/plan/plan.ipp>
#include <einparallel/search/partition.hpp>
#include <einparallel/search/pins.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace einparallel {

EINPARALLEL_SELDOM void vertex_to_cut::expect_somewhere(const std::string& label) const {
    detail::require(std::binary_search(labels.begin(), labels.end(), label),
                    {"plan_with: the rule names ", label.empty() ? "a label without a name" : "label ", label,
                     ", which no einsum of this graph has"});
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> hand_cuts::made_before_rounding(const std::shared_ptr<vertex>& made) {
    const bool has_one = made->work != nullptr && made->operands.size() == 1 && made->operands[0]->is_intermediate;
    if (!has_one || !detail::is_half_type(made->element)) {
        return made;
    }
    const auto instructions = made->work->program().instructions();  // one for the operand, one for its conversion
    return instructions.size() == 2 && instructions[1].code == op_code::cast ? made->operands[0] : made;
}

EINPARALLEL_SELDOM void hand_cuts::check_all_are_in(const detail::einsum_graph& graph) const {
    std::size_t missing = cuts_.size();
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const bool is_cut = cuts_.contains(graph.vertices[number]);
        detail::require(!is_cut || !graph.vertices[number]->is_input(),
                        {"plan_with: '", is_cut ? graph.name_of(number) : "",
                         "' is an input and cannot be cut by hand: it rests as the vertices that read it are cut"});
        missing -= is_cut ? 1 : 0;
    }
    const std::string who = cuts_.size() == 1
                                ? "the tensor that is"
                                : detail::sentence({missing, " of the ", cuts_.size(), " tensors that are"});
    detail::require(missing == 0,
                    {"plan_with: ", who, " cut by hand", missing == 1 ? " is" : " are", " not part of this graph"});
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// (label, parts) for the labels that are cut.
EINPARALLEL_SELDOM label_parts cut_labels(const einsum_form& form, const mesh& cut) {
    label_parts made;
    for (std::size_t label = 0; label < form.names.size(); ++label) {
        if (const int parts = cut.parts(label_id(label)); parts > 1) {
            made.emplace_back(form.names[label], parts);
        }
    }
    return made;
}

/// The cut that a vertex's operands have. Each label that may be cut takes its parts from the first operand that is cut
/// along it, as far as the ranks suffice.
EINPARALLEL_SELDOM label_parts parts_from_operands(const einsum_graph& graph, std::size_t number,
                                                   const std::vector<state>& decided, int processes) {
    const einsum_form& form = graph.vertices[number]->form;
    mesh cut;
    for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
        const std::size_t input = graph.inputs[number][operand];
        const std::vector<label_id>& made = graph.vertices[input]->form.output;  // empty for an input
        for (std::size_t dimension = 0; dimension < made.size() && !form.is_viewed(operand); ++dimension) {
            const label_id label = form.operands[operand][dimension];
            const int wanted = decided[input].ranks.parts(made[dimension]);
            if (label != no_label && graph.vertices[number]->may_cut(label) && wanted <= processes / cut.size() &&
                cut.parts(label) == 1) {
                cut.axes.push_back({label, wanted});
            }
        }
    }
    return cut_labels(form, cut);
}

/// The mesh that cuts a vertex as `wanted` says. @throws error where the vertex cannot be cut so
EINPARALLEL_SELDOM mesh checked_cut(const vertex_to_cut& asked, const label_parts& wanted) {
    const vertex& einsum = asked.einsum;
    const std::string who = "plan_with: " + asked.name + " (" + einsum.form.text() + ") ";
    mesh cut;
    index blocks = 1;
    for (const auto& [name, count] : wanted) {
        const label_id label = label_named(einsum.form, name);
        require(label != no_label, {who, "has no label ", name, " to cut"});
        const index extent = einsum.extents[std::size_t(label)];
        require(!any_in(cut.axes, [&](const mesh_axis& known) { return known.label == label; }),
                {who, "is told twice how to cut label ", name});
        require(count == 1 || einsum.may_cut(label),
                {who, "cannot cut label ", name, ": results of its parts cannot be put together"});
        require(count == 1 || (count > 1 && count <= extent),
                {who, "cannot cut label ", name, " of extent ", extent, " into ", count, " parts"});
        cut.axes.push_back({label, count});
        blocks *= count;
        require(blocks <= asked.processes,
                {who, "is cut over ", blocks, " ranks or more, the plan is for ", asked.processes});
    }
    return cut;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM cutting_rule cuts_of(const plan& known) {
    struct equal_einsums {
        std::vector<label_parts> cuts;
        std::size_t next = 0;  ///< begins anew where the new graph has more such einsums
    };
    std::map<std::string, equal_einsums> all;
    for (const planned_vertex& each : known.vertices()) {
        if (!each.is_input()) {
            all[each.origin->form.text()].cuts.push_back(known.partition(*each.origin));
        }
    }
    return [all](const vertex_to_cut& asked) mutable {
        const auto found = all.find(asked.einsum.form.text());
        return found == all.end() ? asked.from_operands
                                  : found->second.cuts[found->second.next++ % found->second.cuts.size()];
    };
}

EINPARALLEL_SELDOM plan plan_vertices_with(const options& asked, const cutting_rule& rule,
                                           const std::vector<std::shared_ptr<vertex>>& outputs) {
    const detail::einsum_graph graph = detail::checked_graph(asked, outputs);
    detail::expect(bool(rule), "plan_with: the cutting rule is empty");
    if (const hand_cuts* const named = rule.target<hand_cuts>()) {
        named->check_all_are_in(graph);
    }
    const cutting_rule own = rule;  // a copy, so that what a rule counts begins anew in every plan
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    std::vector<std::string> labels;
    for (const std::shared_ptr<vertex>& each : graph.vertices) {
        labels.insert(labels.end(), each->form.names.begin(), each->form.names.end());
    }
    detail::sort_unique(labels);
    std::vector<detail::state> decided(graph.vertices.size());
    std::vector<detail::vertex_cuts> may_be(graph.vertices.size());
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        if (each.is_input()) {
            continue;
        }
        const vertex_to_cut question{each, graph.name_of(number), processes,
                                     detail::parts_from_operands(graph, number, decided, processes), labels};
        decided[number].ranks = detail::checked_cut(question, own(question));
        may_be[number].wanted = each.work->is_contraction() ? asked.algorithm : algorithm::automatic;
    }
    const bool has_levels = asked.machine.levels.front().is_given();
    detail::place_table table(asked.machine, !has_levels);
    plan made = plan_builder::build(graph, asked, may_be, decided, table, true);
    detail::check_kept(made, "plan_with");
    if (asked.memory_limit > 0 && asked.paging) {
        const std::vector<int> ranks = detail::heaviest_ranks(graph, processes);
        const std::vector<std::size_t> held = detail::most_held(made, ranks);
        const bool fits = *std::max_element(held.begin(), held.end()) <= asked.memory_limit;
        const auto pages_within = [&](options limits, const std::vector<detail::vertex_cuts>& cuts) {
            const options wanted = limits;
            limits.runs = 1;  // what pages keeps nothing
            plan next = plan_builder::build(graph, limits, cuts, decided, table, true);
            plan_builder::made_for(next, wanted);
            return detail::paged(std::move(next), {paged_tensors::all}, ranks);
        };
        if (!fits || (detail::bytes_of_files(graph) > 0 && asked.runs == 1)) {
            detail::limited_plan found = detail::paged_or_in_more(asked, [&](const options& limits) {
                detail::limited_plan best = pages_within(limits, may_be);
                for (const double small : detail::small_shares) {
                    std::vector<detail::vertex_cuts> cuts = may_be;
                    if (!fits && (best.excess > 0 || best.made.paging().bytes > 0) &&
                        detail::gather_small_operands(cuts, best.made, small)) {
                        detail::limited_plan other = pages_within(limits, cuts);
                        if (detail::is_better(other, best)) {
                            best = std::move(other);
                        }
                    }
                }
                return best;
            });
            detail::require(found.excess == 0, {"plan_with: the plan needs ", found.most(),
                                                " bytes on a rank, options.memory_limit is ", asked.memory_limit});
            made = std::move(found.made);
        }
    }
    for (int rank = 0; asked.memory_limit > 0 && rank < processes; ++rank) {
        const std::size_t peak = made.peak_bytes(rank);
        detail::require(peak <= asked.memory_limit, {"plan_with: the plan needs ", peak, " bytes on rank ", rank,
                                                     ", options.memory_limit is ", asked.memory_limit});
    }
    return made;
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// Spreads the ranks of a plan over the labels of one vertex, step by step.
EINPARALLEL_INLINE class vertex_cutting {
public:
    /// Begins with the cut of the operands, or, where the rule says how to cut the vertex, with nothing cut.
    vertex_cutting(const vertex_to_cut& asked, bool is_spoken_of) : einsum_(asked.einsum), processes_(asked.processes) {
        for (const auto& [name, parts] : is_spoken_of ? label_parts{} : asked.from_operands) {
            cut_.axes.push_back({label_named(einsum_.form, name), parts});
        }
    }

    /// Cuts a label as finely as the ranks left allow: into their largest divisor that is no more than the label's
    /// extent, nor than `most`. Does nothing for a label that the vertex does not have, or that may not be cut.
    void cut(const std::string& name, int most = std::numeric_limits<int>::max()) {
        const label_id label = label_named(einsum_.form, name);
        if (label == no_label || !einsum_.may_cut(label)) {
            return;
        }
        const int left = processes_ / cut_.size();
        const index side = einsum_.extents[std::size_t(label)] / cut_.parts(label);
        int count = int(std::min<index>({left, side, most}));
        while (count > 1 && left % count != 0) {
            --count;
        }
        cut_.axes.push_back({label, std::max(count, 1)});
    }

    /// Cuts the two longest labels of the output over as many ranks as they can take. The two numbers of parts are as
    /// equal as possible, and the longer label has the larger one. Does nothing where the output has fewer than two
    /// labels to cut.
    void cut_in_squares() {
        const std::vector<label_id> labels = labels_by_length();
        if (labels.size() < 2 || !einsum_.form.in_output(labels[1])) {
            return;
        }
        const auto extent = [&](std::size_t position) {
            return std::max<index>(1, einsum_.extents[std::size_t(labels[position])]);
        };
        const int ranks = largest_product(std::vector<index>{extent(0), extent(1)}, processes_);
        int fewer = int(std::sqrt(ranks));
        while (ranks % fewer != 0 || fewer > extent(1)) {
            --fewer;
        }
        cut_.axes = {{labels[0], ranks / fewer}, {labels[1], fewer}};
    }

    /// The parts of the labels. With `all` the ranks left go to the longest labels of the output, then to the longest
    /// other labels.
    label_parts parts(bool all = true) {
        for (const label_id label : all ? labels_by_length() : std::vector<label_id>{}) {
            cut(einsum_.form.names[std::size_t(label)]);
        }
        return cut_labels(einsum_.form, cut_);
    }

private:
    /// Labels that may be cut: those of the output from the longest to the shortest, outer labels before inner ones of
    /// equal length; then the others.
    std::vector<label_id> labels_by_length() const {
        const einsum_form& form = einsum_.form;
        auto labels = those_in(first_labels(form.names.size()), [&](label_id label) { return einsum_.may_cut(label); });
        const auto turn = [&](label_id label) {
            const auto position = find_in(form.output, label) - form.output.begin();
            return std::tuple(!form.in_output(label), -einsum_.extents[std::size_t(label)], position, label);
        };
        detail::sort_range(labels, [&](label_id a, label_id b) { return turn(a) < turn(b); });
        return labels;
    }

    const vertex& einsum_;
    int processes_;
    mesh cut_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel::rivals {

EINPARALLEL_SELDOM cutting_rule sqrt() {
    return [](const vertex_to_cut& each) {
        const bool is_contraction = each.einsum.work->is_contraction();
        detail::vertex_cutting cutting(each, is_contraction);
        if (is_contraction) {
            cutting.cut_in_squares();
        }
        return cutting.parts();
    };
}

EINPARALLEL_SELDOM cutting_rule along(std::string label) {
    return [label = std::move(label)](const vertex_to_cut& each) {
        each.expect_somewhere(label);
        detail::vertex_cutting cutting(each, each.has(label));
        cutting.cut(label);
        return cutting.parts(!each.has(label));
    };
}

EINPARALLEL_SELDOM cutting_rule data_parallel(std::string batch) {
    return along(std::move(batch));
}

EINPARALLEL_SELDOM cutting_rule sequence(std::string tokens) {
    return along(std::move(tokens));
}

EINPARALLEL_SELDOM cutting_rule megatron(group_labels labels) {
    return [labels = std::move(labels)](const vertex_to_cut& each) {
        std::vector<std::string> named = labels.columns;
        named.insert(named.end(), {labels.batch, labels.tokens});
        std::erase(named, "");
        detail::for_each_in(named, [&](const std::string& label) { each.expect_somewhere(label); });
        const auto has = [&](const std::string& label) { return each.has(label); };
        const auto column = detail::find_if_in(labels.columns, has);
        const int degree = labels.degree > 0 ? labels.degree : each.processes;
        detail::vertex_cutting cutting(each, detail::any_in(named, has));
        if (column != labels.columns.end()) {
            cutting.cut(*column, degree);
            cutting.cut(labels.batch);
        } else {
            cutting.cut(labels.batch, std::max(1, each.processes / degree));
        }
        cutting.cut(labels.tokens);
        return cutting.parts();
    };
}

EINPARALLEL_SELDOM cutting_rule attention_heads(std::string heads, std::string batch, std::string tokens, int degree) {
    return megatron({{std::move(heads)}, std::move(batch), std::move(tokens), degree});
}

}  // namespace einparallel::rivals
