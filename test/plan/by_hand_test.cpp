// Plans by hand: what a rule says is what the plan does, and what makes no sense is refused with a sentence.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>

#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
namespace rivals = ep::rivals;
using ep::testing::sentence_of;

namespace by_hand_test {

namespace {

EINPARALLEL_LABELS(b, f, h, i, j, k, l, v);

/// The cut labels of a vertex, in the order of its labels.
template <std::size_t Rank>
ep::label_parts cut_of(const ep::plan& plan, const ep::tensor<double, Rank>& made) {
    ep::label_parts parts = plan.partition(made);
    std::erase_if(parts, [](const auto& each) { return each.second == 1; });
    return parts;
}

/// Z(i, k) = A(i, j) · B(j, k) and W(i, l) = Z(i, k) · C(k, l).
struct two_products {
    ep::tensor<double, 2> A = ep::placeholder<double>({8, 6}).named("A");
    ep::tensor<double, 2> B = ep::placeholder<double>({6, 4}).named("B");
    ep::tensor<double, 2> C = ep::placeholder<double>({4, 10}).named("C");
    ep::tensor<double, 2> Z, W;

    two_products() {
        Z(i, k) = A(i, j) * B(j, k);
        W(i, l) = Z(i, k) * C(k, l);
        Z.named("Z");
        W.named("W");
    }
};

}  // namespace

TEST_CASE("what reads at functions of labels is not fed by a master, whoever cuts it") {
    const auto A = ep::placeholder<double>({8, 8});
    const auto B = ep::placeholder<double>({8, 8});
    ep::tensor<double, 2> Z;
    Z(i, j) = A(7 - i, j) * B(i, j);
    const ep::plan plan =
        ep::plan_with({.processes = 2, .algorithm = ep::algorithm::master_worker}, rivals::along("i"), Z);
    CHECK(plan.vertices().back().algorithm != ep::algorithm::master_worker);
    CHECK(plan.vertices().back().fell_back);
    CHECK(plan.partition(Z) == ep::label_parts{{"i", 2}, {"j", 1}});
}

TEST_CASE("a rule that counts begins anew in every plan") {
    const auto A = ep::placeholder<double>({8, 8});
    ep::tensor<double, 2> Y, Z;
    Y(i, k) = A(i, j) * A(j, k);
    Z(i, k) = Y(i, j) * A(j, k);
    const ep::plan known = ep::plan_with({.processes = 2}, ep::hand_cuts().cut(Y, {{"i", 2}}).cut(Z, {{"k", 2}}), Z);
    const ep::cutting_rule rule = ep::cuts_of(known);
    static_cast<void>(ep::plan_with({.processes = 2}, rule, Y));
    CHECK(ep::plan_with({.processes = 2}, rule, Z).partition(Z) == known.partition(Z));
    CHECK(ep::plan_with({.processes = 2}, rule, Z).partition(Z) == known.partition(Z));
}

TEST_CASE("of a tensor of halves the sum is cut by hand, and its rounding follows") {
    const auto X = ep::placeholder<ep::bfloat16>({8, 6});
    const auto W = ep::placeholder<ep::bfloat16>({6, 4});
    ep::tensor<ep::bfloat16, 2> Y;
    Y(b, h) = X(b, f) * W(f, h);
    const ep::plan plan = ep::plan_with({.processes = 4}, ep::hand_cuts().cut(Y.named("Y"), {{"f", 2}, {"b", 2}}), Y);
    const ep::planned_vertex& sum = *std::find_if(plan.vertices().begin(), plan.vertices().end(),
                                                  [](const auto& each) { return each.name == "Y.1"; });
    CHECK(sum.work.ranks.parts(ep::detail::label_named(sum.work.form, "f")) == 2);
    CHECK(sum.work.ranks.parts(ep::detail::label_named(sum.work.form, "b")) == 2);
    CHECK(plan.partition(Y) == ep::label_parts{{"b", 2}, {"h", 1}});
    CHECK(sentence_of([&] {
              static_cast<void>(ep::plan_with({.processes = 4}, ep::hand_cuts().cut(Y, {{"k", 2}}), Y));
          }) == "plan_with: Y.1 (bf,fh->bh) has no label k to cut");
}

TEST_CASE_FIXTURE(two_products, "the plan is cut as told, and costs what the cost functions say") {
    const ep::plan plan = ep::plan_with({.processes = 8, .objective = ep::objective::paper},
                                        ep::hand_cuts().cut(Z, {{"k", 2}, {"i", 4}}).cut(W, {{"l", 2}, {"k", 2}}), W);
    CHECK(plan.processes() == 8);
    CHECK(cut_of(plan, Z) == ep::label_parts{{"i", 4}, {"k", 2}});
    CHECK(cut_of(plan, W) == ep::label_parts{{"k", 2}, {"l", 2}});
    const ep::planned_vertex& z = plan.vertices()[2];
    const ep::planned_vertex& w = plan.vertices()[4];
    CHECK(z.name == "Z");
    CHECK(z.join == 8 * (2 * 6 + 6 * 2));
    CHECK(z.aggregation == 0);
    CHECK(w.name == "W");
    CHECK(w.join == 4 * (8 * 2 + 2 * 5));
    CHECK(w.aggregation == 2 * (8 * 5));
    // Z is made in blocks of 2 × 2 and wanted in blocks of 8 × 2: 4 blocks for each of 2 consumers' blocks.
    CHECK(w.repartition == (4 - 1) * 2 * (16 + 4));
    CHECK(plan.cost() == z.join + w.join + w.aggregation + w.repartition);
    CHECK(plan.seconds() > 0);
    // A stays (i:4 of 8 ranks share with k:2 the rows), so each rank pair exchanges halves of A's and each four of B's.
    CHECK(z.bytes == 8 * (1 * 48 + 3 * 24));
}

TEST_CASE_FIXTURE(two_products, "what is not named keeps the cut of its operands") {
    const ep::options asked{.processes = 8};
    const ep::plan all = ep::plan_with(asked, ep::hand_cuts().cut(Z, {{"i", 4}, {"k", 2}}), W);
    CHECK(cut_of(all, W) == ep::label_parts{{"i", 4}, {"k", 2}});
    // Contracted labels of the producer are gone, and inputs bring nothing.
    const ep::plan contracted = ep::plan_with(asked, ep::hand_cuts().cut(Z, {{"i", 2}, {"j", 3}}), W);
    CHECK(cut_of(contracted, W) == ep::label_parts{{"i", 2}});
    CHECK(cut_of(ep::plan_with(asked, ep::hand_cuts(), W), Z).empty());

    // Of two operands the first that cuts a label counts, as far as the ranks suffice.
    ep::tensor<double, 2> Y, S;
    Y(i, k) = A(i, j) * B(j, k);
    S(i, l) = Z(i, k) * Y(l, k);
    S.named("S");
    CHECK(cut_of(ep::plan_with(asked, ep::hand_cuts().cut(Z, {{"k", 2}}).cut(Y, {{"i", 2}, {"k", 4}}), S), S) ==
          ep::label_parts{{"k", 2}, {"l", 2}});
    CHECK(cut_of(ep::plan_with(asked, ep::hand_cuts().cut(Z, {{"i", 6}}).cut(Y, {{"i", 2}, {"k", 4}}), S), S) ==
          ep::label_parts{{"i", 6}});
}

TEST_CASE_FIXTURE(two_products, "a rule is asked once for every einsum, with what it may want to know") {
    std::vector<std::string> asked_of;
    const ep::plan plan = ep::plan_with(
        {.processes = 5, .powers_of_two = true},
        [&](const ep::vertex_to_cut& each) {
            asked_of.push_back(each.name);
            CHECK(each.processes == 8);
            CHECK(each.extent("i") == 8);
            CHECK(each.has("l") == (each.name == "W"));
            CHECK(each.extent("l") == (each.name == "W" ? 10 : -1));
            CHECK(each.from_operands == (each.name == "W" ? ep::label_parts{{"i", 8}} : ep::label_parts{}));
            return ep::label_parts{{"i", 8}};
        },
        W);
    CHECK(asked_of == std::vector<std::string>{"Z", "W"});
    CHECK(plan.processes() == 8);
}

TEST_CASE_FIXTURE(two_products, "EinDecomp's own cuts by hand make EinDecomp's plan") {
    for (const ep::objective objective : {ep::objective::paper, ep::objective::bytes, ep::objective::time}) {
        for (const int processes : {1, 4, 6, 8}) {
            const ep::options asked{.processes = processes, .objective = objective};
            const ep::plan searched = ep::decompose(asked, W, Z);
            const ep::plan told = ep::plan_with(
                asked, [&](const ep::vertex_to_cut& each) { return searched.partition(each.einsum); }, W, Z);
            CHECK(told.cost() == searched.cost());
            CHECK(told.partition(W) == searched.partition(W));
            CHECK(told.partition(Z) == searched.partition(Z));
            CHECK(told.outputs() == searched.outputs());
            CHECK(told.asked() == searched.asked());
        }
    }
}

TEST_CASE("the same statements of other extents, cut as a plan that exists, by one rule for several graphs") {
    struct layers {
        std::vector<ep::tensor<double, 2>> x;

        explicit layers(ep::index extent, ep::index rows) {
            x.push_back(ep::placeholder<double>({rows, extent}));
            for (int layer = 0; layer < 3; ++layer) {
                const auto W = ep::placeholder<double>({extent, extent});
                ep::tensor<double, 2> y, z;
                y(i, k) = x.back()(i, j) * W(j, k);
                z(i, k) = max(y(i, k), 0.0) + x.back()(i, k);
                x.push_back(y);
                x.push_back(z);
            }
        }
    };
    const layers small(16, 4), large(24, 4), larger(64, 12);
    const ep::options asked{.processes = 8, .objective = ep::objective::bytes};
    const ep::plan known = ep::plan_with(
        asked,
        [turn = 0](const ep::vertex_to_cut& /*vertex*/) mutable {
            ++turn;
            return turn % 3 == 0 ? ep::label_parts{{"i", 4}, {"k", 2}} : ep::label_parts{{"k", 8}};
        },
        small.x.back());
    const ep::cutting_rule rule = ep::cuts_of(known);
    for (const layers* each : {&small, &large, &larger}) {
        const ep::plan made = ep::plan_with(asked, rule, std::vector{each->x.back()});
        for (std::size_t number = 1; number < each->x.size(); ++number) {
            CHECK(made.partition(each->x[number]) == known.partition(small.x[number]));
        }
    }
    CHECK(ep::plan_with(asked, rule, small.x.back()) == known);
    ep::tensor<double, 2> other;
    other(j, i) = small.x[0](i, j);  // no einsum of the plan: keeps what its operands bring, which is nothing
    CHECK(cut_of(ep::plan_with(asked, rule, other), other).empty());
    const layers narrow(4, 4);
    CHECK(sentence_of([&] {
              static_cast<void>(ep::plan_with(asked, rule, narrow.x.back()));
          }).find("cannot cut label k of extent 4 into 8 parts") != std::string::npos);
}

TEST_CASE_FIXTURE(two_products, "cuts that make no sense are refused with vertex, label and numbers") {
    const auto refused = [&](int processes, const ep::label_parts& parts) {
        return sentence_of(
            [&] { static_cast<void>(ep::plan_with({.processes = processes}, ep::hand_cuts().cut(Z, parts), W)); });
    };
    CHECK(refused(8, {{"x", 2}}) == "plan_with: Z (ij,jk->ik) has no label x to cut");
    CHECK(refused(8, {{"l", 2}}) == "plan_with: Z (ij,jk->ik) has no label l to cut");
    CHECK(refused(8, {{"k", 5}}) == "plan_with: Z (ij,jk->ik) cannot cut label k of extent 4 into 5 parts");
    CHECK(refused(8, {{"k", 0}}) == "plan_with: Z (ij,jk->ik) cannot cut label k of extent 4 into 0 parts");
    CHECK(refused(8, {{"k", -2}}) == "plan_with: Z (ij,jk->ik) cannot cut label k of extent 4 into -2 parts");
    CHECK(refused(8, {{"k", 2}, {"k", 2}}) == "plan_with: Z (ij,jk->ik) is told twice how to cut label k");
    CHECK(refused(7, {{"k", 2}, {"i", 4}}) ==
          "plan_with: Z (ij,jk->ik) is cut over 8 ranks or more, the plan is for 7");
    CHECK(refused(8, {{"k", 2}, {"i", 4}}).empty());
    CHECK(refused(8, {{"k", 1}, {"i", 1}}).empty());

    CHECK(refused(0, {}).find("options.processes is 0") != std::string::npos);
    int asked = 0;
    static_cast<void>(ep::plan_with(
        {}, [&asked, calls = 0](const ep::vertex_to_cut& each) mutable { return asked = ++calls, each.from_operands; },
        W));
    CHECK(asked > 0);
    CHECK(sentence_of([&] { static_cast<void>(ep::plan_with({}, ep::cutting_rule(), W)); }) ==
          "plan_with: the cutting rule is empty");
    CHECK(sentence_of([&] { static_cast<void>(ep::plan_with({}, ep::hand_cuts().cut(A, {}), W)); }) ==
          "plan_with: 'A' is an input and cannot be cut by hand: it rests as the vertices that read it are cut");
    CHECK(sentence_of([&] { static_cast<void>(ep::plan_with({}, ep::hand_cuts().cut(W, {}).cut(Z, {}), Z)); }) ==
          "plan_with: 1 of the 2 tensors that are cut by hand is not part of this graph");
    CHECK(sentence_of([&] { static_cast<void>(ep::plan_with({}, ep::hand_cuts().cut(W, {}), Z)); }) ==
          "plan_with: the tensor that is cut by hand is not part of this graph");
    ep::tensor<double, 2> V;
    V(i, k) = Z(i, k) * 2.0;
    CHECK(sentence_of([&] { static_cast<void>(ep::plan_with({}, ep::hand_cuts().cut(W, {}).cut(V, {}), Z)); }) ==
          "plan_with: 2 of the 2 tensors that are cut by hand are not part of this graph");
    CHECK(sentence_of([&] { ep::hand_cuts().cut(ep::tensor<double, 1>(), {}); }) ==
          "hand_cuts: a tensor that nothing was assigned to cannot be cut");

    const std::size_t peak = ep::plan_with({.processes = 2}, rivals::along("i"), W).peak_bytes(0);
    CHECK(sentence_of([&] {
              static_cast<void>(ep::plan_with({.processes = 2, .memory_limit = peak}, rivals::along("i"), W));
          }).empty());
    CHECK(sentence_of([&] {
              static_cast<void>(ep::plan_with({.processes = 2, .memory_limit = peak - 1}, rivals::along("i"), W));
          }) == "plan_with: the plan needs " + std::to_string(peak) + " bytes on rank 0, options.memory_limit is " +
                    std::to_string(peak - 1));
}

TEST_CASE_FIXTURE(two_products, "a rule that names a label which nobody has is refused") {
    const auto refused = [&](const ep::cutting_rule& rule) {
        return sentence_of([&] { static_cast<void>(ep::plan_with({.processes = 4}, rule, W)); });
    };
    const std::string sentence = "plan_with: the rule names label zz, which no einsum of this graph has";
    CHECK(refused(rivals::along("zz")) == sentence);
    CHECK(refused(rivals::data_parallel("zz")) == sentence);
    CHECK(refused(rivals::sequence("zz")) == sentence);
    CHECK(refused(rivals::attention_heads("zz", "i", "k")) == sentence);
    CHECK(refused(rivals::attention_heads("i", "zz", "k")) == sentence);
    CHECK(refused(rivals::attention_heads("i", "k", "zz")) == sentence);
    CHECK(refused(rivals::megatron({{"i", "zz"}, "", ""})) == sentence);
    CHECK(refused(rivals::megatron({{"i"}, "zz", "", 2})) == sentence);
    CHECK(refused(rivals::along("")) ==
          "plan_with: the rule names a label without a name, which no einsum of this graph has");
    // A label of one of the two einsums will do, and no label for a role that is not there.
    CHECK(refused(rivals::along("l")).empty());
    CHECK(refused(rivals::along("j")).empty());
    CHECK(refused(rivals::megatron({{"l", "j"}, "", ""})).empty());
    CHECK(refused(rivals::attention_heads("", "", "")).empty());
}

TEST_CASE("what a label that may not be cut reads may be cut along it: the label stays whole") {
    const auto A = ep::placeholder<double>({8, 8}).named("A");
    const auto token = ep::placeholder<int>({8}).named("token");
    ep::tensor<double, 2> Y, Z = ep::placeholder<double>({8, 8}), longest, sums, products, rows, added, chosen;
    ep::tensor<double, 1> most, first;
    ep::tensor<int, 2> places;
    Y(i, j) = 2.0 * A(i, j);
    const auto [values, at] = ep::top_k(k, j, Y(i, j), 2);
    longest(i, k) = values;
    places(i, k) = at;
    sums(i, j) = ep::cumsum(j, Y(i, j));
    products(i, j) = ep::cumprod(i, Y(i, j));
    rows(i, j) = ep::softmax(j, Y(i, j));
    most(i) = ep::max(j, Y(i, j));
    chosen(i, j) = Y(token(i), j);
    added = Z;
    added(token(i), j) += Y(i, j);
    Z(token(i), j) = Y(i, j);
    first(i) = Y(i, 0);
    const auto plans_with = [&](const ep::cutting_rule& rule) {
        return sentence_of([&] {
            static_cast<void>(ep::plan_with({.processes = 4}, rule, longest, places, sums, products, rows, most, chosen,
                                            added, Z, first));
        });
    };
    for (const std::string label : {"i", "j"}) {
        for (const int parts : {2, 4}) {
            CHECK(plans_with(ep::hand_cuts().cut(Y, {{label, parts}})).empty());
        }
        CHECK(plans_with(rivals::along(label)).empty());
        CHECK(
            plans_with([&](const ep::vertex_to_cut& each) {
                return each.from_operands.empty() && each.has(label) ? ep::label_parts{{label, 1}} : each.from_operands;
            }).empty());
    }
    CHECK(plans_with(ep::hand_cuts().cut(Y, {{"i", 2}, {"j", 2}})).empty());
    CHECK(plans_with(rivals::sqrt()).empty());
    CHECK(plans_with(rivals::megatron({{"j"}, "i", "", 2})).empty());
    const ep::plan plan = ep::plan_with({.processes = 4}, ep::hand_cuts().cut(Y, {{"i", 2}, {"j", 2}}), longest);
    CHECK(cut_of(plan, longest) == ep::label_parts{{"i", 2}});
    // An input without a name is called what tables call it.
    const auto B = ep::placeholder<double>({8, 8});
    ep::tensor<double, 2> C;
    C(i, j) = B(i, j) * Y(i, j);
    CHECK(sentence_of([&] {
              static_cast<void>(ep::plan_with({.processes = 4}, ep::hand_cuts().cut(B, {{"i", 2}}), C));
          }).find("plan_with: 'v0' is an input") == 0);
}

TEST_CASE("extents of 0 and 1, and tensors of rank 0") {
    const auto A = ep::placeholder<double>({0, 1});
    ep::tensor<double, 1> Z;
    ep::tensor<double, 0> sum;
    Z(i) = A(i, j);
    sum() = Z(i) * Z(i);
    for (const ep::cutting_rule& rule :
         {rivals::sqrt(), rivals::along("i"), rivals::along("j"), rivals::megatron({{"i"}, "j", "", 2})}) {
        const ep::plan plan = ep::plan_with({.processes = 6}, rule, sum);
        CHECK(cut_of(plan, Z).empty());
        CHECK(cut_of(plan, sum).empty());
    }
    CHECK(sentence_of([&] {
              static_cast<void>(ep::plan_with({.processes = 6}, ep::hand_cuts().cut(Z, {{"i", 2}}), sum));
          }).find("cannot cut label i of extent 0 into 2 parts") != std::string::npos);
}

TEST_CASE_FIXTURE(two_products, "SQRT: the two longest labels of a contraction, as equally as the ranks allow") {
    const auto cut = [&](int processes) {
        const ep::plan plan = ep::plan_with({.processes = processes}, rivals::sqrt(), W);
        return std::pair{cut_of(plan, Z), cut_of(plan, W)};
    };
    CHECK(cut(4) == std::pair{ep::label_parts{{"i", 2}, {"k", 2}}, ep::label_parts{{"i", 2}, {"l", 2}}});
    CHECK(cut(6) == std::pair{ep::label_parts{{"i", 3}, {"k", 2}}, ep::label_parts{{"i", 2}, {"l", 3}}});
    CHECK(cut(12) == std::pair{ep::label_parts{{"i", 4}, {"k", 3}}, ep::label_parts{{"i", 3}, {"l", 4}}});
    // 7 ranks in one row; 64 are more than Z's rows and columns make, the contracted label takes the rest.
    CHECK(cut(7) == std::pair{ep::label_parts{{"i", 7}}, ep::label_parts{{"l", 7}}});
    CHECK(cut(64) == std::pair{ep::label_parts{{"i", 8}, {"j", 2}, {"k", 4}}, ep::label_parts{{"i", 8}, {"l", 8}}});
}

TEST_CASE("data parallel: weights travel, gradients are aggregated, what has no batch follows") {
    const auto X = ep::placeholder<double>({4, 6});
    const auto V = ep::placeholder<double>({6, 2});
    const auto D = ep::placeholder<double>({4, 2});
    ep::tensor<double, 2> Y, gradient, updated;
    Y(b, h) = X(b, f) * V(f, h);
    gradient(f, h) = X(b, f) * D(b, h);
    updated(f, h) = V(f, h) - 0.1 * gradient(f, h);
    const ep::plan plan = ep::plan_with({.processes = 2}, rivals::data_parallel("b"), Y, updated);
    CHECK(cut_of(plan, Y) == ep::label_parts{{"b", 2}});
    CHECK(cut_of(plan, gradient) == ep::label_parts{{"b", 2}});
    CHECK(cut_of(plan, updated) == ep::label_parts{{"f", 2}});  // no rank idle: the longest label
    for (const ep::planned_vertex& each : plan.vertices()) {
        if (each.origin == Y.node()) {
            CHECK(each.join == 2 * (2 * 6 + 6 * 2));
            CHECK(each.bytes == 8 * 12);  // each of two ranks sends its half of V
        }
        if (each.origin == gradient.node()) {
            CHECK(each.aggregation == 12);
            CHECK(each.bytes == 8 * 12);  // each sends the half of its summand that is not its own
        }
    }
    // Ranks that the batch does not take are idle: 4 of 8, and 3 of 6 for the sake of even shares.
    CHECK(cut_of(ep::plan_with({.processes = 8}, rivals::data_parallel("b"), Y), Y) == ep::label_parts{{"b", 4}});
    CHECK(cut_of(ep::plan_with({.processes = 6}, rivals::data_parallel("b"), Y), Y) == ep::label_parts{{"b", 3}});
}

TEST_CASE("Megatron: columns, then rows, and nothing moves between them") {
    const auto X = ep::placeholder<double>({4, 8});
    const auto U = ep::placeholder<double>({8, 6});
    const auto V = ep::placeholder<double>({6, 8});
    ep::tensor<double, 2> hidden, Y, Z;
    hidden(b, f) = X(b, h) * U(h, f);
    Y(b, h) = hidden(b, f) * V(f, h);
    Z(b, h) = X(b, h) + Y(b, h);
    const auto planned = [&](int processes, int degree) {
        return ep::plan_with({.processes = processes}, rivals::megatron({{"f"}, "b", "", degree}), Z);
    };
    const ep::plan pair = planned(2, 0);
    CHECK(cut_of(pair, hidden) == ep::label_parts{{"f", 2}});
    CHECK(cut_of(pair, Y) == ep::label_parts{{"f", 2}});
    CHECK(cut_of(pair, Z) == ep::label_parts{{"h", 2}});  // one group: the batch is not cut
    for (const ep::planned_vertex& each : pair.vertices()) {
        if (each.origin == Y.node()) {
            CHECK(each.repartition == 0);
            CHECK(each.join == 2 * (4 * 3 + 3 * 8));
            CHECK(each.aggregation == 4 * 8);
            CHECK(each.bytes == 8 * 4 * 8);
        }
    }
    const ep::plan groups = planned(8, 2);
    CHECK(cut_of(groups, hidden) == ep::label_parts{{"b", 4}, {"f", 2}});
    CHECK(cut_of(groups, Y) == ep::label_parts{{"b", 4}, {"f", 2}});
    CHECK(cut_of(groups, Z) == ep::label_parts{{"b", 4}, {"h", 2}});
    // Where the columns are fewer than the ranks of a group, the batch takes the rest: 12 = 6 · 2.
    CHECK(cut_of(planned(12, 0), hidden) == ep::label_parts{{"b", 2}, {"f", 6}});
}

}  // namespace by_hand_test
