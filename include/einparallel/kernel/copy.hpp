#pragma once
// Copies boxes of strided memory, whatever the elements are.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>

namespace einparallel::detail {

/// Copies one plane: `rows` rows of `count` elements of Bytes bytes each. Steps are in bytes. In tiles, so that a plane
/// whose rows run across the source's lines uses each line while it is in the first-level cache.
template <std::size_t Bytes>
void copy_plane(std::byte* into, index into_row, index into_step, const std::byte* from, index from_row,
                index from_step, index rows, index count) {
    constexpr index side = 32;
    for (index row = 0; row < rows; row += side) {
        const index last_row = std::min(rows, row + side);
        for (index start = 0; start < count; start += side) {
            const index last = std::min(count, start + side);
            for (index each = row; each < last_row; ++each) {
                std::byte* const to = into + each * into_row;
                const std::byte* const source = from + each * from_row;
                for (index position = start; position < last; ++position) {
                    std::memcpy(to + position * into_step, source + position * from_step, Bytes);
                }
            }
        }
    }
}

using plane_copy = void (*)(std::byte*, index, index, const std::byte*, index, index, index, index);

/// @pre element_bytes is 1, 2, 4, 8 or 16
inline plane_copy plane_copy_for(std::size_t element_bytes) {
    switch (element_bytes) {
        case 1:
            return &copy_plane<1>;
        case 2:
            return &copy_plane<2>;
        case 4:
            return &copy_plane<4>;
        case 8:
            return &copy_plane<8>;
        default:
            return &copy_plane<16>;
    }
}

}  // namespace einparallel::detail

namespace einparallel {

/// into[i] = from[i] for every i of a box with these extents; strides in elements, any sign. Contiguous runs go by
/// memcpy; where the two sides are contiguous along different dimensions, the plane of those two is copied in tiles.
/// @param element_bytes 1, 2, 4, 8 or 16
/// @pre the two sides do not overlap
inline void copy_box(std::span<const index> extents, std::size_t element_bytes, void* into,
                     std::span<const index> into_strides, const void* from, std::span<const index> from_strides) {
    detail::loop_nest nest(2);
    if (!nest.add_box(extents, into_strides, from_strides)) {
        return;
    }
    const auto bytes = static_cast<index>(element_bytes);
    auto* const to = static_cast<std::byte*>(into);
    const auto* const source = static_cast<const std::byte*>(from);
    nest.sort_by(0);
    // The plane: the loop along which `into` is contiguous, and the one along which `from` is.
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t inner = none;
    std::size_t other = none;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        inner = inner == none || std::abs(nest.of(loop)[0]) <= std::abs(nest.of(inner)[0]) ? loop : inner;
    }
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (loop != inner) {
            other = other == none || std::abs(nest.of(loop)[1]) <= std::abs(nest.of(other)[1]) ? loop : other;
        }
    }
    const bool run = inner == none || (nest.of(inner)[0] == 1 && nest.of(inner)[1] == 1);
    const auto step = [&](std::size_t loop, std::size_t slot) {
        return loop == none ? 0 : nest.of(loop)[slot] * bytes;
    };
    const index count = inner == none ? 1 : nest.extents[inner];
    const index rows = run || other == none ? 1 : nest.extents[other];
    detail::odometer::loop_list outer;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (loop != inner && (run || loop != other)) {
            outer.push_back(loop);
        }
    }
    const detail::plane_copy plane = detail::plane_copy_for(element_bytes);
    detail::odometer point(nest, outer);
    index at[2] = {0, 0};
    do {
        if (run) {
            std::memcpy(to + at[0] * bytes, source + at[1] * bytes, static_cast<std::size_t>(count * bytes));
        } else {
            plane(to + at[0] * bytes, step(other, 0), step(inner, 0), source + at[1] * bytes, step(other, 1),
                  step(inner, 1), rows, count);
        }
    } while (point.advance(at));
}

/// Copies the elements of `region` from a dense buffer that holds the box `from_region` to one that holds
/// `into_region`.
/// @pre both boxes contain `region`; the buffers do not overlap
inline void copy_region(const box& region, void* into, const box& into_region, const void* from, const box& from_region,
                        std::size_t element_bytes) {
    if (region.empty()) {
        return;
    }
    const std::size_t rank = region.rank();
    detail::small_vector<index, 8> extents(rank, 0);
    detail::small_vector<index, 8> into_strides(rank, 1);
    detail::small_vector<index, 8> from_strides(rank, 1);
    index into_offset = 0;
    index from_offset = 0;
    index into_size = 1;
    index from_size = 1;
    for (std::size_t dimension = rank; dimension-- > 0;) {
        const interval side = region.sides[dimension];
        extents[dimension] = side.size();
        into_strides[dimension] = into_size;
        from_strides[dimension] = from_size;
        into_offset += (side.begin - into_region.sides[dimension].begin) * into_size;
        from_offset += (side.begin - from_region.sides[dimension].begin) * from_size;
        into_size *= into_region.sides[dimension].size();
        from_size *= from_region.sides[dimension].size();
    }
    const auto bytes = static_cast<index>(element_bytes);
    copy_box({extents.data(), rank}, element_bytes, static_cast<std::byte*>(into) + into_offset * bytes,
             {into_strides.data(), rank}, static_cast<const std::byte*>(from) + from_offset * bytes,
             {from_strides.data(), rank});
}

}  // namespace einparallel
