#pragma once
// Complex numbers and their functions for device code; the functions of std::complex run on the host only.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

namespace einparallel::detail {

/// A complex number with the same bytes as std::complex<T>. The functors of notation/operations/operators.hpp accept
/// it.
template <class T>
class complex_pair {
public:
    using value_type = T;

    complex_pair() = default;
    EINPARALLEL_HOST_DEVICE constexpr complex_pair(T re, T im = 0) : re_(re), im_(im) {}

    [[nodiscard]] EINPARALLEL_HOST_DEVICE constexpr T real() const { return re_; }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE constexpr T imag() const { return im_; }

    friend EINPARALLEL_HOST_DEVICE complex_pair operator-(complex_pair a) { return {-a.re_, -a.im_}; }
    friend EINPARALLEL_HOST_DEVICE complex_pair operator+(complex_pair a, complex_pair b) {
        return {a.re_ + b.re_, a.im_ + b.im_};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair operator-(complex_pair a, complex_pair b) {
        return {a.re_ - b.re_, a.im_ - b.im_};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair operator*(complex_pair a, complex_pair b) {
        return {a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_};
    }
    /// Smith's algorithm: does not square, so large and small operands seldom overflow.
    friend EINPARALLEL_HOST_DEVICE complex_pair operator/(complex_pair a, complex_pair b) {
        if (std::abs(b.re_) >= std::abs(b.im_)) {
            const T ratio = b.im_ / b.re_;
            const T scale = b.re_ + b.im_ * ratio;
            return {(a.re_ + a.im_ * ratio) / scale, (a.im_ - a.re_ * ratio) / scale};
        }
        const T ratio = b.re_ / b.im_;
        const T scale = b.re_ * ratio + b.im_;
        return {(a.re_ * ratio + a.im_) / scale, (a.im_ * ratio - a.re_) / scale};
    }
    friend EINPARALLEL_HOST_DEVICE bool operator==(complex_pair a, complex_pair b) {
        return a.re_ == b.re_ && a.im_ == b.im_;
    }

    friend EINPARALLEL_HOST_DEVICE T abs(complex_pair a) { return std::hypot(a.re_, a.im_); }
    friend EINPARALLEL_HOST_DEVICE complex_pair exp(complex_pair a) {
        const T size = std::exp(a.re_);
        return a.im_ == T(0) ? complex_pair(size, a.im_) : complex_pair(size * std::cos(a.im_), size * std::sin(a.im_));
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair log(complex_pair a) {
        return {std::log(abs(a)), std::atan2(a.im_, a.re_)};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair sqrt(complex_pair a) {
        const T larger = std::sqrt((std::abs(a.re_) + abs(a)) / 2);
        if (larger == T(0)) {
            return {T(0), a.im_};
        }
        const T other = std::abs(a.im_) / (2 * larger);
        return a.re_ >= T(0) ? complex_pair(larger, std::copysign(other, a.im_))
                             : complex_pair(other, std::copysign(larger, a.im_));
    }
    /// tanh(x + iy) = (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), evaluated so that nothing overflows.
    friend EINPARALLEL_HOST_DEVICE complex_pair tanh(complex_pair a) {
        if (std::abs(a.re_) > T(22)) {
            return {std::copysign(T(1), a.re_), std::copysign(T(0), std::sin(2 * a.im_))};
        }
        const T t = std::tan(a.im_);
        const T s = std::sinh(a.re_);
        const T beta = 1 + t * t;
        const T below = 1 + beta * s * s;
        return {beta * std::sqrt(1 + s * s) * s / below, t / below};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair sin(complex_pair a) {
        return {std::sin(a.re_) * std::cosh(a.im_), std::cos(a.re_) * std::sinh(a.im_)};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair cos(complex_pair a) {
        return {std::cos(a.re_) * std::cosh(a.im_), -std::sin(a.re_) * std::sinh(a.im_)};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair tan(complex_pair a) {
        const complex_pair turned = tanh(complex_pair(-a.im_, a.re_));
        return {turned.im_, -turned.re_};
    }
    friend EINPARALLEL_HOST_DEVICE complex_pair pow(complex_pair a, complex_pair b) {
        if (a == complex_pair(0)) {  // 0⁰ is NaN, as on the host
            const T none = std::numeric_limits<T>::quiet_NaN();
            return b == complex_pair(0) ? complex_pair(none, none) : complex_pair(0);
        }
        return exp(b * log(a));
    }

private:
    T re_;
    T im_;
};

template <class T>
struct is_complex<complex_pair<T>> : std::true_type {};
template <class T>
struct real_part<complex_pair<T>> : std::type_identity<T> {};

}  // namespace einparallel::detail
