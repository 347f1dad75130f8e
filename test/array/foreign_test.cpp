// Other libraries' tensors: which are read where they lie, and which are refused. Types with the members of those
// libraries' stand in for them where they are not installed; the libraries themselves follow where they are.

#include <einparallel.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <deque>
#include <list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

namespace ep = einparallel;

/// The elements of a matrix as a view reads them, row by row.
template <class Matrix>
std::vector<double> rows_of(const Matrix& matrix) {
    const ep::view<const double, 2> seen(matrix);
    std::vector<double> all{double(seen.extent(0)), double(seen.extent(1))};
    for (ep::index row = 0; row < seen.extent(0); ++row) {
        for (ep::index column = 0; column < seen.extent(1); ++column) {
            all.push_back(seen(row, column));
        }
    }
    return all;
}
template <class Vector>
std::vector<double> elements_of(const Vector& vector) {
    const ep::view<const double, 1> seen(vector);
    std::vector<double> all;
    for (ep::index at = 0; at < seen.extent(0); ++at) {
        all.push_back(seen(at));
    }
    return all;
}
using numbers = std::vector<double>;

/// A view refers to it, as to one of this rank and element type.
template <class M, class T, std::size_t Rank>
constexpr bool is_read_as = std::is_same_v<decltype(ep::view(std::declval<M&>())), ep::view<T, Rank>>&&
    std::is_convertible_v<M&, ep::view<T, Rank>>;
template <class M>
constexpr bool is_refused = !ep::detail::ForeignTensor<M> && ep::detail::OpaqueTensor<M> &&
                            !ep::detail::DenseOperand<M> && !ep::detail::DenseOperand<const M&>;

// --- mdspan

/// std::mdspan: stride() is not there without dimensions, as in libc++.
template <class Accessor, std::size_t Rank, bool Strided = true>
struct mdspan_like {
    using accessor_type = Accessor;
    using element_type = typename Accessor::element_type;
    using value_type = std::remove_cv_t<element_type>;

    typename Accessor::data_handle_type pointer;
    std::array<std::size_t, Rank> extents_{};
    std::array<std::size_t, Rank> strides_{};

    static constexpr std::size_t rank() noexcept { return Rank; }
    static constexpr bool is_always_strided() { return Strided; }
    [[nodiscard]] auto data_handle() const { return pointer; }
    [[nodiscard]] std::size_t extent(std::size_t dimension) const { return extents_[dimension]; }
    [[nodiscard]] std::size_t stride(std::size_t dimension) const requires(Rank > 0) { return strides_[dimension]; }
    [[nodiscard]] std::size_t size() const { return 6; }
};
template <class T>
struct default_accessor_like {
    using offset_policy = default_accessor_like;
    using element_type = T;
    using reference = T&;
    using data_handle_type = T*;
    constexpr T& access(T* pointer, std::size_t at) const noexcept { return pointer[at]; }
};
/// std::linalg::scaled, of which an element is no reference.
struct scaled_accessor {
    using element_type = const double;
    using reference = double;
    using data_handle_type = const double*;
    double factor = 2;
    [[nodiscard]] constexpr double access(const double* pointer, std::size_t at) const { return factor * pointer[at]; }
};
/// References, but to other places.
struct every_other_accessor {
    using element_type = double;
    using reference = double&;
    using data_handle_type = double*;
    [[nodiscard]] constexpr double& access(double* pointer, std::size_t at) const { return pointer[2 * at]; }
};
/// The same, known at run time only.
struct far_accessor {
    using element_type = double;
    using reference = double&;
    using data_handle_type = double*;
    std::size_t factor = 1;
    [[nodiscard]] double& access(double* pointer, std::size_t at) const { return pointer[factor * at]; }
};
/// std::linalg::conjugated.
struct conjugated_accessor {
    using element_type = const std::complex<double>;
    using reference = std::complex<double>;
    using data_handle_type = const std::complex<double>*;
    [[nodiscard]] constexpr reference access(data_handle_type pointer, std::size_t at) const { return pointer[at]; }
};
template <class T, std::size_t Rank>
using plain_mdspan = mdspan_like<default_accessor_like<T>, Rank>;

static_assert(is_read_as<plain_mdspan<double, 2>, double, 2>);
static_assert(is_read_as<const plain_mdspan<double, 2>, double, 2>);
static_assert(is_read_as<plain_mdspan<const float, 3>, const float, 3>);
static_assert(is_read_as<plain_mdspan<std::complex<float>, 1>, std::complex<float>, 1>);
static_assert(is_read_as<plain_mdspan<ep::bfloat16, 1>, ep::bfloat16, 1>);
static_assert(is_read_as<plain_mdspan<double, 0>, double, 0>);
static_assert(is_read_as<plain_mdspan<const double, 0>, const double, 0>);
static_assert(is_refused<mdspan_like<scaled_accessor, 2>>);
static_assert(is_refused<mdspan_like<scaled_accessor, 1>>);
static_assert(is_refused<mdspan_like<scaled_accessor, 0>>);
static_assert(is_refused<mdspan_like<conjugated_accessor, 2>>);
static_assert(is_refused<mdspan_like<every_other_accessor, 1>>);
static_assert(is_refused<mdspan_like<far_accessor, 1>>);
static_assert(is_refused<mdspan_like<default_accessor_like<double>, 2, false>>);

TEST_CASE("mdspans with the default accessor are read with their strides") {
    numbers values{1, 2, 3, 4, 5, 6};
    const plain_mdspan<double, 2> columns{values.data(), {2, 3}, {1, 2}};
    CHECK(rows_of(columns) == numbers{2, 3, 1, 3, 5, 2, 4, 6});
    CHECK(ep::einsum<"ij->j">(columns)(1) == 7);
    const plain_mdspan<double, 0> one{&values[4]};
    CHECK(ep::view(one).value() == 5);
    CHECK(ep::einsum<",ij->j">(one, columns)(2) == 55);
    ep::view(one).value() = 0;
    CHECK(values[4] == 0);
}

// --- Kokkos

/// Kokkos::View before release 4: the number of dimensions is an enumerator.
template <class T>
struct column_like {
    using value_type = double;
    enum { rank = 1 };
    T* pointer;
    [[nodiscard]] T* data() const { return pointer; }
    [[nodiscard]] std::size_t size() const { return 2; }
    [[nodiscard]] std::size_t extent(std::size_t /*dimension*/) const { return 2; }
    [[nodiscard]] std::size_t stride(std::size_t /*dimension*/) const { return 3; }
    T& operator[](std::size_t at) const { return pointer[3 * at]; }
    T& operator()(std::size_t at) const { return pointer[3 * at]; }
};
/// From release 4 on: a constant that is also a function; its accessor counts references.
struct counted_accessor {
    using element_type = double;
    using reference = double&;
    struct data_handle_type {};
};
struct left_view_like {
    using value_type = double;
    using accessor_type = counted_accessor;
    static constexpr std::integral_constant<std::size_t, 2> rank{};
    double* pointer;
    [[nodiscard]] double* data() const { return pointer; }
    static counted_accessor::data_handle_type data_handle() { return {}; }
    [[nodiscard]] std::size_t size() const { return 6; }
    template <class I>
    [[nodiscard]] std::size_t extent(I dimension) const {
        return dimension == 0 ? 2 : 3;
    }
    template <class I>
    [[nodiscard]] std::size_t stride(I dimension) const {
        return dimension == 0 ? 1 : 2;
    }
    double& operator()(int row, int column) const { return pointer[row + 2 * column]; }
};
/// Kokkos::DynRankView.
struct dynamic_view_like : column_like<double> {
    [[nodiscard]] unsigned rank() const { return unsigned(size()) - 1; }
};
static_assert(is_read_as<column_like<double>, double, 1>);
static_assert(is_read_as<const column_like<const double>, const double, 1>);
static_assert(is_read_as<left_view_like, double, 2>);
static_assert(is_refused<dynamic_view_like>);

TEST_CASE("Kokkos' views are read with their strides") {
    numbers values{1, 2, 3, 4, 5, 6};
    CHECK(elements_of(column_like<double>{&values[1]}) == numbers{2, 5});
    CHECK(ep::einsum<"i,i->">(column_like<const double>{&values[1]}, column_like<double>{values.data()}).value() == 22);
    CHECK(rows_of(left_view_like{values.data()}) == numbers{2, 3, 1, 3, 5, 2, 4, 6});
    ep::einsum_into<"i->i">(column_like<double>{values.data()}, std::array<double, 2>{7, 8});
    CHECK(values == numbers{7, 2, 3, 8, 5, 6});
}

// --- xtensor

/// A container of xtensor's, which is a contiguous range; strides of extents of 1 are 0.
template <class Shape, class Strides = Shape>
struct xtensor_like {
    using value_type = double;
    Shape shape_;
    Strides strides_;
    numbers values;
    std::size_t offset = 0;

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] const Strides& strides() const { return strides_; }
    [[nodiscard]] std::size_t data_offset() const { return offset; }
    double* data() { return values.data(); }
    [[nodiscard]] const double* data() const { return values.data(); }
    [[nodiscard]] std::size_t size() const { return values.size(); }
    auto begin() { return values.begin(); }
    [[nodiscard]] auto begin() const { return values.begin(); }
    auto end() { return values.end(); }
    [[nodiscard]] auto end() const { return values.end(); }
    double& operator[](std::size_t at) { return values[at]; }
    const double& operator[](std::size_t at) const { return values[at]; }
};
template <std::size_t Rank>
using ranked_xtensor = xtensor_like<std::array<std::size_t, Rank>, std::array<std::ptrdiff_t, Rank>>;
/// Whose elements are parts of others.
struct real_part_like : ranked_xtensor<1> {
    [[nodiscard]] const std::complex<double>* data() const { return nullptr; }
};
static_assert(is_read_as<ranked_xtensor<2>, double, 2>);
static_assert(is_read_as<const ranked_xtensor<2>, const double, 2>);
static_assert(is_read_as<ranked_xtensor<0>, double, 0>);
static_assert(is_refused<xtensor_like<std::vector<std::size_t>>>);
static_assert(is_refused<real_part_like>);

TEST_CASE("xtensor's containers and views are read with their strides, from where they begin") {
    ranked_xtensor<2> all{{2, 3}, {3, 1}, {1, 2, 3, 4, 5, 6}};
    CHECK(rows_of(all) == numbers{2, 3, 1, 2, 3, 4, 5, 6});
    const ranked_xtensor<2> part{{2, 1}, {3, 0}, all.values, 2};
    CHECK(rows_of(part) == numbers{2, 1, 3, 6});
    const ranked_xtensor<1> backwards{{3}, {-2}, all.values, 5};
    CHECK(elements_of(backwards) == numbers{6, 4, 2});
    CHECK(ep::einsum<"ij,jk->ik">(part, ep::array<double, 2>({1, 1})).extent(1) == 1);
    ep::einsum_into<"i->i">(ranked_xtensor<1>{{2}, {1}, {0, 0}}, numbers{1, 2});
    ranked_xtensor<2> row{{1, 3}, {0, 1}, {1, 2, 3}};
    EINPARALLEL_LABELS(i, j);
    const ep::view written(row);
    written(i, j) = 2.0 * ep::view(row)(i, j);
    CHECK(row.values == numbers{2, 4, 6});
}

// --- ranges

/// A matrix that is a contiguous range of its elements.
template <bool HasRows, bool HasIndices>
struct range_matrix : numbers {
    using numbers::vector;
    [[nodiscard]] int rows() const requires HasRows { return 2; }
    double& operator()(int row, int column) requires HasIndices { return (*this)[std::size_t(3 * row + column)]; }
    double operator()(int row, int column) const requires HasIndices { return (*this)[std::size_t(3 * row + column)]; }
};
/// A row of it is what [] gives.
struct range_of_rows : numbers {
    using numbers::vector;
    double* operator[](std::size_t row) { return data() + 3 * row; }
    const double* operator[](std::size_t row) const { return data() + 3 * row; }
};
/// Every other element.
struct strided_range {
    using value_type = double;
    numbers values{1, 2, 3, 4};
    [[nodiscard]] std::size_t size() const { return 2; }
    double* data() { return values.data(); }
    [[nodiscard]] const double* data() const { return values.data(); }
    double& operator[](std::size_t at) { return values[2 * at]; }
    const double& operator[](std::size_t at) const { return values[2 * at]; }
};
struct rows_as_size : numbers {
    using numbers::vector;
    [[nodiscard]] std::size_t size() const { return 2; }
};
static_assert(is_read_as<numbers, double, 1>);
static_assert(is_read_as<const numbers, const double, 1>);
static_assert(is_read_as<std::array<float, 3>, float, 1>);
static_assert(is_read_as<std::span<double>, double, 1>);
static_assert(is_read_as<const std::span<double, 4>, double, 1>);
static_assert(is_read_as<std::span<const int>, const int, 1>);
static_assert(is_read_as<range_matrix<false, false>, double, 1>);
static_assert(is_refused<range_matrix<true, false>>);
static_assert(is_refused<range_matrix<false, true>>);
static_assert(is_refused<range_of_rows>);
static_assert(is_refused<strided_range>);
static_assert(is_refused<std::deque<double>>);
static_assert(is_refused<std::list<double>>);
static_assert(is_refused<std::vector<bool>>);
// Of this library none; neither what is no tensor.
static_assert(!ep::detail::OpaqueTensor<ep::array<double, 2>> && !ep::detail::OpaqueTensor<ep::view<double, 2>>);
static_assert(!ep::detail::OpaqueTensor<ep::tensor<double, 2>> && !ep::detail::OpaqueTensor<ep::unranked<double>>);
static_assert(!ep::detail::OpaqueTensor<double> && !ep::detail::OpaqueTensor<double*>);

TEST_CASE("contiguous ranges of one dimension") {
    numbers values{1, 2, 3};
    CHECK(elements_of(std::span(values).subspan(1)) == numbers{2, 3});
    CHECK(elements_of(std::span<const double>()).empty());
    CHECK_THROWS_WITH_AS(elements_of(rows_as_size{1, 2, 3}),
                         doctest::Contains("size() of this range is not the number of its elements"), ep::error);
}

}  // namespace
