#pragma once

#include <einparallel/kernel/threads.hpp>

#include <einparallel/notation/operations/integer_division.hpp>

#include <algorithm>
#include <exception>
#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::atomic<int>& thread_limit() {
    static std::atomic<int> limit = std::numeric_limits<int>::max();
    return limit;
}

#if defined(__GNUC__) && defined(__ELF__)

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

EINPARALLEL_INLINE std::int64_t thread_settings() {
    if (!has_threads() || einparallel_detail_in_parallel() != 0) {
        return 0;
    }
    return std::int64_t{einparallel_detail_max_threads()} << 32 | thread_limit().load(std::memory_order_relaxed);
}

EINPARALLEL_INLINE void run_on_threads(int threads, function_ref<void(index, index)> work) {
    std::atomic<bool> failed = false;
    std::exception_ptr failure = nullptr;
    std::atomic<bool> divided = false;
    const auto share = [&] {
        try {
            work(index{einparallel_detail_thread_number()}, index{einparallel_detail_thread_count()});
        } catch (...) {
            if (!failed.exchange(true)) {
                failure = std::current_exception();
            }
        }
        if (divided_by_zero) {
            divided_by_zero = false;
            divided = true;
        }
    };
    einparallel_detail_parallel([](void* shared) { (*static_cast<decltype(share)*>(shared))(); },
                                const_cast<void*>(static_cast<const void*>(&share)), unsigned(threads), 0);
    divided_by_zero = divided_by_zero || divided;
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
}

#else

EINPARALLEL_INLINE bool has_threads() {
    return false;
}
EINPARALLEL_INLINE int available_threads() {
    return 1;
}
EINPARALLEL_INLINE std::int64_t thread_settings() {
    return 0;
}
EINPARALLEL_INLINE void run_on_threads(int /*threads*/, function_ref<void(index, index)> work) {
    work(0, 1);
}

#endif

}  // namespace einparallel::EINPARALLEL_DETAIL
