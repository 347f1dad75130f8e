// Rows of one function of elements: on the host, an instruction of an op_program. Compiled for every instruction set:
// this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_OP_ROW)
#define EINPARALLEL_DETAIL_OP_ROW

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_fold.hpp>
#include <einparallel/kernel/simd/vector_half.hpp>
#include <einparallel/kernel/simd/vector_math.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// into[i] = f(from[0][i], from[1][i], …) for `count` points. `into` may be the same memory as a row that is read. An
/// argument that is a number has one element.
using row_function = void (*)(const void* functor, void* into, const void* const* from, index count);

/// The pointer that a row function gets for its functor. It is null for functors of the library, which the row function
/// makes itself.
template <class Function>
const void* state_of(const Function& function) {
    return has_op_code<Function> ? nullptr : &function;
}

/// Rows of Function on elements In…. Arguments whose bits are set in Numbers are numbers.
template <instruction_set Set, unsigned Numbers, class Function, class Out, class... In>
struct op_row;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// The row_function of a functor. For functors of the library it has the best instructions of this processor. Functors
/// of the application are compiled once, with the instructions of the unit.
template <unsigned Numbers, class Function, class Out, class... In>
row_function made_row_function() {
    if constexpr (has_op_code<Function>) {
        return with_best_instructions(
            [](auto set) -> row_function { return &op_row<set.value, Numbers, Function, Out, In...>::run; });
    } else {
        return &op_row<instruction_set::baseline, Numbers, Function, Out, In...>::run;
    }
}

/// made_row_function() from a compiled library, which has it for float and double (source/products.hpp).
template <unsigned Numbers, class Function, class Out, class... In>
[[gnu::visibility("default")]] row_function prepared_row_function();
template <class Function, class Out, class... In>
inline constexpr bool has_prepared_row = false;
#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
template <class Function, class T>
    requires(has_op_code<Function>&& std::is_floating_point_v<T>)
inline constexpr bool has_prepared_row<Function, T, T> = true;
template <class Function, class Out, class T>
    requires(has_op_code<Function>&& std::is_floating_point_v<T> && !std::is_same_v<Function, differ> &&
             (std::is_same_v<Out, T> || compares(Function::code)))
inline constexpr bool has_prepared_row<Function, Out, T, T> = true;
template <class T>
    requires std::is_floating_point_v<T>
inline constexpr bool has_prepared_row<choice, T, bool, T, T> = true;
#endif

template <unsigned Numbers, class Function, class Out, class... In>
row_function row_function_of() {
    constexpr bool some_row = sizeof...(In) == 1 ? Numbers == 0 : sizeof...(In) == 2 ? Numbers != 3 : Numbers % 2 == 0;
    if constexpr (has_prepared_row<Function, Out, In...> && some_row) {
        return prepared_row_function<Numbers, Function, Out, In...>();
    } else {
        return made_row_function<Numbers, Function, Out, In...>();
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <unsigned Numbers, class Function, class Out, class... In>
struct op_row<instruction_set::EINPARALLEL_DETAIL_SET, Numbers, Function, Out, In...> {
    EINPARALLEL_DETAIL_TARGET static void run([[maybe_unused]] const void* functor, void* into, const void* const* from,
                                              index count) {
        if constexpr (std::is_same_v<Function, position_where>) {
            if (from[2] == nullptr) {
                using T = std::tuple_element_t<0, std::tuple<In...> >;
                const auto* const x = static_cast<const T*>(from[0]);
                const auto* const extreme = static_cast<const T*>(from[1]);
                const counted_row& indices = *static_cast<const counted_row*>(functor);
                if constexpr (has_vector_rows<T>) {
                    if (indices.length > 0) {
                        constexpr instruction_set wide = instruction_set::EINPARALLEL_DETAIL_SET;
                        vector_place<T, std::min(wide, widest_rows)>::run(static_cast<Out*>(into), x, extreme, indices,
                                                                          count);
                        return;
                    }
                }
                find(static_cast<Out*>(into), x, extreme, indices, count);
                return;
            }
        }
        if constexpr (has_op_code<Function>) {
            run(Function{}, static_cast<Out*>(into), from, count, std::index_sequence_for<In...>{});
        } else {
            run(*static_cast<const Function*>(functor), static_cast<Out*>(into), from, count,
                std::index_sequence_for<In...>{});
        }
    }

private:
    static constexpr std::size_t smallest = std::min({sizeof(Out), sizeof(In)...});
    static constexpr index block = smallest < 4 ? 16 : index(EINPARALLEL_DETAIL_BYTES / smallest);
    static constexpr index short_row = 64;

    template <std::size_t... R>
    EINPARALLEL_DETAIL_TARGET static void run(const Function& function, Out* into, const void* const* from, index count,
                                              std::index_sequence<R...> /*operands*/) {
        if constexpr (has_op_code<Function> && (std::is_same_v<In, Out> && ...)) {
            if constexpr (has_vector_math<Function::code, Out>) {
                elementary<Function::code>(
                    into, static_cast<const Out*>(from[0]),
                    sizeof...(In) > 1 ? static_cast<const Out*>(from[sizeof...(In) - 1]) : nullptr, count);
                return;
            }
        }
        if constexpr (std::is_same_v<Function, unchanged> && Numbers == 0) {
            using Given = std::tuple_element_t<0, std::tuple<In...> >;
            if constexpr (is_half<Given> && std::is_same_v<Out, float>) {
                vector_half<Given, instruction_set::EINPARALLEL_DETAIL_SET>::widen(
                    into, static_cast<const Given*>(from[0]), count);
                return;
            } else if constexpr (is_half<Out> && std::is_same_v<Given, float>) {
                vector_half<Out, instruction_set::EINPARALLEL_DETAIL_SET>::narrow(
                    into, static_cast<const float*>(from[0]), count);
                return;
            }
        }
        if constexpr (std::is_same_v<Function, choice> && std::is_floating_point_v<Out> && (Numbers & 1) == 0) {
            if constexpr (std::is_same_v<std::tuple<In...>, std::tuple<bool, Out, Out> >) {
                choose(into, from, count);
                return;
            }
        }
        constexpr bool has_pairs = is_complex<Out>::value || (is_complex<In>::value || ...);
        using code =
            std::conditional_t<has_pairs, pairs, std::conditional_t<has_op_code<Function>, alone, as_written> >;
        code::compute(function, into, count, argument<In, (Numbers >> R & 1) != 0>(static_cast<const In*>(from[R]))...);
    }

    /// The least index at which x equals the extreme element or is a NaN. Where indices grow, it is sought in the whole
    /// row, for into[0], and there is one extreme element. Otherwise it is the index of the row, for every into[i].
    template <class T>
    EINPARALLEL_DETAIL_TARGET static void find(Out* into, const T* x, const T* extreme, const counted_row& at,
                                               index count) {
        using lane = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
        typedef lane vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES < 32 ? EINPARALLEL_DETAIL_BYTES : 32)));
        constexpr index lanes = index(sizeof(vector) / sizeof(T));
        constexpr index together = 4 * lanes;
        const bool along = at.step != 0;
        const auto find_in = [&](index first, index length) EINPARALLEL_DETAIL_TARGET {
            for (index point = first; point < first + length; ++point) {
                if (x[point] == extreme[along ? 0 : point] || x[point] != x[point]) {
                    Out& least = into[along ? 0 : point];
                    least = std::min(least, at.from + point * at.step);
                }
            }
        };
        vector limit = vector{} + lane(*extreme);
        index begin = 0;
        for (; begin + together <= count && (!along || at.step < 0 || at.from + begin * at.step < into[0]);
             begin += together) {
            vector found{};  // not 0 in lanes that have one; conditions stay in ?:, where nvcc takes vectors
            for (index first = begin; first < begin + together; first += lanes) {
                vector value;
                __builtin_memcpy(&value, x + first, sizeof(value));
                if (!along) {
                    __builtin_memcpy(&limit, extreme + first, sizeof(limit));
                }
                found = value == limit ? vector{} + lane(1) : found;
                found = value != value ? vector{} + lane(1) : found;
            }
            std::uint64_t words[sizeof(found) / 8];
            __builtin_memcpy(words, &found, sizeof(found));
            std::uint64_t some = 0;
            for (const std::uint64_t word : words) {
                some |= word;
            }
            if (some != 0 && along) {
                find_in(begin, together);
            } else if (some != 0) {
                find_each<lane>(into + begin, x + begin, extreme + begin, at.from, together);
            }
        }
        if (!along || at.step < 0 || at.from + begin * at.step < into[0]) {
            find_in(begin, count - begin);
        }
    }
    /// into[i] = min(into[i], at) where x[i] equals extreme[i] or is a NaN. `count`: a multiple of a vector of indices.
    template <class Lane, class T>
    EINPARALLEL_DETAIL_TARGET static void find_each(Out* into, const T* x, const T* extreme, index at, index count) {
        constexpr index lanes = index(EINPARALLEL_DETAIL_BYTES / sizeof(Out));
        typedef Lane vector __attribute__((vector_size(std::size_t(lanes) * sizeof(T))));
        typedef Out indices __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
        for (index point = 0; point < count; point += lanes) {
            vector value, limit;
            indices least;
            __builtin_memcpy(&value, x + point, sizeof(value));
            __builtin_memcpy(&limit, extreme + point, sizeof(limit));
            __builtin_memcpy(&least, into + point, sizeof(least));
            vector other = value == limit ? vector{} : vector{} + Lane(1);
            other = value != value ? vector{} : other;
            const indices here = indices{} + at;
            const indices least_here = here < least ? here : least;
            least = __builtin_convertvector(other, indices) == 0 ? least_here : least;
            __builtin_memcpy(into + point, &least, sizeof(least));
        }
    }

    /// c ? a : b, written with vectors: compilers do not vectorise it, because elements of c are shorter.
    EINPARALLEL_DETAIL_TARGET static void choose(Out* into, const void* const* from, index count) {
        using code = vector_lanes<Out, instruction_set::EINPARALLEL_DETAIL_SET>;
        typedef unsigned char bytes __attribute__((vector_size(code::lanes)));
        const auto read = [&](int which, index at) EINPARALLEL_DETAIL_TARGET {
            const Out* const x = static_cast<const Out*>(from[which]);
            // x − 0 is x, where 0 + x is not: −0
            return (Numbers >> which & 1) != 0 ? *x - typename code::vector{} : code::read(x + at, code::lanes, Out());
        };
        index at = 0;
        for (; at + code::lanes <= count; at += code::lanes) {
            bytes chosen;
            __builtin_memcpy(&chosen, static_cast<const bool*>(from[0]) + at, sizeof(chosen));
            const auto mask = __builtin_convertvector(chosen, typename code::integers) != 0;
            code::write(into + at, mask ? read(1, at) : read(2, at), code::lanes);
        }
        const argument<Out, (Numbers & 2) != 0> a(static_cast<const Out*>(from[1]));
        const argument<Out, (Numbers & 4) != 0> b(static_cast<const Out*>(from[2]));
        for (; at < count; ++at) {
            into[at] = static_cast<const bool*>(from[0])[at] ? a[at] : b[at];
        }
    }

    /// An argument, which has a value at each point.
    template <class T, bool IsNumber>
    struct argument {
        const T* x;
        explicit argument(const T* row) : x(row) {}
        T operator[](index at) const { return x[at]; }
    };
    template <class T>
    struct argument<T, true> {
        T value;
        explicit argument(const T* number) : value(*number) {}
        T operator[](index /*at*/) const { return value; }
    };

    /// Computes whole blocks first: g++ vectorises such a loop at -O2, and does not unroll it to scalars at -O3.
    template <class... Arguments>
    [[gnu::always_inline]] static void loop(const Function& function, Out* into, index count, Arguments... x) {
        const index whole = count / block * block;
        EINPARALLEL_DETAIL_SAME_ADDRESSES for (index at = 0; at < whole; ++at) {
            into[at] = converted<Out>(function(x[at]...));
        }
        for (index at = whole; at < count; ++at) {
            into[at] = converted<Out>(function(x[at]...));
        }
    }
    /// For one operation, which has nothing to be fused with.
    struct alone {
        template <class... Arguments>
        EINPARALLEL_DETAIL_TARGET static void compute(const Function& function, Out* into, index count,
                                                      Arguments... x) {
            loop(function, into, count, x...);
        }
    };
    struct as_written {
        template <class... Arguments>
        EINPARALLEL_DETAIL_UNFUSED static void compute(const Function& function, Out* into, index count,
                                                       Arguments... x) {
            loop(function, into, count, x...);
        }
    };

    /// Of complex numbers one operation is several of real ones.
    struct pairs {
        template <class... Arguments>
        EINPARALLEL_DETAIL_UNFUSED_PAIRS static void compute(const Function& function, Out* into, index count,
                                                             Arguments... x) {
            loop(function, into, count, x...);
        }
    };

    /// Computes an elementary function. Arguments that are numbers become short rows.
    template <op_code Code>
    EINPARALLEL_DETAIL_TARGET static void elementary(Out* into, const Out* x, const Out* y, index count) {
        using math = vector_math<Out, instruction_set::EINPARALLEL_DETAIL_SET>;
        if constexpr (Numbers == 0) {
            math::template row<Code>(into, x, y, count);
        } else {
            Out numbers[2][short_row];
            for (index lane = 0; lane < short_row; ++lane) {
                numbers[0][lane] = *x;
                numbers[1][lane] = y != nullptr ? *y : Out();
            }
            for (index at = 0; at < count; at += short_row) {
                math::template row<Code>(into + at, (Numbers & 1) != 0 ? numbers[0] : x + at,
                                         (Numbers & 2) != 0 ? numbers[1] : y + at,
                                         count - at < short_row ? count - at : short_row);
            }
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
