#pragma once
// Fills new memory by the threads that will use it: memory belongs to the part of the machine that touches it first.

#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::detail {

/// Fills `bytes` of new memory with copies of `from`, or with zeros where that is null.
inline void touch_first(std::byte* memory, const std::byte* from, index bytes) {
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

}  // namespace einparallel::detail
