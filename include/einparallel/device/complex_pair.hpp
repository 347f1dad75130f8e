#pragma once
// Complex numbers and their functions in device code, where std::complex is the host's only.

#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/op_code.hpp>

#include <cmath>

namespace einparallel::detail {

/// The same bytes as std::complex<T>.
template <class T>
struct complex_pair {
    T re;
    T im;

    friend EINPARALLEL_HOST_DEVICE complex_pair operator+(complex_pair a, complex_pair b) {
        return {a.re + b.re, a.im + b.im};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair operator-(complex_pair a, complex_pair b) {
        return {a.re - b.re, a.im - b.im};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair operator*(complex_pair a, complex_pair b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    /// Smith's: no overflow where the result has none.
    friend EINPARALLEL_HOST_DEVICE complex_pair operator/(complex_pair a, complex_pair b) {
        if (std::abs(b.re) >= std::abs(b.im)) {
            const T ratio = b.im / b.re;
            const T scale = b.re + b.im * ratio;
            return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
        }
        const T ratio = b.re / b.im;
        const T scale = b.re * ratio + b.im;
        return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
    }
    friend EINPARALLEL_HOST_DEVICE bool operator==(complex_pair a, complex_pair b) {
        return a.re == b.re && a.im == b.im;
    }
};

template <class T>
EINPARALLEL_HOST_DEVICE complex_pair<T> exp_of(complex_pair<T> a) {
    const T size = std::exp(a.re);
    return a.im == T(0) ? complex_pair<T>{size, a.im} : complex_pair<T>{size * std::cos(a.im), size * std::sin(a.im)};
}

template <class T>
EINPARALLEL_HOST_DEVICE complex_pair<T> log_of(complex_pair<T> a) {
    return {std::log(std::hypot(a.re, a.im)), std::atan2(a.im, a.re)};
}

template <class T>
EINPARALLEL_HOST_DEVICE complex_pair<T> sqrt_of(complex_pair<T> a) {
    const T larger_part = std::sqrt((std::abs(a.re) + std::hypot(a.re, a.im)) / 2);
    if (larger_part == T(0)) {
        return {T(0), a.im};
    }
    const T other = std::abs(a.im) / (2 * larger_part);
    return a.re >= T(0) ? complex_pair<T>{larger_part, std::copysign(other, a.im)}
                        : complex_pair<T>{other, std::copysign(larger_part, a.im)};
}

/// (sinh 2x + i sin 2y) / (cosh 2x + cos 2y)
template <class T>
EINPARALLEL_HOST_DEVICE complex_pair<T> tanh_of(complex_pair<T> a) {
    if (std::abs(a.re) > T(22)) {
        return {std::copysign(T(1), a.re), std::copysign(T(0), std::sin(2 * a.im))};
    }
    const T t = std::tan(a.im);
    const T s = std::sinh(a.re);
    const T beta = 1 + t * t;
    const T below = 1 + beta * s * s;
    return {beta * std::sqrt(1 + s * s) * s / below, t / below};
}

/// Functions of complex numbers; of |a| a real one.
template <class T, class Cell>
EINPARALLEL_HOST_DEVICE Cell complex_of(op_code code, complex_pair<T> a, complex_pair<T> b) {
    using pair = complex_pair<T>;
    const auto made = [](pair x) { return Cell::template of<pair>(x); };
    const auto sigmoid = [](pair x) { return pair{1, 0} / (pair{1, 0} + exp_of(pair{-x.re, -x.im})); };
    switch (code) {
        case op_code::negate:
            return made({-a.re, -a.im});
        case op_code::absolute:
            return Cell::template of<T>(std::hypot(a.re, a.im));
        case op_code::conjugate:
            return made({a.re, -a.im});
        case op_code::exp:
            return made(exp_of(a));
        case op_code::log:
            return made(log_of(a));
        case op_code::sqrt:
            return made(sqrt_of(a));
        case op_code::tanh:
            return made(tanh_of(a));
        case op_code::sin:
            return made({std::sin(a.re) * std::cosh(a.im), std::cos(a.re) * std::sinh(a.im)});
        case op_code::cos:
            return made({std::cos(a.re) * std::cosh(a.im), -std::sin(a.re) * std::sinh(a.im)});
        case op_code::tan: {
            const pair turned = tanh_of(pair{-a.im, a.re});
            return made({turned.im, -turned.re});
        }
        case op_code::sigmoid:
            return made(sigmoid(a));
        case op_code::silu:
            return made(a * sigmoid(a));
        case op_code::add:
            return made(a + b);
        case op_code::subtract:
            return made(a - b);
        case op_code::multiply:
            return made(a * b);
        case op_code::divide:
            return made(a / b);
        case op_code::power:
            if (a == pair{0, 0}) {  // 0⁰ is no number here, as it is on the host
                const T none = std::numeric_limits<T>::quiet_NaN();
                return made(b == pair{0, 0} ? pair{none, none} : pair{0, 0});
            }
            return made(exp_of(b * log_of(a)));
        case op_code::equal:
            return {{a == b ? std::uint64_t{1} : 0}};
        case op_code::not_equal:
            return {{a == b ? std::uint64_t{0} : 1}};
        default:
            return made(exp_of(a - b));  // shifted_exponential
    }
}

}  // namespace einparallel::detail
