#pragma once
// Plans by hand: somebody else says how every vertex is cut; axis orders, rings and costs are found as for EinDecomp's
// own plans, so that the two can be compared, and run.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

struct einsum_graph;

}  // namespace EINPARALLEL_DETAIL

/// Parts of some labels of one vertex: {{"i", 4}, {"k", 2}}. Labels that are not named stay whole.
using label_parts = std::vector<std::pair<std::string, int>>;

/// What a rule is asked: how to cut this einsum.
struct vertex_to_cut {
    const vertex& einsum;                 ///< what is cut
    std::string name;                     ///< the user's name, or "v3" by position in the plan
    int processes = 1;                    ///< ranks that the plan is for
    label_parts from_operands;            ///< the cut that the operands bring, see plan_with
    std::span<const std::string> labels;  ///< of all einsums of the graph, sorted

    /// Extent of a label; -1 where the einsum does not have it.
    EINPARALLEL_INLINE [[nodiscard]] index extent(std::string_view label) const;
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
    /// How the vertex that makes this tensor is cut; the last word counts. @throws error for a handle on nothing
    template <class T, std::size_t Rank>
    hand_cuts& cut(const tensor<T, Rank>& made, label_parts parts) {
        if (made.node() == nullptr) {
            throw error("hand_cuts: a tensor that nothing was assigned to cannot be cut");
        }
        set(made.node(), std::move(parts));
        return *this;
    }

    /// The cut that was given by name, or that of the operands.
    EINPARALLEL_INLINE [[nodiscard]] label_parts operator()(const vertex_to_cut& each) const;

    /// @throws error where a named tensor is an input, or is not in this graph
    EINPARALLEL_INLINE void check_all_are_in(const detail::einsum_graph& graph) const;

private:
    EINPARALLEL_INLINE void set(const std::shared_ptr<vertex>& made, label_parts parts);

    std::vector<std::pair<std::shared_ptr<vertex>, label_parts>> cuts_;
};

/// plan_with for outputs whose types are not known.
EINPARALLEL_INLINE [[nodiscard]] plan plan_vertices_with(const options& asked, const cutting_rule& rule,
                                                         const std::vector<std::shared_ptr<vertex>>& outputs);

inline namespace EINPARALLEL_WAY {

/// The plan in which every vertex is cut as `rule` (or hand_cuts) says: a value like every plan, with its cost, bytes
/// and seconds, and it runs. A rule may leave ranks idle. options.objective decides nothing here, options.algorithm
/// only what travels.
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

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
