// ep::argmax, ep::argmin and ep::iota, whose indices are not in memory: any layout, ties, NaN, long and short rows, and
// the memory that they take. Against loops written here.

#include <einparallel.hpp>

#include <support/resident.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace positions_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

using extents = std::array<ep::index, 3>;

/// Memory of a tensor whose dimensions lie in a drawn order, with gaps and negative strides.
template <class T>
struct drawn {
    std::vector<T> memory;
    std::size_t first = 0;
    extents strides{};

    drawn(std::mt19937& bits, const extents& sizes) {
        std::array<std::size_t, 3> order{0, 1, 2};
        std::shuffle(order.begin(), order.end(), bits);
        std::size_t step = 1 + bits() % 2;
        std::size_t last = 0;
        for (const std::size_t dimension : order) {
            const std::size_t reach = (static_cast<std::size_t>(sizes[dimension]) - 1) * step;
            const bool is_negative = bits() % 4 == 0;
            strides[dimension] = is_negative ? -static_cast<ep::index>(step) : static_cast<ep::index>(step);
            first += is_negative ? reach : 0;
            last += reach;
            step = reach + step + bits() % 2;
        }
        memory.resize(last + 1);
    }
    T& at(ep::index a, ep::index b, ep::index c) {
        return memory[first + static_cast<std::size_t>(a * strides[0] + b * strides[1] + c * strides[2])];
    }
    auto view(const extents& sizes) { return ep::view(memory.data() + first, sizes, strides); }
};

template <class T>
int wrong_positions(std::mt19937& bits) {
    const auto draw = [&](ep::index from, ep::index to) {
        return from + ep::index(bits() % std::size_t(to - from + 1));
    };
    extents sizes{draw(1, 9), draw(1, 9), draw(1, 9)};
    if (const std::size_t longer = bits() % 4; longer < 3) {
        sizes[longer] = draw(10, draw(0, 2) == 0 ? 5000 : 200);
    }
    const ep::index most = draw(0, 1) == 0 ? 3 : 100;  // with few values there are many ties
    drawn<T> x(bits, sizes);
    for (T& each : x.memory) {
        each = static_cast<T>(draw(-most, most));
        if (std::is_floating_point_v<T> && draw(0, 60) == 0) {
            each = std::numeric_limits<T>::quiet_NaN();
        }
    }
    drawn<ep::index> z(bits, {sizes[0], 1, sizes[2]});
    std::fill(z.memory.begin(), z.memory.end(), 5);
    const auto X = x.view(sizes);
    const auto made = z.view({sizes[0], 1, sizes[2]});
    const ep::view<ep::index, 2> Z(made.data(), {sizes[0], sizes[2]}, {z.strides[0], z.strides[2]});
    const ep::index form = draw(0, 3);
    const bool largest = form % 2 == 0;
    if (form == 0) {
        Z(i, k) = ep::argmax(j, X(i, j, k));
    } else if (form == 1) {
        Z(i, k) += ep::argmin(j, X(i, j, k));
    } else if (form == 2) {
        Z(i, k) = ep::argmax(j, X(i, j, k) + X(i, j, k));
    } else {
        Z(i, k) = ep::sum(j, ep::where(X(i, j, k) > 0, 2 * ep::iota(j) + ep::iota(i), ep::iota(k)));
    }
    int wrong = 0;
    for (ep::index a = 0; a < sizes[0]; ++a) {
        for (ep::index c = 0; c < sizes[2]; ++c) {
            ep::index position = 0;
            ep::index sum = 0;
            for (ep::index b = 0; b < sizes[1]; ++b) {
                const T value = form == 2 ? static_cast<T>(x.at(a, b, c) + x.at(a, b, c)) : x.at(a, b, c);
                const T best =
                    form == 2 ? static_cast<T>(x.at(a, position, c) + x.at(a, position, c)) : x.at(a, position, c);
                const bool better = largest ? value > best : value < best;
                position = best == best && (better || value != value) ? b : position;
                sum += value > 0 ? 2 * b + a : c;
            }
            const ep::index expected = form == 3 ? sum : form == 1 ? 5 + position : position;
            wrong += z.at(a, 0, c) == expected ? 0 : 1;
        }
    }
    return wrong;
}

template <class T>
std::size_t growth_of_positions() {
    constexpr ep::index side = 4096;
    ep::array<T, 2> X({side, side});
    ep::array<ep::index, 1> rows({side}), columns({side});
    ep::array<ep::index, 0> least;
    X(i, j) = 0;
    X(7, 9) = 1;
    const std::size_t before = ep::testing::most_resident();
    rows(i) = ep::argmax(j, X(i, j));
    columns(j) = ep::argmax(i, X(i, j));
    const auto all = ep::reshape(X, {side * side});
    least() = ep::argmax(k, all(k));
    CHECK((rows(7) == 9 && rows(8) == 0 && columns(9) == 7 && columns(8) == 0 && *least.data() == 7 * side + 9));
    return ep::testing::most_resident() - before;
}

}  // namespace

TEST_CASE("positions of extreme elements in any layout") {
    std::mt19937 bits(20);
    int wrong = 0;
    for (int round = 0; round < 60; ++round) {
        wrong += wrong_positions<std::int8_t>(bits);
        wrong += wrong_positions<float>(bits);
        wrong += wrong_positions<double>(bits);
        wrong += wrong_positions<ep::index>(bits);
    }
    CHECK(wrong == 0);
}

TEST_CASE("positions take no memory for indices") {
    CHECK(growth_of_positions<std::int8_t>() < std::size_t{2} << 20);  // the indices: 128 MiB
    CHECK(growth_of_positions<float>() < std::size_t{2} << 20);
}

TEST_CASE("indices as factors, as a sum, and as they are") {
    ep::array<ep::index, 1> counted, sums, cubes;
    ep::array<ep::index, 2> products;
    ep::array<double, 2> X({3, 4});
    ep::array<double, 1> moments;
    X(i, j) = 0.5;
    counted(i) = ep::iota(i, 5);
    products(i, j) = ep::iota(i, 3) * ep::iota(j, 4);
    moments(i) = X(i, j) * ep::iota(j);
    sums(i) = ep::cumsum(i, ep::iota(i, 5));
    cubes(i) = ep::iota(i, 5) * ep::iota(i) * ep::iota(i);
    for (ep::index at = 0; at < 5; ++at) {
        CHECK((counted(at) == at && sums(at) == at * (at + 1) / 2 && cubes(at) == at * at * at));
    }
    ep::array<ep::index, 0> largest, least;
    largest() = ep::argmax(i, ep::iota(i, 5));
    least() = ep::argmin(i, ep::iota(i, 5));
    CHECK((*largest.data() == 4 && *least.data() == 0));
    CHECK((products(2, 3) == 6 && products(1, 2) == 2 && moments(1) == 3.0));
}

}  // namespace positions_test
