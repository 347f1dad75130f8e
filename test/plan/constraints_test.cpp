// Pins and marks: what the user fixes is what every plan does, and what makes no sense is refused with a sentence.

#include "graphs.hpp"
#include "random_constraints.hpp"

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace constraints_test {

namespace {

EINPARALLEL_LABELS(i, j, k, l);

/// Z(i, k) = A(i, j) · B(j, k), S(i, k) = Z(i, k) + C(i, k).
struct product_and_sum {
    ep::tensor<double, 2> A = ep::placeholder<double>({8, 6}).named("A");
    ep::tensor<double, 2> B = ep::placeholder<double>({6, 4}).named("B");
    ep::tensor<double, 2> C = ep::placeholder<double>({8, 4}).named("C");
    ep::tensor<double, 2> Z, S;

    product_and_sum() {
        Z(i, k) = A(i, j) * B(j, k);
        S(i, k) = Z(i, k) + C(i, k);
        Z.named("Z");
        S.named("S");
    }

    [[nodiscard]] ep::plan planned(ep::options asked = {.processes = 8}) const { return ep::decompose(asked, S); }

    [[nodiscard]] std::string refusal(const ep::options& asked = {.processes = 8}) const {
        return ep::testing::sentence_of([&] { static_cast<void>(ep::decompose(asked, S)); });
    }
};

const ep::planned_vertex& vertex_named(const ep::plan& made, const std::string& name) {
    for (const ep::planned_vertex& each : made.vertices()) {
        if (each.name == name) {
            return each;
        }
    }
    throw ep::error("no vertex is named " + name);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

constexpr ep::objective all_objectives[] = {ep::objective::time, ep::objective::paper, ep::objective::bytes};

}  // namespace

TEST_CASE_FIXTURE(product_and_sum, "a pinned result lies as it is told, on the ranks that the order says") {
    for (const ep::objective wanted : all_objectives) {
        for (const ep::method how : {ep::method::exact, ep::method::linearized}) {
            S.pinned({{"k", 2}, {"i", 4}});
            Z.pinned({{0, 2}});
            A.pinned({{1, 3}, {0, 2}});
            const ep::plan made = planned({.processes = 8, .objective = wanted, .method = how});
            test::check_obeyed(made);
            const ep::distribution& s = vertex_named(made, "S").resting;
            for (int rank = 0; rank < 8; ++rank) {
                CHECK(s.held_by(rank).sides[0] == ep::block_of(8, 4, rank % 4));
                CHECK(s.held_by(rank).sides[1] == ep::block_of(4, 2, rank / 4));
            }
            const std::vector<std::pair<std::string, int>> z = made.partition(Z);
            CHECK(z[0].second == 2);
            CHECK(z[2].second == 1);
            if (wanted != ep::objective::time) {
                CHECK(z[1].second == 4);  // the contracted label takes the other ranks
            }
            const ep::distribution& a = vertex_named(made, "A").resting;
            CHECK(a.holders() == 6);
            CHECK(a.held_by(5).sides[0] == ep::block_of(8, 2, 1));
            CHECK(a.held_by(5).sides[1] == ep::block_of(6, 3, 2));
        }
    }
}

TEST_CASE_FIXTURE(product_and_sum, "a pin without parts leaves one block") {
    S.pinned({});
    const ep::plan made = planned();
    CHECK(vertex_named(made, "S").work.ranks.size() == 1);
    std::ostringstream text;
    text << made;
    CHECK(has(text.str(), "note: S is pinned to one block\n"));
}

TEST_CASE("orders of more axes than can all be tried follow the pin") {
    ep::tensor<double, 6> X = ep::generate<double>({4, 4, 4, 4, 4, 4}, [](auto... at) { return double((at + ...)); });
    EINPARALLEL_LABELS(a, b, c, d, e, f);
    ep::tensor<double, 6> Y, W;
    Y(a, b, c, d, e, f) = X(a, b, c, d, e, f) * X(b, a, c, d, e, f);
    W(f, e, d, c, b, a) = Y(a, b, c, d, e, f) * 2.0;
    Y.pinned({{"f", 2}, {"a", 2}, {"c", 2}, {"b", 2}, {"e", 2}});
    W.pinned({{"c", 2}, {"f", 2}, {"a", 2}, {"d", 2}, {"b", 2}, {"e", 2}});
    for (const ep::objective wanted : all_objectives) {
        test::check_obeyed(ep::decompose({.processes = 64, .objective = wanted}, W));
    }
}

TEST_CASE_FIXTURE(product_and_sum, "pins are shown, as notes and in JSON, and plans that exist keep theirs") {
    S.pinned({{"i", 4}, {"k", 2}}).without_communication();
    C.pinned({{0, 4}, {1, 2}});
    Z.pinned({{"i", 4}, {"k", 2}});
    const ep::plan made = planned();
    std::ostringstream text;
    text << made;
    CHECK(has(text.str(), "note: S is pinned to i:4 k:2\n"));
    CHECK(has(text.str(), "note: C is pinned to 0:4 1:2\n"));
    CHECK(has(text.str(), "note: S is marked to run without communication\n"));
    const std::string json = made.to_json();
    CHECK(has(json, R"("pinned":[{"dimension":0,"parts":4},{"dimension":1,"parts":2}])"));
    CHECK(has(json, R"("pinned":[{"label":"i","parts":4},{"label":"k","parts":2}],"without_communication":true)"));
    CHECK(has(json, R"("pinned":null,"lasts":false})"));
    CHECK(has(json, R"x("mesh":[{"label":"i","parts":4,"operands":["shard(i)","shard(i)"],"output":"shard(i)"},)x"));
    CHECK(ep::placements_of(vertex_named(made, "S")).size() == 2);
    CHECK(ep::placements_of(vertex_named(made, "S"))[1].output == ep::placement::shard(1));
    CHECK(ep::placements_of(vertex_named(made, "C")).empty());
    CHECK(vertex_named(made, "S").bytes == 0);
    C.pinned({{0, 2}});
    std::ostringstream again;
    again << made;
    CHECK(text.str() == again.str());
}

TEST_CASE_FIXTURE(product_and_sum, "pins that cannot be obeyed are refused with a sentence") {
    const auto refuse = [&](auto& tensor, std::vector<ep::pinned_part> parts, const std::string& sentence,
                            const ep::options& asked = {.processes = 8}) {
        tensor.pinned(std::move(parts));
        CHECK(refusal(asked) == sentence);
        tensor.node()->constraints = {};
    };
    refuse(Z, {{"q", 2}}, "decompose: Z (ij,jk->ik) cannot be pinned along label q: its result has no such dimension");
    refuse(Z, {{"j", 2}}, "decompose: Z (ij,jk->ik) cannot be pinned along label j: its result has no such dimension");
    refuse(Z, {{2, 2}},
           "decompose: Z (ij,jk->ik) cannot be pinned along dimension 2: its result has no such dimension");
    refuse(A, {{-1, 2}}, "decompose: A cannot be pinned along dimension -1: it has no such dimension");
    refuse(A, {{2, 2}}, "decompose: A cannot be pinned along dimension 2: it has no such dimension");
    refuse(A, {{"i", 2}},
           "decompose: A cannot be pinned along label i: inputs have no labels, their dimensions are pinned by number, "
           "from 0");
    refuse(Z, {{"k", 5}}, "decompose: Z (ij,jk->ik) is pinned to 5 parts along label k of extent 4");
    refuse(Z, {{"k", 0}}, "decompose: Z (ij,jk->ik) is pinned to 0 parts along label k of extent 4");
    refuse(B, {{1, -2}}, "decompose: B is pinned to -2 parts along dimension 1 of extent 4");
    refuse(Z, {{"k", 2}, {1, 2}}, "decompose: Z (ij,jk->ik) is pinned twice along dimension 1");
    refuse(Z, {{"i", 4}, {"k", 3}}, "decompose: Z (ij,jk->ik) is pinned over 12 ranks or more, the plan is for 8");
    refuse(Z, {{"i", 3}},
           "decompose: Z (ij,jk->ik) is pinned to 3 parts along label i, options.powers_of_two allows powers of two "
           "only",
           {.processes = 8, .powers_of_two = true});
    refuse(Z, {{"i", 2}}, "decompose: Z (ij,jk->ik) is pinned along label i, which options.algorithm k does not cut",
           {.processes = 8, .algorithm = ep::algorithm::k});

    ep::tensor<double, 1> everywhere = ep::generate<double>({8}, [](ep::index at) { return double(at); });
    everywhere.named("X").pinned({{0, 2}});
    CHECK_THROWS_WITH_AS(static_cast<void>(ep::decompose({.processes = 2}, everywhere)),
                         "decompose: X is an input whose source says where it lies or is read; only placeholders and "
                         "results of einsums can be pinned",
                         ep::error);
    ep::tensor<double, 1> nothing;
    CHECK_THROWS_WITH_AS(nothing.pinned({{0, 2}}), "pinned: nothing was assigned to this tensor", ep::error);
    CHECK_THROWS_WITH_AS(nothing.without_communication(), "without_communication: nothing was assigned to this tensor",
                         ep::error);
}

TEST_CASE_FIXTURE(product_and_sum, "a forced algorithm cuts what the pin leaves to it") {
    Z.pinned({});
    const ep::plan made = planned({.processes = 6, .objective = ep::objective::bytes, .algorithm = ep::algorithm::k});
    CHECK(made.partition(Z)[1].second == 6);
    CHECK(!vertex_named(made, "Z").fell_back);
}

TEST_CASE_FIXTURE(product_and_sum, "no communication here, or a sentence why not") {
    for (const ep::objective wanted : all_objectives) {
        const ep::options asked{.processes = 8, .objective = wanted};
        S.without_communication();
        const ep::plan made = planned(asked);
        test::check_obeyed(made);
        CHECK(vertex_named(made, "S").bytes == 0);
        Z.pinned({{"i", 8}});
        test::check_obeyed(planned(asked));
        CHECK(planned(asked).partition(S)[0].second == 8);
        C.pinned({{1, 2}});
        CHECK(has(refusal(asked), "decompose: no plan was found in which S (ik,ik->ik) runs without communication: "));
        CHECK((has(refusal(asked), "Z does not lie where it would be read, along label i") ||
               has(refusal(asked), "C does not lie where it would be read, along label k") ||
               has(refusal(asked), "C does not lie where it would be read, along label i")));
        C.node()->constraints = {};
        Z.node()->constraints = {};
    }
    Z.without_communication();
    CHECK(vertex_named(planned(), "Z").work.ranks.size() == 1);  // no label is in A, B and Z
    Z.pinned({{"i", 2}});
    CHECK(refusal() ==
          "decompose: Z (ij,jk->ik) is to run without communication, but is pinned along label i, and not all "
          "of its operands have this label");
    Z.pinned({});
    CHECK(refusal({.processes = 4, .algorithm = ep::algorithm::mn}) ==
          "decompose: Z (ij,jk->ik) is to run without communication, options.algorithm is mn");
    A.node()->constraints.without_communication = true;
    CHECK(refusal() == "decompose: A is an input: only an einsum can be marked to run without communication");
}

TEST_CASE("no communication in any step of a softmax or of a product of three") {
    const auto scores = ep::placeholder<double>({64, 48}).named("scores");
    const auto U = ep::placeholder<double>({6, 64, 48}).named("U");
    const auto V = ep::placeholder<double>({6, 64, 48}).named("V");
    ep::tensor<double, 2> weights, product, both;
    weights(i, j) = softmax(j, scores(i, j));
    product(k, i) = U(k, i, j) * V(k, i, j) * scores(i, j);
    both(k, i) = product(k, i) * weights(i, j);
    weights.named("weights").without_communication();
    product.named("product").without_communication();
    for (const ep::objective wanted : all_objectives) {
        for (const ep::order order : {ep::order::fewest_operations, ep::order::best_plan}) {
            for (const int processes : {4, 6}) {
                const ep::plan made =
                    ep::decompose({.processes = processes, .objective = wanted, .order = order}, both, weights);
                test::check_obeyed(made);
                int steps = 0;
                for (const ep::planned_vertex& each : made.vertices()) {
                    const bool marked = each.name.starts_with("weights") || each.name.starts_with("product");
                    CHECK(each.constraints.without_communication == marked);
                    CHECK((!marked || each.bytes == 0));
                    steps += marked ? 1 : 0;
                }
                CHECK(steps == 6);
            }
        }
    }
    // Its scores lie where only some steps could read them.
    scores.node()->constraints.pin = {{1, 4}};
    try {
        static_cast<void>(ep::decompose({.processes = 4}, weights));
        FAIL("the rows were brought together without communication");
    } catch (const ep::error& failure) {
        CHECK(has(failure.what(), "decompose: no plan was found in which weights"));
    }
}

TEST_CASE_FIXTURE(product_and_sum, "plans by hand obey constraints or are refused") {
    S.pinned({{"i", 4}});
    const ep::options asked{.processes = 4};
    const ep::plan made = ep::plan_with(asked, ep::hand_cuts().cut(Z, {{"i", 4}}), S);
    test::check_obeyed(made);
    for (const ep::label_parts& parts : {ep::label_parts{{"k", 4}}, ep::label_parts{}}) {
        CHECK_THROWS_WITH_AS(static_cast<void>(ep::plan_with(asked, ep::hand_cuts().cut(S, parts), S)),
                             "plan_with: S (ik,ik->ik) is pinned to i:4 and would be cut otherwise", ep::error);
    }
    S.pinned({});
    CHECK_THROWS_AS(static_cast<void>(ep::plan_with(asked, ep::hand_cuts().cut(S, {{"i", 2}}), S)), ep::error);
    S.node()->constraints = {};
    S.without_communication();
    CHECK_THROWS_WITH_AS(
        static_cast<void>(ep::plan_with(asked, ep::hand_cuts().cut(Z, {{"i", 4}}).cut(S, {{"k", 4}}), S)),
        "plan_with: no plan was found in which S (ik,ik->ik) runs without communication: Z does not lie where it would "
        "be read, along label i",
        ep::error);
}

TEST_CASE_FIXTURE(product_and_sum, "constraints and a memory limit go together") {
    S.pinned({{"i", 8}}).without_communication();
    const ep::plan free = planned();
    std::size_t peak = 0;
    for (int rank = 0; rank < 8; ++rank) {
        peak = std::max(peak, free.peak_bytes(rank));
    }
    const ep::plan limited = planned({.processes = 8, .memory_limit = peak});
    test::check_obeyed(limited);
    CHECK(has(refusal({.processes = 8, .memory_limit = 8}), "needs"));
}

TEST_CASE("a placeholder lies where its marked reader wants it, though another one comes first") {
    const test::node x = test::input({9}, ep::source_kind::placeholder);
    const test::node first = test::einsum("a,b->a", {test::input({2}), x});
    const test::node marked = test::einsum("a,a->a", {x, x});
    marked->constraints.without_communication = true;
    for (const ep::method method : {ep::method::exact, ep::method::linearized}) {
        const ep::plan made = ep::decompose_vertices(
            {.processes = 32, .algorithm = ep::algorithm::c, .method = method, .machine = {1e-9, 1e-9, 1e-9}},
            {first, marked});
        CHECK(made.bytes_sent() == 0);
    }
}

}  // namespace constraints_test
