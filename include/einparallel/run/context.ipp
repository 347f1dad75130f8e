#pragma once

#include <einparallel/run/context.hpp>

#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/error.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/node_threads.hpp>

#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM context_state::context_state(MPI_Comm ranks)
    : payload(communicator::duplicate_of(ranks)), control(communicator::duplicate_of(ranks)) {
    share_processors(control);
    int provided = MPI_THREAD_SINGLE;
    check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
    thread = provided < MPI_THREAD_SERIALIZED ? progress_hook::this_thread() : nullptr;
}

EINPARALLEL_SELDOM exclusive::exclusive(context_state& world, const char* doing) : world_(world) {
    require(world_.thread == nullptr || world_.thread == progress_hook::this_thread(),
            {doing,
             ": another thread than the context's, and MPI was not initialised for that: MPI_Init_thread with "
             "MPI_THREAD_SERIALIZED, or call it from the thread that made the context"});
    require(!world_.busy,
            {doing,
             ": this context is in a collective call already: sources, functors and callbacks must not make another"});
    world_.busy = true;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM void context::release_memory() {
    const detail::exclusive guard(*state(), "release_memory");
    state_->caches.clear();
    for (const std::shared_ptr<const memory_space>& each : state_->spaces) {
        each->trim();
    }
}

EINPARALLEL_SELDOM const std::shared_ptr<detail::context_state>& context::state() const {
    detail::expect(state_ != nullptr, "context: this context was moved from");
    detail::expect(detail::mpi_is_running(), "context: MPI is finalised");
    return state_;
}

}  // namespace einparallel
