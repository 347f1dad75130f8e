// Five-point stencils at functions of labels beside plain loops, one thread: both are compiled with -O3 -march=native
// and take turns. Usage: stencil [--rounds r] [--sides n,n,…]

#include <einparallel.hpp>

#include "turns.hpp"

#include <cstdio>

namespace {

namespace ep = einparallel;

EINPARALLEL_LABELS(i, j);

/// The mean of a point and its four neighbours, into an array without the rim.
struct mean {
    static constexpr const char* name = "mean";
    static constexpr ep::index rim = 0;

    template <class T>
    [[gnu::noinline]] static void plain(const T* a, T* z, ep::index side) {
        for (ep::index row = 0; row < side - 2; ++row) {
            for (ep::index column = 0; column < side - 2; ++column) {
                const T* const at = a + (row + 1) * side + column + 1;
                z[row * (side - 2) + column] = T(0.2) * (at[0] + at[-side] + at[side] + at[-1] + at[1]);
            }
        }
    }
    template <class T>
    [[gnu::noinline]] static void ours(const ep::array<T, 2>& A, ep::array<T, 2>& Z) {
        Z(i, j) = T(0.2) * (A(i + 1, j + 1) + A(i, j + 1) + A(i + 2, j + 1) + A(i + 1, j) + A(i + 1, j + 2));
    }
};

/// A step of the heat equation, inside the rim.
struct heat {
    static constexpr const char* name = "heat";
    static constexpr ep::index rim = 2;

    template <class T>
    [[gnu::noinline]] static void plain(const T* a, T* z, ep::index side) {
        for (ep::index row = 1; row < side - 1; ++row) {
            for (ep::index column = 1; column < side - 1; ++column) {
                const T* const at = a + row * side + column;
                z[row * side + column] = at[0] + T(0.1) * (at[-side] + at[side] + at[-1] + at[1] - T(4) * at[0]);
            }
        }
    }
    template <class T>
    [[gnu::noinline]] static void ours(const ep::array<T, 2>& A, ep::array<T, 2>& Z) {
        Z(i + 1, j + 1) = A(i + 1, j + 1) + T(0.1) * (A(i, j + 1) + A(i + 2, j + 1) + A(i + 1, j) + A(i + 1, j + 2) -
                                                      T(4) * A(i + 1, j + 1));
    }
};

template <class Stencil, class T>
bool compare(ep::index side, int rounds) {
    ep::array<T, 2> A({side, side});
    ep::array<T, 2> Z({side - 2 + Stencil::rim, side - 2 + Stencil::rim});
    ep::array<T, 2> expected({Z.extent(0), Z.extent(1)});
    for (ep::index at = 0; at < A.size(); ++at) {
        A.data()[at] = T(at * 37 % 1009) / T(64);
    }
    for (ep::index at = 0; at < Z.size(); ++at) {
        Z.data()[at] = expected.data()[at] = T(0);
    }
    const double points = double(side - 2) * double(side - 2);
    const auto [ours, plain] = bench::in_turns(
        rounds, points, [&] { Stencil::ours(A, Z); }, [&] { Stencil::plain(A.data(), expected.data(), side); });
    T error = 0;
    for (ep::index at = 0; at < Z.size(); ++at) {
        const T apart = Z.data()[at] - expected.data()[at];
        error = apart > error ? apart : -apart > error ? -apart : error;
    }
    std::printf("%-5s %-7s %6ld %9.3f %9.3f %7.2f\n", Stencil::name, sizeof(T) == 8 ? "double" : "float", long(side),
                ours * 1e9 / points, plain * 1e9 / points, plain / ours);
    return error < T(1e-4);
}

}  // namespace

int main(int count, char** arguments) {
    const bench::options given(count, arguments, {510, 4096});
    bool right = true;
    std::printf("%-5s %-7s %6s %9s %9s %7s\n", "", "", "side", "ours ns", "plain ns", "ratio");
    for (const ep::index side : given.sides) {
        right = compare<mean, double>(side, given.rounds) && right;
        right = compare<mean, float>(side, given.rounds) && right;
        right = compare<heat, double>(side, given.rounds) && right;
        right = compare<heat, float>(side, given.rounds) && right;
    }
    if (!right) {
        std::printf("stencil: ours and the plain loop differ\n");
    }
    return right ? 0 : 1;
}
