// ⊕ along short contiguous rows: each lane of a vector gets the result of a row. Compiled for every instruction set:
// this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_FOLD)
#define EINPARALLEL_DETAIL_VECTOR_FOLD

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// into[r] = ⊕ of x[r · step + p], p = 0 … length − 1, for `rows` rows.
using fold_function = void (*)(void* into, const void* x, index step, index length, index rows);

/// Rows of elements of 4, 8 or 16 bytes in vectors of Set.
template <class T, instruction_set Set>
struct vector_rows;
/// ⊕ = Reduce along such rows, for numbers; the sum also for complex numbers.
template <class T, class Reduce, instruction_set Set>
struct vector_fold;
/// The least index in each row at which there is its extreme element or a NaN; the largest index where there is none.
template <class T, instruction_set Set>
struct vector_place;

/// Indices of rows that are not in memory: the first of a row, and by how much they grow. Rows of position_where take
/// them in place of a functor, where from[2] is null. Where `length` is not 0, there are several rows of so many points
/// in memory, `beyond` elements apart, each with its own extreme element and with the same indices.
struct counted_row {
    index from;
    index step;
    index length = 0;
    index beyond = 0;
};

/// Vectors of 64 bytes would gain nothing for short rows.
#if EINPARALLEL_DETAIL_X86
inline constexpr instruction_set widest_rows = instruction_set::avx2;
#else
inline constexpr instruction_set widest_rows = instruction_set::baseline;
#endif

/// True for numbers whose extreme elements are found in vectors.
constexpr bool is_in_vector_rows(element_type type) {
    return (type.kind == 'f' || type.kind == 'i' || type.kind == 'u') && (type.bytes == 4 || type.bytes == 8);
}
template <class T>
inline constexpr bool has_vector_rows = is_in_vector_rows(element_type_of<T>());

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_fold.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// The shortest rows of elements of so many bytes that are folded in vectors.
constexpr index shortest_vector_row(std::size_t bytes) {
    return vector_bytes(instruction_set::baseline) / index(bytes);
}

/// The fold of ⊕ with this processor's instructions; null where ⊕ or T has none.
template <class Reduce, class T>
fold_function fold_function_of() {
    if constexpr (has_op_code<Reduce>) {
        constexpr bool is_of_numbers =
            has_vector_rows<T> &&
            (Reduce::code == op_code::multiply || Reduce::code == op_code::larger || Reduce::code == op_code::smaller);
        if constexpr (is_of_numbers || (Reduce::code == op_code::add && (has_vector_rows<T> || is_complex<T>::value))) {
            return with_instruction_set(std::min(best_instruction_set(), widest_rows), [](auto set) -> fold_function {
                return &vector_fold<T, Reduce, std::min(set.value, widest_rows)>::run;
            });
        }
    }
    return nullptr;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_rows<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using copy =
        vector_copy<std::conditional_t<sizeof(T) == 4, float, double>, instruction_set::EINPARALLEL_DETAIL_SET>;
    static constexpr index unit = sizeof(T) == 16 ? 2 : 1;  ///< lanes of an element as it is copied
    static constexpr index lanes = copy::lanes / unit;
    typedef std::conditional_t<sizeof(T) == 4, int, long long> number;
    typedef number numbers __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));

    template <class Vector>
    EINPARALLEL_DETAIL_TARGET static Vector read(const T* x) {
        Vector value;
        __builtin_memcpy(&value, x, sizeof(value));
        return value;
    }
    /// first, first + 1, …
    EINPARALLEL_DETAIL_TARGET static numbers count_from(index first) {
        numbers counted{};
        EINPARALLEL_DETAIL_UNROLL for (index lane = 0; lane < copy::lanes; ++lane) {
            counted[lane] = number(lane / unit);
        }
        return counted + number(first);
    }
    /// a in the lanes where the mask is set, b in the others.
    template <class Vector>
    EINPARALLEL_DETAIL_TARGET static Vector chosen(numbers mask, Vector a, Vector b) {
        numbers bits[2];
        __builtin_memcpy(&bits[0], &a, sizeof(a));
        __builtin_memcpy(&bits[1], &b, sizeof(b));
        bits[0] = (bits[0] & mask) | (bits[1] & ~mask);
        __builtin_memcpy(&a, &bits[0], sizeof(a));
        return a;
    }
    /// rows[0][r] = ⊕ of the lanes of rows[r]: of pairs of rows, lanes change places and are joined.
    template <class Fold, index Step = 1, class Vector>
    EINPARALLEL_DETAIL_TARGET static void fold_lanes(Vector (&rows)[lanes]) {
        if constexpr (Step < lanes) {
            EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < lanes; row += 2 * Step) {
                typename copy::vector pair[2];
                __builtin_memcpy(&pair[0], &rows[row], sizeof(Vector));
                __builtin_memcpy(&pair[1], &rows[row + Step], sizeof(Vector));
                copy::template exchange<Step * unit>(pair[0], pair[1]);
                Vector halves[2];
                __builtin_memcpy(halves, pair, sizeof(pair));
                rows[row] = Fold::join(halves[0], halves[1]);
            }
            fold_lanes<Fold, 2 * Step>(rows);
        }
    }
};

template <class T, class Reduce>
struct vector_fold<T, Reduce, instruction_set::EINPARALLEL_DETAIL_SET> {
    using code = vector_rows<T, instruction_set::EINPARALLEL_DETAIL_SET>;
    static constexpr bool wraps = std::is_integral_v<T> && Reduce::code <= op_code::multiply;
    using lane = typename std::conditional_t<wraps, std::make_unsigned<T>, real_part<T> >::type;
    typedef lane vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    static constexpr index lanes = code::lanes;

    EINPARALLEL_DETAIL_TARGET static void run(void* into, const void* x, index step, index length, index rows) {
        if constexpr (EINPARALLEL_DETAIL_BYTES > 16) {
            if (length < lanes) {
                vector_fold<T, Reduce, instruction_set::baseline>::run(into, x, step, length, rows);
                return;
            }
        }
        const index rest = length % lanes;
        const bool is_short = length < lanes;
        vector none{};
        if constexpr (!is_complex<T>::value) {
            none = none + lane(Reduce::template identity<T>());
        }
        const typename code::numbers position = code::count_from(0);
        const typename code::numbers is_first = position < typename code::number(std::min(length, lanes));
        for (index row = 0; row < rows; row += lanes) {
            const T* from[lanes];
            vector sums[lanes];
            EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                from[each] = static_cast<const T*>(x) + std::min(row + each, rows - 1) * step;
                const vector first = code::template read<vector>(from[each]);
                sums[each] = code::chosen(is_first, first, none);
            }
            for (index at = lanes; at + lanes <= length; at += lanes) {
                EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                    sums[each] = join(sums[each], code::template read<vector>(from[each] + at));
                }
            }
            if (rest != 0 && !is_short) {
                const typename code::numbers is_new =
                    position >= typename code::number(lanes - rest);  // vectors overlap
                EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                    const vector last = code::template read<vector>(from[each] + length - lanes);
                    sums[each] = join(sums[each], code::chosen(is_new, last, none));
                }
            }
            code::template fold_lanes<vector_fold>(sums);
            std::byte* const results = static_cast<std::byte*>(into) + row * index(sizeof(T));
            if (rows - row >= lanes) {
                __builtin_memcpy(results, &sums[0], sizeof(vector));
            } else {
                __builtin_memcpy(results, &sums[0], std::size_t(rows - row) * sizeof(T));
            }
        }
    }

    EINPARALLEL_DETAIL_TARGET static vector join(vector a, vector b) {
        if constexpr (Reduce::code == op_code::add) {
            return a + b;
        } else if constexpr (Reduce::code == op_code::multiply) {
            return a * b;
        } else {
            const vector chosen = Reduce::code == op_code::larger ? (a < b ? b : a) : (b < a ? b : a);
            return std::is_integral_v<T> ? chosen : b != b ? b : chosen;
        }
    }
};

template <class T>
struct vector_place<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using code = vector_rows<T, instruction_set::EINPARALLEL_DETAIL_SET>;
    using numbers = typename code::numbers;
    using number = typename code::number;
    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    static constexpr index lanes = code::lanes;

    EINPARALLEL_DETAIL_TARGET static void run(index* into, const T* x, const T* extreme, const counted_row& at,
                                              index rows) {
        // A vector reads beyond a row that is shorter: only where other rows follow, else single elements are read.
        const index lacks = std::max<index>(lanes - at.length, 0);
        if constexpr (EINPARALLEL_DETAIL_BYTES > 16) {
            if (lacks > 0 && at.beyond != at.length) {
                vector_place<T, instruction_set::baseline>::run(into, x, extreme, at, rows);
                return;
            }
        }
        const index wide = lacks == 0               ? rows
                           : at.beyond != at.length ? 0
                                                    : std::max<index>(rows - (lacks + at.length - 1) / at.length, 0);
        // Where indices fall along a row, the least one is that of the last position.
        const number sign = at.step < 0 ? -1 : 1;
        const numbers none = numbers{} + std::numeric_limits<number>::max();
        const auto index_of = [&](number found) {
            return found == none[0] ? std::numeric_limits<index>::max() : at.from + found * sign * at.step;
        };
        for (index row = 0; row < wide; row += lanes) {
            numbers least[lanes];
            EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                const index own = std::min(row + each, wide - 1);
                const T* const from = x + own * at.beyond;
                const vector sought = vector{} + extreme[own];
                least[each] = none;
                for (index done = 0; done < at.length; done += lanes) {
                    const index first = std::max<index>(std::min(done, at.length - lanes), 0);  // some of them again
                    const vector value = code::template read<vector>(from + first);
                    const numbers position = code::count_from(first);
                    const numbers here = position < number(at.length) ? position * sign : none;
                    numbers found = value == sought ? here : none;
                    found = value != value ? here : found;
                    least[each] = join(least[each], found);
                }
            }
            code::template fold_lanes<vector_place>(least);
            for (index each = 0; each < std::min(lanes, wide - row); ++each) {
                into[row + each] = index_of(least[0][each]);
            }
        }
        for (index row = wide; row < rows; ++row) {
            number least = none[0];
            for (index position = 0; position < at.length; ++position) {
                const T value = x[row * at.beyond + position];
                least = value == extreme[row] || value != value ? std::min(least, number(position * sign)) : least;
            }
            into[row] = index_of(least);
        }
    }

    EINPARALLEL_DETAIL_TARGET static numbers join(numbers a, numbers b) { return a < b ? a : b; }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
