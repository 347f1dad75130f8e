// What recording makes of statements: vertices, labels, kernels, failures. That they compute the right thing is tested
// where they run.

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace record_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k, l, m);

struct inputs {
    ep::tensor<double, 2> A = ep::placeholder<double>({3, 4});
    ep::tensor<double, 2> B = ep::placeholder<double>({4, 5});
    ep::tensor<double, 2> C = ep::placeholder<double>({5, 6});
    ep::tensor<double, 1> v = ep::placeholder<double>({3});
    ep::tensor<double, 2> Z;
};

std::string text(const ep::tensor<double, 2>& made) {
    return made.node()->form.text();
}

}  // namespace

TEST_CASE_FIXTURE(inputs, "an assignment records a vertex: bounds, labels, extents, operands, kernel") {
    Z(i, k) = A(i, j) * B(j, k);
    const ep::vertex& made = *Z.node();
    CHECK(made.bounds == std::vector<ep::index>{3, 5});
    CHECK(made.form.text() == "ij,jk->ik");
    CHECK(made.extents == std::vector<ep::index>{3, 4, 5});
    CHECK(made.operands == std::vector<std::shared_ptr<ep::vertex>>{A.node(), B.node()});
    CHECK(made.work->is_contraction());
    CHECK(made.element == ep::element_type_of<double>());
    CHECK_FALSE(made.is_input());
    CHECK(Z.extents() == std::vector<ep::index>{3, 5});
    CHECK(Z.named("overlap").node()->name == "overlap");
}

TEST_CASE_FIXTURE(inputs, "assigning again rebinds the handle; who read the old vertex still reads it") {
    Z(i, k) = A(i, j) * B(j, k);
    const auto first = Z.node();
    ep::tensor<double, 2> W;
    W(i, l) = Z(i, k) * C(k, l);
    Z(i, k) = Z(i, k) * 2.0;
    CHECK(W.node()->operands[0] == first);
    CHECK(Z.node() != first);
    CHECK(Z.node()->operands[0] == first);
    const auto scaled = Z.node();
    Z(i, k) += A(i, j) * B(j, k);
    CHECK(text(Z) == "ik,ik->ik");
    CHECK(Z.node()->operands[0] == scaled);
    CHECK(Z.node()->operands[1]->form.text() == "ij,jk->ik");
}

TEST_CASE_FIXTURE(inputs, "a sum of terms is one join of what the terms make") {
    Z(i, k) = A(i, j) * B(j, k) + A(i, l) * B(l, k) - v(i);
    CHECK(text(Z) == "ik,ik,i->ik");
    CHECK(Z.node()->operands[0]->form.text() == "ij,jk->ik");
    CHECK(Z.node()->operands[1]->form.text() == "il,lk->ik");
    CHECK(Z.node()->operands[2] == v.node());
    CHECK(Z.node()->work->program().formula() == "sum x + y - z");
    Z(i, k) = -(A(i, j) * B(j, k));
    CHECK(text(Z) == "ij,jk->ik");
}

TEST_CASE_FIXTURE(inputs, "nested reductions and whole ones by themselves") {
    Z(i, k) = exp(ep::sum(j, A(i, j) * B(j, k)));
    CHECK(text(Z) == "ik->ik");
    CHECK(Z.node()->operands[0]->work->is_contraction());
    Z(k, i) = ep::max(abs(A(i, j) - B(j, k)));
    CHECK(text(Z) == "ij,jk->ki");
    CHECK_FALSE(Z.node()->work->is_contraction());
    Z(j, i) = ep::softmax(j, A(i, j));  // what it makes on the way has the order of the left-hand side
    CHECK(text(Z) == "ji,i->ji");
    CHECK(Z.node()->operands[1]->form.text() == "ji->i");               // S
    CHECK(Z.node()->operands[0]->form.text() == "ij,i->ji");            // E
    CHECK(Z.node()->operands[0]->operands[1]->form.text() == "ij->i");  // C
}

TEST_CASE_FIXTURE(inputs, "factors that are expressions are computed once, before the product") {
    Z(i, k) = (A(i, j) + 1.0) * B(j, k);
    CHECK(text(Z) == "ij,jk->ik");
    CHECK(Z.node()->operands[0]->form.text() == "ij->ij");
    CHECK(Z.node()->work->is_contraction());
}

TEST_CASE_FIXTURE(inputs, "more than two factors become a vertex for each contraction, the cheapest first") {
    Z(i, l) = A(i, j) * B(j, k) * C(k, l);
    CHECK(Z.node()->operands.size() == 2);
    // 3·4·5 + 3·5·6 = 150 multiply-adds from the left, 4·5·6 + 3·4·6 = 192 from the right
    const auto& first = Z.node()->operands[0]->is_input() ? Z.node()->operands[1] : Z.node()->operands[0];
    CHECK(first->operands == std::vector<std::shared_ptr<ep::vertex>>{A.node(), B.node()});
    const auto W = ep::einsum<"ij,jk,kl->il">(A, B, C);
    CHECK(W.node()->operands.size() == 2);
    Z(i, j) = A(i, j) * A(i, j) * A(i, j);
    CHECK(Z.node()->operands.size() == 3);
}

TEST_CASE_FIXTURE(inputs, "r-ary joins are one vertex") {
    ep::tensor<double, 4> V = ep::placeholder<double>({3, 3, 4, 4}), T;
    ep::tensor<double, 1> o = ep::placeholder<double>({3}), u = ep::placeholder<double>({4});
    T(i, j, k, l) = V(i, j, k, l) / (o(i) + o(j) - u(k) - u(l));
    CHECK(T.node()->form.text() == "ijkl,i,j,k,l->ijkl");
    CHECK(T.node()->operands.size() == 5);
    CHECK(T.node()->operands[1] == T.node()->operands[2]);
}

TEST_CASE_FIXTURE(inputs, "einsum strings record the same, ellipsis dimensions of extent 1 carry no label") {
    CHECK(text(ep::einsum<"ij,jk">(A, B)) == "ij,jk->ik");
    const ep::tensor<double, 3> X = ep::placeholder<double>({2, 3, 4}), Y = ep::placeholder<double>({1, 4, 5});
    const auto W = ep::einsum<"...ij,...jk->...ik">(X, Y);
    CHECK(W.node()->form.operands[1][0] == ep::no_label);
    CHECK(W.node()->bounds == std::vector<ep::index>{2, 3, 5});
    CHECK(ep::einsum<"ii->i">(ep::tensor<double, 2>(ep::placeholder<double>({4, 4}))).node()->form.text() == "ii->i");
}

TEST_CASE_FIXTURE(inputs, "recording never throws: what is wrong is kept in the vertex") {
    Z(i, k) = A(i, j) * A(j, k);
    CHECK(Z.node()->failure ==
          "einsum ij,jk->ik: label j has extent 4 in operand 1 (placeholder) and 3 in operand 2 (placeholder)");
    A.named("left");
    Z(i, k) = A(i, j) * A(j, k);
    CHECK(Z.node()->failure ==
          "einsum ij,jk->ik: label j has extent 4 in operand 1 ('left') and 3 in operand 2 ('left')");
    ep::tensor<double, 2> W;
    W(i, l) = Z(i, k) * C(k, l);
    CHECK(W.node()->failure.empty());  // its operand's failure is the one to hear
    ep::tensor<double, 2> nothing;
    W(i, k) = nothing(i, j) * B(j, k);
    CHECK(W.node()->operands[0]->failure.find("nothing was assigned to operand") != std::string::npos);
    W = nothing;
    W(i, j) += A(i, j);
    CHECK(W.node()->operands[0]->failure.find("nothing was assigned to operand") != std::string::npos);
    ep::tensor<double, 1> far;
    far(i) = v((ep::index{1} << 62) * i) * A(i, j);
    CHECK(far.node()->failure == "einsum: the coefficients of an index are beyond 2^63");
}

TEST_CASE("loops build graphs, and a long chain lets go without recursion") {
    ep::tensor<double, 2> X = ep::placeholder<double>({4, 4});
    const ep::tensor<double, 2> W = ep::placeholder<double>({4, 4});
    for (int layer = 0; layer < 200000; ++layer) {
        X(i, k) = X(i, j) * W(j, k);
    }
    CHECK(X.node()->operands[1] == W.node());
    X = ep::tensor<double, 2>();
    CHECK(W.node().use_count() == 1);
}

TEST_CASE_FIXTURE(inputs, "which operand nothing was assigned to, and the extents that a tensor has") {
    ep::tensor<double, 2> U;
    Z(i, k) = A(i, j) * U(j, k);
    CHECK(Z.node()->operands[1]->failure == "einsum ij,jk->ik: nothing was assigned to operand 2 before");
    CHECK(A.extent(1) == 4);
    std::string said;
    try {
        static_cast<void>(U.extent(0));
    } catch (const ep::error& thrown) {
        said = thrown.what();
    }
    CHECK(said == "extent: nothing was assigned to this tensor");
}

}  // namespace record_test
