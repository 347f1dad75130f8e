#pragma once

#include <einparallel/array/aliasing.hpp>

#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace einparallel {

EINPARALLEL_INLINE std::pair<std::uintptr_t, std::uintptr_t> strided_block::touched() const {
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    const auto bytes = index(element.bytes);
    index lowest = 0;
    index highest = 0;
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
        if (extents[dimension] <= 0) {
            return {first, first};
        }
        const index reach = (extents[dimension] - 1) * strides[dimension];
        (reach < 0 ? lowest : highest) += reach;
    }
    return {first + std::uintptr_t(lowest * bytes), first + std::uintptr_t((highest + 1) * bytes)};
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// A block that an operand lies in satisfies `is`.
bool any_piece(const strided_block& of, const auto& is) {
    bool any = false;
    for (std::size_t number = 0; number < of.pieces->pieces.size() && !any; ++number) {
        const operand_pieces::piece& each = of.pieces->pieces[number];
        const std::vector<index> extents = extents_of(of.pieces->boxes[number]);
        any = is(strided_block{each.data, extents, each.strides.data(), of.element});
    }
    return any;
}

EINPARALLEL_INLINE bool is_dense(index_span extents, const index* strides) {
    index step = 1;
    for (std::size_t dimension = extents.size(); dimension-- > 0;) {
        if (strides[dimension] != step) {
            return false;
        }
        step *= extents[dimension];
    }
    return true;
}

/// All elements of both blocks lie in a pattern that repeats: true where its places are never the same, as for the even
/// and the odd elements of an array or two columns of a matrix.
EINPARALLEL_INLINE bool interleave(const strided_block& a, const strided_block& b) {
    index period = 0;
    for (const strided_block* const block : {&a, &b}) {
        for (std::size_t dimension = 0; dimension < block->extents.size(); ++dimension) {
            if (block->extents[dimension] > 1) {
                period = std::gcd(period, block->strides[dimension] * index(block->element.bytes));
            }
        }
    }
    if (period == 0) {
        return false;
    }
    const auto distance = index(reinterpret_cast<std::uintptr_t>(b.data) - reinterpret_cast<std::uintptr_t>(a.data));
    const index place = (distance % period + period) % period;
    return place >= index(a.element.bytes) && period - place >= index(b.element.bytes);
}

EINPARALLEL_INLINE bool shares_places(index_span extents, const index* strides) {
    if (is_dense(extents, strides)) {
        return false;
    }
    small_vector<std::array<index, 2>, 8> loops;  // strides, whose signs make no difference, and extents
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
        if (extents[dimension] > 1) {
            loops.push_back({std::abs(strides[dimension]), extents[dimension]});
        }
    }
    sort_range(loops);
    const index count = element_count(extents);
    index reach = 0;
    bool nested = true;  // each loop steps over all that those inside it reach
    for (const auto& [stride, extent] : loops) {
        nested = nested && stride > reach;
        reach += (extent - 1) * stride;
    }
    if (nested || count == 0 || count > reach + 1) {
        return !nested && count > 0;
    }
    std::vector<bool> taken(std::size_t(reach + 1));
    for (index number = 0; number < count; ++number) {
        index place = 0;
        index rest = number;
        for (const auto& [stride, extent] : loops) {
            place += rest % extent * stride;
            rest /= extent;
        }
        if (taken[std::size_t(place)]) {
            return true;
        }
        taken[std::size_t(place)] = true;
    }
    return false;
}

EINPARALLEL_INLINE void check_readable(const strided_block& block) {
    check_extents(block.extents);
    if (block.pieces != nullptr) {
        any_piece(block, [](const strided_block& each) { return check_readable(each), false; });
        return;
    }
    const auto [begin, end] = block.touched();
    expect(block.data != nullptr || begin == end, "einsum: a view of a null pointer has elements");
}

EINPARALLEL_INLINE bool overlap(const strided_block& a, const strided_block& b) {
    if (b.pieces != nullptr) {
        return any_piece(b, [&](const strided_block& each) { return overlap(a, each); });
    }
    const auto [a_begin, a_end] = a.touched();
    const auto [b_begin, b_end] = b.touched();
    return a_begin < b_end && b_begin < a_end && !interleave(a, b);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
