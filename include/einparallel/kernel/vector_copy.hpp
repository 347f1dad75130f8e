// Turns planes of memory round in registers, and copies runs, past the caches where that is asked for. Compiled for
// every instruction set: this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_COPY)
#define EINPARALLEL_DETAIL_VECTOR_COPY

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/vector_pack.hpp>
#include <einparallel/notation/box.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel::detail {

/// Two sides of a copy that are contiguous along different dimensions: element (row, column) goes from
/// from[row · from_row + column] to into[column · into_column + row]; strides in elements.
struct turned_plane {
    index into_column = 0;
    index from_row = 0;
    index rows = 0;
    index columns = 0;
    bool streams = false;  ///< every into[column · into_column] is on a cache line, and the output outgrows the caches
};

/// Copies of elements as large as T (float or double; bits are moved, whatever they mean) with the instructions of Set.
template <class T, instruction_set Set>
struct vector_copy;

}  // namespace einparallel::detail

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/vector_copy.hpp>
#include <einparallel/kernel/for_instruction_sets.hpp>

#endif
#else

namespace einparallel::detail {

template <class T>
struct vector_copy<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using pack = vector_pack<T, instruction_set::EINPARALLEL_DETAIL_SET>;
    using vector = typename pack::vector;
    using loose = typename pack::loose;
    typedef double doubles __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    static constexpr index lanes = pack::lanes;
    static constexpr index line = 64 / static_cast<index>(sizeof(T));

    EINPARALLEL_DETAIL_TARGET static void turn(void* output, const void* input, const turned_plane& plane) {
        T* const into = static_cast<T*>(output);
        const T* const from = static_cast<const T*>(input);
        for (index row = 0; row < plane.rows; row += side) {
            const index last_row = row + side < plane.rows ? row + side : plane.rows;
            for (index column = 0; column < plane.columns; column += side) {
                const index last = column + side < plane.columns ? column + side : plane.columns;
                for (index each = row; each < last_row && last < plane.columns; ++each) {  // the next tile's
                    for (index next = last; next < last + side; next += line) {
                        __builtin_prefetch(from + each * plane.from_row + next);
                    }
                }
                tile(into, from, plane, row, last_row, column, last);
            }
        }
    }

    /// A run of bytes, both sides on cache lines.
    EINPARALLEL_DETAIL_TARGET static void stream(std::byte* into, const std::byte* from, std::size_t bytes) {
        std::size_t at = 0;
        for (; at + 64 <= bytes; at += 64) {
            for (std::size_t part = 0; part < 64; part += EINPARALLEL_DETAIL_BYTES) {
                doubles value;
                __builtin_memcpy(&value, from + at + part, sizeof(value));
                EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(into + at + part), value);
            }
        }
        if (at < bytes) {
            __builtin_memcpy(into + at, from + at, bytes - at);
        }
    }

private:
    static constexpr index side = 256 / static_cast<index>(sizeof(T));

    EINPARALLEL_DETAIL_TARGET static void tile(T* into, const T* from, const turned_plane& plane, index row,
                                               index last_row, index column, index last) {
        index offsets[line];
        for (index each = 0; each < line; ++each) {
            offsets[each] = each * plane.from_row;
        }
        for (; row + line <= last_row; row += line) {
            index at = column;
            for (; at + lanes <= last; at += lanes) {
                turn_lines(into + at * plane.into_column + row, plane.into_column, from + row * plane.from_row + at,
                           offsets, plane.streams);
            }
            for (; at < last; ++at) {
                for (index each = 0; each < line; ++each) {
                    move(into + at * plane.into_column + row + each, from + (row + each) * plane.from_row + at);
                }
            }
        }
        for (; row + lanes <= last_row; row += lanes) {
            index at = column;
            for (; at + lanes <= last; at += lanes) {
                vector block[lanes];
                pack::read_turned(block, from + row * plane.from_row + at, offsets);
                EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                    *reinterpret_cast<loose*>(into + (at + each) * plane.into_column + row) = block[each];
                }
            }
            for (; at < last; ++at) {
                for (index each = 0; each < lanes; ++each) {
                    move(into + at * plane.into_column + row + each, from + (row + each) * plane.from_row + at);
                }
            }
        }
        for (index at = column; at < last; ++at) {
            for (index each = row; each < last_row; ++each) {
                move(into + at * plane.into_column + each, from + each * plane.from_row + at);
            }
        }
    }

    /// `lanes` columns of as many rows as fill a cache line.
    EINPARALLEL_DETAIL_TARGET static void turn_lines(T* into, index into_column, const T* from, const index* offsets,
                                                     bool streams) {
        constexpr index parts = line / lanes;
        vector block[parts][lanes];
        EINPARALLEL_DETAIL_UNROLL for (index part = 0; part < parts; ++part) {
            pack::read_turned(block[part], from, offsets + part * lanes);
        }
        EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
            EINPARALLEL_DETAIL_UNROLL for (index part = 0; part < parts; ++part) {
                T* const place = into + each * into_column + part * lanes;
                if (streams) {
                    doubles value;  // nvcc casts no vectors
                    __builtin_memcpy(&value, &block[part][each], sizeof(value));
                    EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(place), value);
                } else {
                    *reinterpret_cast<loose*>(place) = block[part][each];
                }
            }
        }
    }

    static void move(T* into, const T* from) { __builtin_memcpy(into, from, sizeof(T)); }
};

}  // namespace einparallel::detail

#endif
