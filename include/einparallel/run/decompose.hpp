#pragma once
// Planning on a context: the ranks agree on what they recorded, each computes the same plan; and planning and running
// in one call.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/distributed.hpp>
#include <einparallel/run/execute.hpp>
#include <einparallel/run/results.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// The plan of these outputs on the ranks of a context.
EINPARALLEL_INLINE plan decompose_on(const context& world, const options& asked,
                                     const std::vector<std::shared_ptr<vertex>>& outputs);

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// The plan for computing these tensors on the ranks of a context. Collective; no element moves. options.processes is
/// left alone, or the size of the context. With options.powers_of_two the context needs a power of two of ranks. Where
/// options.ranks_per_node asks for more shared memory than some rank has, the plan is made for 1: asked() says so.
/// @throws error, the same on every rank, where recording failed, where ranks recorded different graphs or ask for
/// different things, and whatever the planner throws
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan decompose(const context& world, const options& asked, const tensor<T, Rank>& output,
                             const More&... more) {
    return detail::decompose_on(world, asked, {output.node(), more.node()...});
}
/// The same with the default options.
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan decompose(const context& world, const tensor<T, Rank>& output, const More&... more) {
    return detail::decompose_on(world, {}, {output.node(), more.node()...});
}

}  // namespace EINPARALLEL_WAY

namespace EINPARALLEL_DETAIL {

template <class T, std::size_t Rank>
distributed<T, Rank> typed_result(const results& all, std::size_t position, const tensor<T, Rank>& /*output*/) {
    return all.at<T, Rank>(position);
}

template <std::size_t... Positions, class... Outputs>
auto typed_results(const results& all, std::index_sequence<Positions...> /*positions*/, const Outputs&... outputs) {
    return std::tuple{typed_result(all, Positions, outputs)...};
}

template <class... Outputs>
auto evaluate_on(context& world, const options& asked, const Outputs&... outputs) {
    const results all = execute(decompose_on(world, asked, {outputs.node()...}), world);
    if constexpr (sizeof...(Outputs) == 1) {
        return typed_result(all, 0, outputs...);
    } else {
        return typed_results(all, std::index_sequence_for<Outputs...>{}, outputs...);
    }
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// decompose + run. Collective. One output: its ep::distributed; several: a std::tuple of them.
/// @throws error, the same on every rank
template <class T, std::size_t Rank, class... More>
[[nodiscard]] auto evaluate(context& world, const options& asked, const tensor<T, Rank>& output, const More&... more) {
    return detail::evaluate_on(world, asked, output, more...);
}
/// The same with the default options.
template <class T, std::size_t Rank, class... More>
[[nodiscard]] auto evaluate(context& world, const tensor<T, Rank>& output, const More&... more) {
    return detail::evaluate_on(world, options{}, output, more...);
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
