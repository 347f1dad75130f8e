#pragma once
// Whether two strided blocks of memory have bytes in common.

#include <einparallel/notation/box.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace einparallel::detail {

/// A strided block in memory, with the lowest and one past the highest address that it touches; an empty block touches
/// none.
struct touched_memory {
    touched_memory(const void* first, std::span<const index> all_extents, std::span<const index> all_strides,
                   std::size_t bytes)
        : data(first), extents(all_extents), strides(all_strides), element_bytes(bytes) {
        index lowest = 0;
        index highest = 0;
        for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
            if (extents[dimension] == 0) {
                return;
            }
            const index reach = (extents[dimension] - 1) * strides[dimension];
            (reach < 0 ? lowest : highest) += reach;
        }
        const auto base = reinterpret_cast<std::uintptr_t>(data);
        begin = base + static_cast<std::uintptr_t>(lowest * static_cast<index>(element_bytes));
        end = base + static_cast<std::uintptr_t>((highest + 1) * static_cast<index>(element_bytes));
    }

    const void* data;
    std::span<const index> extents;
    std::span<const index> strides;  ///< in elements
    std::size_t element_bytes;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

/// All elements of both blocks lie in a pattern that repeats: true where its places are never the same, as for the even
/// and the odd elements of an array or two columns of a matrix.
inline bool interleave(const touched_memory& a, const touched_memory& b) {
    index period = 0;
    for (const touched_memory* const block : {&a, &b}) {
        for (std::size_t dimension = 0; dimension < block->extents.size(); ++dimension) {
            if (block->extents[dimension] > 1) {
                period = std::gcd(period, block->strides[dimension] * static_cast<index>(block->element_bytes));
            }
        }
    }
    if (period == 0) {
        return false;
    }
    const auto distance =
        static_cast<index>(reinterpret_cast<std::uintptr_t>(b.data) - reinterpret_cast<std::uintptr_t>(a.data));
    const index place = (distance % period + period) % period;
    return place >= static_cast<index>(a.element_bytes) && period - place >= static_cast<index>(b.element_bytes);
}

/// The blocks may have bytes in common; false only where they have none.
inline bool overlap(const touched_memory& a, const touched_memory& b) {
    return a.begin < b.end && b.begin < a.end && !interleave(a, b);
}

}  // namespace einparallel::detail
