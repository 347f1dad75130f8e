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

/// Carries out a plan in the memory space `space`, as execute() does on the host. `seen` is a trace to fill, or null.
/// If `results_stay`, results stay in the memory of `space`. `host_limit`: the most bytes of memory of the host in
/// which tensors of a device wait.
EINPARALLEL_INLINE results carry_out(const plan& asked, context& world, std::span<const binding> bound,
                                     const memory_space& space = the_host, trace* seen = nullptr,
                                     bool results_stay = false, std::size_t host_limit = 0);

/// The memory that plan `of` needs on rank `rank`. `staging` and `workspace` are those of the memory space: the bytes
/// of a slab, and the bytes that a call needs.
EINPARALLEL_INLINE memory_need need_of(const plan& of, int rank, std::size_t staging,
                                       function_ref<std::size_t(const kernel&, const block_call&)> workspace);

/// True where an earlier run in this memory space has prepared the plan.
EINPARALLEL_INLINE bool is_prepared(context_state& world, const memory_space& space, const plan& asked);

}  // namespace EINPARALLEL_DETAIL

/// Frees what a context keeps of the earlier runs of a plan. Collective. plan.release(world) calls this.
/// @throws error where a plan is running on the context, or the plan differs between ranks
EINPARALLEL_INLINE void release_kept(const plan& asked, context& world);

inline namespace EINPARALLEL_WAY {

/// Carries out a plan. Collective: every rank of the context runs the same plan, with values bound to the same
/// placeholders. Blocking. plan.run(world, bindings…) calls this.
///
/// All memory is allocated first. Then the ranks agree to start (one small allreduce), and agree again when the work is
/// done. If a source or functor throws on a rank meanwhile, this rank still sends all its messages, with arbitrary
/// elements, so that no other rank waits; at the end all ranks throw its error. A second run of the same plan on the
/// same context prepares nothing and allocates no memory for tensors, if the application has released all results but
/// the last.
/// @throws error, the same on every rank, where the plan is for another number of ranks or differs between ranks, a
/// placeholder has no value or one of another type or shape, memory runs out, or a source or functor throws
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const Bindings&... bound) {
    return detail::carry_out(asked, world, std::array<binding, sizeof...(Bindings)>{bound...});
}

/// Like the function above, with a list of bindings.
template <std::same_as<std::vector<binding>> List>
results execute(const plan& asked, context& world, const List& bound) {
    return detail::carry_out(asked, world, bound);
}

/// Also fills a trace: plan.run(world, seen, bindings…). All ranks give one, or none does.
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, trace& seen, const Bindings&... bound) {
    return detail::carry_out(asked, world, std::array<binding, sizeof...(Bindings)>{bound...}, detail::the_host, &seen);
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
