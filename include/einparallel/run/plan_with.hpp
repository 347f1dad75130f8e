#pragma once
// Plans by hand on a context: the ranks agree on what they recorded, then on how it is cut.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/decompose.hpp>
#include <einparallel/run/plan_cache.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel {

namespace detail {

/// Rules are not compared, what they make is.
template <class Cuts, class... Outputs>
plan plan_with_on(const context& world, const options& asked, const Cuts& cuts, const Outputs&... outputs) {
    std::uint64_t cut_so = 0;
    plan made = plan_on(world, "plan_with", asked, {outputs.node()...}, [&](const options& all, const auto& /*of*/) {
        plan here = plan_with(all, cuts, outputs...);
        cut_so = fingerprint_of(here);
        return here;
    });
    agree(world.control(), {}, {{cut_so, "plan_with: the plan is not the same on all ranks"}});
    return made;
}

}  // namespace detail

/// plan_with on the ranks of a context: the plan in which every vertex is cut as `rule` says. Collective; no element
/// moves. options.processes is left alone, or the size of the context.
/// @throws error, the same on every rank: what decompose on a context throws of graphs and options, what plan_with
/// throws, and where ranks cut differently
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan plan_with(const context& world, const options& asked, const cutting_rule& rule,
                             const tensor<T, Rank>& output, const More&... more) {
    return detail::plan_with_on(world, asked, rule, output, more...);
}

/// The same with some vertices cut by name; see hand_cuts.
template <class T, std::size_t Rank, class... More>
[[nodiscard]] plan plan_with(const context& world, const options& asked, const hand_cuts& cuts,
                             const tensor<T, Rank>& output, const More&... more) {
    return detail::plan_with_on(world, asked, cuts, output, more...);
}

}  // namespace einparallel
