// std::mdspan, or that of kokkos/mdspan, where one is installed.

#include <einparallel.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#if __has_include(<mdspan>)
#include <mdspan>
#endif
#if __cpp_lib_mdspan
namespace md = std;
#elif __has_include(<mdspan/mdarray.hpp>)
#include <mdspan/mdarray.hpp>
#include <mdspan/mdspan.hpp>
namespace md = Kokkos;
#define TEST_MDARRAY 1
#endif

namespace {

#if __cpp_lib_mdspan || TEST_MDARRAY
namespace ep = einparallel;

template <class M>
using viewed = decltype(ep::view(std::declval<M&>()));

/// std::linalg::scaled.
struct scaled_accessor {
    using offset_policy = scaled_accessor;
    using element_type = const double;
    using reference = double;
    using data_handle_type = const double*;
    double factor = 2;
    [[nodiscard]] constexpr double access(const double* at, std::size_t number) const { return factor * at[number]; }
    [[nodiscard]] constexpr const double* offset(const double* at, std::size_t number) const { return at + number; }
};

TEST_CASE("mdspan") {
    using matrix = md::dextents<int, 2>;
    std::vector<double> memory{1, 2, 3, 4, 5, 6};
    const md::mdspan<double, matrix> rows(memory.data(), 2, 3);
    const md::mdspan<const double, matrix, md::layout_left> columns(memory.data(), 2, 3);
    const md::mdspan<double, md::dextents<int, 1>, md::layout_stride> column(
        &memory[1], md::layout_stride::mapping(md::dextents<int, 1>(2), std::array<int, 1>{3}));
    const md::mdspan<double, md::extents<int>> one(&memory[4]);
    static_assert(std::is_same_v<viewed<decltype(rows)>, ep::view<double, 2>>);
    static_assert(std::is_same_v<viewed<decltype(columns)>, ep::view<const double, 2>>);
    static_assert(std::is_same_v<viewed<decltype(column)>, ep::view<double, 1>>);
    static_assert(std::is_same_v<viewed<decltype(one)>, ep::view<double, 0>>);
    CHECK(ep::einsum<"ij->i">(rows)(1) == 15);
    CHECK(ep::einsum<"ij->i">(columns)(1) == 12);
    CHECK(ep::einsum<"i->">(column).value() == 7);
    CHECK(ep::einsum<",ij->ij">(one, rows)(1, 2) == 30);
    static_assert(ep::detail::OpaqueTensor<md::mdspan<const double, matrix, md::layout_right, scaled_accessor>>);
    static_assert(
        ep::detail::OpaqueTensor<md::mdspan<const double, md::extents<int>, md::layout_right, scaled_accessor>>);
#if TEST_MDARRAY
    Kokkos::Experimental::mdarray<double, Kokkos::dextents<int, 2>, Kokkos::layout_left> held(2, 3);
    ep::einsum_into<"ij->ij">(held, rows);
    CHECK(held(1, 2) == 6);
    CHECK(held.data()[1] == 4);
#endif
}
#else
TEST_CASE("mdspan") {
    MESSAGE("no mdspan is installed: not tested");
}
#endif

}  // namespace
