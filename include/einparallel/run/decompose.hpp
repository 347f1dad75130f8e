#pragma once
// Planning on a context, also by hand: the ranks agree that they recorded the same graph; each computes the same plan.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/search/options.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

using planned_outputs = std::vector<std::shared_ptr<vertex>>;

/// The plan that the search finds, or that `rule` gives where it is not null. All ranks must get the same plan; the
/// plans are compared, not the rules. Collective.
EINPARALLEL_INLINE plan plan_on(const context& world, options asked, const planned_outputs& outputs,
                                const cutting_rule* rule = nullptr);

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// The plan for computing these tensors on the ranks of a context. Collective; no element moves. options.processes must
/// be 1, the default, or the size of the context. With options.powers_of_two the number of ranks must be a power of
/// two.
/// @throws error, the same on every rank, where recording failed, where ranks recorded different graphs or have
/// different options, and where the planner throws
template <detail::Tensors First, detail::Tensors... More>
[[nodiscard]] plan decompose(const context& world, const options& asked, const First& output, const More&... more) {
    return detail::plan_on(world, asked, detail::nodes_of(output, more...));
}
/// The same with the default options.
template <detail::Tensors First, detail::Tensors... More>
[[nodiscard]] plan decompose(const context& world, const First& output, const More&... more) {
    return decompose(world, options{}, output, more...);
}

/// Refused at compile time: a list in braces that is not ep::options.
template <std::size_t Count>
detail::refused decompose(const context& /*world*/, const detail::anything (&/*no_options*/)[Count],
                          const detail::anything& /*next*/, ...);

/// The plan in which every vertex is cut as `rule` says, on the ranks of a context. Collective; no element moves.
/// options.processes must be 1, the default, or the size of the context.
/// @throws error, the same on every rank, where decompose on a context throws because of graphs or options, where
/// plan_with without a context throws, and where ranks get different plans
template <detail::Tensors First, detail::Tensors... More>
[[nodiscard]] plan plan_with(const context& world, const options& asked, const cutting_rule& rule, const First& output,
                             const More&... more) {
    return detail::plan_on(world, asked, detail::nodes_of(output, more...), &rule);
}
/// The same with the default options.
template <detail::Tensors First, detail::Tensors... More>
[[nodiscard]] plan plan_with(const context& world, const cutting_rule& rule, const First& output, const More&... more) {
    return plan_with(world, options{}, rule, output, more...);
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
