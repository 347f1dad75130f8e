// Copies tiles of strided memory, transposed in registers where the two sides are contiguous along different indices,
// and copies runs past the caches. Compiled for every instruction set: this header includes itself once for each,
// through for_instruction_sets.hpp. Chooses the functions for an element size on this processor.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_COPY)
#define EINPARALLEL_DETAIL_VECTOR_COPY

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where the offsets count up by one.
inline bool consecutive(const index* offsets, index count) {
    for (index position = 1; position < count; ++position) {
        if (offsets[position] != offsets[position - 1] + 1) {
            return false;
        }
    }
    return true;
}

/// The columns or the rows of a tile: where each of them lies in the memory written, and in the memory read.
struct tile_side {
    const index* into = nullptr;
    const index* from = nullptr;
    index count = 0;
    index run = 1;  ///< positions that lie side by side: of columns where they are written, of rows where they are read
    bool even = false;  ///< positions are evenly apart, on both sides

    /// How many positions from `at` on lie side by side.
    [[nodiscard]] index together(index at) const { return std::min(run - at % run, count - at); }
};

/// A tile of a copy. Element (column, row) is read at from[columns.from[column] + rows.from[row]], and written at
/// into[columns.into[column] + rows.into[row]]. Runs of columns are contiguous where they are written, runs of rows
/// where they are read.
struct copy_tile {
    tile_side columns;
    tile_side rows;
    index unit = 1;         ///< bytes that an offset of 1 stands for
    std::size_t bytes = 0;  ///< bytes of an element, for functions that serve any size
    bool streams = false;   ///< writes past the caches; all rows are written from the same offset in a cache line on
    index next = 0;         ///< bytes from the memory that this tile reads to the memory that the next tile reads
};

/// Copies of elements as large as T (float or double; bits are moved, whatever they mean) with the instructions of Set.
template <class T, instruction_set Set>
struct vector_copy;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// std::memcpy without <cstring>, which puts POSIX's function `index` into the global namespace.
inline void copy_bytes(std::byte* into, const std::byte* from, std::size_t count) {
    __builtin_memcpy(into, from, count);
}

/// Outputs from this many bytes on are written past the caches, which they would outgrow. memcpy does the same.
inline constexpr index streamed_bytes = index{16} << 20;

/// Orders what was written past the caches before what this thread writes next.
EINPARALLEL_INLINE void end_streaming();

/// The functions that copy elements of a size with the widest instructions of this processor that pay. Vectors wider
/// than those of AVX2 do not: they move no more bytes through the pins of the memory.
struct copy_functions {
    void (*copy)(std::byte*, const std::byte*, const copy_tile&) = nullptr;
    void (*stream)(std::byte*, const std::byte*, std::size_t) = nullptr;
    index lanes = 1;  ///< elements of a vector

    /// @param shortest elements of the shortest run of a side; longer vectors are of no use
    EINPARALLEL_INLINE static copy_functions best(index element_bytes, index shortest);

private:
    template <class T>
    static copy_functions best_of(index shortest) {
#if EINPARALLEL_DETAIL_X86
        if (supported(instruction_set::avx2) && shortest >= vector_copy<T, instruction_set::avx2>::lanes) {
            return of<T, instruction_set::avx2>();
        }
#endif
        return of<T, instruction_set::baseline>();
    }
    template <class T, instruction_set Set>
    static copy_functions of() {
        using code = vector_copy<T, Set>;
        return {&code::copy, &vector_copy<double, Set>::stream, code::lanes};
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_copy<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef T loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(sizeof(T)), may_alias));
    typedef T element __attribute__((may_alias));
    typedef double doubles __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / index(sizeof(T));
    static constexpr auto bytes = index(sizeof(T));
    static constexpr index line = 64 / bytes;

    /// Copies columns that are contiguous on both sides row by row. Transposes other columns: wherever they fill cache
    /// lines, it writes a whole line at once. For that it reads as many stretches of memory side by side as a line has
    /// elements: few enough for the processor to fetch ahead along each.
    static void copy(std::byte* into, const std::byte* from, const copy_tile& tile) {
        const tile_side& columns = tile.columns;
        for (index at = 0; at < columns.count;) {
            const index copied = columns.run % line == 0 ? contiguous<line>(into, from, tile, at) : 0;
            if (const index more = contiguous<lanes>(into, from, tile, at + copied); copied + more > 0) {
                at += copied + more;
                continue;
            }
            const index begin = at;
            const index end = at + columns.together(at);
            if (tile.streams) {
                const auto address =
                    reinterpret_cast<std::uintptr_t>(into + (columns.into[at] + tile.rows.into[0]) * tile.unit);
                const index missing = (line - index(address % 64) / bytes) % line;
                const index head = missing < end - at ? missing : end - at;
                narrow(into, from, tile, at, head, 0);
                at += head;
            }
            for (; at + line <= end; at += line) {
                transpose<line / lanes>(into, from, tile, at, line, tile.streams);
            }
            narrow(into, from, tile, at, end - at, tile.streams ? 0 : at - begin);
            at = end;
        }
    }

    /// Copies a run of bytes. Whole cache lines of the output are written past the caches.
    EINPARALLEL_DETAIL_TARGET static void stream(std::byte* into, const std::byte* from, std::size_t count) {
        const std::size_t missing = (64 - reinterpret_cast<std::uintptr_t>(into) % 64) % 64;
        std::size_t at = missing < count ? missing : count;
        if (at > 0) {
            __builtin_memcpy(into, from, at);
        }
        for (; at + 64 <= count; at += 64) {
            for (std::size_t offset = 0; offset < 64; offset += EINPARALLEL_DETAIL_BYTES) {
                doubles value;
                __builtin_memcpy(&value, from + at + offset, sizeof(value));
                EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(into + at + offset), value);
            }
        }
        if (at < count) {
            __builtin_memcpy(into + at, from + at, count - at);
        }
    }

    /// Exchanges every lane of x whose number has the bit `Step` with the lane of y that lies `Step` lanes before it.
    /// The lanes are written out because nvcc expands no pack in the arguments of a builtin.
    template <index Step>
    EINPARALLEL_DETAIL_TARGET static void exchange(vector& x, vector& y) {
        const vector before = x;
#define EINPARALLEL_DETAIL_FOUR(of, from) of<Step>(from), of<Step>(from + 1), of<Step>(from + 2), of<Step>(from + 3)
        if constexpr (lanes == 2) {
            x = __builtin_shufflevector(before, y, low<Step>(0), low<Step>(1));
            y = __builtin_shufflevector(before, y, high<Step>(0), high<Step>(1));
        } else if constexpr (lanes == 4) {
            x = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(low, 0));
            y = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(high, 0));
        } else if constexpr (lanes == 8) {
            x = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(low, 0), EINPARALLEL_DETAIL_FOUR(low, 4));
            y = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(high, 0), EINPARALLEL_DETAIL_FOUR(high, 4));
        } else {
            x = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(low, 0), EINPARALLEL_DETAIL_FOUR(low, 4),
                                        EINPARALLEL_DETAIL_FOUR(low, 8), EINPARALLEL_DETAIL_FOUR(low, 12));
            y = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(high, 0), EINPARALLEL_DETAIL_FOUR(high, 4),
                                        EINPARALLEL_DETAIL_FOUR(high, 8), EINPARALLEL_DETAIL_FOUR(high, 12));
        }
#undef EINPARALLEL_DETAIL_FOUR
    }

private:
    /// The lanes that a step of a transposition moves to lane `lane` of x (low) and of y (high). Lanes of y are counted
    /// behind those of x.
    template <index Step>
    static constexpr int low(index lane) {
        return int((lane & Step) == 0 ? lane : lanes + lane - Step);
    }
    template <index Step>
    static constexpr int high(index lane) {
        return int((lane & Step) == 0 ? lane + Step : lanes + lane);
    }
    template <index Step>
    EINPARALLEL_DETAIL_TARGET static void exchange_all(vector (&block)[lanes]) {
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < lanes; ++row) {
            if ((row & Step) == 0) {
                exchange<Step>(block[row], block[row + Step]);
            }
        }
    }
    /// Reads `lanes` rows at from + offsets[…] and transposes them to columns.
    EINPARALLEL_DETAIL_TARGET static void read_transposed(vector (&block)[lanes], const T* from, const index* offsets) {
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < lanes; ++row) {
            block[row] = *reinterpret_cast<const loose*>(from + offsets[row]);
        }
        exchange_all<1>(block);
        if constexpr (lanes > 2) {
            exchange_all<2>(block);
        }
        if constexpr (lanes > 4) {
            exchange_all<4>(block);
        }
        if constexpr (lanes > 8) {
            exchange_all<8>(block);
        }
    }

    /// Copies columns from `at` on, `Width` at a time, as long as these are neighbours on both sides, and at most 512
    /// bytes of a row. Prefetches rows ahead: processors fetch ahead along one stretch of memory, not across many. The
    /// last `Width` columns of a run may include some that were copied before.
    /// @return how many columns are copied
    template <index Width>
    EINPARALLEL_DETAIL_TARGET static index contiguous(std::byte* into, const std::byte* from, const copy_tile& tile,
                                                      index at) {
        constexpr index most = 512 / (Width * bytes);
        constexpr index ahead = 8;
        const tile_side& columns = tile.columns;
        index offsets[2][most];
        index groups = 0;
        index end = at;
        while (end < columns.count && groups < most) {
            const index left = columns.together(end);
            const index start = left < Width ? end + left - Width : end;  // goes over some columns again
            if (end % columns.run < end - start || !consecutive(columns.from + start, Width)) {
                break;
            }
            offsets[0][groups] = columns.into[start] * tile.unit;
            offsets[1][groups++] = columns.from[start] * tile.unit;
            end = start + Width;
        }
        const index last = tile.rows.count - 1;
        for (index row = 0; row <= last && groups > 0; ++row) {
            std::byte* const target = into + tile.rows.into[row] * tile.unit;
            const std::byte* const source = from + tile.rows.from[row] * tile.unit;
            const std::byte* const soon = from + tile.rows.from[row + ahead < last ? row + ahead : last] * tile.unit;
            for (index each = 0; each < groups; ++each) {
                __builtin_prefetch(soon + offsets[1][each]);
                EINPARALLEL_DETAIL_UNROLL for (index lane = 0; lane < Width; lane += lanes) {
                    *reinterpret_cast<loose*>(target + offsets[0][each] + lane * bytes) =
                        *reinterpret_cast<const loose*>(source + offsets[1][each] + lane * bytes);
                }
            }
        }
        return end - at;
    }

    /// Copies columns that lie side by side, less than a cache line. `before` of the columns before them may be written
    /// again.
    static void narrow(std::byte* into, const std::byte* from, const copy_tile& tile, index column, index count,
                       index before) {
        if (count > 0 && before + count >= lanes) {
            for (index left = count; left > 0; left -= 2 * lanes) {  // the last vector goes over some columns again
                left > lanes ? transpose<2>(into, from, tile, column + count - left, std::min(left, 2 * lanes), false)
                             : transpose<1>(into, from, tile, column + count - lanes, lanes, false);
            }
            return;
        }
        for (index row = 0; count > 0 && row < tile.rows.count; ++row) {
            std::byte* const target = into + tile.rows.into[row] * tile.unit;
            const std::byte* const source = from + tile.rows.from[row] * tile.unit;
            for (index each = column; each < column + count; ++each) {
                __builtin_memcpy(target + tile.columns.into[each] * tile.unit,
                                 source + tile.columns.from[each] * tile.unit, sizeof(T));
            }
        }
    }

    /// Copies `width` columns that are written side by side: (Vectors - 1) · lanes + 1 to Vectors · lanes of them. The
    /// last vector may write some of them again.
    template <index Vectors>
    EINPARALLEL_DETAIL_TARGET static void transpose(std::byte* into, const std::byte* from, const copy_tile& tile,
                                                    index column, index width, bool streams) {
        const tile_side& columns = tile.columns;
        const tile_side rows = tile.rows;
        const index unit = tile.unit;
        const index last = width - lanes;
        index offsets[Vectors * lanes];
        index soon[Vectors * lanes];  // processors fetch ahead along long stretches of memory, not from one to another
        for (index each = 0; each < width; ++each) {
            const index later = column + each + line;
            offsets[each] = columns.from[column + each] * unit / bytes;
            soon[each] = later < columns.count ? columns.from[later] * unit : columns.from[each] * unit + tile.next;
        }
        std::byte* const first = into + columns.into[column] * unit;
        for (index row = 0; row < rows.count;) {
            const index end = row + rows.together(row);
            for (; end - row < lanes && row < end; ++row) {
                element* const target = reinterpret_cast<element*>(first + rows.into[row] * unit);
                const element* const source = reinterpret_cast<const element*>(from + rows.from[row] * unit);
                for (index each = 0; each < width; ++each) {
                    target[each] = source[offsets[each]];
                }
            }
            for (index fetched = row; row < end; row += lanes) {
                row = row + lanes <= end ? row : end - lanes;  // some rows again rather than one by one
                const std::byte* const source = from + rows.from[row] * unit;
                if (row >= fetched) {
                    for (index each = 0; each < width; ++each) {
                        __builtin_prefetch(source + soon[each]);
                    }
                    fetched += line;
                }
                vector blocks[Vectors][lanes];
                EINPARALLEL_DETAIL_UNROLL for (index number = 0; number < Vectors; ++number) {
                    read_transposed(blocks[number], reinterpret_cast<const T*>(source),
                                    offsets + (number < Vectors - 1 ? number * lanes : last));
                }
                EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                    T* const target = reinterpret_cast<T*>(first + rows.into[row + each] * unit);
                    EINPARALLEL_DETAIL_UNROLL for (index number = 0; number < Vectors; ++number) {
                        T* const at = target + (number < Vectors - 1 ? number * lanes : last);
                        if (streams) {
                            doubles value;  // nvcc casts no vectors
                            __builtin_memcpy(&value, &blocks[number][each], sizeof(value));
                            EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(at), value);
                        } else {
                            *reinterpret_cast<loose*>(at) = blocks[number][each];
                        }
                    }
                }
            }
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
