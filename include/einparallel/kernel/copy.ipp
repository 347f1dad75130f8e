#pragma once

#include <einparallel/kernel/copy.hpp>

#include <einparallel/kernel/blocked_copy.ipp>
#include <einparallel/kernel/plane_copy.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE copy_plane::copy_plane(const loop_nest& nest) {
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        inner = inner == none || std::abs(nest.of(loop)[0]) <= std::abs(nest.of(inner)[0]) ? loop : inner;
    }
    if (!is_run(nest)) {
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            if (loop != inner) {
                other = other == none || std::abs(nest.of(loop)[1]) <= std::abs(nest.of(other)[1]) ? loop : other;
            }
        }
    }
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (loop != inner && loop != other) {
            outer.push_back(loop);
        }
    }
}

EINPARALLEL_INLINE bool copy_plane::is_run(const loop_nest& nest) const {
    return inner == none || (nest.of(inner)[0] == 1 && nest.of(inner)[1] == 1);
}

EINPARALLEL_INLINE bool copy_plane::is_turned(const loop_nest& nest) const {
    return other != none && nest.of(inner)[0] == 1 && nest.of(other)[1] == 1;
}

EINPARALLEL_INLINE index copy_plane::least_for_blocks(const loop_nest& nest) const {
    if (is_run(nest)) {
        return threaded_bytes;
    }
    if (!is_turned(nest)) {
        return std::numeric_limits<index>::max();
    }
    const bool small = nest.size() > 2 && std::min(nest.extents[inner], nest.extents[other]) < 16;
    return small ? blocked_bytes : 16 * blocked_bytes;
}

/// Copies plane after plane: what has no vectors, and what is too small for blocks. The threads share the points
/// outside the plane, or the rows of the plane where those are few.
EINPARALLEL_INLINE void copy_planes(const loop_nest& nest, const copy_plane& loops, index bytes, std::byte* into,
                                    const std::byte* from, int threads) {
    const bool run = loops.is_run(nest);
    const bool turned = loops.is_turned(nest);
    const auto step = [&](std::size_t loop, std::size_t slot) {
        return loop == copy_plane::none ? 0 : nest.of(loop)[slot] * bytes;
    };
    const index into_row = step(loops.other, 0);
    const index into_step = step(loops.inner, 0);
    const index from_row = step(loops.other, 1);
    const index from_step = step(loops.inner, 1);
    const index count = loops.inner == copy_plane::none ? 1 : nest.extents[loops.inner];
    const index rows = loops.other == copy_plane::none ? 1 : nest.extents[loops.other];
    const auto copy_one = [&](std::byte* to, const std::byte* source, const even_part& own) {
        to += own.begin * into_row;
        source += own.begin * from_row;
        if (run) {
            copy_bytes(to, source, static_cast<std::size_t>(count * bytes));
        } else if (turned) {
            turn_plane(to, source, {own.end - own.begin, count, into_row, from_step}, bytes);
        } else {
            plane_copy_for(static_cast<std::size_t>(bytes))(to, into_row, into_step, source, from_row, from_step,
                                                            own.end - own.begin, count);
        }
    };
    if (loops.outer.empty() && threads == 1) {
        copy_one(into, from, even_part(rows, 0, 1));
        return;
    }
    const index points = odometer(nest, loops.outer).size();
    const bool split_rows = points < 2 * threads && rows > points;
    on_threads(threads, [&](index part, index parts) {
        const even_part own = split_rows ? even_part(points, 0, 1) : even_part(points, part, parts);
        const even_part own_rows = split_rows ? even_part(rows, part, parts) : even_part(rows, 0, 1);
        odometer point(nest, loops.outer);
        index at[2] = {0, 0};
        point.go_to(own.begin, at);
        for (index number = own.begin; number < own.end; ++number) {
            copy_one(into + at[0] * bytes, from + at[1] * bytes, own_rows);
            point.advance(at);
        }
    });
}

EINPARALLEL_INLINE void copy_nest(const loop_nest& nest, std::size_t element_bytes, void* into, const void* from) {
    const auto bytes = static_cast<index>(element_bytes);
    const copy_plane loops(nest);
    index total = bytes;
    for (const index extent : nest.extents) {
        total *= extent;
    }
    if (nest.size() > 0 && total >= loops.least_for_blocks(nest)) {
        const blocked_copy blocks(nest, element_bytes, into, from);
        if (blocks.pays()) {
            blocks.run();
            return;
        }
    }
    copy_planes(nest, loops, bytes, static_cast<std::byte*>(into), static_cast<const std::byte*>(from),
                total < threaded_bytes ? 1 : available_threads());
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE void copy_box(std::span<const index> extents, std::size_t element_bytes, void* into,
                                 std::span<const index> into_strides, const void* from,
                                 std::span<const index> from_strides) {
    detail::loop_nest nest(2);
    if (nest.add_box(extents, into_strides, from_strides)) {
        nest.sort_by(0);
        detail::copy_nest(nest, element_bytes, into, from);
    }
}

EINPARALLEL_INLINE void copy_region(const box& region, void* into, const box& into_region, const void* from,
                                    const box& from_region, std::size_t element_bytes) {
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
