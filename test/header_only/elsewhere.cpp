// A unit that is compiled with other people's macros and flags (CMakeLists.txt): a bit of everything.

#include <einparallel.hpp>

#include <complex>
#include <string>

namespace ep = einparallel;

#if defined(None)
#if max(3, 4) != 4 || min(3, 4) != 3 || N != 100 || None != 0L || minor(7) != 7
#error "the application's macros were not given back"
#endif
#endif

namespace {

struct least {
    template <class Value>
    static constexpr Value identity() {
        return Value(1000);
    }
    template <class Value>
    Value operator()(Value a, Value b) const {
        return b < a ? b : a;
    }
    static constexpr bool associative_commutative = true;
};

double on_arrays() {
    EINPARALLEL_LABELS(i, j, k);
    ep::array<double, 2> A({3, 4});
    ep::array<double, 2> B({4, 5});
    ep::array<double, 2> C;
    const ep::array<int, 2> counts({3, 4});
    ep::array<std::complex<float>, 2> Z;
    const ep::array<ep::float16, 2> H({3, 4});
    C(i, k) = A(i, j) * B(j, k);
    C(i, k) += A(i, j) * B(j, k) - C(i, k);
    ep::array<double, 1> m;
    m(i) = ep::reduce(least{}, A(i, j) + counts(i, j));
    Z(j, i) = counts(i, j) * H(i, j);
    m(i) += where(m(i) > 2.0, log1p(exp(m(i))), 0.0);
    ep::array<double, 1> sums;
    sums(i) = ep::cumsum(i, m(i));
    ep::array<double, 2> S;
    S(i, j) = ep::softmax(j, A(i, j));
    const auto D = ep::einsum<"ij,jk->ik">(A, B);
    const ep::array<double, 1> x({10});
    const ep::array<double, 1> h({3});
    ep::array<double, 1> filtered;
    filtered(i) = x(i + j) * h(j);
    return C(0, 0) + D(0, 0) + S(0, 0) + sums(0) + filtered(0) + double(Z(0, 0).real());
}

std::string of_tensors() {
    EINPARALLEL_LABELS(i, j, k);
    const ep::tensor<double, 2> X = ep::placeholder<double>({10, 10});
    ep::tensor<double, 2> Y;
    ep::tensor<double, 0> loss;
    Y(i, k) = exp(X(i, j) * X(j, k));
    loss() = ep::sum(Y(i, j) * Y(i, j));
    const ep::tensor<double, 2> slope = ep::gradient(loss, X);
    return ep::decompose({.processes = 4}, loss, slope).to_json();
}

}  // namespace

int main() {
    return on_arrays() > 0 || of_tensors().empty() || ep::configuration().empty() ? 1 : 0;
}
