#pragma once
// Op programs in device code: values of any element type in cells of 8 or 16 bytes, and what instructions make of them.

#include <einparallel/device/complex_pair.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/op_code.hpp>
#include <einparallel/notation/operators.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__CUDACC__)
#define EINPARALLEL_DETAIL_NOINLINE __noinline__
#else
#define EINPARALLEL_DETAIL_NOINLINE
#endif

namespace einparallel::detail {

/// How an instruction computes: integers and bool in 64 bits.
enum class cell_kind : std::uint8_t { f32, f64, c64, c128, whole, natural };

/// An element type in device code.
struct cell_type {
    cell_kind kind;
    std::uint8_t bytes;  ///< of an element in memory
    bool is_bool;
};

/// A value: floats in the lower half of a word, integers extended to 64 bits, complex numbers as their bytes.
template <int Words>
struct op_cell {
    std::uint64_t words[Words];

    template <class T>
    [[nodiscard]] EINPARALLEL_HOST_DEVICE T as() const {
        if constexpr (std::is_same_v<T, float>) {
            return std::bit_cast<float>(static_cast<std::uint32_t>(words[0]));
        } else if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
            return std::bit_cast<T>(words[0]);
        } else {
            static_assert(Words == 2);
            return std::bit_cast<T>(*this);
        }
    }
    template <class T>
    [[nodiscard]] static EINPARALLEL_HOST_DEVICE op_cell of(T value) {
        op_cell made{};
        if constexpr (std::is_same_v<T, float>) {
            made.words[0] = std::bit_cast<std::uint32_t>(value);
        } else if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
            made.words[0] = std::bit_cast<std::uint64_t>(value);
        } else {
            static_assert(Words == 2);
            made = std::bit_cast<op_cell>(value);
        }
        return made;
    }
};

/// An instruction, its registers numbered anew so that few are needed at a time.
struct cell_instruction {
    op_code code;
    cell_type computed;  ///< type of its arguments
    cell_type result;
    std::uint8_t into;
    std::uint8_t from[3];
    std::uint64_t bits[2];  ///< of a number
};

/// An integer as an element type holds it, in 64 bits.
EINPARALLEL_HOST_DEVICE inline std::uint64_t wrapped(std::uint64_t bits, cell_type type) {
    if (type.is_bool) {
        return bits != 0 ? 1 : 0;
    }
    const int unused = 64 - 8 * type.bytes;
    return type.kind == cell_kind::whole
               ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused)
               : bits << unused >> unused;
}

/// Functions of reals.
template <class T, class Cell>
EINPARALLEL_HOST_DEVICE Cell fraction_of(op_code code, T a, T b) {
    const auto made = [](T x) { return Cell::template of<T>(x); };
    switch (code) {
        case op_code::floor:
            return made(std::floor(a));
        case op_code::round:
            return made(std::round(a));
        case op_code::exp:
            return made(std::exp(a));
        case op_code::log:
            return made(std::log(a));
        case op_code::sqrt:
            return made(std::sqrt(a));
        case op_code::tanh:
            return made(std::tanh(a));
        case op_code::sin:
            return made(std::sin(a));
        case op_code::cos:
            return made(std::cos(a));
        case op_code::tan:
            return made(std::tan(a));
        case op_code::erf:
            return made(std::erf(a));
        case op_code::sigmoid:
            return made(sigmoid_function{}(a));
        case op_code::silu:
            return made(silu_function{}(a));
        case op_code::gelu:
            return made(gelu_function{}(a));
        case op_code::power:
            return made(std::pow(a, b));
        case op_code::angle:
            return made(std::atan2(a, b));
        default:
            return made(std::exp(a - b));  // shifted_exponential
    }
}

/// Functions of real numbers and integers; of comparisons a bool.
template <class T, class Cell>
EINPARALLEL_HOST_DEVICE Cell ordered_of(op_code code, T a, T b) {
    const auto made = [](T x) { return Cell::template of<T>(x); };
    const auto truth = [](bool x) { return Cell{{x ? std::uint64_t{1} : 0}}; };
    switch (code) {
        case op_code::negate:
            return made(negate{}(a));
        case op_code::absolute:
            return made(absolute{}(a));
        case op_code::conjugate:
            return made(a);
        case op_code::sign:
            if constexpr (std::is_unsigned_v<T>) {
                return truth(a != 0);
            } else {
                return made(sign_function{}(a));
            }
        case op_code::relu:
            return made(relu_function{}(a));
        case op_code::add:
            return made(op::sum_type{}(a, b));
        case op_code::subtract:
            return made(minus{}(a, b));
        case op_code::multiply:
            return made(op::prod_type{}(a, b));
        case op_code::divide:
            if constexpr (std::is_integral_v<T>) {
                // Threads without a point divide too.
                return made(b == T(0) ? T(0) : b == static_cast<T>(-1) && std::is_signed_v<T> ? negate{}(a) : a / b);
            } else {
                return made(a / b);
            }
        case op_code::larger:
            return made(op::max_type{}(a, b));
        case op_code::smaller:
            return made(op::min_type{}(a, b));
        case op_code::less:
            return truth(a < b);
        case op_code::less_equal:
            return truth(a <= b);
        case op_code::greater:
            return truth(a > b);
        case op_code::greater_equal:
            return truth(a >= b);
        case op_code::equal:
            return truth(a == b);
        case op_code::not_equal:
            return truth(a != b);
        default:
            if constexpr (std::is_floating_point_v<T>) {
                return fraction_of<T, Cell>(code, a, b);
            } else {
                return made(a);  // floor and round
            }
    }
}

/// A real number or an integer as an element of another type.
template <class Cell, class T>
EINPARALLEL_HOST_DEVICE Cell cast_to(cell_type to, T x) {
    switch (to.kind) {
        case cell_kind::f32:
            return Cell::template of<float>(static_cast<float>(x));
        case cell_kind::f64:
            return Cell::template of<double>(static_cast<double>(x));
        case cell_kind::c64:
            return Cell::template of<complex_pair<float>>({static_cast<float>(x), 0});
        case cell_kind::c128:
            if constexpr (sizeof(Cell) == 16) {
                return Cell::template of<complex_pair<double>>({static_cast<double>(x), 0});
            }
            return {};
        case cell_kind::whole:
            return {{wrapped(static_cast<std::uint64_t>(static_cast<std::int64_t>(x)), to)}};
        default:
            return {{to.is_bool ? std::uint64_t{x != T(0)} : wrapped(static_cast<std::uint64_t>(x), to)}};
    }
}

/// What an instruction makes of its arguments.
template <class Cell>
EINPARALLEL_DETAIL_NOINLINE EINPARALLEL_HOST_DEVICE Cell computed(op_code code, cell_type from, cell_type to,
                                                                  const Cell& a, const Cell& b, const Cell& c) {
    constexpr bool wide = sizeof(Cell) == 16;
    if (code == op_code::choice) {
        return a.words[0] != 0 ? b : c;
    }
    if (code == op_code::place) {
        bool extreme = false;
        switch (from.kind) {
            case cell_kind::f32:
                extreme = a.template as<float>() == b.template as<float>() ||
                          a.template as<float>() != a.template as<float>();
                break;
            case cell_kind::f64:
                extreme = a.template as<double>() == b.template as<double>() ||
                          a.template as<double>() != a.template as<double>();
                break;
            default:
                extreme = a.words[0] == b.words[0];
        }
        const int unused = 64 - 8 * to.bytes + (to.kind == cell_kind::whole ? 1 : 0);
        return extreme ? c : Cell{{~std::uint64_t{0} >> unused}};
    }
    const bool casts = code == op_code::cast;
    switch (from.kind) {
        case cell_kind::f32:
            return casts ? cast_to<Cell>(to, a.template as<float>())
                         : ordered_of<float, Cell>(code, a.template as<float>(), b.template as<float>());
        case cell_kind::f64:
            return casts ? cast_to<Cell>(to, a.template as<double>())
                         : ordered_of<double, Cell>(code, a.template as<double>(), b.template as<double>());
        case cell_kind::c64: {
            const auto x = a.template as<complex_pair<float>>();
            if (!casts) {
                return complex_of<float, Cell>(code, x, b.template as<complex_pair<float>>());
            }
            if constexpr (wide) {
                if (to.kind == cell_kind::c128) {
                    return Cell::template of<complex_pair<double>>({x.re, x.im});
                }
            }
            return to.is_bool ? Cell{{x.re != 0 || x.im != 0 ? std::uint64_t{1} : 0}} : a;
        }
        case cell_kind::c128:
            if constexpr (wide) {
                const auto x = a.template as<complex_pair<double>>();
                if (!casts) {
                    return complex_of<double, Cell>(code, x, b.template as<complex_pair<double>>());
                }
                if (to.kind == cell_kind::c64) {
                    return Cell::template of<complex_pair<float>>({static_cast<float>(x.re), static_cast<float>(x.im)});
                }
                return to.is_bool ? Cell{{x.re != 0 || x.im != 0 ? std::uint64_t{1} : 0}} : a;
            }
            return a;
        case cell_kind::whole: {
            const auto x = static_cast<std::int64_t>(a.words[0]);
            if (casts) {
                return cast_to<Cell>(to, x);
            }
            Cell made = ordered_of<std::int64_t, Cell>(code, x, static_cast<std::int64_t>(b.words[0]));
            made.words[0] = wrapped(made.words[0], to);
            return made;
        }
        default: {
            if (casts) {
                return cast_to<Cell>(to, a.words[0]);
            }
            Cell made = ordered_of<std::uint64_t, Cell>(code, a.words[0], b.words[0]);
            made.words[0] = wrapped(made.words[0], to);
            return made;
        }
    }
}

/// Runs instructions for `points` points of one thread. The cell of register r of point n is cells[(r * points + n) *
/// apart].
template <class Cell>
EINPARALLEL_DETAIL_NOINLINE EINPARALLEL_HOST_DEVICE void interpret(const cell_instruction* code, int count, Cell* cells,
                                                                   int points, int apart) {
    for (int number = 0; number < count; ++number) {
        const cell_instruction& each = code[number];
        for (int point = 0; point < points; ++point) {
            const auto cell = [&](int which) -> Cell& { return cells[(which * points + point) * apart]; };
            Cell& into = cell(each.into);
            if (each.code == op_code::number) {
                into.words[0] = each.bits[0];
                if constexpr (sizeof(Cell) == 16) {
                    into.words[1] = each.bits[1];
                }
            } else {
                into = computed(each.code, each.computed, each.result, cell(each.from[0]), cell(each.from[1]),
                                cell(each.from[2]));
            }
        }
    }
}

}  // namespace einparallel::detail
