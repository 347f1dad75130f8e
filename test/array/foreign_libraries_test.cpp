// The tensors of xtensor, Kokkos and mdspan (kokkos/mdspan, std::mdspan), where these are installed: each is read as
// the library itself reads it.

#include <einparallel.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#if __has_include(<xtensor/xtensor.hpp>)
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xcomplex.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#define TEST_XTENSOR 1
#endif
#ifdef EINPARALLEL_TEST_KOKKOS
#include <Kokkos_Core.hpp>
#endif

namespace {

namespace ep = einparallel;

/// Number of elements that a view reads where the library reads them; −1 where that is none.
template <class M>
int equal_elements(M&& tensor) {
    const auto seen = ep::view(tensor);
    constexpr std::size_t rank = std::remove_const_t<decltype(seen)>::rank;
    const auto read = [&](auto... at) { return &tensor(at...); };
    int equal = 0;
    if constexpr (rank == 0) {
        equal = &seen.value() == read() ? 1 : 0;
    } else {
        for (int i = 0; i < seen.extent(0); ++i) {
            if constexpr (rank == 1) {
                equal += &seen(i) == read(i) ? 1 : 0;
            } else {
                for (int j = 0; j < seen.extent(1); ++j) {
                    equal += &seen(i, j) == read(i, j) ? 1 : 0;
                }
            }
        }
    }
    return equal == seen.size() ? equal : -1;
}
template <class M>
using viewed = decltype(ep::view(std::declval<M&>()));

TEST_CASE("xtensor") {
#if TEST_XTENSOR
    using xt::all;
    using xt::range;
    xt::xtensor<double, 2> A{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    const xt::xtensor<double, 2>& fixed = A;
    xt::xtensor<double, 2, xt::layout_type::column_major> columns = A;
    xt::xtensor<double, 2, xt::layout_type::dynamic> any(std::array<std::size_t, 2>{3, 4},
                                                         xt::layout_type::column_major);
    xt::xtensor<double, 3> T = xt::zeros<double>({2, 3, 4});
    xt::xtensor<double, 0> one{};
    xt::xtensor<double, 1> x{1, 2, 3};
    xt::xtensor<double, 2> column({3, 1}, 2.0), row({1, 4}, 1.0);
    xt::xtensor_fixed<double, xt::xshape<2, 3>> small{{1, 2, 3}, {4, 5, 6}};
    std::vector<double> memory(6);
    static_assert(std::is_same_v<viewed<decltype(A)>, ep::view<double, 2>>);
    static_assert(std::is_same_v<viewed<decltype(fixed)>, ep::view<const double, 2>>);
    CHECK(equal_elements(A) == 12);
    CHECK(equal_elements(fixed) == 12);
    CHECK(equal_elements(columns) == 12);
    CHECK(equal_elements(any) == 12);
    CHECK(equal_elements(one) == 1);
    CHECK(equal_elements(x) == 3);
    CHECK(equal_elements(column) == 3);
    CHECK(equal_elements(small) == 6);
    CHECK(equal_elements(xt::adapt(memory, std::array<std::size_t, 2>{2, 3})) == 6);
    CHECK(equal_elements(xt::view(A, all(), 1)) == 3);
    CHECK(equal_elements(xt::view(fixed, all(), 1)) == 3);
    CHECK(equal_elements(xt::view(A, 1)) == 4);
    CHECK(equal_elements(xt::view(A, 1, 2)) == 1);
    CHECK(equal_elements(xt::view(A, range(1, 3), range(0, 4, 2))) == 4);
    CHECK(equal_elements(xt::view(A, range(2, 0, -1), all())) == 8);
    CHECK(equal_elements(xt::view(A, range(1, 2), all())) == 4);
    CHECK(equal_elements(xt::view(columns, 1, all())) == 4);
    CHECK(equal_elements(xt::view(T, all(), 1, range(1, 3))) == 4);
    CHECK(equal_elements(xt::view(xt::view(T, 1), 2)) == 4);
    CHECK(equal_elements(xt::transpose(A)) == 12);
    CHECK(equal_elements(xt::flip(A, 0)) == 12);
    CHECK(ep::einsum<"ij,jk->ik">(column, row)(2, 3) == 2);
    ep::einsum_into<"ij->ji">(xt::view(T, 0, range(0, 2), range(0, 3)), xt::view(A, all(), range(1, 3)));
    CHECK(T(0, 1, 2) == 11);
    xt::xtensor<std::complex<double>, 1> z{{1, 2}};
    static_assert(ep::detail::OpaqueTensor<xt::xarray<double>>);
    static_assert(ep::detail::OpaqueTensor<decltype(xt::real(z))>);
    static_assert(ep::detail::OpaqueTensor<decltype(xt::view(A, xt::keep(0, 2), all()))>);
    static_assert(ep::detail::OpaqueTensor<decltype(A + A)>);
#else
    MESSAGE("xtensor is not installed: not tested");
#endif
}

TEST_CASE("Kokkos") {
#ifdef EINPARALLEL_TEST_KOKKOS
    using host = Kokkos::HostSpace;
    int none = 0;
    const Kokkos::ScopeGuard runtime(none, nullptr);
    const Kokkos::View<double**, Kokkos::LayoutRight, host> A("A", 3, 4);
    const Kokkos::View<double**, Kokkos::LayoutLeft, host> B("B", 3, 4);
    const Kokkos::View<double* [3], Kokkos::LayoutStride, host> strided("C", Kokkos::LayoutStride(2, 4, 3, 1));
    const Kokkos::View<double***, host> T("T", 2, 3, 4);
    const Kokkos::View<double, host> one("one");
    const Kokkos::View<const double**, Kokkos::LayoutLeft, host> fixed = B;
    std::vector<double> memory(6);
    const Kokkos::View<double**, host, Kokkos::MemoryTraits<Kokkos::Unmanaged>> unmanaged(memory.data(), 2, 3);
    static_assert(std::is_same_v<viewed<decltype(B)>, ep::view<double, 2>>);
    static_assert(std::is_same_v<viewed<decltype(fixed)>, ep::view<const double, 2>>);
    CHECK(equal_elements(A) == 12);
    CHECK(equal_elements(B) == 12);
    CHECK(equal_elements(strided) == 6);
    CHECK(equal_elements(one) == 1);
    CHECK(equal_elements(fixed) == 12);
    CHECK(equal_elements(unmanaged) == 6);
    CHECK(equal_elements(Kokkos::subview(A, Kokkos::ALL, 1)) == 3);
    CHECK(equal_elements(Kokkos::subview(B, 1, Kokkos::ALL)) == 4);
    CHECK(equal_elements(Kokkos::subview(B, std::make_pair(1, 3), std::make_pair(0, 2))) == 4);
    CHECK(equal_elements(Kokkos::subview(T, 1, Kokkos::ALL, 3)) == 3);
    Kokkos::deep_copy(A, 2.0);
    ep::einsum_into<"ij->i">(Kokkos::subview(B, Kokkos::ALL, 1), A);
    CHECK(B(2, 1) == 8);
    CHECK(B(2, 2) == 0);
#else
    MESSAGE("Kokkos is not installed: not tested");
#endif
}

}  // namespace
