#pragma once

#include <einparallel/run/plan_with.hpp>

#include <einparallel/run/agreement.hpp>
#include <einparallel/run/decompose.ipp>
#include <einparallel/run/plan_cache.ipp>

#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

template <class Cuts>
plan agreed_plan_with(const context& world, const options& asked, const Cuts& cuts,
                      const std::vector<std::shared_ptr<vertex>>& outputs) {
    std::uint64_t cut_so = 0;
    plan made = plan_on(world, "plan_with", asked, outputs, [&](const options& all, const auto& of) {
        plan here = plan_vertices_with(all, cuts, of);
        cut_so = fingerprint_of(here);
        return here;
    });
    agree(world.control(), {}, {{cut_so, "plan_with: the plan is not the same on all ranks"}});
    return made;
}

EINPARALLEL_INLINE plan plan_with_on(const context& world, const options& asked, const cutting_rule& rule,
                                     const std::vector<std::shared_ptr<vertex>>& outputs) {
    return agreed_plan_with(world, asked, rule, outputs);
}

EINPARALLEL_INLINE plan plan_with_on(const context& world, const options& asked, const hand_cuts& cuts,
                                     const std::vector<std::shared_ptr<vertex>>& outputs) {
    return agreed_plan_with(world, asked, cuts, outputs);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
