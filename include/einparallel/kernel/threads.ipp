#pragma once

#include <einparallel/kernel/threads.hpp>

#include <algorithm>
#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::atomic<int>& thread_limit() {
    static std::atomic<int> limit = std::numeric_limits<int>::max();
    return limit;
}

EINPARALLEL_INLINE bool has_threads() {
    return is_linked(&einparallel_detail_parallel) && is_linked(&einparallel_detail_max_threads) &&
           is_linked(&einparallel_detail_processors) && is_linked(&einparallel_detail_in_parallel) &&
           is_linked(&einparallel_detail_thread_number) && is_linked(&einparallel_detail_thread_count);
}

EINPARALLEL_INLINE int available_threads() {
    if (!has_threads() || einparallel_detail_in_parallel() != 0) {
        return 1;
    }
    const int most = std::max(einparallel_detail_max_threads(), 1);
    const bool told = most != einparallel_detail_processors();
    return told ? most : std::min(most, thread_limit().load(std::memory_order_relaxed));
}

EINPARALLEL_INLINE void run_on_threads(int threads, shared_work& work) {
    const auto part = [](void* data) {
        auto& shared = *static_cast<shared_work*>(data);
        try {
            shared.run(shared.body, index{einparallel_detail_thread_number()},
                       index{einparallel_detail_thread_count()});
        } catch (...) {
            if (!__atomic_exchange_n(&shared.failed, true, __ATOMIC_ACQ_REL)) {
                shared.failure = std::current_exception();
            }
        }
    };
    einparallel_detail_parallel(+part, &work, static_cast<unsigned>(threads), 0);
    if (work.failure != nullptr) {
        std::rethrow_exception(work.failure);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
