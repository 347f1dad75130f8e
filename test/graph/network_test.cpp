// Einsums known at run time against plain loops: random strings of one to five operands, on arrays and recorded.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <support/random_product.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace network_test {

namespace ep = einparallel;

namespace {

using ep::testing::random_product;
using ep::testing::small_number;
using std::size_t;

template <class T>
bool holds(const ep::unranked<T>& made, const std::vector<T>& expected) {
    return made.size() == static_cast<ep::index>(expected.size()) &&
           std::equal(expected.begin(), expected.end(), made.data());
}

/// @param percent  of dimensions that are functions of labels
template <class T>
void try_random_products(std::uint32_t seed, unsigned percent) {
    std::mt19937 random(seed);
    for (int time = 0; time < 60; ++time) {
        const random_product<T> drawn(random, percent, percent > 0 ? 3 : 5);
        const std::string text = drawn.text();
        CAPTURE(text);
        const std::vector<T> expected = drawn.expected();
        ep::network<T> letters, numbers;
        for (size_t operand = 0; operand < drawn.tensors.size(); ++operand) {
            letters.add(drawn.tensors[operand], random_product<T>::letters(drawn.operands[operand]));
            if (percent == 0) {
                std::vector<int> labels;
                for (const auto& each : drawn.operands[operand]) {
                    labels.push_back(each.terms.begin()->first);
                }
                numbers.add(drawn.tensors[operand], labels);
            }
        }
        const std::string output = random_product<T>::letters(drawn.output);
        CHECK(holds(letters.result(output), expected));
        CHECK(holds(letters.memory_limit(8 * sizeof(T)).result(output), expected));
        if (percent == 0) {
            CHECK(holds(numbers.result(drawn.output), expected));
        }
        const auto& of = drawn.tensors;
        switch (of.size()) {
            case 1:
                CHECK(holds(ep::einsum(text, of[0]), expected));
                break;
            case 2:
                CHECK(holds(ep::einsum(text, of[0], of[1]), expected));
                break;
            case 3:
                CHECK(holds(ep::einsum(text, of[0], of[1], of[2]), expected));
                break;
            case 4:
                CHECK(holds(ep::einsum(text, of[0], of[1], of[2], of[3]), expected));
                break;
            case 5:
                CHECK(holds(ep::einsum(text, of[0], of[1], of[2], of[3], of[4]), expected));
                break;
            default:
                break;
        }
    }
}

ep::array<double, 2> counted(ep::index rows, ep::index columns) {
    ep::array<double, 2> made({rows, columns});
    for (ep::index at = 0; at < made.size(); ++at) {
        made.data()[at] = static_cast<double>((at * 7) % 19 - 9);
    }
    return made;
}

std::string sentence(const std::function<void()>& statement) {
    try {
        statement();
    } catch (const ep::error& caught) {
        return caught.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("random einsums of every element type") {
    for (const unsigned percent : {0U, 40U, 80U}) {
        CAPTURE(percent);
        try_random_products<float>(1, percent);
        try_random_products<double>(2, percent);
        try_random_products<std::complex<float>>(3, percent);
        try_random_products<std::complex<double>>(4, percent);
        try_random_products<int>(6, percent);
        try_random_products<std::int8_t>(7, percent);
        try_random_products<unsigned>(8, percent);
        try_random_products<long long>(9, percent);
        try_random_products<bool>(10, percent);
    }
}

TEST_CASE("the language of strings is that of einsum<...>") {
    const ep::array<double, 2> A = counted(3, 3), B = counted(3, 4);
    const auto same = [](const ep::unranked<double>& made, const auto& expected) {
        return made.extents() == std::vector<ep::index>(expected.extents().begin(), expected.extents().end()) &&
               std::equal(expected.data(), expected.data() + expected.size(), made.data());
    };
    CHECK(same(ep::einsum("ij,jk->ik", A, B), ep::einsum<"ij,jk->ik">(A, B)));
    CHECK(same(ep::einsum(std::string(" i j , j k"), A, B), ep::einsum<"ij,jk">(A, B)));
    CHECK(same(ep::einsum(std::string_view("ba"), B), ep::einsum<"ba">(B)));
    CHECK(same(ep::einsum("ii", A), ep::einsum<"ii">(A)));
    CHECK(same(ep::einsum("ii->i", A), ep::einsum<"ii->i">(A)));
    CHECK(same(ep::einsum("αβ,βγ->γα", A, B), ep::einsum<"αβ,βγ->γα">(A, B)));
    CHECK(same(ep::einsum("...j,jk->...k", A, B), ep::einsum<"...j,jk->...k">(A, B)));
    const ep::array<double, 2> row = counted(1, 3);
    CHECK(same(ep::einsum("...,...->...", A, row), ep::einsum<"...,...->...">(A, row)));
    const ep::view<const double, 2> strided(B.data(), {2, 3}, {1, 4});
    CHECK(same(ep::einsum("ij,jk->ik", strided, A), ep::einsum<"ij,jk->ik">(strided, A)));
    CHECK(same(ep::einsum("i,i->", std::vector<double>{1, 2}, std::vector<double>{3, 4}),
               ep::einsum<"i,i->">(std::vector<double>{1, 2}, std::vector<double>{3, 4})));
}

TEST_CASE("elements of several types become common ones") {
    ep::array<int, 1> whole{1000000, 3};
    const ep::array<std::int64_t, 1> wide{1000000000, 1};
    const auto product = ep::einsum("i,i->i", whole, wide);
    static_assert(std::is_same_v<decltype(product), const ep::unranked<std::int64_t>>);
    CHECK(product.data()[0] == 1000000000000000);
    const ep::array<float, 1> f{2.0F, 3.0F};
    const ep::array<std::complex<float>, 1> z{std::complex<float>(0, 1), std::complex<float>(1, 0)};
    const ep::array<double, 1> d{0.5, 0.25};
    const ep::array<std::complex<double>, 0> s = ep::einsum("i,i,i->", f, d, z);
    CHECK(s.value() == std::complex<double>(0.75, 1));
    ep::network<double> net;
    CHECK(net.add(whole, "i").add(d, "i").result("").data()[0] == 500000.75);
}

TEST_CASE("a result is assigned to an array of its rank, and moves") {
    const ep::array<double, 2> A = counted(2, 3), B = counted(3, 4);
    auto made = ep::einsum("ij,jk->ik", A, B);
    const ep::array<double, 2> copy = made;
    CHECK(copy(1, 2) == made.data()[6]);
    const double* const elements = made.data();
    ep::array<double, 2> C = std::move(made);
    CHECK(C.data() == elements);
    C = ep::einsum("ij,jk->ki", A, B);
    CHECK(C.extents() == std::array<ep::index, 2>{4, 2});
    CHECK(sentence([&] { C = std::move(made); }) == "ep::unranked: a result of rank 0 is assigned to one of rank 2");
    CHECK(sentence([&] { C = ep::einsum("ij,jk->i", A, B); }) ==
          "ep::unranked: a result of rank 1 is assigned to one of rank 2");
    CHECK(sentence([&] { ep::tensor<double, 2> Z = ep::einsum("ij,jk->ik", A, B); }) ==
          "ep::unranked: this result was computed, not recorded: assign it to an ep::array");
}

TEST_CASE("networks") {
    const ep::array<double, 2> A = counted(2, 3), B = counted(3, 4);
    ep::network<double> net;
    net.add(A, {0, 1}).add(B, std::vector<int>{1, 2});
    const auto expected = ep::einsum<"ij,jk->ik">(A, B);
    for (int time = 0; time < 2; ++time) {
        const ep::array<double, 2> C = net.result({0, 2});
        CHECK(std::equal(C.data(), C.data() + C.size(), expected.data()));
    }
    ep::network<double> shifted;  // numbers are labels, but coefficients beside '*'
    const ep::array<double, 1> x{1, 2, 4, 8, 16}, w{1, -1, 3};
    shifted.add(x, "2*a+b").add(w, "b");
    CHECK(holds(shifted.result("a"), {11.0, 44.0}));
    CHECK(net.result("2 0").extents() == std::vector<ep::index>{4, 2});
    const ep::array<double, 0> all = net.result({});
    CHECK(all.value() == ep::einsum<"ij,jk->">(A, B).value());

    ep::network<double> apart;  // what is added is kept where it is no lvalue
    apart.add(counted(2, 2), "ij").add(std::vector<double>{1, 2}, "k").add(ep::unranked<double>({3}), "l");
    CHECK(apart.result("ik").extents() == std::vector<ep::index>{2, 2});

    ep::network<double> chain;  // more labels than letters, more tensors than an exact order takes
    ep::array<double, 2> step({2, 2});
    step(0, 0) = step(0, 1) = step(1, 1) = 1;
    for (int at = 0; at < 300; ++at) {
        chain.add(step, {at, at + 1});
    }
    const ep::array<double, 2> power = chain.result({0, 300});
    CHECK(power(0, 1) == 300);
}

TEST_CASE("a memory limit cuts a product into parts") {
    std::mt19937 random(5);
    const int side = 4;
    ep::network<double> lattice;
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            std::vector<int> labels;
            for (const auto& [r, c, kind] :
                 {std::array{row - 1, column, 0}, {row, column, 0}, {row, column - 1, 1}, {row, column, 1}}) {
                if (r >= 0 && c >= 0 && r < side - (kind == 0) && c < side - kind) {
                    labels.push_back((r * side + c) * 2 + kind);
                }
            }
            ep::unranked<double> tensor(std::vector<ep::index>(labels.size(), 4));
            std::generate(tensor.data(), tensor.data() + tensor.size(), [&] { return small_number<double>(random); });
            lattice.add(std::move(tensor), labels);
        }
    }
    const double expected = lattice.result({}).data()[0];
    for (const std::size_t limit : {1U << 14U, 1U << 11U, 1U << 9U}) {
        CHECK(lattice.memory_limit(limit).result({}).data()[0] == doctest::Approx(expected));
    }
    const double kept = lattice.memory_limit(0).result({0, 9}).data()[7];
    CHECK(lattice.memory_limit(1U << 10U).result({0, 9}).data()[7] == doctest::Approx(kept));
    CHECK(sentence([&] {
              static_cast<void>(lattice.memory_limit(8).result({}));
          }).ends_with(" bytes at a time; the memory limit is 8"));
}

TEST_CASE("mistakes are one sentence") {
    const ep::array<double, 2> A = counted(2, 3), B = counted(3, 4);
    const auto of_string = [&](std::string_view text) {
        return sentence([&] { static_cast<void>(ep::einsum(text, A, B)); });
    };
    CHECK(
        of_string("i1,1k->ik") ==
        "ep::einsum: malformed subscript string: a label is a letter (or another Unicode character); beside labels "
        "stand ',', '->', '...' and spaces, and an index that is a function of labels is written as in \"i+r,r->i\" or "
        "\"[2*i - r, 3],[r]->[i]\": 'i1', operand 1 of rank 2");
    CHECK(of_string("[i, 2*],jk->i") ==
          "ep::einsum: malformed subscript string: an index is a sum of labels times integers and an integer, as in "
          "\"i+r,r->i\" or \"[2*i - r, 3],[r]->[i]\", where every '[' has its ']': '[i, 2*]', operand 1 of rank 2");
    CHECK(of_string("ij-jk").starts_with("ep::einsum: malformed subscript string: '->' stands at most once"));
    CHECK(of_string("[i, j,jk->ik").ends_with("where every '[' has its ']': '[i, j,jk->ik'"));
    CHECK(of_string("..ij,jk->ik").starts_with("ep::einsum: malformed subscript string: an ellipsis is three dots"));
    CHECK(of_string("ij->ij") ==
          "ep::einsum: more operands than subscripts: every operand needs its own, separated by ',': 'ij->ij'");
    CHECK(of_string("ij,jk,kl->il").starts_with("ep::einsum: more subscripts than operands"));
    CHECK(of_string("ij,jkl->il") ==
          "ep::einsum: the number of labels in a subscript differs from the rank of its operand: 'jkl', operand 2 of "
          "rank 2");
    CHECK(of_string("ij,jk->iq") == "ep::einsum: this output label appears in no operand: label q");
    CHECK(of_string("ij,jk->[i, k + 1]") ==
          "ep::einsum: the dimensions of the output are labels, not functions of them: 'ij,jk->[i, k + 1]'");
    CHECK(of_string("[i, j + 3],kl->ij") ==
          "einsum: index j + 3 of dimension 1 of operand 1 leaves no value for label j: the dimension has extent 3");
    CHECK(of_string("[i, 7],jk->k") == "einsum: index 7 of dimension 1 of operand 1 is 7, outside the extent 3");
    CHECK(of_string("[i + r, j],jk->ik") ==
          "einsum: the extent of label i is not known: give the left-hand side extents, or let an operand have the "
          "label as a dimension of its own");
    CHECK(of_string("ij,jk->ii") == "ep::einsum: this output label is repeated: label i");
    CHECK(of_string("ij,...k->ik").starts_with("ep::einsum: an operand's ellipsis stands for dimensions"));
    CHECK(of_string("ij,kj->ik") == "einsum ij,kj->ik: label j has extent 3 in operand 1 and 4 in operand 2");
    CHECK(sentence([] { static_cast<void>(ep::network<float>().result("")); }) ==
          "ep::network: a network without tensors has no result: net.add(A, \"ij\")");
    ep::network<double> net;
    net.add(A, {10, 11}).add(B, {10, 12});
    CHECK(sentence([&] { static_cast<void>(net.result({})); }) ==
          "einsum 10 11,10 12->: label 10 has extent 2 in operand 1 and 3 in operand 2");
    net.add(ep::placeholder<double>({2}), {10});
    CHECK(sentence([&] { static_cast<void>(net.result({})); }) ==
          "ep::einsum: the operands must be arrays and views only, or tensors only");
}

TEST_CASE("on tensors the vertices of einsum<...> are recorded") {
    const ep::tensor<double, 2> X = ep::placeholder<double>({4, 5}), Y = ep::placeholder<double>({5, 6}),
                                V = ep::placeholder<double>({6, 4});
    const ep::tensor<double, 2> Z = ep::einsum("ij,jk,kl->il", X, Y, V);
    const ep::tensor<double, 2> same = ep::einsum<"ij,jk,kl->il">(X, Y, V);
    CHECK(ep::decompose({.processes = 4}, Z).to_json() == ep::decompose({.processes = 4}, same).to_json());
    ep::tensor<double, 2> W;
    W = ep::einsum("ij->ji", X);
    CHECK(W.extents() == std::vector<ep::index>{5, 4});
    ep::network<double> net;
    net.add(X, {0, 1}).add(Y, {1, 2});
    const ep::tensor<double, 2> N = net.result({0, 2});
    CHECK(N.node()->form.text() == "01,12->02");

    const ep::tensor<double, 2> wrong = ep::einsum("ij,kj->ik", X, Y);
    CHECK(sentence([&] { static_cast<void>(ep::decompose({.processes = 2}, wrong)); }) ==
          "decompose: einsum ij,kj->ik: label j has extent 5 in operand 1 (placeholder) and 6 in operand 2 "
          "(placeholder)");
    CHECK(sentence([&] { const ep::array<double, 2> C = ep::einsum("ij->ji", X); }) ==
          "ep::unranked: this result was recorded, not computed: assign it to an ep::tensor");
    const ep::tensor<float, 2> F = ep::placeholder<float>({6, 2});
    const ep::tensor<double, 2> mixed = ep::einsum("ij,jk->ik", Y, F);
    CHECK(mixed.extents() == std::vector<ep::index>{5, 2});
}

}  // namespace network_test
