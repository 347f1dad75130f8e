#pragma once
// Plans by hand: a rule of the user says how every vertex is cut. Axis orders, rings and costs are found as for
// EinDecomp's own plans, so that plans of both kinds can be compared and run. Here are also the rules with which the
// paper's experiments compare (EinDecomp §9.2).

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

/// Numbers of parts for some labels of one vertex: {{"i", 4}, {"k", 2}}. Labels that are not named stay whole.
using label_parts = std::vector<std::pair<std::string, int>>;

/// What a rule is asked about: one einsum, which it has to cut.
struct vertex_to_cut {
    const vertex& einsum;                 ///< the vertex to cut
    std::string name;                     ///< the user's name, or "v3" by position in the plan
    int processes = 1;                    ///< ranks that the plan is for
    label_parts from_operands;            ///< the cut that the operands have, see plan_with
    std::span<const std::string> labels;  ///< names of the labels of all einsums of the graph, sorted

    /// Extent of a label; -1 where the einsum does not have it.
    EINPARALLEL_INLINE [[nodiscard]] index extent(std::string_view label) const {
        const label_id known = detail::label_named(einsum.form, label);
        return known == no_label ? -1 : einsum.extents[std::size_t(known)];
    }
    /// True where the einsum has the label.
    [[nodiscard]] bool has(std::string_view label) const { return extent(label) >= 0; }

    /// Checks a label that a rule names: a misspelt name would cut nothing.
    /// @throws error where no einsum of the graph has the label
    EINPARALLEL_INLINE void expect_somewhere(const std::string& label) const;
};

/// A decomposition made by hand. The rule is called once for every einsum, after the einsums whose outputs that einsum
/// reads. For a vertex that it leaves alone it returns vertex_to_cut::from_operands.
using cutting_rule = std::function<label_parts(const vertex_to_cut&)>;

/// A rule that names tensors: `hand_cuts().cut(Z, {{"i", 4}}).cut(W, {{"k", 2}, {"j", 2}})`. Vertices of other tensors
/// keep the cut of their operands.
class hand_cuts {
public:
    /// Says how the vertex that makes this tensor is cut. A later call for the same tensor replaces an earlier one. For
    /// a tensor of halves it cuts the vertex that computes in floats, and the vertex that rounds them keeps this cut.
    /// @throws error for an empty handle
    template <class T, std::size_t Rank>
    hand_cuts& cut(const tensor<T, Rank>& made, label_parts parts) {
        detail::expect(made.node() != nullptr, "hand_cuts: a tensor that nothing was assigned to cannot be cut");
        cuts_[made_before_rounding(made.node())] = std::move(parts);
        return *this;
    }

    /// The cut that was given for this vertex; without one, the cut of its operands.
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

/// A rule that cuts a graph as `known` is cut, for a graph of the same statements with other extents. The n-th einsum
/// with certain labels ("ij,jk->ik") is cut as the n-th einsum of `known` with these labels. Other einsums keep the cut
/// of their operands. Inputs that both graphs read then rest alike. Extents and ranks must suffice for the parts,
/// otherwise plan_with throws. The rule is meant for a loop that goes on with a larger tensor: it takes a small
/// fraction of the time of a search.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule cuts_of(const plan& known);

/// plan_with for outputs whose element types and ranks are not known at compile time.
EINPARALLEL_INLINE [[nodiscard]] plan plan_vertices_with(const options& asked, const cutting_rule& rule,
                                                         const std::vector<std::shared_ptr<vertex>>& outputs);

inline namespace EINPARALLEL_WAY {

/// The plan in which every vertex is cut as `rule` (or hand_cuts) says. It is a value like every plan, with its cost,
/// bytes and seconds, and it runs. A rule may leave ranks idle. options.objective and options.algorithm do not change
/// the cuts; they only decide which tensors travel or are gathered, and on a machine with levels also in which order
/// the axes lie on these.
///
/// The cut that a vertex's operands have (from_operands): each label takes its parts from the first operand that is cut
/// along it, in the order of operands and dimensions. Operands that are inputs do not count. A label stays whole where
/// its parts would take more ranks than the plan has, or where it may not be cut.
///
/// Needs no MPI. The same call gives the same plan on every rank.
/// @throws error: options that make no sense, or a graph whose recording failed; with the vertex's name, a label that
/// the vertex does not have or that is named twice, more parts than the label's extent, or more blocks than ranks; a
/// plan that needs more than options.memory_limit, or that does not obey a pin or a mark of the graph
template <detail::Tensors First, detail::Tensors... More>
[[nodiscard]] plan plan_with(const options& asked, const cutting_rule& rule, const First& output, const More&... more) {
    return plan_vertices_with(asked, rule, detail::nodes_of(output, more...));
}

}  // namespace EINPARALLEL_WAY

/// Rules for plan_with. Labels have the names that they have in the graph's statements. A label that is cut gets the
/// largest divisor of the ranks left that is no more than its extent. A label that may not be cut stays whole. Vertices
/// about which a rule says nothing are cut as their operands are (vertex_to_cut::from_operands). Ranks that are left
/// then go to the longest labels of the output, and after that to the longest other labels, so that no rank is idle
/// where extents allow it. A label that no vertex of the graph has is an error.
namespace rivals {

/// SQRT: every contraction is cut √p × √p along the two longest labels of its output. Where p is no square, the two
/// numbers of parts are as equal as possible, and the longer label has the larger number.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule sqrt();

/// One label everywhere: every vertex that has this label is cut along it alone, into as many parts as possible. Ranks
/// that are left stay idle there.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule along(std::string label);

/// Data parallelism, along(batch): the ranks share the data points of a batch, weights are sent to where they are
/// needed, and their gradients are aggregated.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule data_parallel(std::string batch);

/// Sequence parallelism, along(tokens): the ranks share the tokens of a sequence.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule sequence(std::string tokens);

/// The roles of labels for rules that work in groups of `degree` ranks. An empty name means that there is no such
/// label.
struct group_labels {
    std::vector<std::string> columns;  ///< cut inside a group (heads, neurons): of these the first that a vertex has
    std::string batch;                 ///< cut over the groups
    std::string tokens;                ///< cut inside a group where a vertex has none of the columns
    int degree = 0;                    ///< number of ranks in a group; 0: one group of all ranks
};

/// Megatron's tensor parallelism. The first weights of attention and of the feed-forward network are cut by columns
/// (heads, neurons), the second weights by rows, so that only their outputs are aggregated. Between them, norms and
/// residuals are cut along tokens (Korthikanti et al. 2022): an aggregation to every rank is replaced by an aggregation
/// to pieces and a gather. Here every product that reads the pieces gathers them for itself. Every group of `degree`
/// ranks works so on its share of the batch. Ranks that the batch does not occupy share the tokens.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule megatron(group_labels labels);

/// Attention is cut along heads, everything without heads along the batch and the tokens. This is megatron() with the
/// heads as the only columns.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule attention_heads(std::string heads, std::string batch, std::string tokens,
                                                              int degree = 0);

}  // namespace rivals

}  // namespace einparallel
