#pragma once

#include <einparallel/run/node_threads.hpp>

#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/search_range.hpp>

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM processor_set own_processors() {
    processor_set found{};
#if defined(__linux__)
    cpu_set_t allowed;
    static_assert(sizeof(allowed) == sizeof(found));
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        found = std::bit_cast<processor_set>(allowed);
    }
#endif
    return found;
}

EINPARALLEL_SELDOM int fair_share(std::span<const std::int64_t> mine, std::span<const std::int64_t> all) {
    const int processors = sum_in(mine, 0, [](std::int64_t word) { return std::popcount(std::uint64_t(word)); });
    int sharing = 0;
    for (std::size_t first = 0; first < all.size(); first += mine.size()) {
        const std::int64_t both = std::inner_product(mine.begin(), mine.end(), all.begin() + std::ptrdiff_t(first),
                                                     std::int64_t{0}, std::bit_or<>(), std::bit_and<>());
        sharing += both != 0 ? 1 : 0;
    }
    return std::max(processors / std::max(sharing, 1), 1);
}

EINPARALLEL_SELDOM void share_processors(const communicator& ranks) {
    if (!all_of(ranks, has_threads() && std::getenv("OMP_NUM_THREADS") == nullptr)) {
        return;
    }
    const communicator node = communicator::of_node(ranks);
    const processor_set mine = own_processors();
    std::vector<std::int64_t> all(mine.size() * std::size_t(node.size()));
    allgather(node, mine, all);
    thread_limit().store(fair_share(mine, all), std::memory_order_relaxed);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
