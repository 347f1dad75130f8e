// The micro-kernel of matrix products of packed operands. Compiled for every instruction set: this header includes
// itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_TILE)
#define EINPARALLEL_DETAIL_VECTOR_TILE

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// The type of a lane in a vector of T: T itself, for integers the unsigned type, which wraps around, and for bool a
/// byte.
template <class T>
struct lane_of : std::type_identity<T> {};
template <std::integral T>
struct lane_of<T> : std::make_unsigned<T> {};
template <>
struct lane_of<bool> : std::type_identity<std::uint8_t> {};

/// The micro-kernel for T with the instructions of Set. For bool, + is or and · is and.
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
    static constexpr index rows = EINPARALLEL_DETAIL_ROWS;  ///< rows of a packed tile
    static constexpr index row_step = rows % 3 == 0 ? rows / 3 : rows / 2;
    static constexpr index columns = 2 * lanes;

    /// Vectors of Bytes bytes. They may be shorter than those of Set, for rows shorter than these.
    template <index Bytes>
    struct some_lanes {
        typedef lane vector __attribute__((vector_size(Bytes)));
        typedef lane loose __attribute__((vector_size(Bytes), aligned(sizeof(T)), may_alias));

        /// The vector at `place`: where Set has masks only its lanes in `mask`, and zeros. No other memory is read.
        [[gnu::always_inline]] EINPARALLEL_DETAIL_TARGET static inline vector read(const T* place,
                                                                                   unsigned short mask) {
            const auto& from = *reinterpret_cast<const loose*>(place);
#if defined(EINPARALLEL_DETAIL_MASKS)
            vector x;
            if constexpr (sizeof(T) == 4) {
                __asm__("vmovups %1, %0%{%2%}%{z%}" : "=v"(x) : "m"(from), "Yk"(mask));
            } else {
                __asm__("vmovupd %1, %0%{%2%}%{z%}" : "=v"(x) : "m"(from), "Yk"(mask));
            }
            return x;
#else
            static_cast<void>(mask);
            return from;
#endif
        }
        /// Writes the vector: where Set has masks only these lanes.
        [[gnu::always_inline]] EINPARALLEL_DETAIL_TARGET static inline void write(T* place, const vector& x,
                                                                                  unsigned short mask) {
            auto& into = *reinterpret_cast<loose*>(place);
#if defined(EINPARALLEL_DETAIL_MASKS)
            if constexpr (sizeof(T) == 4) {
                __asm__("vmovups %1, %0%{%2%}" : "+m"(into) : "v"(x), "Yk"(mask));
            } else {
                __asm__("vmovupd %1, %0%{%2%}" : "+m"(into) : "v"(x), "Yk"(mask));
            }
#else
            static_cast<void>(mask);
            into = x;
#endif
        }

        /// i · x of complex numbers.
        [[gnu::always_inline]] EINPARALLEL_DETAIL_TARGET static inline vector turned(vector x) {
            return turned_lanes(x, std::make_integer_sequence<int, int(Bytes / sizeof(T))>());
        }

    private:
        template <int... Lane>
        [[gnu::always_inline]] EINPARALLEL_DETAIL_TARGET static inline vector turned_lanes(
            vector x, std::integer_sequence<int, Lane...> /*lanes*/) {
            vector signs = vector{} + lane(1);
            ((signs[Lane] = Lane % 2 == 0 ? lane(-1) : lane(1)), ...);  // nvcc takes no list of a dependent type
            return __builtin_shufflevector(x, x, (Lane ^ 1)...) * signs;
        }
    };

    /// C(Rows × columns) (+)= scale · A · B. A is packed depth-major in micro-panels of `rows`, B in micro-panels of
    /// `columns`. Row i of C starts at c + row_offsets[i], and its vector v at vector_offsets[v] from there. C is read
    /// only where `add`. The function begins on a cache line, so that its speed does not depend on where the linker
    /// puts it (by 5 %).
    template <int Rows>
    [[gnu::aligned(64)]] EINPARALLEL_DETAIL_TARGET static void tile(T scale, index depth, const T* a, const T* b, T* c,
                                                                    const index* row_offsets,
                                                                    const index* vector_offsets, bool add) {
        using vector = typename some_lanes<EINPARALLEL_DETAIL_BYTES>::vector;
        using loose = typename some_lanes<EINPARALLEL_DETAIL_BYTES>::loose;
        vector sums[Rows][2];
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            sums[row][0] = sums[row][1] = vector{};
        }
        EINPARALLEL_DETAIL_FOUR_STEPS for (index step = 0; step < depth; ++step) {
            const vector right[2] = {*reinterpret_cast<const loose*>(b), *reinterpret_cast<const loose*>(b + lanes)};
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < 2; ++number) {
                    if constexpr (std::is_same_v<T, bool>) {
                        sums[row][number] |= lane(a[row]) & right[number];
                    } else {
                        sums[row][number] += lane(a[row]) * right[number];
                    }
                }
            }
            a += rows;
            b += columns;
        }
        const bool scales = scale != T(1);
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < 2; ++number) {
                vector& sum = sums[row][number];
                auto* into = reinterpret_cast<loose*>(c + row_offsets[row] + vector_offsets[number]);
                if constexpr (std::is_same_v<T, bool>) {
                    sum &= lane(scale);
                    *into = add ? *into | sum : sum;
                } else {
                    sum = scales ? lane(scale) * sum : sum;
                    *into = add ? *into + sum : sum;
                }
            }
        }
    }

    /// tile() for any number of rows, `high`, up to `rows`. It computes a multiple of `row_step` rows, and writes all
    /// that it computed at their row_offsets.
    static void run(T scale, index depth, index high, const T* a, const T* b, T* c, const index* row_offsets,
                    const index* vector_offsets, bool add) {
        const auto kernel = high > 2 * row_step ? &tile<int(rows)>
                            : high > row_step   ? &tile<int(2 * row_step)>
                                                : &tile<int(row_step)>;
        kernel(scale, depth, a, b, c, row_offsets, vector_offsets, add);
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
