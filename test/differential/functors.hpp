#pragma once
// The application's own ⊗ and maps in random statements; the oracle has them under the same names.

#include <einparallel/notation/compiled.hpp>

namespace differential {

struct affine {
    template <class T>
    EINPARALLEL_HOST_DEVICE T operator()(T x) const {
        return T(3) * x + T(1);
    }
};

struct skew {
    template <class T>
    EINPARALLEL_HOST_DEVICE T operator()(T x, T y) const {
        return x - T(2) * y;
    }
};

struct mix {
    template <class T>
    EINPARALLEL_HOST_DEVICE T operator()(T x, T y, T z) const {
        return x * y - z;
    }
};

}  // namespace differential
