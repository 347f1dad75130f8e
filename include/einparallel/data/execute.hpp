#pragma once
// Carries a plan out on a context.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/extra_memory.hpp>
#include <einparallel/run/trace.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// The same in a given memory space; `seen`: a trace to fill, or null; `results_stay`: in that memory.
EINPARALLEL_INLINE results carry_out(const plan& asked, context& world, std::span<const binding> bound,
                                     const memory_space& space = the_host, trace* seen = nullptr,
                                     bool results_stay = false);

/// What a plan needs on a rank, in a memory space with this workspace and staging.
EINPARALLEL_INLINE memory_need need_of(const plan& of, int rank, std::size_t staging,
                                       function_ref<std::size_t(const kernel&, const block_call&)> workspace);

/// True where an earlier run in this memory space has prepared the plan.
EINPARALLEL_INLINE bool is_prepared(context_state& world, const memory_space& space, const plan& asked);

}  // namespace EINPARALLEL_DETAIL

/// What plan.release(world) calls.
/// @throws error, where the context runs a plan, or the plan differs between ranks
EINPARALLEL_INLINE void release_kept(const plan& asked, context& world);

inline namespace EINPARALLEL_WAY {

/// Carries out a plan. Collective over the context: every rank runs the same plan, with values bound to the same
/// placeholders. Blocking. What plan.run(world, bindings…) calls.
///
/// All allocation happens first; then the ranks agree to start (one small allreduce), and again when the work is done.
/// A rank whose source or functor throws in between keeps to the schedule, with whatever payload, so nobody waits for
/// it; then all ranks throw its sentence. Running the same plan on the same context again prepares nothing and
/// allocates no tensor memory, given that the application has let go of all but the last result.
/// @throws error, the same sentence on every rank: a plan for another number of ranks, a placeholder without a value or
/// with one of another type or shape, plans that differ between ranks, memory that runs out, whatever a source or
/// functor throws
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const Bindings&... bound) {
    return detail::carry_out(asked, world, std::array<binding, sizeof...(Bindings)>{bound...});
}

/// The same with a list of bindings.
template <std::same_as<std::vector<binding>> List>
results execute(const plan& asked, context& world, const List& bound) {
    return detail::carry_out(asked, world, bound);
}

/// The same with a trace, on all ranks: plan.run(world, seen, bindings…).
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, trace& seen, const Bindings&... bound) {
    return detail::carry_out(asked, world, std::array<binding, sizeof...(Bindings)>{bound...}, detail::the_host, &seen);
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
