// The innermost block of a packed matrix product. Compiled for every instruction set:
// this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_TILE)
#define EINPARALLEL_DETAIL_VECTOR_TILE

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a lane of a vector of T holds: T, of unsigned numbers, which wrap around; a byte for bool.
template <class T>
struct lane_of {
    using type = T;
};
template <std::integral T>
struct lane_of<T> {
    using type = std::make_unsigned_t<T>;
};
template <>
struct lane_of<bool> {
    using type = std::uint8_t;
};

/// The micro-kernel for T with the instructions of Set; of bool, + is or and · is and.
template <class T, instruction_set Set>
struct vector_tile;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_tile.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_tile<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using lane = typename lane_of<T>::type;
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / index(sizeof(T));
    typedef lane vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef lane loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(sizeof(T)), may_alias));
    static constexpr index rows = EINPARALLEL_DETAIL_ROWS;
    static constexpr index row_step = rows % 3 == 0 ? rows / 3 : rows / 2;
    static constexpr index vectors = 2;
    static constexpr index columns = vectors * lanes;

    /// C(Rows × columns) (+)= A · B, A packed depth-major in micro-panels of `rows`, B in micro-panels of `columns`.
    /// Row i of C starts at c + row_offsets[i], and its vector v at vector_offsets[v] from there; C is read only where
    /// `add`. On a cache line, so that its speed does not depend on where the linker puts it (by 5 %).
    template <int Rows>
    [[gnu::aligned(64)]] EINPARALLEL_DETAIL_TARGET static void tile(index depth, const T* a, const T* b, T* c,
                                                                    const index* row_offsets,
                                                                    const index* vector_offsets, bool add) {
        vector sums[Rows][vectors];
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                sums[row][part] = vector{};
            }
        }
        EINPARALLEL_DETAIL_FOUR_STEPS for (index step = 0; step < depth; ++step) {
            vector right[vectors];
            EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                right[part] = *reinterpret_cast<const loose*>(b + part * lanes);
            }
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                    if constexpr (std::is_same_v<T, bool>) {
                        sums[row][part] |= lane(a[row]) & right[part];
                    } else {
                        sums[row][part] += lane(a[row]) * right[part];
                    }
                }
            }
            a += rows;
            b += columns;
        }
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                auto* into = reinterpret_cast<loose*>(c + row_offsets[row] + vector_offsets[part]);
                if constexpr (std::is_same_v<T, bool>) {
                    *into = add ? *into | sums[row][part] : sums[row][part];
                } else {
                    *into = add ? *into + sums[row][part] : sums[row][part];
                }
            }
        }
    }

    /// The same for any number of rows up to `rows`; it computes a multiple of `row_step` of them, and writes those of
    /// row_offsets that it computed.
    static void run(index depth, index high, const T* a, const T* b, T* c, const index* row_offsets,
                    const index* vector_offsets, bool add) {
        if (high > 2 * row_step) {
            tile<int(rows)>(depth, a, b, c, row_offsets, vector_offsets, add);
        } else if (high > row_step) {
            tile<int(2 * row_step)>(depth, a, b, c, row_offsets, vector_offsets, add);
        } else {
            tile<int(row_step)>(depth, a, b, c, row_offsets, vector_offsets, add);
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
