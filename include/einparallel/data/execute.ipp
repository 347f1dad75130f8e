#pragma once

#include <einparallel/data/execute.hpp>

#include <einparallel/data/run_inputs.ipp>
#include <einparallel/data/run_outputs.ipp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/nodes.hpp>
#include <einparallel/run/plan_cache.ipp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Makes the file in which tensors of a run wait, in the folder that ep::scratch named.
EINPARALLEL_INLINE void open_storage(plan_call& call) {
    const auto is_scratch = [](const binding& each) { return !each.folder.empty(); };
    const auto given = find_if_in(call.bound, is_scratch);
    page_mover& pages = call.moves().pages();
    pages.place(call.moves().of_rank(), call.cache.space, call.host_limit);
    expect(count_if_in(call.bound, is_scratch) <= 1, "run: two folders are given (ep::scratch)");
    require(given != call.bound.end() || !pages.needs_folder(),
            {"run: tensors of this plan wait in storage (options.paging), ", pages.file_bytes(), " bytes on this rank",
             call.is_on_device() ? " more than device_run.host_limit lets wait in memory of the host" : "",
             ", and no folder is given: plan.run(world, ep::scratch(\"folder\"), …)"});
    pages.open(given != call.bound.end() ? given->folder : std::string());
}

/// Does all that can fail on this rank alone, before the ranks agree to start.
EINPARALLEL_INLINE void prepare_run(plan_call& call, run_inputs& inputs, run_outputs& outputs) {
    const plan& asked = call.asked;
    plan_cache& cache = call.cache;
    const int ranks = call.world->control.size();
    expect(!asked.vertices().empty(), "run: the plan is empty: make one with ep::decompose");
    require(asked.processes() == ranks, {"run: the plan is for ", asked.processes(), " ranks, the context has ", ranks,
                                         ": start the program on as many (mpiexec -n ", asked.processes(),
                                         "), or plan with ep::decompose(world, …), which counts them"});
    call.ready = &cache.prepared(asked);
    program_replay& moves = call.moves();
    try {
        inputs.find();
        outputs.find();
        moves.lay_out(cache.space, call.results_stay, cache.kept);
        assert(call.ready->peak_bytes() == 0 || moves.holds(call.ready->peak_bytes()));
        cache.transfers.reserve(moves.messages());
        cache.scratch.grow(cache.space, moves.scratch_bytes());
        open_storage(call);
        if (call.seen != nullptr) {
            constexpr std::size_t agreements = 2;
            call.seen->prepare(asked, cache.rank, inputs.most_spans() + moves.most_spans() + agreements);
        }
    } catch (const too_little_memory& missing) {
        const memory_need most = moves.need([&](const kernel& work, const block_call& of) {
            const std::unique_ptr<prepared_call> how = cache.space.decide(work, of);
            return how == nullptr ? 0 : how->workspace;
        });
        refuse({"run: ", missing.what(), "; vertex '", most.vertex, "' needs the most: ", most.of_vertex,
                " bytes at once, including all that is kept at that time"});
    }
}

/// Calls f(). If it throws, adds to the error what `became` of elements that were given to the run.
EINPARALLEL_INLINE void saying(std::span<const binding> bound, const char* became, function_ref<void()> f) {
    try {
        f();
    } catch (const error& thrown) {
        std::string given;
        for (const binding& each : bound) {
            given += each.gives == nullptr ? "" : (given.empty() ? "" : ", ") + name_of(each);
        }
        require(given.empty(), {thrown.what(), "; the elements given for ", given, " ", became});
        throw;
    }
}

EINPARALLEL_INLINE results carry_out(const plan& asked, context& world, std::span<const binding> bound,
                                     const memory_space& space, trace* seen, bool results_stay,
                                     std::size_t host_limit) {
    context_state& state = *world.state();
    plan_cache& cache = cache_of(state, space);
    plan_call call{asked, world.state(), bound, cache, seen, results_stay, host_limit};
    run_inputs inputs(call);
    run_outputs outputs(call);
    const exclusive guard(state, "run");
    if (seen != nullptr) {
        seen->forget();
    }
    std::string failure = failure_of(cache.doing, [&] { prepare_run(call, inputs, outputs); });
    const double ready = MPI_Wtime();
    const bool keeps = asked.asked().runs > 1 && asked.paging().which == paged_tensors::none;
    bool again = false;  // all ranks have what earlier runs have kept
    saying(bound, "still belong to their handle", [&] {
        const bool has_kept = failure.empty() && call.moves().is_kept();
        constexpr const char* others_are_bound = "run: what is bound, or where it rests, is not the same on all ranks";
        try {
            const std::uint64_t least = agree(state.control, failure,
                                              {{call.ready != nullptr ? call.ready->signature(asked) : 0,
                                                "run: the plan is not the same on all ranks"},
                                               {call.bound_signature.value(), others_are_bound},
                                               {seen != nullptr, "run: a trace is asked for on some ranks only"}},
                                              has_kept ? 1 : 0);
            again = least == 1;
        } catch (const error& thrown) {
            if (std::string_view(thrown.what()) == others_are_bound) {
                inputs.agree_on_values();
                outputs.agree_on_memory();
            }
            throw;
        }
        kept_memory& kept = call.moves().kept();
        const program& of_rank = call.moves().of_rank();
        if (!again && keeps && kept.agree_with(state.control, of_rank)) {
            agree(state.control, failure_of(cache.doing, [&] { kept.allocate(space, of_rank); }));
        }
    });
    if (seen != nullptr && asked.asked().machine.levels.front().is_given()) {
        state.nodes = state.nodes.empty() ? nodes_of(state.control) : state.nodes;
        seen->lies(has_nodes(asked.asked().machine, state.nodes));
    }
    outputs.begin();
    inputs.compare();
    const run_watch watch{state.progress ? &state.progress : nullptr, state.vertices ? &state.vertices : nullptr, seen,
                          cache.rank};
    if (seen != nullptr) {
        seen->start(again, ready);
        failure = failure_of("run", [&] { space.watch(); });
    }
    const double watched_from = seen != nullptr ? seen->now() : 0;
    std::size_t extra = inputs.carry_out(watch, failure);
    const std::size_t before = cache.transfers.bytes_sent();
    call.moves().replay(space, cache.transfers, cache.scratch.data(), watch, failure, again);
    const std::size_t sent = cache.transfers.bytes_sent() - before;
    std::vector<results::part> parts;
    timed_span agreeing(seen, activity::agree, 0);
    failure = failure.empty() ? failure_of("run", [&] { parts = outputs.collect(); }) : failure;
    if (seen != nullptr && call.is_on_device() && failure.empty()) {
        failure = failure_of("run", [&] { seen->add_watched(space.watched(), watched_from); });
    }
    saying(bound, "no longer belong to their handle, and only copies of the handle keep them",
           [&] { agree(state.control, failure); });
    call.moves().keep(keeps);
    if (!again && keeps) {
        call.moves().kept().offer(cache.kept);
    }
    agreeing.end();
    extra += outputs.deliver();
    if (seen != nullptr) {
        seen->share(state.control);
    }
    return {std::move(parts), sent, extra, call.moves().pages().bytes_moved()};
}

EINPARALLEL_SELDOM bool is_prepared(context_state& world, const memory_space& space, const plan& asked) {
    return cache_of(world, space).find(asked) != nullptr;
}

EINPARALLEL_SELDOM memory_need need_of(const plan& of, int rank, std::size_t staging,
                                       function_ref<std::size_t(const kernel&, const block_call&)> workspace) {
    return prepared_plan(of, rank, staging).moves().need(workspace);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM void release_kept(const plan& asked, context& world) {
    detail::context_state& state = *world.state();
    const detail::exclusive guard(state, "release");
    detail::agree(state.control, {},
                  {{detail::fingerprint_of(asked), "release: the plan is not the same on all ranks"}});
    for (const std::shared_ptr<detail::plan_cache>& cache : state.caches) {
        if (detail::prepared_plan* const known = cache->find(asked); known != nullptr) {
            known->moves().forget();
        }
    }
}

}  // namespace einparallel
