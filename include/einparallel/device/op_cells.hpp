#pragma once
// Op programs in device code: cells of 8 or 16 bytes for values of any element type, and instructions on them.

#include <einparallel/device/complex_pair.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__CUDACC__)
#define EINPARALLEL_DETAIL_NOINLINE __noinline__
#else
#define EINPARALLEL_DETAIL_NOINLINE
#endif

namespace einparallel::detail {

/// The type in which an instruction computes. Integers and bool have 64 bits. Half-precision numbers are computed as
/// floats and then rounded; their kind is `half` plus the position of their type in half_elements.
enum class cell_kind : std::uint8_t { f32, f64, c64, c128, whole, natural, half };
EINPARALLEL_HOST_DEVICE constexpr bool is_integer(cell_kind kind) {
    return kind == cell_kind::whole || kind == cell_kind::natural;
}

/// An element type in device code.
struct cell_type {
    cell_kind kind;
    std::uint8_t bytes;  ///< of an element in memory
    bool is_bool;
};

/// A value of any type: a float in the lower half of a word, an integer extended to 64 bits, a complex number as its
/// bytes.
template <int Words>
struct op_cell {
    std::uint64_t words[Words];

    template <class T>
    [[nodiscard]] EINPARALLEL_HOST_DEVICE T as() const {
        static_assert(sizeof(T) <= sizeof(op_cell));
        T value;
        std::memcpy(&value, words, sizeof(T));
        return value;
    }
    template <class T>
    [[nodiscard]] static EINPARALLEL_HOST_DEVICE op_cell of(const T& value) {
        static_assert(sizeof(T) <= sizeof(op_cell));
        op_cell made{};
        std::memcpy(made.words, &value, sizeof(T));
        return made;
    }
};

/// An instruction. Its registers are renumbered, so that a program needs few of them.
struct cell_instruction {
    op_code code;
    cell_type computed;  ///< type of the arguments
    cell_type result;
    std::uint8_t into;
    std::uint8_t from[3];
    std::uint64_t bits[2];  ///< the value, where the instruction is a number
};

/// The bits of an element as a cell holds them: an integer is extended to 64 bits.
EINPARALLEL_HOST_DEVICE inline std::uint64_t wrapped(std::uint64_t bits, cell_type type) {
    if (type.is_bool) {
        return bits != 0 ? 1 : 0;
    }
    const int unused = type.bytes < 8 ? 64 - 8 * type.bytes : 0;
    return type.kind == cell_kind::whole ? std::uint64_t(std::int64_t(bits << unused) >> unused)
                                         : bits << unused >> unused;
}

/// Calls visit(Half()) with the half-precision type at `position` of the list.
template <class Half, class... Rest>
EINPARALLEL_HOST_DEVICE void with_half_at(type_list<Half, Rest...> /*list*/, int position, const auto& visit) {
    if constexpr (sizeof...(Rest) > 0) {
        if (position > 0) {
            return with_half_at(type_list<Rest...>(), position - 1, visit);
        }
    }
    visit(Half());
}

/// Calls visit(T()) with the type in which `kind` computes. It does nothing for c128 where cells have 8 bytes.
template <class Cell, class Visit>
EINPARALLEL_HOST_DEVICE void with_kind(cell_kind kind, const Visit& visit) {
    switch (kind) {
        case cell_kind::f32:
            return visit(float());
        case cell_kind::f64:
            return visit(double());
        case cell_kind::c64:
            return visit(complex_pair<float>());
        case cell_kind::c128:
            if constexpr (sizeof(Cell) == 16) {
                visit(complex_pair<double>());
            }
            return;
        case cell_kind::whole:
            return visit(std::int64_t());
        case cell_kind::natural:
            return visit(std::uint64_t());
        default:
            return with_half_at(half_elements(), int(kind) - int(cell_kind::half), visit);
    }
}

/// Converts x to another type. A complex x can become only complex or bool; otherwise the value has no meaning.
template <class Cell, class T>
EINPARALLEL_HOST_DEVICE Cell cast_to(cell_type to, T x) {
    Cell made{{x == T(0) ? std::uint64_t{0} : 1}};
    if (!to.is_bool) {
        with_kind<Cell>(to.kind, [&](auto zero) {
            using To = decltype(zero);
            if constexpr (is_complex<To>::value || !is_complex<T>::value) {
                made = Cell::of(converted<To>(x));
            }
        });
    }
    return made;
}

/// The result of a functor for arguments of type T; y is unused where it takes one argument.
template <class Cell, class T>
EINPARALLEL_HOST_DEVICE Cell called(op_code code, T x, T y) {
    if constexpr (is_half<T>) {
        return Cell::of(T(called<Cell>(code, float(x), float(y)).template as<float>()));
    } else {
        constexpr char kind = is_complex<T>::value ? 'c' : std::is_integral_v<T> ? 'i' : 'f';
        Cell made{};
        with_functor(op_functors(), code, [&](auto function) {
            using F = decltype(function);
            if constexpr (computes_in(F::code, {kind, sizeof(T)})) {
                if constexpr (F::code == op_code::sign && std::is_unsigned_v<T>) {
                    made = Cell::of(T(x != 0));
                } else if constexpr (arity_of(F::code) == 1) {
                    made = Cell::of(function(x));
                } else {
                    made = Cell::of(function(x, y));
                }
            }
        });
        return made;
    }
}

/// The result of an instruction for arguments a, b and c.
template <class Cell>
EINPARALLEL_DETAIL_NOINLINE EINPARALLEL_HOST_DEVICE Cell computed(op_code code, cell_type from, cell_type to,
                                                                  const Cell& a, const Cell& b, const Cell& c) {
    if (code == op_code::choice) {
        return a.words[0] != 0 ? b : c;
    }
    Cell made{};
    with_kind<Cell>(from.kind, [&](auto zero) {
        using T = decltype(zero);
        const T x = a.template as<T>();
        const T y = b.template as<T>();
        if (code == op_code::cast) {
            made = cast_to<Cell>(to, x);
        } else if (code == op_code::position) {
            const int unused = 64 - 8 * to.bytes + (to.kind == cell_kind::whole ? 1 : 0);
            made = x == y || !(x == x) ? c : Cell{{~std::uint64_t{0} >> unused}};
        } else {
            made = called<Cell>(code, x, y);
        }
    });
    if (is_integer(to.kind)) {
        made.words[0] = wrapped(made.words[0], to);
    }
    return made;
}

/// Runs `count` instructions for `points` points of one thread. Register r of point n is
/// cells[(r * points + n) * apart]. `divided` becomes 1 where an integer is divided by zero at a point whose bit is set
/// in `active`.
template <class Cell>
EINPARALLEL_DETAIL_NOINLINE EINPARALLEL_HOST_DEVICE void interpret(const cell_instruction* code, int count, Cell* cells,
                                                                   int points, int apart, unsigned active,
                                                                   std::uint32_t* divided) {
    for (int number = 0; number < count; ++number) {
        const cell_instruction& each = code[number];
        for (int point = 0; point < points; ++point) {
            const auto cell = [&](int which) -> Cell& { return cells[(which * points + point) * apart]; };
            if (each.code == op_code::number) {
                std::memcpy(cell(each.into).words, each.bits, sizeof(Cell));
            } else {
                const bool divides = each.code == op_code::divide || each.code == op_code::remainder;
                if (divides && is_integer(each.computed.kind) && cell(each.from[1]).words[0] == 0 &&
                    (active >> point & 1U) != 0 && divided != nullptr) {
                    *divided = 1;
                }
                cell(each.into) = computed(each.code, each.computed, each.result, cell(each.from[0]),
                                           cell(each.from[1]), cell(each.from[2]));
            }
        }
    }
}

}  // namespace einparallel::detail
