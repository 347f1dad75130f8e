#pragma once

#include <einparallel/kernel/first_touch.hpp>

#include <einparallel/kernel/threads.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void touch_first(std::byte* memory, const std::byte* from, index bytes) {
    constexpr index page = 4096;
    on_threads(bytes < threaded_bytes ? 1 : available_threads(), [&](index part, index parts) {
        const even_part own((bytes + page - 1) / page, part, parts);
        const index begin = own.begin * page;
        const index count = std::min(own.end * page, bytes) - begin;
        if (from == nullptr) {
            std::fill_n(memory + begin, count, std::byte{0});
        } else {
            std::copy_n(from + begin, count, memory + begin);
        }
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
