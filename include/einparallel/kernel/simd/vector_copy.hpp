// Turns blocks of memory round in registers, and copies runs, past the caches where that is asked for. Compiled for
// every instruction set: this header includes itself once for each, through for_instruction_sets.hpp. Behind that, the
// functions for elements of so many bytes on this processor.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_COPY)
#define EINPARALLEL_DETAIL_VECTOR_COPY

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_pack.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// One side of a block: where each of its positions lies, on what is written and on what is read.
struct block_side {
    const index* into = nullptr;  ///< bytes
    const index* from = nullptr;  ///< bytes
    index count = 0;
    index run = 1;  ///< positions of one stretch of `run` lie side by side on the side that counts

    /// How many positions from `at` on lie side by side.
    [[nodiscard]] index together(index at) const {
        const index left = run - at % run;
        return left < count - at ? left : count - at;
    }
};

/// A block of a copy: (column, row) goes from from[columns.from[column] + rows.from[row]] to into[columns.into[column]
/// + rows.into[row]]. Runs of columns are contiguous where they are written, runs of rows where they are read.
struct turned_block {
    block_side columns;
    block_side rows;
    bool streams = false;   ///< writes past the caches; every row has into on the same place of a cache line
    std::size_t bytes = 0;  ///< of an element, where no function for it knows them
    index next = 0;         ///< bytes from what this block reads to what the next one will
};

/// Copies of elements as large as T (float or double; bits are moved, whatever they mean) with the instructions of Set.
template <class T, instruction_set Set>
struct vector_copy;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// std::memcpy without <cstring>, which brings POSIX's function `index` into the global namespace.
inline void copy_bytes(std::byte* into, const std::byte* from, std::size_t count) {
#if defined(__GNUC__)
    __builtin_memcpy(into, from, count);
#else
    std::copy_n(from, count, into);
#endif
}

/// Outputs beyond this are written past the caches, which they would outgrow; memcpy does the same.
inline constexpr index streamed_bytes = index{16} << 20;

/// Orders what was written past the caches before what this thread writes next.
EINPARALLEL_INLINE void end_streaming();

using block_function = void (*)(std::byte*, const std::byte*, const turned_block&);

/// How elements of so many bytes are copied with the widest instructions that this processor has and that pay: wider
/// vectors than AVX2's move no more through the memory's pins.
struct copy_functions {
    block_function turn = nullptr;
    void (*stream)(std::byte*, const std::byte*, std::size_t) = nullptr;

    /// @param turns of 4 or 8 bytes, in vectors
    EINPARALLEL_INLINE static copy_functions best(index element_bytes, bool turns);

private:
    template <class T>
    static copy_functions best_of() {
#if EINPARALLEL_DETAIL_X86
        if (supported(instruction_set::avx2)) {
            return of<T, instruction_set::avx2>();
        }
#endif
        return of<T, instruction_set::baseline>();
    }
    template <class T, instruction_set Set>
    static copy_functions of() {
        using code = vector_copy<T, Set>;
        return {&code::turn, &vector_copy<double, Set>::stream};
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_copy<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using pack = vector_pack<T, instruction_set::EINPARALLEL_DETAIL_SET>;
    using vector = typename pack::vector;
    using loose = typename pack::loose;
    typedef double doubles __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    static constexpr index lanes = pack::lanes;
    static constexpr auto bytes = static_cast<index>(sizeof(T));
    static constexpr index line = 64 / bytes;

    /// Writes whole cache lines wherever the columns fill them, a line in one go, and reads as many rows of memory side
    /// by side as a line has elements: few enough for the processor to fetch ahead along each.
    static void turn(std::byte* into, const std::byte* from, const turned_block& block) {
        const block_side& columns = block.columns;
        for (index at = 0; at < columns.count;) {
            const index begin = at;
            const index end = at + columns.together(at);
            if (block.streams) {
                const auto place = reinterpret_cast<std::uintptr_t>(into + columns.into[at] + block.rows.into[0]);
                const index missing = (line - static_cast<index>(place % 64) / bytes) % line;
                const index head = missing < end - at ? missing : end - at;
                narrow(into, from, block, at, head, 0);
                at += head;
            }
            for (; at + line <= end; at += line) {
                wide<line / lanes>(into, from, block, at, block.streams);
            }
            narrow(into, from, block, at, end - at, block.streams ? 0 : at - begin);
            at = end;
        }
    }

    /// A run of bytes; whole lines of the output go past the caches.
    EINPARALLEL_DETAIL_TARGET static void stream(std::byte* into, const std::byte* from, std::size_t count) {
        const std::size_t missing = (64 - reinterpret_cast<std::uintptr_t>(into) % 64) % 64;
        std::size_t at = missing < count ? missing : count;
        if (at > 0) {
            __builtin_memcpy(into, from, at);
        }
        for (; at + 64 <= count; at += 64) {
            for (std::size_t part = 0; part < 64; part += EINPARALLEL_DETAIL_BYTES) {
                doubles value;
                __builtin_memcpy(&value, from + at + part, sizeof(value));
                EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(into + at + part), value);
            }
        }
        if (at < count) {
            __builtin_memcpy(into + at, from + at, count - at);
        }
    }

private:
    /// Columns side by side, fewer than a line of them; `before` of those before them may be written again.
    static void narrow(std::byte* into, const std::byte* from, const turned_block& block, index column, index count,
                       index before) {
        if (count > 0 && before + count >= lanes) {
            for (index done = 0; done < count; done += lanes) {  // the last vector goes over some columns again
                wide<1>(into, from, block, column + (done + lanes <= count ? done : count - lanes), false);
            }
            return;
        }
        if (count > 0) {
            const block_side rows = block.rows;
            for (index row = 0; row < rows.count; ++row) {
                one_by_one(into + rows.into[row], block.columns.into + column, from + rows.from[row],
                           block.columns.from + column, count);
            }
        }
    }

    /// Parts · lanes columns that are written side by side.
    template <index Parts>
    EINPARALLEL_DETAIL_TARGET static void wide(std::byte* into, const std::byte* from, const turned_block& block,
                                               index column, bool streams) {
        const block_side rows = block.rows;
        index offsets[Parts * lanes];
        index soon[Parts * lanes];  // processors fetch ahead along long stretches of memory, not from one to another
        for (index each = 0; each < Parts * lanes; ++each) {
            const index later = column + each + line;
            offsets[each] = block.columns.from[column + each] / bytes;
            soon[each] =
                later < block.columns.count ? block.columns.from[later] : block.columns.from[each] + block.next;
        }
        std::byte* const first = into + block.columns.into[column];
        for (index row = 0; row < rows.count;) {
            const index end = row + rows.together(row);
            if (end - row < lanes) {
                for (; row < end; ++row) {
                    one_by_one(into + rows.into[row], block.columns.into + column, from + rows.from[row],
                               block.columns.from + column, Parts * lanes);
                }
            }
            for (index fetched = row; row < end; row += lanes) {
                row = row + lanes <= end ? row : end - lanes;  // some rows again rather than one by one
                const T* const source = reinterpret_cast<const T*>(from + rows.from[row]);
                if (row >= fetched) {
                    for (index each = 0; each < Parts * lanes; ++each) {
                        __builtin_prefetch(from + rows.from[row] + soon[each]);
                    }
                    fetched += line;
                }
                vector parts[Parts][lanes];
                EINPARALLEL_DETAIL_UNROLL for (index part = 0; part < Parts; ++part) {
                    pack::read_turned(parts[part], source, offsets + part * lanes);
                }
                EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                    T* const place = reinterpret_cast<T*>(first + rows.into[row + each]);
                    EINPARALLEL_DETAIL_UNROLL for (index part = 0; part < Parts; ++part) {
                        if (streams) {
                            doubles value;  // nvcc casts no vectors
                            __builtin_memcpy(&value, &parts[part][each], sizeof(value));
                            EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(place + part * lanes), value);
                        } else {
                            *reinterpret_cast<loose*>(place + part * lanes) = parts[part][each];
                        }
                    }
                }
            }
        }
    }

    static void one_by_one(std::byte* into, const index* into_columns, const std::byte* from, const index* from_columns,
                           index count) {
        for (index each = 0; each < count; ++each) {
            __builtin_memcpy(into + into_columns[each], from + from_columns[each], sizeof(T));
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
