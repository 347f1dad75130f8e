// ep::einsum on arrays, views and other libraries' tensors. The random forms are in test/differential.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <unsupported/Eigen/CXX11/Tensor>

#include <complex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace einsum_test {

namespace ep = einparallel;

namespace {

template <class Array>
void fill(Array& tensor) {
    for (ep::index at = 0; at < tensor.size(); ++at) {
        tensor.data()[at] = static_cast<typename Array::value_type>((at * 7) % 19 - 9);
    }
}

}  // namespace

TEST_CASE("explicit and implicit output, diagonals, traces, sums") {
    ep::array<double, 2> A({3, 3});
    fill(A);
    const auto trace = ep::einsum<"ii">(A);
    static_assert(std::is_same_v<decltype(trace), const ep::array<double, 0>>);
    CHECK(trace.value() == A(0, 0) + A(1, 1) + A(2, 2));
    CHECK(ep::einsum<"ii->i">(A)(1) == A(1, 1));
    CHECK(ep::einsum<"ij->ji">(A)(2, 1) == A(1, 2));
    CHECK(ep::einsum<"ji">(A)(1, 2) == A(2, 1));
    CHECK(ep::einsum<"ij->j">(A)(1) == A(0, 1) + A(1, 1) + A(2, 1));
    CHECK(ep::einsum<"->">(trace).value() == trace.value());
    CHECK(ep::einsum<",ij->ij">(trace, A)(0, 2) == trace.value() * A(0, 2));
}

TEST_CASE("an ellipsis broadcasts, labels do not") {
    ep::array<double, 3> A({2, 3, 4}), B({1, 4, 5});
    fill(A);
    fill(B);
    const auto C = ep::einsum<"...ij,...jk->...ik">(A, B);
    CHECK(C.extents() == std::array<ep::index, 3>{2, 3, 5});
    double expected = 0;
    for (int z = 0; z < 4; ++z) {
        expected += A(1, 2, z) * B(0, z, 3);
    }
    CHECK(C(1, 2, 3) == expected);
    ep::array<double, 2> M({4, 5});
    fill(M);
    CHECK(ep::einsum<"...j,jk->...k">(A, M).extents() == std::array<ep::index, 3>{2, 3, 5});
    CHECK_THROWS_WITH_AS((ep::einsum<"bij,bjk->bik">(A, B)),
                         "einsum bij,bjk->bik: label b has extent 2 in operand 1 and 1 in operand 2", ep::error);
}

TEST_CASE("into memory that exists") {
    ep::array<double, 2> A({2, 3}), B({3, 4}), C({4, 2});
    fill(A);
    fill(B);
    ep::einsum_into<"ij,jk->ki">(C, A, B);
    const auto D = ep::einsum<"ij,jk">(A, B);
    CHECK(C(3, 1) == D(1, 3));
    ep::view<double, 2> columns(C.data(), {2, 4}, {1, 2});
    ep::einsum_into<"ij,jk->ik">(columns, A, B);
    CHECK(C(2, 1) == D(1, 2));
    CHECK_THROWS_WITH_AS((ep::einsum_into<"ij,jk->ik">(C, A, B)),
                         "einsum ij,jk->ik: label i has extent 2 in the operands and 4 in the output", ep::error);
}

TEST_CASE("operands of different element types") {
    ep::array<float, 1> f({2});
    ep::array<double, 1> d({2});
    ep::array<std::complex<float>, 1> z({2});
    f(0) = 2;
    d(0) = 0.5;
    z(0) = {0, 1};
    const auto product = ep::einsum<"i,i,i->">(f, d, z);
    static_assert(std::is_same_v<decltype(product), const ep::array<std::complex<double>, 0>>);
    CHECK(product.value() == std::complex<double>(0, 1));
}

TEST_CASE("Eigen matrices of either order, vectors, maps, blocks and tensor maps") {
    Eigen::MatrixXd A = Eigen::MatrixXd::Random(3, 4);
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> B = Eigen::MatrixXd::Random(4, 5);
    const Eigen::VectorXd v = Eigen::VectorXd::Random(4);
    const auto C = ep::einsum<"ij,jk->ik">(A, B);
    const Eigen::MatrixXd expected = A * B;
    CHECK(C(2, 4) == doctest::Approx(expected(2, 4)));
    CHECK(ep::einsum<"ij,j->i">(A, v)(1) == doctest::Approx((A * v)(1)));

    Eigen::MatrixXd out(3, 5);
    ep::einsum_into<"ij,jk->ik">(out, A, B);
    CHECK((out - expected).norm() < 1e-12);
    ep::einsum_into<"ij,jk->ik">(out.block(0, 0, 2, 2), A.block(0, 0, 2, 4), B.block(0, 1, 4, 2));
    CHECK(out(1, 1) == doctest::Approx(expected(1, 2)));

    EINPARALLEL_LABELS(i, j, k);
    ep::array<double, 2> D({3, 5});
    D(i, k) = ep::view(A)(i, j) * ep::view(B)(j, k);
    CHECK(D(1, 3) == doctest::Approx(expected(1, 3)));
    ep::view<double, 2> target = out;
    target(i, k) = D(i, k) * 2.0;
    CHECK(out(1, 3) == doctest::Approx(2 * expected(1, 3)));

    Eigen::Map<Eigen::MatrixXd, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> mapped(
        B.data(), 4, 5, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(1, 5));
    CHECK(ep::einsum<"ij,jk->ik">(A, mapped)(0, 0) == doctest::Approx((A * mapped)(0, 0)));

    Eigen::Tensor<double, 3> T(2, 3, 4);
    T.setRandom();
    CHECK(ep::einsum<"abc->cba">(T)(3, 2, 1) == T(1, 2, 3));
    Eigen::Tensor<double, 3, Eigen::RowMajor> R(2, 3, 4);
    R.setRandom();
    CHECK(ep::einsum<"abc->bca">(R)(2, 3, 1) == R(1, 2, 3));
    Eigen::TensorMap<Eigen::Tensor<double, 3>> map(T.data(), 4, 3, 2);
    CHECK(ep::einsum<"abc->cba">(map)(1, 2, 3) == map(3, 2, 1));
}

TEST_CASE("std::span and mdspan-shaped types") {
    std::vector<double> values{1, 2, 3, 4, 5, 6};
    CHECK(ep::einsum<"i->">(std::span<double>(values)).value() == 21);
    const std::vector<double> owned(std::begin(values), std::end(values));
    CHECK(ep::einsum<"i,i->">(owned, values).value() == 91);
    std::vector<double> doubled(owned.size());
    ep::einsum_into<"i->i">(doubled, owned);
    CHECK(doubled == owned);
    EINPARALLEL_LABELS(i);
    const ep::view into(doubled);
    into(i) = 2.0 * ep::view(owned)(i);
    CHECK(doubled[5] == 12);
    CHECK(ep::einsum<"i,i->">(std::span<const double>(values), std::span<double>(values)).value() == 91);

    struct mdspan_shape {
        static constexpr std::size_t rank() { return 2; }
        double* pointer;
        [[nodiscard]] double* data_handle() const { return pointer; }
        [[nodiscard]] std::size_t extent(std::size_t dimension) const { return dimension == 0 ? 2 : 3; }
        [[nodiscard]] std::size_t stride(std::size_t dimension) const { return dimension == 0 ? 1 : 2; }
    };
    const mdspan_shape columns{values.data()};
    CHECK(ep::einsum<"ij->j">(columns)(1) == 7);
}

TEST_CASE("many operands are contracted pair by pair") {
    ep::array<double, 2> A({2, 3}), B({3, 4}), C({4, 5}), D({5, 2});
    fill(A);
    fill(B);
    fill(C);
    fill(D);
    const auto AB = ep::einsum<"ij,jk->ik">(A, B);
    const auto ABC = ep::einsum<"ij,jk->ik">(AB, C);
    const auto expected = ep::einsum<"ij,jk->ik">(ABC, D);
    const auto chain = ep::einsum<"ij,jk,kl,lm->im">(A, B, C, D);
    CHECK(chain(1, 1) == expected(1, 1));
    const auto hadamard = ep::einsum<"ij,ij,ij->ij">(A, A, A);
    CHECK(hadamard(1, 2) == A(1, 2) * A(1, 2) * A(1, 2));
    ep::array<double, 2> E({2, 2});
    E(1, 0) = 1;
    CHECK(ep::einsum<"ij,jk,kl,lm,mi->">(A, B, C, D, E).value() == expected(0, 1));
}

TEST_CASE("dimensions of strings are functions of labels") {
    EINPARALLEL_LABELS(i, j, r);
    ep::array<double, 2> A({7, 5}), Z;
    ep::array<float, 1> w({3});
    fill(A);
    w.data()[0] = 1, w.data()[1] = -2, w.data()[2] = 4;
    Z(i, j) = A(2 * i + r, 4 - j) * w(r);
    const auto same = [&](const auto& made, const auto& expected) {
        return made.extents() == expected.extents() &&
               std::equal(expected.data(), expected.data() + expected.size(), made.data());
    };
    CHECK(Z.extents() == std::array<ep::index, 2>{3, 5});
    CHECK(same(ep::einsum<"[2*i + r, 4 - j],[r]->[i, j]">(A, w), Z));
    ep::array<double, 2> T({5, 3});
    ep::einsum_into<"[r + 2*i, -j + 4],r->ji">(T, A, w);
    CHECK(same(ep::einsum<"ji->ij">(T), Z));
    ep::array<double, 2> row({1, 7}), V({4, 3}), broadcast;
    fill(row);
    fill(V);
    broadcast(i, j) = row(0, j + r) * V(i, r);
    CHECK(same(ep::einsum<"...j+r,...r->...j">(row, V), broadcast));
    CHECK(same(ep::einsum<"...r,...j+r->...j">(V, row), broadcast));
    CHECK(same(ep::einsum<"[i, 3]">(A), ep::einsum<"ij,j->i">(A, ep::array<double, 1>{0, 0, 0, 1, 0})));
    const ep::array<float, 1> steps = ep::einsum<"i+1,i->i">(w, w);  // w(i) is not read to its end
    CHECK((steps.extent(0) == 2 && steps(0) == -2 && steps(1) == -8));
    ep::array<double, 1> empty;
    CHECK_THROWS_WITH_AS(ep::einsum_into<"i+r,r->i">(empty, ep::array<double, 1>({5}), w),
                         "einsum ir,r->i: label i has extent 3 in the operands and 0 in the output", ep::error);
    ep::array<double, 2> H({2, 4});  // it says the extents of labels that stand in functions only
    ep::einsum_into<"[i + r + 1, r + 1]->ir">(H, A);
    CHECK(H(1, 3) == A(5, 4));
    CHECK_THROWS_WITH_AS(ep::einsum<"[i + r + 1, 3]->ir">(A),
                         "einsum: the extent of label i is not known: give the left-hand side extents, or let an "
                         "operand have the label as a dimension of its own",
                         ep::error);
}

}  // namespace einsum_test
