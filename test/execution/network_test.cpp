// Networks known at run time, recorded and run on ranks: equal to the same networks of arrays.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace network_run_test {

namespace ep = einparallel;

namespace {

template <class T>
T value_at(ep::index seed, ep::index i, ep::index j) {
    const auto whole = static_cast<int>((3 * i + 5 * j + seed) % 7 - 3);
    if constexpr (ep::detail::is_complex<T>::value) {
        return T(static_cast<typename T::value_type>(whole), static_cast<typename T::value_type>((i + j) % 3));
    } else {
        return static_cast<T>(whole);
    }
}

/// One to five matrices and vectors with random labels; the result has two labels.
template <class T>
void try_random_networks(std::uint32_t seed) {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(seed);  // the same on every rank
    for (int time = 0; time < 8; ++time) {
        const std::vector<ep::index> extents{4, 3, 5, 2, 6};
        ep::network<T> recorded, computed;
        const auto extent = [&](int label) { return extents[static_cast<std::size_t>(label)]; };
        const auto add = [&](int number, int first, int second) {
            const auto at = [number](ep::index i, ep::index j) { return value_at<T>(number, i, j); };
            ep::array<T, 2> elements({extent(first), extent(second)});
            for (ep::index i = 0; i < extent(first); ++i) {
                for (ep::index j = 0; j < extent(second); ++j) {
                    elements(i, j) = at(i, j);
                }
            }
            computed.add(std::move(elements), {first, second});
            recorded.add(ep::generate<T>({extent(first), extent(second)}, at), {first, second});
        };
        add(0, 0, 1);
        for (int number = 1, tensors = static_cast<int>(random() % 5); number < tensors; ++number) {
            const int first = static_cast<int>(random() % 5);
            add(number, first, time % 4 == 0 ? first : static_cast<int>(random() % 5));
        }
        const ep::array<T, 2> expected = computed.result({1, 0});
        const ep::tensor<T, 2> result = recorded.result({1, 0});
        const ep::array<T, 2> made = ep::evaluate(world, result).allgather();
        CHECK(made.extents() == expected.extents());
        CHECK(std::equal(made.data(), made.data() + made.size(), expected.data()));
    }
}

}  // namespace

TEST_CASE("random networks on ranks") {
    try_random_networks<double>(1);
    try_random_networks<float>(2);
    try_random_networks<std::complex<double>>(3);
    try_random_networks<int>(4);
}

TEST_CASE("a mistake in extents is thrown by every rank") {
    ep::context world(MPI_COMM_WORLD);
    const auto one = [](auto...) { return 1.0; };
    const ep::tensor<double, 2> Z =
        ep::einsum("ij,kj->ik", ep::generate<double>({2, 3}, one), ep::generate<double>({2, 4}, one));
    CHECK_THROWS_WITH_AS(
        ep::evaluate(world, Z),
        "decompose: einsum ij,kj->ik: label j has extent 3 in operand 1 (generate) and 4 in operand 2 (generate)",
        ep::error);
}

TEST_CASE("elements of two types become common ones") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<float, 1> f = ep::generate<float>({6}, [](ep::index i) { return static_cast<float>(i); });
    const ep::tensor<double, 1> d = ep::generate<double>({6}, [](ep::index i) { return 0.25 * double(i); });
    const ep::tensor<double, 0> s = ep::einsum("i,i->", f, d);
    CHECK(ep::evaluate(world, s).allgather().value() == 13.75);
}

}  // namespace network_run_test
