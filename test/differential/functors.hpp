#pragma once
// The application's own ⊗ and maps in random statements; the oracle has them under the same names.

namespace differential {

struct affine {
    template <class T>
    T operator()(T x) const {
        return T(3) * x + T(1);
    }
};

struct skew {
    template <class T>
    T operator()(T x, T y) const {
        return x - T(2) * y;
    }
};

struct mix {
    template <class T>
    T operator()(T x, T y, T z) const {
        return x * y - z;
    }
};

}  // namespace differential
