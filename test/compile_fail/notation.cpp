// Misuses that a compiler must refuse with one sentence of ours. Each section is compiled by itself, by the macro that
// names it; without one the positive twins of all of them are compiled, and must be accepted.

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/kernel/einsum.hpp>
#include <einparallel/notation/functions.hpp>

namespace ep = einparallel;

struct smaller_index {  // looks like a reduction, but does not say that it is associative and commutative
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};

struct smaller_value : smaller_index {
    static constexpr bool associative_commutative = true;
};

void statements() {
    EINPARALLEL_LABELS(i, j, k, l, d);
    ep::array<double, 2> A({2, 3}), B({3, 4}), C({2, 4});
    ep::array<std::complex<double>, 2> Q({2, 3});
    ep::array<double, 1> v({2});
    ep::tensor<double, 2> X = ep::placeholder<double>({2, 3}), Y = ep::placeholder<double>({3, 4}), Z;

#if defined(LABEL_IS_A_TENSOR)
    EINPARALLEL_LABELS(m, n, C);
#elif defined(LABELS_IN_ONE_DECLARATION)
    EINPARALLEL_LABELS(a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, c0, c1, c2, c3, c4, c5, c6, c7,
                       d0, d1, d2, d3, d4, d5, d6, d7, e);
#elif defined(TOO_FEW_LABELS)
    C(i, k) = A(i) * B(j, k);
#elif defined(TOO_MANY_LABELS)
    Z(i, k) = X(i, j, l) * Y(j, k);
#elif defined(OUTPUT_LABEL_LEFT_OUT)  // of the operand that would have it
    Z(i, k) = X(i, j) * Y(j);
#elif defined(OUTPUT_LABEL_UNKNOWN)
    C(i, l) = A(i, j) * B(j, k);
#elif defined(OUTPUT_LABEL_REPEATED)
    C(i, i) = A(i, j) * B(j, i);
#elif defined(SUBSCRIPT_CHARACTER)
    C = ep::einsum<"i1,1k->ik">(A, B);
#elif defined(SUBSCRIPT_ARROWS)
    C = ep::einsum<"ij->jk->ik">(A, B);
#elif defined(SUBSCRIPT_DOTS)
    C = ep::einsum<"..i,..k->ik">(A, B);
#elif defined(MORE_OPERANDS)
    C = ep::einsum<"ij->ij">(A, B);
#elif defined(MORE_SUBSCRIPTS)
    C = ep::einsum<"ij,jk,kl->il">(A, B);
#elif defined(UNKNOWN_REDUCTION)
    C(i, k) = ep::reduce(smaller_index{}, A(i, j) * B(j, k));
#elif defined(SUBSCRIPT_RANK)
    C = ep::einsum<"ijk,jk->ik">(A, B);
#elif defined(SUBSCRIPT_OUTPUT_UNKNOWN)
    Z = ep::einsum<"ij,jk->il">(X, Y);
#elif defined(SUBSCRIPT_OUTPUT_REPEATED)
    C = ep::einsum<"ij,jk->ii">(A, B);
#elif defined(INNER_SUM)
    C(i, k) = (A(i, j) + v(i)) * B(j, k);
#elif defined(ARRAY_IN_GRAPH)
    Z(i, k) = X(i, j) * B(j, k);
#elif defined(COMPLEX_INTO_REAL)
    A(i, j) = Q(i, j);
#elif defined(FRACTION_INTO_INTEGER)
    ep::array<int, 2> whole({2, 3});
    whole(i, j) = A(i, j);
#elif defined(OUTPUT_LABELS_TOO_FEW)
    C(i) = A(i, j) * B(j, k);
#elif defined(MIXED_INDICES)
    C(i, k) = A(i, 0) * B(j, k);
#elif defined(REDUCED_LABEL_UNKNOWN)
    C(i, k) = ep::sum(l, A(i, j) * B(j, k));
#elif defined(EXTENT_COUNT)
    ep::array<double, 2> D({1, 2, 3});
#elif defined(OUTPUT_RANK)
    ep::einsum_into<"ij,jk->i">(C, A, B);
#elif defined(SOFTMAX_OF_A_PRODUCT)
    Z(i, k) = ep::softmax(k, X(i, d) * X(k, d) / 2.0);
#elif defined(SOFTMAX_IN_A_PRODUCT)
    C(i, j) = ep::softmax(k, A(i, d) * A(k, d)) * A(k, j);
#elif defined(CONST_LEFT)
    const auto& fixed = C;
    fixed(i, j) = A(i, j);
#elif defined(CONST_VIEW_LEFT)
    const ep::view<const double, 2> seen(C);
    seen(i, k) = A(i, j) * B(j, k);
#elif defined(SOFTMAX_WITHOUT_LABEL)
    C(i, k) = ep::softmax(A(i, k));
#elif defined(FUNCTION_OF_TOO_FEW)
    C(i, k) = ep::join([](double x) { return x; }, A(i, j), B(j, k));
#elif defined(FUNCTION_OF_TEXT)
    C(i, k) = ep::map([](const char* x) { return x[0]; }, A(i, k));
#elif defined(FUNCTION_TO_TEXT)
    C(i, k) = ep::join([](double x, double y) { return x < y ? "less" : "more"; }, A(i, j), B(j, k));
#elif defined(NO_LABELS)
    C = A * B;
#elif defined(NO_LABELS_ON_ONE)
    C(i, k) = A(i, k) + 2 * C;
#elif defined(SOFTMAX_UNDER_A_MAP)
    v(i) += 2.0 * exp(ep::softmax(j, A(i, j) * A(k, j)));
#else
    Z(i, k) = ep::softmax(k, ep::sum(d, X(i, d) * X(k, d)) / 2.0);
    Z(i, k) = ep::sum(d, ep::softmax(k, X(i, d) * X(k, d) / 2.0));
    Z(i, k) = ep::sum(ep::softmax(k, X(i, d) * X(k, d) / 2.0));
    C(i, j) = ep::softmax(k, ep::sum(d, A(i, d) * A(k, d))) * A(k, j);
    v(i) += 2.0 * exp(ep::softmax(j, A(i, j)));
    C(i, k) = A(i, j) * B(j, k);
    C(i, k) = ep::reduce(smaller_value{}, A(i, j) * B(j, k));
    C(i, k) = ep::sum(j, exp(A(i, j)) * B(j, k));
    C(i, k) = ep::sum((A(i, j) + v(i)) * B(j, k));
    C = ep::einsum<"ij,jk->ik">(A, B);
    ep::einsum_into<" ij , jk -> ik ">(C, A, B);
    Z(i, k) = X(i, j) * Y(j, k);
    Z = ep::einsum<"ij,jk->ik">(X, Y);
    Q(i, j) = A(i, j);
#endif
}

int main() {}
