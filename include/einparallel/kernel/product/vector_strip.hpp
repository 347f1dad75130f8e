// Products of operands where they lie, row by row of the output, in strips of a few rows and vectors: small products,
// and those of a batch. Compiled for every instruction set: this header includes itself once for each, through
// for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_STRIP)
#define EINPARALLEL_DETAIL_VECTOR_STRIP

#include <einparallel/kernel/product/small_call.hpp>
#include <einparallel/kernel/product/strip_cut.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_tile.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Products of T as a small_call says, with the instructions of Set.
template <class T, instruction_set Set>
struct vector_strip;

}  // namespace einparallel::EINPARALLEL_DETAIL

// A strip has enough multiply-adds in a step: more than two at once would be code to compile, and no faster.
#if defined(__clang__)
#define EINPARALLEL_DETAIL_TWO_STEPS _Pragma("clang loop unroll_count(2)")
#else
#define EINPARALLEL_DETAIL_TWO_STEPS _Pragma("GCC unroll 2")
#endif
#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/product/vector_strip.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#undef EINPARALLEL_DETAIL_TWO_STEPS
#include <einparallel/notation/compiled.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_strip<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / index(sizeof(T));
    template <index Bytes>
    using some_lanes = typename vector_tile<T, instruction_set::EINPARALLEL_DETAIL_SET>::template some_lanes<Bytes>;

    using strip_call = strip_of<T>;

    /// Computes a strip, Rows rows at a time, and Vectors vectors. The last vector may overlap the one before. Few
    /// instructions surround the multiply-adds: values that the compiler would compute again for every row are hidden
    /// from it.
    /// @tparam Even  whether rows are evenly apart, and steps
    template <int Rows, int Vectors, index Bytes, small_vectors Holds, bool Even>
    [[gnu::aligned(64)]] EINPARALLEL_DETAIL_TARGET static void strip(const small_call& call, const strip_call& own) {
        static_assert(Vectors <= 2 || Holds == small_vectors::points);
        constexpr auto size = index(sizeof(T));
        constexpr int pointers = Even ? (Rows + 3) / 4 : Rows;
        using vectors_of = some_lanes<Bytes>;
        using lane_vector = typename vectors_of::vector;
        using loose_vector = typename vectors_of::loose;
        const index a_row = Even && own.high > 1 ? (own.a_rows[1] - own.a_rows[0]) * size : 0;
        const index c_row = Even && own.high > 1 ? (own.c_rows[1] - own.c_rows[0]) * size : 0;
        const index by_a = call.k > 1 ? (call.along[1].a - call.along[0].a) * size : 0;
        const index by_b = call.k > 1 ? call.along[1].b - call.along[0].b : 0;
        const T scale = *static_cast<const T*>(call.scale);
        const bool scales = scale != T(1);
        const index last_of_b = own.last_of_b;
        const index last_of_c = own.last_of_c;
        // Where a vector's columns begin: from the first vector on, or from the one that lies `last` behind it.
        const auto column = [](int number, index step, index last) {
            return number == 0 ? 0 : number + 1 < Vectors ? number * step : last;
        };
        const unsigned short first_lanes = own.first;
        const unsigned short last_lanes = own.last;
        const auto lanes_of = [&](int number) { return number + 1 < Vectors ? first_lanes : last_lanes; };
        const index b_column = call.b_column;
        const index c_column = call.c_column;
        const index depth = call.k;
        const bool add = own.add;
        const index* const a_rows = own.a_rows;
        const index* const c_rows = own.c_rows;
        // Processors fetch ahead along few stretches of memory: each step asks for bytes of the rows ahead.
        constexpr bool asks = Even && Holds == small_vectors::columns && Rows * Vectors >= 4;
        const index by_ahead = own.by_ahead;
        const strip_loop inner = own.inner;
        const strip_loop outer = own.outer;
        const strip_loop around = own.around;
        const char* row_of_a = reinterpret_cast<const char*>(own.a);
        const char* first_of_b = reinterpret_cast<const char*>(own.b);
        char* row_of_c = reinterpret_cast<char*>(own.c);
        const char* soon = row_of_a + own.ahead;
        for (index point = around.count; point > 0; --point) {
            for (index middle = outer.count; middle > 0; --middle) {
                for (index number_inside = 0; number_inside < inner.count; ++number_inside) {
                    lane_vector sums[Rows][Vectors];
                    EINPARALLEL_DETAIL_UNROLL for (int each = 0; each < Rows; ++each) {
                        EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                            sums[each][number] = lane_vector{};
                        }
                    }
                    const char* from[pointers];
                    EINPARALLEL_DETAIL_UNROLL for (int each = 0; each < pointers; ++each) {
                        from[each] = row_of_a + (Even ? 4 * each * a_row : a_rows[number_inside * Rows + each] * size);
                        __asm__("" : "+r"(from[each]));
                    }
                    index at = 0;
                    const auto row_at = [&](int each) {
                        return reinterpret_cast<const T*>(Even ? from[each / 4] + each % 4 * a_row
                                                               : from[each % pointers] + at);
                    };
                    const T* row_of_b = reinterpret_cast<const T*>(first_of_b);
                    const small_step* next = call.along;
                    const char* ahead = soon;
                    EINPARALLEL_DETAIL_TWO_STEPS for (index step = depth; step > 0; --step) {
                        if constexpr (asks) {
                            __builtin_prefetch(ahead);
                            ahead += by_ahead;
                            __asm__("" : "+r"(ahead));
                        }
                        if constexpr (!Even) {
                            at = next->a * size;
                            row_of_b = reinterpret_cast<const T*>(first_of_b) + next->b;
                            ++next;
                        }
                        lane_vector right[Vectors];
                        EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                            right[number] =
                                vectors_of::read(row_of_b + column(number, b_column, last_of_b), lanes_of(number));
                        }
                        EINPARALLEL_DETAIL_UNROLL for (int each = 0; each < Rows; ++each) {
                            const T* const left = row_at(each);
                            EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                                if constexpr (Holds == small_vectors::points) {
                                    sums[each][number] += *reinterpret_cast<const loose_vector*>(left) * right[number];
                                } else {
                                    sums[each][number] += *left * right[number];
                                }
                            }
                        }
                        if constexpr (Holds == small_vectors::pairs) {
                            EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                                right[number] = vectors_of::turned(right[number]);
                            }
                            EINPARALLEL_DETAIL_UNROLL for (int each = 0; each < Rows; ++each) {
                                const T* const left = row_at(each);
                                EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                                    sums[each][number] += left[1] * right[number];
                                }
                            }
                        }
                        EINPARALLEL_DETAIL_UNROLL for (int each = 0; Even && each < pointers; ++each) {
                            from[each] += by_a;
                            __asm__("" : "+r"(from[each]));
                        }
                        if constexpr (Even) {
                            row_of_b += by_b;
                            __asm__("" : "+r"(row_of_b));
                        }
                    }
                    if (scales) {
                        EINPARALLEL_DETAIL_UNROLL for (int each = 0; each < Rows; ++each) {
                            EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                                sums[each][number] *= scale;
                            }
                        }
                    }
                    char* written = row_of_c;
                    EINPARALLEL_DETAIL_UNROLL for (int each = 0; each < Rows; ++each) {
                        T* const into =
                            reinterpret_cast<T*>(written + (Even ? 0 : c_rows[number_inside * Rows + each] * size));
                        written += Even ? c_row : 0;
                        __asm__("" : "+r"(written));
                        if (add) {  // all are read before any is written: the last vector may overlap
                            EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                                sums[each][number] +=
                                    vectors_of::read(into + column(number, c_column, last_of_c), lanes_of(number));
                            }
                        }
                        EINPARALLEL_DETAIL_UNROLL for (int number = 0; number < Vectors; ++number) {
                            vectors_of::write(into + column(number, c_column, last_of_c), sums[each][number],
                                              lanes_of(number));
                        }
                    }
                    row_of_a += inner.a;
                    first_of_b += inner.b;
                    row_of_c += inner.c;
                    soon += inner.ahead;
                }
                row_of_a += outer.a;
                first_of_b += outer.b;
                row_of_c += outer.c;
                soon += outer.ahead;
            }
            row_of_a += around.a;
            first_of_b += around.b;
            row_of_c += around.c;
            soon += around.ahead;
        }
    }

    /// Computes a small_call with vectors of Bytes bytes.
    /// @pre where Set has no masks, n columns fill one vector, and where `add`, whole vectors or at most two
    template <index Bytes, small_vectors Holds = small_vectors::columns>
    EINPARALLEL_DETAIL_TARGET static void small(const small_call& call, const T* a, const T* b, T* c, bool add) {
        constexpr bool are_points = Holds == small_vectors::points;
        if (call.n <= Bytes / index(sizeof(T)) && call.a_point == 0 && call.points > 1 && !are_points && !call.apart) {
            small_call points = call;  // each point is a column: all read the same A
            points.apart = true;
            points.width = call.n;
            points.n = std::exchange(points.points, 1);
            points.b_column = call.b_point;
            points.c_column = call.c_point;
            small<Bytes, Holds>(points, a, b, c, add);
            return;
        }
        strips<Bytes, Holds>(call, a, b, c, add);
    }

private:
    using piece = strip_piece<T>;
    using kernel = typename piece::kernel;

    /// Strips of these numbers of rows, the lowest first.
    template <int... Rows>
    struct heights {
        static constexpr index rows[] = {Rows...};

        template <int Vectors, index Bytes, small_vectors Holds, bool Even>
        static constexpr kernel strips[] = {&strip<Rows, Vectors, Bytes, Holds, Even>...};
    };

    /// Rows of the tallest strips: of one vector, or of several.
    template <small_vectors Holds>
    static constexpr int tallest(bool is_alone) {
        return Holds == small_vectors::pairs || EINPARALLEL_DETAIL_ROWS < 6 ? 4
               : is_alone && Holds == small_vectors::columns                ? 8
                                                                            : 6;
    }

    /// Cuts rows and columns into strips, and computes these for some points after the other.
    template <index Bytes, small_vectors Holds>
    EINPARALLEL_DETAIL_TARGET static void strips(const small_call& call, const T* a, const T* b, T* c, bool add) {
        constexpr bool are_points = Holds == small_vectors::points;
        constexpr int most = tallest<Holds>(false);
        constexpr int most_alone = tallest<Holds>(true);
        constexpr int most_wide = are_points && Bytes == 64 ? 4 : 2;
        constexpr bool masks = has_masks(instruction_set::EINPARALLEL_DETAIL_SET) && !are_points;
        // Each height is code to compile: more of them pay for columns where there are masks.
        using few = std::conditional_t<most == 4, heights<1, 2, 4>, heights<1, 2, 4, most> >;
        constexpr bool all = masks && Holds == small_vectors::columns;
        using of_pairs = std::conditional_t<all && Bytes == 64, heights<1, 2, 3, 4, 5, 6>, few>;
        using of_one = std::conditional_t<all, heights<1, 2, 3, 4, 5, 6, 8>,
                                          std::conditional_t<most_alone == 8, heights<1, 4, 8>, few> >;
        using uneven = std::conditional_t<are_points, heights<1, 2, 4>, heights<1, 4> >;
        constexpr index full = Bytes / index(sizeof(T));
        const bool apart = are_points || call.apart;
        const index wide = apart ? 1 : full;
        const index widest = call.is_even ? most_wide : 2;
        const index b_column = apart ? call.b_column : 1;
        const index c_column = apart ? call.c_column : 1;
        const auto lanes_in = [](index count) { return static_cast<unsigned short>((1U << unsigned(count)) - 1); };
        // Points whose matrices stay in the first-level cache while one strip after the other reads them.
        constexpr index most_together = 16384 / index(sizeof(T));
        const index elements = (call.m * call.k + (call.k + call.m) * call.n) * (are_points ? lanes : 1);
        const bool is_alone = call.m <= (call.n <= wide ? most_alone : most) && call.n <= 2 * wide;
        const index together = is_alone ? call.points : call.is_far ? 1 : std::max<index>(most_together / elements, 1);
        const index groups = (call.n + 2 * wide - 1) / (2 * wide);
        const std::pair<index, index> ahead = asks_of(call, groups, sizeof(T));
        const index asked = ahead.first;
        // Rows whose last columns follow while the others are still in the cache.
        const index band = asked == 0 || call.n <= 2 * wide || call.n % (2 * wide) == 0 ? call.m : 24;
        for (index top = 0; top < call.m; top += band) {
            const index rows = std::min(band, call.m - top);
            piece pieces[12];
            index count = 0;
            for (index first = 0; first < call.n;) {
                const index left = call.n - first;
                const index vectors = left >= widest * wide ? widest : left > wide ? 2 : 1;
                const index column = masks || vectors > 1 ? first : std::min(first, call.n - wide);
                const index last = vectors == 1 ? 0
                                   : masks      ? (vectors - 1) * wide
                                                : std::min((vectors - 1) * wide, left - wide);
                strip_call own{};
                own.a = a;
                own.b = b + column * b_column + (apart ? 0 : column / (2 * wide) * call.b_gap);
                own.c = c + column * c_column;
                own.add = add;
                own.by_rows = call.is_even && (asked > 0 || call.is_far);
                own.asked = asked;
                own.asks_from = first / (2 * wide);
                own.ahead = ahead.second;
                own.groups = std::max<index>(left / (vectors * wide), 1);
                own.next_b = vectors * wide * b_column + (apart ? 0 : call.b_gap);
                own.next_c = vectors * wide * c_column;
                own.last_of_b = last * b_column;
                own.last_of_c = last * c_column;
                own.first = lanes_in(apart && call.width > 0 ? call.width : full);
                own.last = apart ? own.first : lanes_in(std::min(full, left - (vectors - 1) * wide));
                first += own.groups * vectors * wide;
                const auto add_pieces = [&](std::span<const index> high, const kernel* kernels) {
                    while (asked > 0 && vectors == 1 && high.back() > 4) {  // few rows at once come from memory faster
                        high = high.first(high.size() - 1);
                    }
                    count = cut_rows(call, own, top, rows, high, kernels, pieces, count);
                };
                if (!call.is_even) {
                    vectors == 2 ? add_pieces(uneven::rows, uneven::template strips<2, Bytes, Holds, false>)
                                 : add_pieces(uneven::rows, uneven::template strips<1, Bytes, Holds, false>);
                } else if (vectors == 1) {
                    add_pieces(of_one::rows, of_one::template strips<1, Bytes, Holds, true>);
                } else {
                    vectors == 2 ? add_pieces(of_pairs::rows, of_pairs::template strips<2, Bytes, Holds, true>)
                                 : add_pieces(of_pairs::rows, of_pairs::template strips<most_wide, Bytes, Holds, true>);
                }
            }
            for (index point = 0; point < call.points; point += together) {
                for (index each = 0; each < count; ++each) {
                    strip_call& own = pieces[each].call;
                    own.take_points(std::min(together, call.points - point));
                    pieces[each].compute(call, own);
                    own.a += together * call.a_point;
                    own.b += together * call.b_point;
                    own.c += together * call.c_point;
                }
            }
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
