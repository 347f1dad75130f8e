#pragma once
// Plans by hand: somebody else says how every vertex is cut; axis orders, rings and costs are found as for EinDecomp's
// own plans, so that the two can be compared, and run. The rules of those that the paper's experiments compare with
// (EinDecomp §9.2).

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/pins.hpp>

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
    const vertex& einsum;                 ///< what is cut
    std::string name;                     ///< the user's name, or "v3" by position in the plan
    int processes = 1;                    ///< ranks that the plan is for
    label_parts from_operands;            ///< the cut that the operands have, see plan_with
    std::span<const std::string> labels;  ///< of all einsums of the graph, sorted

    /// Extent of a label; -1 where the einsum does not have it.
    EINPARALLEL_INLINE [[nodiscard]] index extent(std::string_view label) const {
        const label_id known = detail::label_named(einsum.form, label);
        return known == no_label ? -1 : einsum.extents[std::size_t(known)];
    }
    /// True where the einsum has the label.
    [[nodiscard]] bool has(std::string_view label) const { return extent(label) >= 0; }

    /// For rules that speak of labels by name: a misspelt one would cut nothing anywhere.
    /// @throws error where no einsum of the graph has the label
    EINPARALLEL_INLINE void expect_somewhere(const std::string& label) const;
};

/// A decomposition made by hand: called once for every einsum, after the einsums that it reads. A rule that has nothing
/// to say about a vertex returns its from_operands.
using cutting_rule = std::function<label_parts(const vertex_to_cut&)>;

/// A rule that names tensors: `hand_cuts().cut(Z, {{"i", 4}}).cut(W, {{"k", 2}, {"j", 2}})`. What it does not name
/// keeps the cut of its operands.
class hand_cuts {
public:
    /// How the vertex that makes this tensor is cut; the last word counts. Of halves it is the vertex whose floats are
    /// rounded, and the rounding follows it. @throws error for an empty handle
    template <class T, std::size_t Rank>
    hand_cuts& cut(const tensor<T, Rank>& made, label_parts parts) {
        detail::expect(made.node() != nullptr, "hand_cuts: a tensor that nothing was assigned to cannot be cut");
        cuts_[made_before_rounding(made.node())] = std::move(parts);
        return *this;
    }

    /// The cut that was given by name, or that of the operands.
    EINPARALLEL_INLINE [[nodiscard]] label_parts operator()(const vertex_to_cut& each) const {
        const auto known = detail::find_in(cuts_, &each.einsum, [](const auto& cut) { return cut.first.get(); });
        return known == cuts_.end() ? each.from_operands : known->second;
    }

    /// @throws error where a named tensor is an input, or is not in this graph
    EINPARALLEL_INLINE void check_all_are_in(const detail::einsum_graph& graph) const;

private:
    EINPARALLEL_INLINE static std::shared_ptr<vertex> made_before_rounding(const std::shared_ptr<vertex>& made);

    std::map<std::shared_ptr<vertex>, label_parts> cuts_;
};

/// Cuts a graph of the same statements, of other extents, as `known` is cut: the n-th einsum with some labels as the
/// n-th of that plan which has them; others keep the cut of their operands. What both graphs read then rests alike.
/// Extents and ranks must suffice for the parts (plan_with refuses the cut otherwise). For the plan of a loop that goes
/// on with a larger tensor, in a small fraction of the time of a search.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule cuts_of(const plan& known);

/// plan_with for outputs whose types are not known.
EINPARALLEL_INLINE [[nodiscard]] plan plan_vertices_with(const options& asked, const cutting_rule& rule,
                                                         const std::vector<std::shared_ptr<vertex>>& outputs);

inline namespace EINPARALLEL_WAY {

/// The plan in which every vertex is cut as `rule` (or hand_cuts) says: a value like every plan, with its cost, bytes
/// and seconds, and it runs. A rule may leave ranks idle. options.objective decides nothing here, options.algorithm
/// only what travels.
///
/// The cut that a vertex's operands have (from_operands): each label has the parts that the first computed operand
/// with this label was made with, in the order of operands and dimensions; where that takes more ranks than the plan
/// has, or the label may not be cut, it stays whole. Inputs do not count.
///
/// Needs no MPI; the same call gives the same plan on every rank.
/// @throws error: options that make no sense, a graph whose recording failed; a label that the vertex does not have or
/// that is named twice, more parts than its extent, more blocks than ranks, each with the vertex's name; a plan that
/// needs more than options.memory_limit, or that does not obey a pin or a mark of the graph
template <detail::Tensors First, detail::Tensors... More>
[[nodiscard]] plan plan_with(const options& asked, const cutting_rule& rule, const First& output, const More&... more) {
    return plan_vertices_with(asked, rule, detail::nodes_of(output, more...));
}

}  // namespace EINPARALLEL_WAY

/// Rules by hand. Labels are named as the graph's statements name them. A label takes the largest divisor of the ranks
/// that is no more than its extent, one that may not be cut stays whole. Vertices that a rule does not speak of are cut
/// as their operands are (vertex_to_cut::from_operands); what ranks are then left take the longest labels of the
/// output, then the longest of the others, so that no rank is idle where extents allow it. A label that no vertex of
/// the graph has is an error.
namespace rivals {

/// SQRT: every contraction's output is cut √p × √p along its two longest labels. Where p is no square, the two numbers
/// of parts are as equal as possible, and the longer label has the larger one.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule sqrt();

/// One label everywhere: every vertex that has this label is cut along it alone, into as many parts as the label takes.
/// The ranks that are left stay idle there.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule along(std::string label);

/// Data parallel: the data points of a batch are dealt out, weights travel to where they are needed and their gradients
/// are aggregated.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule data_parallel(std::string batch);

/// The tokens of the sequence are dealt out.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule sequence(std::string tokens);

/// The labels' roles for rules that work in groups of `degree` ranks. An empty name stands for no such label.
struct group_labels {
    std::vector<std::string>
        columns;         ///< what is dealt out inside a group, the first that a vertex has: heads, neurons
    std::string batch;   ///< what is dealt out over the groups
    std::string tokens;  ///< what is dealt out inside a group where a vertex has none of the columns
    int degree = 0;      ///< ranks of a group; 0 for one group of all ranks
};

/// Megatron's tensor parallelism: the first weights of attention and of the feed-forward network are cut by columns
/// (heads, neurons), the second ones by rows, so that only their outputs are aggregated; between them, norms and
/// residuals are cut along tokens (Korthikanti et al. 2022), where an aggregation to every rank becomes one to pieces
/// and a gather. Here every product that reads the pieces gathers them for itself. Groups of `degree` ranks work so,
/// each on its share of the batch; ranks that the batch does not occupy share the tokens.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule megatron(group_labels labels);

/// Attention is cut along heads, everything without heads along the batch and the tokens: megatron() with the heads as
/// only columns.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule attention_heads(std::string heads, std::string batch, std::string tokens,
                                                              int degree = 0);

}  // namespace rivals

}  // namespace einparallel
