#pragma once
// EinDecomp: finds the cheapest plan that computes the outputs of a graph on a number of ranks.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/refused.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/search/options.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// A plan whose outputs are written to files as they are computed, and take no memory of their own. Tensors may wait in
/// storage under asked.memory_limit. @throws error as decompose() does
EINPARALLEL_INLINE [[nodiscard]] plan plan_into_files(const options& asked,
                                                      const std::vector<std::shared_ptr<vertex>>& outputs);

}  // namespace EINPARALLEL_DETAIL

/// The plan that computes `outputs` on options.processes ranks (with powers_of_two on the next power of two). Needs no
/// MPI. The same call gives the same plan on every rank.
/// @throws error: options that make no sense, a graph whose recording failed, constraints that cannot be obeyed, or a
/// memory limit to which no plan found keeps
EINPARALLEL_INLINE plan decompose_vertices(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs);

namespace detail {

template <class... Arguments>
struct other_than_outputs : plan, refused {
    static_assert((is_refused<Arguments> || ...),
                  "ep::decompose, evaluate: a context or options come first, or both, then tensors without labels: "
                  "ep::decompose(world, {.runs = 3}, Z); to run on devices, make a plan, then call plan.run(world, "
                  "ep::on_device)");
};

}  // namespace detail

inline namespace EINPARALLEL_WAY {

/// The plan that computes these tensors: `ep::decompose({.processes = 64}, Z, W)`. A std::vector may hold some of them.
template <detail::Tensors First, detail::Tensors... More>
plan decompose(const options& asked, const First& output, const More&... more) {
    return decompose_vertices(asked, detail::nodes_of(output, more...));
}
/// Refuses other arguments, and options after outputs.
///@{
template <class... Arguments>
detail::other_than_outputs<Arguments...> decompose(const Arguments&... /*arguments*/);
template <class First>
detail::other_than_outputs<First, options> decompose(const First& /*first*/, const options& /*last*/);
template <class First, class Second>
detail::other_than_outputs<First, Second, options> decompose(const First& /*first*/, const Second& /*second*/,
                                                             const options& /*last*/);
template <std::size_t Count>
detail::refused decompose(const detail::anything (&/*no_options*/)[Count], const detail::anything& /*next*/, ...);
///@}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
