#pragma once
// Planning on a context: the ranks agree on what they recorded, each computes the same plan; and planning and running
// in one call.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/distributed.hpp>
#include <einparallel/run/execute.hpp>
#include <einparallel/run/graph_agreement.hpp>
#include <einparallel/run/results.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel {

namespace detail {

/// One sentence where the options are for another number of ranks than the context has; 1, the default, says nothing
/// about it.
inline void check_ranks(const char* who, int asked, int ranks) {
    if (asked != 1 && asked != ranks) {
        throw error(std::string(who) + ": options.processes is " + std::to_string(asked) + ", the context has " +
                    std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"));
    }
}

/// The plan that `make(options, outputs)` makes on every rank of the context. Collective.
template <class Make>
plan plan_on(const context& world, const char* who, options asked, const std::vector<std::shared_ptr<vertex>>& outputs,
             const Make& make) {
    const exclusive guard(*world.state(), who);
    static_cast<void>(agree_on_graph(world, asked, outputs));
    return agreed(world.control(), who, [&] {
        check_ranks(who, asked.processes, world.size());
        asked.processes = world.size();
        plan made = make(asked, outputs);
        if (made.processes() != asked.processes) {
            throw error(std::string(who) + ": with powers_of_two the plan is for " + std::to_string(made.processes()) +
                        " ranks, the context has " + std::to_string(asked.processes));
        }
        return made;
    });
}

/// A template on nothing: who includes this and never plans does not wait for the planner's compilation.
template <class Lazy = void>
plan decompose_on(const context& world, const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs) {
    return plan_on(world, "decompose", asked, outputs,
                   [](const options& all, const auto& of) { return decompose_vertices(all, of); });
}

}  // namespace detail

/// The plan for computing these tensors on the ranks of a context. Collective; no element moves. options.processes is
/// left alone, or the size of the context. With options.powers_of_two the context needs a power of two of ranks.
/// @throws error, the same on every rank, where recording failed, where ranks recorded different graphs or ask for
/// different things, and whatever the planner throws
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan decompose(const context& world, const options& asked, const tensor<T, Rank>& output,
                             const More&... more) {
    return detail::decompose_on(world, asked, {output.node(), more.node()...});
}
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan decompose(const context& world, const tensor<T, Rank>& output, const More&... more) {
    return detail::decompose_on(world, {}, {output.node(), more.node()...});
}

namespace detail {

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

}  // namespace detail

/// decompose + run. Collective. One output: its ep::distributed; several: a std::tuple of them.
/// @throws error, the same on every rank
template <class T, std::size_t Rank, class... More>
[[nodiscard]] auto evaluate(context& world, const options& asked, const tensor<T, Rank>& output, const More&... more) {
    return detail::evaluate_on(world, asked, output, more...);
}
template <class T, std::size_t Rank, class... More>
[[nodiscard]] auto evaluate(context& world, const tensor<T, Rank>& output, const More&... more) {
    return detail::evaluate_on(world, options{}, output, more...);
}

}  // namespace einparallel
