#pragma once

#include <einparallel/data/execute.hpp>

#include <einparallel/data/run_inputs.ipp>
#include <einparallel/data/run_outputs.ipp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/plan_cache.ipp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One run, on one rank. Everything that can fail locally happens in prepare(), before the ranks agree to start.
EINPARALLEL_INLINE class plan_run : private not_copied {
public:
    explicit plan_run(plan_call call) : call_(std::move(call)) {}
    /// A run that fails keeps nothing half.
    ~plan_run() {
        if (call_.ready != nullptr && !call_.moves().is_kept()) {
            call_.moves().forget();
        }
    }

    results carry_out() {
        context_state& world = *call_.world;
        plan_cache& cache = call_.cache;
        trace* const seen = call_.seen;
        const exclusive guard(world, "run");
        if (seen != nullptr) {
            seen->forget();
        }
        std::string failure = failure_of(cache.doing, [&] { prepare(); });
        const double ready = MPI_Wtime();
        bool again = false;
        saying("are still their handle's", [&] {
            again = start(failure);
            if (!again && call_.asked.asked().runs > 1 &&
                call_.moves().share_kept(world.control, call_.asked.vertices().size())) {
                agree(world.control, failure_of(cache.doing, [&] { call_.moves().allocate_kept(cache.space); }));
            }
        });
        outputs_.begin();
        inputs_.compare();
        const run_watch watch{world.progress ? &world.progress : nullptr, world.vertices ? &world.vertices : nullptr,
                              seen, cache.rank};
        if (seen != nullptr) {
            seen->start(again, ready);
            failure = failure_of("run", [&] { cache.space.watch(); });
        }
        const double watched_from = seen != nullptr ? seen->now() : 0;
        std::size_t extra = inputs_.carry_out(watch, failure);
        const std::size_t before = cache.transfers.bytes_sent();
        call_.moves().replay(cache.space, cache.transfers, cache.scratch.data(), watch, failure, again);
        const std::size_t sent = cache.transfers.bytes_sent() - before;
        std::vector<results::part> outputs;
        timed_span agreeing(seen, activity::agree, 0);
        failure = failure.empty() ? failure_of("run", [&] { outputs = outputs_.collect(); }) : failure;
        if (seen != nullptr && call_.is_on_device() && failure.empty()) {
            failure = failure_of("run", [&] { seen->add_watched(cache.space.watched(), watched_from); });
        }
        saying("are their handle's no longer, only copies of it keep them", [&] { agree(world.control, failure); });
        call_.moves().keep(call_.asked.asked().runs > 1);
        if (!again && call_.asked.asked().runs > 1) {
            call_.moves().offer_kept(cache.kept);
        }
        agreeing.end();
        extra += outputs_.deliver();
        if (seen != nullptr) {
            seen->share(world.control);
        }
        return {std::move(outputs), sent, extra};
    }

private:
    void prepare() {
        const plan& asked = call_.asked;
        const int ranks = call_.world->control.size();
        expect(!asked.vertices().empty(), "run: the plan is empty, ep::decompose makes one");
        require(asked.processes() == ranks, {"run: the plan is for ", asked.processes(), " ranks, the context has ",
                                             ranks, ": start the program on as many (mpiexec -n ", asked.processes(),
                                             "), or plan with ep::decompose(world, …), which counts them"});
        call_.ready = &call_.cache.prepared(asked);
        try {
            inputs_.find();
            outputs_.find();
            call_.moves().lay_out(call_.cache.space, call_.results_stay, call_.cache.kept);
            assert(call_.ready->peak_bytes() == 0 || call_.moves().holds(call_.ready->peak_bytes()));
            call_.cache.transfers.reserve(call_.moves().messages());
            call_.cache.scratch.grow(call_.cache.space, call_.moves().scratch_bytes());
            if (call_.seen != nullptr) {
                constexpr std::size_t agreements = 2;
                call_.seen->prepare(asked, call_.cache.rank,
                                    inputs_.most_spans() + call_.moves().most_spans() + agreements);
            }
        } catch (const too_little_memory& missing) {
            const memory_need most = call_.moves().need_in(call_.cache.space);
            refuse({"run: ", missing.what(), "; vertex '", most.vertex, "' needs most: ", most.of_vertex,
                    " bytes at once, with what is kept beside it"});
        }
    }

    /// Says what became of elements that were given to the run, where f() throws.
    void saying(const char* became, function_ref<void()> f) const {
        try {
            f();
        } catch (const error& thrown) {
            std::string given;
            for (const binding& each : call_.bound) {
                given += each.gives == nullptr ? "" : (given.empty() ? "" : ", ") + name_of(each);
            }
            require(given.empty(), {thrown.what(), "; the elements given for ", given, " ", became});
            throw;
        }
    }

    /// Agrees with the other ranks to begin. Collective. True where all have what earlier runs have kept.
    bool start(const std::string& failure) {
        const bool has_kept = failure.empty() && call_.moves().is_kept();
        return agree(call_.world->control, failure,
                     {{call_.ready != nullptr ? call_.ready->signature(call_.asked) : 0,
                       "run: the plan is not the same on all ranks"},
                      {call_.bound_signature.value(),
                       "run: what is bound, or where it rests, is not the same on all ranks"},
                      {call_.seen != nullptr, "run: a trace is asked for on some ranks only"}},
                     has_kept ? 1 : 0) == 1;
    }

    plan_call call_;
    run_inputs inputs_{call_};
    run_outputs outputs_{call_};
};

EINPARALLEL_SELDOM void release_kept(const plan& asked, context& world) {
    context_state& state = *world.state();
    const exclusive guard(state, "release");
    agree(state.control, {}, {{fingerprint_of(asked), "release: the plan is not the same on all ranks"}});
    for (const std::shared_ptr<plan_cache>& cache : state.caches) {
        if (prepared_plan* const known = cache->find(asked); known != nullptr) {
            known->moves().forget();
        }
    }
}

EINPARALLEL_SELDOM results carry_out(const plan& asked, context& world, std::span<const binding> bound,
                                     const memory_space& space, trace* seen, bool results_stay) {
    return plan_run({asked, world.state(), bound, cache_of(*world.state(), space), seen, results_stay}).carry_out();
}

EINPARALLEL_SELDOM bool is_prepared(context_state& world, const memory_space& space, const plan& asked) {
    return cache_of(world, space).find(asked) != nullptr;
}

EINPARALLEL_SELDOM memory_need need_of(const plan& of, int rank, std::size_t staging,
                                       function_ref<std::size_t(const kernel&, const block_call&)> workspace) {
    return prepared_plan(of, rank, staging).moves().need(workspace);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
