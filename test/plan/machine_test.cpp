// The constants of the time model, in words.

#include <einparallel/cost/lower_bound.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/machine_text.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace machine_test {

namespace {

std::string text_of(const ep::machine& shown) {
    std::ostringstream stream;
    stream << shown;
    return stream.str();
}

}  // namespace

TEST_CASE("constants as rates, and what takes no time") {
    CHECK(text_of({}) ==
          "2.00us per message, 10.0GB/s, 50.0Gflop/s, 24.0 flop in the time of a copied element, 10.0% of the shorter "
          "of arithmetic and transfer exposed");
    CHECK(
        text_of(
            {.seconds_per_message = 3.1e-7, .seconds_per_byte = 1 / 1.25e6, .seconds_per_flop = 1e-2, .exposed = 1}) ==
        "310ns per message, 1.25MB/s, 100flop/s, 24.0 flop in the time of a copied element, 100% of the shorter of "
        "arithmetic and transfer exposed");
    CHECK(text_of({.seconds_per_message = 0, .seconds_per_byte = 0, .seconds_per_flop = 1e-300, .exposed = 0}) ==
          "0s per message, unlimited B/s, 1000Eflop/s, 24.0 flop in the time of a copied element, 0.00% of the shorter "
          "of arithmetic and transfer exposed");
}

TEST_CASE("a device's constants price its plans by the same formulas") {
    CHECK(
        text_of(ep::machine::h200) ==
        "10.0us per message, 10.0GB/s, 67.0Tflop/s, 223 flop in the time of a copied element, 10.0% of the shorter of "
        "arithmetic and transfer exposed");
    const ep::tensor<double, 2> A = ep::placeholder<double>({4096, 4096});
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(A, A);
    const auto seconds = [&](int ranks, const ep::machine& constants) {
        return ep::decompose({.processes = ranks, .objective = ep::objective::bytes, .machine = constants}, Z)
            .seconds();
    };
    CHECK(seconds(1, ep::machine::h200) == doctest::Approx(2 * 4096.0 * 4096 * 4096 / 67e12));
    // Two ranks of a host hide the transfer of half an operand behind their arithmetic; two devices on its network do
    // not.
    CHECK(seconds(2, {}) < 0.55 * seconds(1, {}));
    CHECK(seconds(2, ep::machine::h200) > 4096.0 * 4096 / 2 * 8 * ep::machine::h200.seconds_per_byte);
    ep::machine touched = ep::machine::h200;
    touched.operations_per_touch *= 2;
    CHECK(seconds(4, touched) > seconds(4, ep::machine::h200));
}

namespace {

const ep::machine nodes{.levels = {{{.ranks = 8, .seconds_per_message = 5e-7, .seconds_per_byte = 4e-11},
                                    {.seconds_per_message = 2e-6, .seconds_per_byte = 8e-11}}}};

std::string refusal_of(int ranks, const ep::machine& on, int level = -1) {
    const ep::tensor<double, 2> A = ep::placeholder<double>({64, 64});
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(A, A);
    return ep::testing::sentence_of([&] {
        ep::decompose(
            {.processes = ranks, .objective = ep::objective::bytes, .machine = on, .effort = 1000, .level = level}, Z);
    });
}

}  // namespace

TEST_CASE("levels in words, and what they cost") {
    CHECK(
        text_of(nodes).starts_with("8 ranks: 500ns per message, 25.0GB/s; all ranks: 2.00us per message, 12.5GB/s, "
                                   "1.00 at once out of a group; 50.0Gflop/s, "));
    const ep::tensor<double, 2> A = ep::placeholder<double>({512, 512});
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(A, A);
    const auto planned = [&](int ranks, const ep::machine& on) {
        return ep::decompose({.processes = ranks, .machine = on, .effort = 100'000}, Z);
    };
    // One level is one level: whichever way it is said.
    ep::machine one;
    one.levels[0] = {.seconds_per_message = one.seconds_per_message, .seconds_per_byte = one.seconds_per_byte};
    CHECK(planned(16, one).seconds() == planned(16, {}).seconds());
    CHECK(planned(16, one).bytes_between(0) == 0);
    CHECK(planned(8, nodes).bytes_between(0) == 0);  // all in one node
    CHECK(planned(32, nodes).bytes_between(0) > 0);
    CHECK(planned(32, nodes).bytes_between(1) == 0);
    CHECK(planned(32, nodes).bytes_between(0) < planned(32, nodes).bytes_sent());
    for (const ep::machine& preset :
         {ep::machine::two_socket_cluster, ep::machine::h200_nodes, ep::machine::cluster_100g}) {
        CHECK(planned(128, preset).seconds() > 0);
        CHECK(ep::machine_from_json(ep::to_json(preset)) == preset);
    }
}

TEST_CASE("bytes between nodes reach the bound for so many nodes where its grid is integral") {
    const ep::tensor<double, 2> A = ep::placeholder<double>({4096, 4096});
    const ep::tensor<double, 2> B = ep::placeholder<double>({4096, 4096});
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(A, B);
    const ep::plan made =
        ep::decompose({.processes = 64, .objective = ep::objective::bytes, .machine = nodes, .level = 0}, Z);
    CHECK(static_cast<double>(made.bytes_between(0)) ==
          8 * 8 * ep::lower_bound_words({.m = 4096, .n = 4096, .k = 4096}, 8));
    CHECK(made.objective_cost() == static_cast<double>(made.bytes_between(0)));
    std::ostringstream table;
    table << made;
    CHECK(table.str().find("(402653184 between groups of 8 ranks)") != std::string::npos);
    CHECK(table.str().find("between 0") != std::string::npos);
    CHECK(made.to_json().find("\"bytes_between\":[402653184]") != std::string::npos);
    CHECK(made.to_json().find("\"ranks_apart\":") != std::string::npos);
}

TEST_CASE("machines as JSON: what is missing keeps its value, and nothing else is taken") {
    ep::machine on = nodes;
    on.levels[0].uneven = {{{2, 8}, {1, 4}}};
    on.node_of_rank = {0, 1, 2};
    on.exposed = 1.0 / 3;
    CHECK(ep::machine_from_json(ep::to_json(on)) == on);
    CHECK(ep::machine_from_json("{}") == ep::machine());
    CHECK(ep::machine_from_json(R"( {"seconds_per_flop": 1e-12, "levels": [{"ranks": 4, "seconds_per_byte": 1e-10}]} )")
              .levels[0]
              .ranks == 4);
    const auto refused = [](std::string_view text) {
        return ep::testing::sentence_of([&] { static_cast<void>(ep::machine_from_json(text)); });
    };
    CHECK(refused("") == "machine_from_json: the text has a value that is no JSON: '{' is missing at its end");
    CHECK(refused("{\"speed\": 3}") == "machine_from_json: the text has a member 'speed', which no machine has");
    CHECK(refused("{\"levels\": [{\"cores\": 3}]}") ==
          "machine_from_json: the text has a member 'cores', which no level has");
    CHECK(refused("{\"exposed\": -1}") == "machine_from_json: the text has a negative number for 'exposed'");
    CHECK(refused("{\"exposed\": \"much\"}") ==
          "machine_from_json: the text has a value with '\"much\"}' where a value belongs");
    CHECK(refused("{\"levels\": [{}, {}, {}, {}, {}, {}, {}]}") ==
          "machine_from_json: the text has more than 6 'levels'");
    CHECK(refused("{} {}") == "machine_from_json: the text has text behind its value");
}

TEST_CASE("levels that do not belong to the ranks are refused in one sentence") {
    CHECK(
        refusal_of(60, nodes) ==
        "decompose: options.machine: groups of 8 ranks on level 0 do not make up 60 ranks; machine_level::uneven lists "
        "groups that differ");
    ep::machine on = nodes;
    on.levels[0].uneven = {{{7, 8}, {1, 5}}};
    CHECK(refusal_of(60, on) == "decompose: options.machine: the groups of level 0 have 61 ranks, the plan is for 60");
    on.levels[0].uneven = {{{7, 8}, {1, 4}}};
    CHECK(refusal_of(60, on).empty());
    on.levels[0].uneven = {{{7, 8}, {-1, 4}}};
    CHECK(refusal_of(60, on) == "decompose: options.machine: level 0 lists -1 groups of 4 ranks");
    on = nodes;
    on.levels[1].ranks = 32;
    CHECK(refusal_of(64, on) ==
          "decompose: options.machine: level 1, the last one that is given, has groups of 32 ranks, the plan is "
          "for 64; a level for all ranks has to follow");
    on.levels[1].ranks = 12;
    on.levels[2] = {.seconds_per_byte = 1e-10};
    CHECK(refusal_of(24, on) ==
          "decompose: options.machine: a group of level 1 ends at rank 12, within a group of level 0");
    on = nodes;
    on.levels[1].transfers = 0;
    CHECK(refusal_of(64, on) ==
          "decompose: options.machine: level 1 must have finite seconds that are not negative, and transfers above 0");
    on = nodes;
    on.levels[3] = {.ranks = 64};
    CHECK(refusal_of(64, on) == "decompose: options.machine has nothing on level 2 and has a level 3");
    on = nodes;
    on.node_of_rank = {0, 0, 0, 1};
    CHECK(refusal_of(16, on) == "decompose: options.machine: node_of_rank has 4 ranks, the plan is for 16");
    std::vector<int> node_of_rank(16, 0);
    node_of_rank[3] = 1;
    on.node_of_rank = node_of_rank;
    CHECK(
        refusal_of(16, on) ==
        "decompose: options.machine: node_of_rank has 2 nodes, the first of 15 ranks; no level has such groups, in the "
        "order of the nodes' numbers");
    for (int rank = 0; rank < 16; ++rank) {
        node_of_rank[static_cast<std::size_t>(rank)] = rank % 2;
    }
    on.node_of_rank = node_of_rank;
    CHECK(refusal_of(16, on).empty());
    on = nodes;
    on.levels[0].uneven = {{{1, 8}, {0, 0}, {1, 8}}};
    CHECK(refusal_of(16, on) == "decompose: options.machine: level 0 lists groups behind an empty place of its list");
    std::swap(on.levels[0], on.levels[1]);
    on.levels[1].uneven = {};
    CHECK(refusal_of(16, on) ==
          "decompose: options.machine: level 0 has groups of 0 ranks; levels stand innermost first");
    for (const int level : {-2, 1, 5, 9}) {
        CHECK(
            refusal_of(64, nodes, level) ==
            "decompose: options.level is " + std::to_string(level) +
                ", it must be -1 or a level of options.machine below its outermost one, and the machine has 2 levels");
    }
    CHECK(refusal_of(64, {}, 0) ==
          "decompose: options.level is 0, it must be -1 or a level of options.machine below its outermost one, and the "
          "machine has no levels");
    CHECK(refusal_of(64, nodes, 0).empty());
}

TEST_CASE("the slowest level is not always the outermost, and the paper's cost knows no level") {
    const ep::tensor<double, 2> A = ep::placeholder<double>({64, 64});
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(A, A);
    ep::options asked{.processes = 8};
    asked.machine.seconds_per_flop = 1e-6;
    asked.machine.levels[1] = {.seconds_per_message = 2e-6, .seconds_per_byte = 1e-10};
    for (const double latency : {1e-6, 0.1, 1.0, 100.0}) {
        asked.machine.levels[0] = {.ranks = 4, .seconds_per_message = latency, .seconds_per_byte = 1e-10};
        const auto whole = [](const ep::vertex_to_cut& /*of*/) { return ep::label_parts{}; };
        CHECK(ep::decompose(asked, Z).seconds() <= ep::plan_with(asked, whole, Z).seconds());
    }
    asked.objective = ep::objective::paper;
    const ep::plan before = ep::decompose(asked, Z);
    asked.level = 0;
    const ep::plan after = ep::decompose(asked, Z);
    CHECK(after.objective_cost() == before.objective_cost());
    CHECK(after.lower_bound() == before.lower_bound());
}

TEST_CASE("a master feeds workers on several nodes, also where a vertex has no other state") {
    const ep::tensor<double, 2> A = ep::placeholder<double>({25, 18});
    const ep::tensor<double, 2> B = ep::placeholder<double>({25, 18});
    EINPARALLEL_LABELS(i, j);
    ep::tensor<double, 2> S;
    S(i, j) = ep::cumsum(i, A(i, j) * B(i, j));
    ep::options asked{.processes = 35, .algorithm = ep::algorithm::master_worker, .effort = 200'000};
    asked.machine.levels[0] = {.ranks = 7, .seconds_per_message = 6e-9, .seconds_per_byte = 1.33e-9, .transfers = 3};
    asked.machine.levels[1] = {.seconds_per_byte = 7e-11};
    CHECK(ep::decompose(asked, S).seconds() > 0);
}

TEST_CASE("a plan by hand lies on levels as well as the plan whose cuts it takes") {
    const ep::tensor<float, 2> P = ep::placeholder<float>({4096, 8192});
    const ep::tensor<float, 2> W = ep::placeholder<float>({8192, 28672});
    const ep::tensor<float, 2> Z = ep::einsum<"bd,dh->bh">(P, W);
    for (const ep::objective minimised : {ep::objective::time, ep::objective::bytes}) {
        ep::options asked{.processes = 64, .objective = minimised, .machine = nodes};
        asked.level = minimised == ep::objective::bytes ? 0 : -1;
        const ep::plan found = ep::decompose(asked, Z);
        CHECK(ep::plan_with(asked, ep::cuts_of(found), Z).objective_cost() <= 1.01 * found.objective_cost());
        const auto both = [&](const ep::label_parts& cuts) {
            return ep::plan_with(asked, ep::hand_cuts().cut(Z, cuts), Z).objective_cost();
        };
        CHECK(both({{"b", 8}, {"h", 8}}) == both({{"h", 8}, {"b", 8}}));
    }
}

}  // namespace machine_test
