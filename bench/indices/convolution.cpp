// A convolution of 64 images of 56 x 56 to 64, 3 x 3, padded, in float on one thread: GFlop/s beside the library's own
// matrix product of the same extents, 64 x 576 x 3136. convolution.py adds PyTorch. Usage: convolution [--rounds r]

#include <einparallel.hpp>

#include "turns.hpp"

#include <cmath>
#include <cstdio>

namespace {

namespace ep = einparallel;
using array2 = ep::array<float, 2>;
using array3 = ep::array<float, 3>;
using array4 = ep::array<float, 4>;

EINPARALLEL_LABELS(i, j, k, o, c, y, x, r, s);

constexpr ep::index maps = 64;
constexpr ep::index side = 56;
constexpr double operations = 2.0 * maps * maps * 9 * side * side;

template <class Array>
Array filled(Array made) {
    for (ep::index at = 0; at < made.size(); ++at) {
        made.data()[at] = float(at * 37 % 101) / 64 - 0.75F;
    }
    return made;
}

/// Maps outermost, or innermost.
[[gnu::noinline]] void channels_first(array3& Z, const array3& image, const array4& kernels) {
    Z(o, y, x) = ep::padded(image, {0, 1, 1}, {0, 1, 1}, 0.F)(c, y + r, x + s) * kernels(o, c, r, s);
}
[[gnu::noinline]] void channels_last(array3& Z, const array3& image, const array4& kernels) {
    Z(y, x, o) = ep::padded(image, {1, 1, 0}, {1, 1, 0}, 0.F)(y + r, x + s, c) * kernels(o, r, s, c);
}
[[gnu::noinline]] void product(array2& Z, const array2& A, const array2& B) {
    Z(i, j) = A(i, k) * B(k, j);
}

/// The largest error of a few elements; `of` has elements by map, row and column, or by kernel.
template <class Image, class Kernel, class Result>
double error(const Image& image, const Kernel& kernel, const Result& result) {
    double largest = 0;
    for (ep::index point = 0; point < maps * side * side; point += 997) {
        const ep::index map = point / (side * side);
        const ep::index row = point / side % side;
        const ep::index column = point % side;
        double sum = 0;
        for (ep::index from = 0; from < maps; ++from) {
            for (ep::index at = 0; at < 9; ++at) {
                const ep::index there_row = row + at / 3 - 1;
                const ep::index there_column = column + at % 3 - 1;
                if (there_row >= 0 && there_row < side && there_column >= 0 && there_column < side) {
                    sum += double(image(from, there_row, there_column)) * double(kernel(map, from, at / 3, at % 3));
                }
            }
        }
        largest = std::fmax(largest, std::fabs(sum - double(result(map, row, column))));
    }
    return largest;
}

}  // namespace

int main(int count, char** arguments) {
    const bench::options given(count, arguments, {});
    const array3 first = filled(array3({maps, side, side}));
    const array3 last = filled(array3({side, side, maps}));
    const array4 of_first = filled(array4({maps, maps, 3, 3}));
    const array4 of_last = filled(array4({maps, 3, 3, maps}));
    const array2 A = filled(array2({maps, maps * 9}));
    const array2 B = filled(array2({maps * 9, side * side}));
    array3 Z({maps, side, side});
    array3 Y({side, side, maps});
    array2 C({maps, side * side});
    const auto [one, beside_one] = bench::in_turns(
        given.rounds, 1e6, [&] { channels_first(Z, first, of_first); }, [&] { product(C, A, B); });
    const auto [other, beside_other] = bench::in_turns(
        given.rounds, 1e6, [&] { channels_last(Y, last, of_last); }, [&] { product(C, A, B); });
    const double wrong_first =
        error([&](auto m, auto v, auto u) { return first.data()[(m * side + v) * side + u]; },
              [&](auto n, auto m, auto v, auto u) { return of_first.data()[((n * maps + m) * 3 + v) * 3 + u]; },
              [&](auto m, auto v, auto u) { return Z.data()[(m * side + v) * side + u]; });
    const double wrong_last =
        error([&](auto m, auto v, auto u) { return last.data()[(v * side + u) * maps + m]; },
              [&](auto n, auto m, auto v, auto u) { return of_last.data()[((n * 3 + v) * 3 + u) * maps + m]; },
              [&](auto m, auto v, auto u) { return Y.data()[(v * side + u) * maps + m]; });
    std::printf("%-16s %8s %8s %6s\n", "GFlop/s", "ours", "product", "ratio");
    std::printf("%-16s %8.1f %8.1f %6.2f\n", "channels first", operations / one / 1e9, operations / beside_one / 1e9,
                beside_one / one);
    std::printf("%-16s %8.1f %8.1f %6.2f\n", "channels last", operations / other / 1e9, operations / beside_other / 1e9,
                beside_other / other);
    if (!(wrong_first < 1e-3 && wrong_last < 1e-3)) {
        std::printf("convolution: wrong by %g and %g\n", wrong_first, wrong_last);
        return 1;
    }
    return 0;
}
