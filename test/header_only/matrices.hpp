#pragma once
// What both programs compute with: whole numbers as elements, so that results are equal to the last bit.

#include <einparallel.hpp>

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
#error "these programs are for the headers alone"
#endif

namespace header_only {

namespace ep = einparallel;

/// From −4 to 4.
inline double element(ep::index row, ep::index column, int seed) {
    return static_cast<double>((row * 5 + column * 3 + seed * 7) % 9 - 4);
}

template <class T>
ep::array<T, 2> matrix(ep::index rows, ep::index columns, int seed) {
    ep::array<T, 2> made({rows, columns});
    for (ep::index row = 0; row < rows; ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            made(row, column) = T(static_cast<float>(element(row, column, seed)));
        }
    }
    return made;
}

/// Element (row, column) of A · B.
template <class T>
T product_at(const ep::array<T, 2>& a, const ep::array<T, 2>& b, ep::index row, ep::index column) {
    T sum{};
    for (ep::index at = 0; at < a.extents()[1]; ++at) {
        sum += a(row, at) * b(at, column);
    }
    return sum;
}

/// Elements that are not what expected(row, column) says.
template <class T, class Expected>
int wrong(const ep::array<T, 2>& made, ep::index rows, ep::index columns, Expected expected) {
    int count = made.extents()[0] == rows && made.extents()[1] == columns ? 0 : 1;
    for (ep::index row = 0; count == 0 && row < rows; ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            count += made(row, column) == expected(row, column) ? 0 : 1;
        }
    }
    return count;
}

}  // namespace header_only
