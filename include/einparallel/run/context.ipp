#pragma once

#include <einparallel/run/context.hpp>

#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/error.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/run/node_threads.hpp>

#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM context_state::context_state(MPI_Comm ranks)
    : payload(communicator::duplicate_of(ranks)), control(communicator::duplicate_of(ranks)) {
    share_processors(control);
}

/// The thread that holds MPI at MPI_THREAD_SERIALIZED, over all contexts; null: no thread holds it.
EINPARALLEL_SELDOM std::atomic<const void*>& only_thread() {
    static std::atomic<const void*> only = nullptr;
    return only;
}

EINPARALLEL_SELDOM mpi_use::mpi_use(const char* doing) {
    int level = MPI_THREAD_MULTIPLE;
    int is_main = 1;
    if (mpi_is_running()) {
        check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
        check_mpi(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
    }
#if defined(SMPI_H)  // SimGrid 3.32: the main thread is that of rank 0 alone
    is_main = 1;
#endif
    require(level >= MPI_THREAD_SERIALIZED || is_main != 0,
            {doing, ": this thread is not MPI's main one, and MPI was initialised with MPI_THREAD_",
             level == MPI_THREAD_SINGLE ? "SINGLE" : "FUNNELED",
             ": another thread needs MPI_THREAD_SERIALIZED, several at the same time need MPI_THREAD_MULTIPLE"});
    const void* taken = nullptr;
    const void* const mine = progress_hook::this_thread();
    held_ =
        level == MPI_THREAD_SERIALIZED && only_thread().compare_exchange_strong(taken, mine) ? &only_thread() : nullptr;
    require(taken == nullptr || taken == mine,
            {doing,
             ": another thread is in a call of the library, and MPI was initialised with MPI_THREAD_SERIALIZED: calls "
             "at the same time need MPI_THREAD_MULTIPLE"});
}

EINPARALLEL_SELDOM exclusive::exclusive(context_state& world, const char* doing) : use_(doing), world_(world) {
    require(!world_.busy.exchange(true),
            {doing,
             ": this context is in a collective call already: sources, functors, callbacks and other threads must not "
             "make another"});
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM context::context(MPI_Comm ranks) {
    const detail::mpi_use use("context");
    state_ = std::make_shared<detail::context_state>(ranks);
}

EINPARALLEL_SELDOM void context::release_memory() {
    const detail::exclusive guard(*state(), "release_memory");
    state_->caches.clear();
    detail::for_each_in(state_->spaces, [](const auto& each) { each->trim(); });
}

EINPARALLEL_SELDOM const std::shared_ptr<detail::context_state>& context::state() const {
    detail::expect(state_ != nullptr, "context: this context was moved from");
    detail::expect(detail::mpi_is_running(), "context: MPI is finalised");
    return state_;
}

}  // namespace einparallel
