#pragma once
// Plans by hand on a context: the ranks agree on what they recorded, then on how it is cut.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/context.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Rules are not compared, what they make is.
EINPARALLEL_INLINE plan plan_with_on(const context& world, const options& asked, const cutting_rule& rule,
                                     const std::vector<std::shared_ptr<vertex>>& outputs);
EINPARALLEL_INLINE plan plan_with_on(const context& world, const options& asked, const hand_cuts& cuts,
                                     const std::vector<std::shared_ptr<vertex>>& outputs);

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// plan_with on the ranks of a context: the plan in which every vertex is cut as `rule` says. Collective; no element
/// moves. options.processes is left alone, or the size of the context.
/// @throws error, the same on every rank: what decompose on a context throws of graphs and options, what plan_with
/// throws, and where ranks cut differently
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan plan_with(const context& world, const options& asked, const cutting_rule& rule,
                             const tensor<T, Rank>& output, const More&... more) {
    return detail::plan_with_on(world, asked, rule, {output.node(), more.node()...});
}

/// The same with some vertices cut by name; see hand_cuts.
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan plan_with(const context& world, const options& asked, const hand_cuts& cuts,
                             const tensor<T, Rank>& output, const More&... more) {
    return detail::plan_with_on(world, asked, cuts, {output.node(), more.node()...});
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
