// The micro-kernel of matrix products: of packed operands, of operands where they lie, and of a batch. Compiled for
// every instruction set: this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_TILE)
#define EINPARALLEL_DETAIL_VECTOR_TILE

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/small_call.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
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
    static constexpr index line = 64 / index(sizeof(T));
    static constexpr index rows = EINPARALLEL_DETAIL_ROWS;  ///< rows of a packed tile
    static constexpr index row_step = rows % 3 == 0 ? rows / 3 : rows / 2;
    static constexpr index columns = 2 * lanes;

    /// Vectors of Bytes bytes. They may be shorter than those of Set, for rows shorter than these.
    template <index Bytes>
    struct some_lanes {
        typedef lane vector __attribute__((vector_size(Bytes)));
        typedef lane loose __attribute__((vector_size(Bytes), aligned(sizeof(T)), may_alias));
    };

    /// i · x of complex numbers.
    template <index Bytes, int... Lane>
    [[gnu::always_inline]] EINPARALLEL_DETAIL_TARGET static inline typename some_lanes<Bytes>::vector turned(
        typename some_lanes<Bytes>::vector x, std::integer_sequence<int, Lane...> /*lanes*/) {
        typename some_lanes<Bytes>::vector signs = typename some_lanes<Bytes>::vector{} + lane(1);
        ((signs[Lane] = Lane % 2 == 0 ? lane(-1) : lane(1)), ...);  // nvcc takes no list of a dependent type
        return __builtin_shufflevector(x, x, (Lane ^ 1)...) * signs;
    }

    /// sums[i][v] += A[i] · B[v], and goes one step further along A and B.
    template <int Rows, int Vectors, index Bytes, small_vectors Holds>
    [[gnu::always_inline]] EINPARALLEL_DETAIL_TARGET static inline void multiply_add(
        typename some_lanes<Bytes>::vector (&sums)[Rows][Vectors], const T* const (&rows_of_a)[Rows],
        const small_step& by, index& along_a, const T*& row_of_b, index last_of_b) {
        constexpr index wide = Bytes / index(sizeof(T));
        using loose_vector = typename some_lanes<Bytes>::loose;
        typename some_lanes<Bytes>::vector right[Vectors];
        EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
            right[number] =
                *reinterpret_cast<const loose_vector*>(row_of_b + (number + 1 < Vectors ? number * wide : last_of_b));
        }
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                if constexpr (Holds == small_vectors::points) {
                    sums[row][number] +=
                        *reinterpret_cast<const loose_vector*>(rows_of_a[row] + along_a) * right[number];
                } else {
                    sums[row][number] += rows_of_a[row][along_a] * right[number];
                }
            }
        }
        if constexpr (Holds == small_vectors::pairs) {
            EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                right[number] = turned<Bytes>(right[number], std::make_integer_sequence<int, int(wide)>());
            }
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                    sums[row][number] += rows_of_a[row][along_a + 1] * right[number];
                }
            }
        }
        along_a += by.a;
        row_of_b += by.b;
        __asm__("" : "+r"(along_a), "+r"(row_of_b));
    }

    /// Computes Rows rows and `width` columns of C, Vectors vectors of Bytes bytes at a time, at `points` points. Rows
    /// may be copies of one another, and the last vector may overlap the one before. Few instructions surround the
    /// multiply-adds of a small tile: values that the compiler would compute again for every row are hidden from it.
    /// Where `soon` is not null, rows at a + soon[row] are prefetched: processors fetch ahead along few stretches of
    /// memory.
    template <int Rows, int Vectors, index Bytes, small_vectors Holds>
    [[gnu::aligned(64)]] EINPARALLEL_DETAIL_TARGET static void tiles(const small_call& call, const T* a,
                                                                     const index* a_rows, const index* soon, const T* b,
                                                                     T* c, const index* c_rows, index width,
                                                                     index points, bool add) {
        constexpr bool are_points = Holds == small_vectors::points;
        static_assert(!are_points || Vectors == 2);
        const bool apart = are_points || (Vectors < 3 && call.apart);
        const index wide = apart ? 1 : Bytes / index(sizeof(T));  // columns of a vector
        using lane_vector = typename some_lanes<Bytes>::vector;
        using loose_vector = typename some_lanes<Bytes>::loose;
        const small_step* const along = call.along;
        const index stretch = call.even;
        const index depth = call.k;
        const small_step by = {stretch > 1 ? along[1].a - along[0].a : 0, stretch > 1 ? along[1].b - along[0].b : 0};
        for (index point = 0; point < points; ++point) {
            const T* rows_of_a[Rows];
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                rows_of_a[row] = a + (point * call.a_point + a_rows[row]);
                __asm__("" : "+r"(rows_of_a[row]));
            }
            index asked = 0;
            index at_b = point * call.b_point;
            index at_c = point * call.c_point;
            for (index left = width; left > 0; left -= Vectors * wide) {
                if (soon != nullptr) {
                    const index due = std::min((asked + depth * Vectors * wide / width + line) / line * line, depth);
                    ask_for(a, soon, Rows, along + asked, along + due);
                    asked = due;
                }
                const index last = left < Vectors * wide ? left - wide : (Vectors - 1) * wide;
                const index last_of_b = apart ? last * call.b_column : last + (Vectors - 1) / 2 * call.b_gap;
                const index last_of_c = apart ? last * call.c_column : last;
                lane_vector sums[Rows][Vectors];
                EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                    EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                        sums[row][number] = lane_vector{};
                    }
                }
                for (index first = 0; first < depth; first += stretch) {
                    index along_a = along[first].a;
                    const T* row_of_b = b + (at_b + along[first].b);
                    EINPARALLEL_DETAIL_FOUR_STEPS for (index steps = stretch; steps > 0; --steps) {
                        multiply_add<Rows, Vectors, Bytes, Holds>(sums, rows_of_a, by, along_a, row_of_b, last_of_b);
                    }
                }
                if (const T& scale = *static_cast<const T*>(call.scale); scale != T(1)) {
                    EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                        EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                            sums[row][number] *= scale;
                        }
                    }
                }
                T* const into = c + at_c;
                if (add) {  // all are read before any is written: rows may be copies
                    EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                        EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                            sums[row][number] += *reinterpret_cast<const loose_vector*>(
                                into + (c_rows[row] + (number + 1 < Vectors ? number * wide : last_of_c)));
                        }
                    }
                }
                EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                    T* row_of_c = into + c_rows[row];
                    __asm__("" : "+r"(row_of_c));
                    EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                        *reinterpret_cast<loose_vector*>(
                            row_of_c + (number + 1 < Vectors ? number * wide : last_of_c)) = sums[row][number];
                    }
                }
                at_b += apart ? Vectors * call.b_column : Vectors * wide + call.b_gap;
                at_c += apart ? Vectors * call.c_column : Vectors * wide;
            }
        }
    }

    /// Computes a small_call with vectors of Bytes bytes.
    /// @pre n columns fill one vector, and at most two where Bytes is less than those of Set; where `add`, they fill
    /// whole vectors
    template <index Bytes, small_vectors Holds = small_vectors::columns>
    EINPARALLEL_DETAIL_TARGET static void small(const small_call& call, const T* a, const T* b, T* c, bool add) {
        constexpr bool are_points = Holds == small_vectors::points;
        constexpr int most = EINPARALLEL_DETAIL_ROWS >= 6 && Holds != small_vectors::pairs ? 6 : 4;
        // The widest vectors have few shapes, because few columns fill several of them.
        constexpr bool all_shapes =
            Holds == small_vectors::columns && Bytes == EINPARALLEL_DETAIL_BYTES && Bytes < 64 && most == 6;
        constexpr int most_alone =  // rows, times one vector
            all_shapes || (Holds == small_vectors::columns && Bytes == 64) ? 8 : 4;
        constexpr int last_vectors = all_shapes ? 3 : 1;
        const index wide = are_points || call.apart ? 1 : Bytes / index(sizeof(T));
        const index vectors = (call.n + wide - 1) / wide;
        if (vectors == 1 && call.a_point == 0 && call.points > 1 && !are_points && !call.apart) {
            small_call points = call;
            points.apart = true;
            points.n = std::exchange(points.points, 1);
            points.b_column = call.b_point;
            points.c_column = call.c_point;
            small<Bytes, Holds>(points, a, b, c, add);
            return;
        }
        const bool odd = !are_points && vectors % 2 != 0;
        const index tallest = vectors == 1 && !are_points ? most_alone : odd ? 4 : most;
        const index odd_vectors = call.apart ? 1 : last_vectors;  // of an odd number of vectors, the last ones
        const index paired = odd ? std::max<index>(vectors - odd_vectors, 0) * wide : call.n;  // columns
        // Points whose matrices stay in the first-level cache while one call after the other reads them.
        constexpr index most_together = 16384 / index(sizeof(T));
        const bool is_alone = call.m <= tallest && (paired == 0 || !odd);
        const index elements = (call.m * call.k + (call.k + call.m) * call.n) * (are_points ? lanes : 1);
        const index chunk = is_alone ? call.points : std::max<index>(most_together / elements, 1);
        for (index point = 0; point < call.points; point += chunk) {
            const index together = std::min(chunk, call.points - point);
            const T* const left = a + point * call.a_point;
            const T* const right = b + point * call.b_point;
            T* const into = c + point * call.c_point;
            for (index row = 0; row < call.m;) {
                const index remaining = call.m - row;
                const bool even = tallest == 6 && (remaining == 7 || remaining == 8);  // two times 4
                const index high = remaining > 4 && !even ? tallest : all_shapes && call.m <= 2 && !odd ? 2 : 4;
                const index* a_rows = call.a_rows + row;
                const index* c_rows = call.c_rows + row;
                index copies[2][8];
                if (remaining < high) {
                    for (index each = 0; each < high; ++each) {
                        copies[0][each] = a_rows[each < remaining ? each : remaining - 1];
                        copies[1][each] = c_rows[each < remaining ? each : remaining - 1];
                    }
                    a_rows = copies[0];
                    c_rows = copies[1];
                }
                const bool asks = call.ahead > 0 && row + call.ahead + high <= call.m;
                const index* const soon = asks ? call.a_rows + row + call.ahead : nullptr;
                row += high;
                if (paired > 0) {
                    auto kernel = high == most ? &tiles<most, 2, Bytes, Holds> : &tiles<4, 2, Bytes, Holds>;
                    if constexpr (all_shapes) {
                        kernel = high == 2 ? &tiles<2, 2, Bytes, Holds> : kernel;
                    }
                    kernel(call, left, a_rows, soon, right, into, c_rows, paired, together, add);
                }
                if constexpr (!are_points) {
                    if (odd) {
                        auto kernel = &tiles<4, last_vectors, Bytes, Holds>;
                        if constexpr (most_alone == 8) {
                            kernel = high == 8                    ? &tiles<8, 1, Bytes, Holds>
                                     : vectors == 1 || call.apart ? &tiles<4, 1, Bytes, Holds>
                                                                  : kernel;
                        }
                        kernel(
                            call, left, a_rows, paired > 0 ? nullptr : soon,
                            right + (call.apart ? paired * call.b_column : paired + paired / (2 * wide) * call.b_gap),
                            into + paired * (call.apart ? call.c_column : 1), c_rows, call.n - paired, together, add);
                    }
                }
            }
        }
    }

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
