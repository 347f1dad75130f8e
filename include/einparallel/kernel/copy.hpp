#pragma once
// Copies boxes of strided memory, whatever the elements are.

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/vector_copy.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace einparallel::detail {

/// std::memcpy without <cstring>, which brings POSIX's function `index` into the global namespace.
inline void copy_bytes(std::byte* into, const std::byte* from, std::size_t count) {
#if defined(__GNUC__)
    __builtin_memcpy(into, from, count);
#else
    std::copy_n(from, count, into);
#endif
}

/// Copies one plane: `rows` rows of `count` elements of Bytes bytes each. Steps are in bytes. In tiles of tiles: the
/// outer ones keep to few pages; the inner ones are a cache line wide on both sides and are turned round in a buffer,
/// so that each line is read once and written once even where all lines of a tile fall into the same cache set.
template <std::size_t Bytes>
class plane_copy {
public:
    static void run(std::byte* into, index into_row, index into_step, const std::byte* from, index from_row,
                    index from_step, index rows, index count) {
        const bool turned = into_step == bytes && from_row == bytes;
        for (index row = 0; row < rows; row += outer) {
            const index last_row = std::min(rows, row + outer);
            for (index start = 0; start < count; start += outer) {
                const index last = std::min(count, start + outer);
                for (index tile_row = row; tile_row < last_row; tile_row += side) {
                    const index high = std::min(side, last_row - tile_row);
                    for (index tile = start; tile < last; tile += side) {
                        const index wide = std::min(side, last - tile);
                        std::byte* const to = into + tile_row * into_row + tile * into_step;
                        const std::byte* const source = from + tile_row * from_row + tile * from_step;
                        if (turned && high == side && wide == side) {
                            turn(to, into_row, source, from_step);
                        } else {
                            copy(to, into_row, into_step, source, from_row, from_step, high, wide);
                        }
                    }
                }
            }
        }
    }

private:
    static constexpr auto bytes = static_cast<index>(Bytes);
    static constexpr index side = 64 / bytes;
    static constexpr index outer = 64;

    static void turn(std::byte* into, index into_row, const std::byte* from, index from_step) {
        alignas(64) std::byte tile[side * side * bytes];
        for (index column = 0; column < side; ++column) {
            copy_bytes(tile + column * side * bytes, from + column * from_step, static_cast<std::size_t>(side * bytes));
        }
        // Whole lines in, single elements out: a processor forwards a wide store to narrow loads, not the reverse.
        for (index row = 0; row < side; ++row) {
            for (index column = 0; column < side; ++column) {
                copy_bytes(into + row * into_row + column * bytes, tile + (column * side + row) * bytes, Bytes);
            }
        }
    }

    static void copy(std::byte* into, index into_row, index into_step, const std::byte* from, index from_row,
                     index from_step, index rows, index count) {
        for (index row = 0; row < rows; ++row) {
            for (index position = 0; position < count; ++position) {
                copy_bytes(into + row * into_row + position * into_step, from + row * from_row + position * from_step,
                           Bytes);
            }
        }
    }
};

using plane_function = void (*)(std::byte*, index, index, const std::byte*, index, index, index, index);

/// @pre element_bytes is 1, 2, 4, 8 or 16
inline plane_function plane_copy_for(std::size_t element_bytes) {
    switch (element_bytes) {
        case 1:
            return &plane_copy<1>::run;
        case 2:
            return &plane_copy<2>::run;
        case 4:
            return &plane_copy<4>::run;
        case 8:
            return &plane_copy<8>::run;
        default:
            return &plane_copy<16>::run;
    }
}

/// The functions that copy with the widest instructions of this processor; `turn` only for elements of 4 and 8 bytes.
struct wide_copy {
    void (*turn)(void* into, const void* from, const turned_plane& plane) = nullptr;
    void (*stream)(std::byte* into, const std::byte* from, std::size_t bytes) = nullptr;

    static wide_copy best(std::size_t element_bytes) {
#if EINPARALLEL_DETAIL_X86
        if (supported(instruction_set::avx512)) {
            return of<instruction_set::avx512>(element_bytes);
        }
        if (supported(instruction_set::avx2)) {
            return of<instruction_set::avx2>(element_bytes);
        }
#endif
        return of<instruction_set::baseline>(element_bytes);
    }

    /// @pre supported(Set)
    template <instruction_set Set>
    static wide_copy of(std::size_t element_bytes) {
        return {element_bytes == 8   ? &vector_copy<double, Set>::turn
                : element_bytes == 4 ? &vector_copy<float, Set>::turn
                                     : nullptr,
                &vector_copy<double, Set>::stream};
    }
};

/// Outputs beyond this are written past the caches, which they would outgrow; memcpy does the same.
inline constexpr index streamed_bytes = index{16} << 20;

/// Orders what was written past the caches before what this thread writes next.
inline void end_streaming() {
#if EINPARALLEL_DETAIL_X86 && defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

/// Copies what slot 1 of the nest walks to where slot 0 walks.
/// @pre every loop moves slot 0, no extent is 0, loops are sorted by slot 0
inline void copy_nest(const loop_nest& nest, std::size_t element_bytes, void* into, const void* from) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    const auto bytes = static_cast<index>(element_bytes);
    auto* const to = static_cast<std::byte*>(into);
    const auto* const source = static_cast<const std::byte*>(from);
    // The plane: the loop along which `into` is contiguous, and the one along which `from` is.
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
    odometer::loop_list outer;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (loop != inner && (run || loop != other)) {
            outer.push_back(loop);
        }
    }
    const plane_function plane = plane_copy_for(element_bytes);
    const wide_copy wide = wide_copy::best(element_bytes);
    // Whole cache lines everywhere, and too many of them for the caches?
    index total = bytes;
    bool on_lines = reinterpret_cast<std::uintptr_t>(into) % 64 == 0;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        total *= nest.extents[loop];
        on_lines = on_lines && (loop == inner || nest.of(loop)[0] * bytes % 64 == 0);
    }
    const bool streams = on_lines && total >= streamed_bytes;
    const bool turns =
        !run && other != none && wide.turn != nullptr && nest.of(inner)[0] == 1 && nest.of(other)[1] == 1;
    const turned_plane turned{turns ? nest.of(other)[0] : 0, turns ? nest.of(inner)[1] : 0, count, rows, streams};
    odometer point(nest, outer);
    index at[2] = {0, 0};
    do {
        if (turns) {
            wide.turn(to + at[0] * bytes, source + at[1] * bytes, turned);
        } else if (run && streams) {
            wide.stream(to + at[0] * bytes, source + at[1] * bytes, static_cast<std::size_t>(count * bytes));
        } else if (run) {
            copy_bytes(to + at[0] * bytes, source + at[1] * bytes, static_cast<std::size_t>(count * bytes));
        } else {
            plane(to + at[0] * bytes, step(other, 0), step(inner, 0), source + at[1] * bytes, step(other, 1),
                  step(inner, 1), rows, count);
        }
    } while (point.advance(at));
    if (streams) {
        end_streaming();
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
    if (nest.add_box(extents, into_strides, from_strides)) {
        nest.sort_by(0);
        detail::copy_nest(nest, element_bytes, into, from);
    }
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
