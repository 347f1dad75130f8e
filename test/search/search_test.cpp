// The search against brute force over all assignments of partition vectors.

#include <plan/random_constraints.hpp>
#include <plan/random_graph.hpp>
#include <support/long_suite.hpp>

#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

namespace search_test {

namespace {

using namespace einparallel;
using test::node;

/// Vectors with the largest product of at most p that the vertex's pin allows, and with nine tenths of it or more, by
/// trying all.
std::vector<std::vector<int>> all_vectors(const vertex& einsum, int processes) {
    std::vector<std::vector<int>> all;
    int largest = 0;
    for (int product = processes; product > 0 && (largest == 0 || 10 * product >= 9 * largest); --product) {
        std::vector<std::vector<int>> found = test::vectors_by_trying(einsum.extents, product);
        std::erase_if(found, [&](const std::vector<int>& row) { return !test::obeys(einsum, row); });
        largest = largest == 0 && !found.empty() ? product : largest;
        std::ranges::copy(found, std::back_inserter(all));
    }
    return all;
}

/// The paper's formulas, written down once more.
struct by_the_paper {
    static double part(const vertex& einsum, const std::vector<label_id>& labels, const std::vector<int>& d) {
        double block = 1;
        for (const label_id label : labels) {
            block = block * static_cast<double>(einsum.extents[static_cast<std::size_t>(label)]) /
                    d[static_cast<std::size_t>(label)];
        }
        return block;
    }

    static double vertex_cost(const vertex& einsum, const std::vector<int>& d) {
        double p = 1;
        double aggregated = 1;
        for (std::size_t label = 0; label < d.size(); ++label) {
            p *= d[label];
            aggregated *= einsum.form.in_output(static_cast<label_id>(label)) ? 1 : d[label];
        }
        double cost = 0;
        for (const std::vector<label_id>& labels : einsum.form.operands) {
            cost += p * part(einsum, labels, d);
        }
        return cost + p / aggregated * (aggregated - 1) * part(einsum, einsum.form.output, d);
    }

    static double edge_cost(const vertex& producer, const std::vector<int>& before, const vertex& consumer,
                            std::size_t operand, const std::vector<int>& after) {
        double n = 1;
        double n_p = 1;
        double n_c = 1;
        double n_int = 1;
        bool equal = true;
        for (std::size_t dimension = 0; dimension < producer.bounds.size(); ++dimension) {
            const auto bound = static_cast<double>(producer.bounds[dimension]);
            const int cut_before = before[static_cast<std::size_t>(producer.form.output[dimension])];
            const int cut_after = after[static_cast<std::size_t>(consumer.form.operands[operand][dimension])];
            n *= bound;
            n_p *= bound / cut_before;
            n_c *= bound / cut_after;
            n_int *= std::min(bound / cut_before, bound / cut_after);
            equal = equal && cut_before == cut_after;
        }
        if (equal || n == 0) {
            return 0;
        }
        const bool extracts = std::abs(n_p - n_int) > 1e-9 * n_p;
        return (n_c / n_int - 1) * n / n_c * (n_c + n_p) + (extracts ? n_p * n / n_c : 0);
    }
};

/// The smallest cost of all assignments; NaN where there are too many to try.
double brute_force(const std::vector<node>& outputs, int processes) {
    const detail::einsum_graph graph = detail::collect(outputs);
    std::vector<std::size_t> einsums;
    std::vector<std::size_t> position(graph.vertices.size(), 0);
    std::vector<std::vector<std::vector<int>>> vectors;
    double assignments = 1;
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        if (!graph.vertices[number]->is_input()) {
            position[number] = einsums.size();
            einsums.push_back(number);
            vectors.push_back(all_vectors(*graph.vertices[number], processes));
            assignments *= static_cast<double>(vectors.back().size());
        }
    }
    if (assignments > 3e5) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    struct edge {
        std::size_t producer;
        std::size_t consumer;
        std::vector<std::vector<double>> cost;
    };
    std::vector<std::vector<double>> alone(einsums.size());
    std::vector<edge> edges;
    for (std::size_t here = 0; here < einsums.size(); ++here) {
        const vertex& einsum = *graph.vertices[einsums[here]];
        for (const std::vector<int>& d : vectors[here]) {
            alone[here].push_back(by_the_paper::vertex_cost(einsum, d));
        }
        for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
            const std::size_t from = graph.inputs[einsums[here]][operand];
            if (graph.vertices[from]->is_input()) {
                continue;
            }
            edge made{position[from], here, {}};
            for (const std::vector<int>& before : vectors[made.producer]) {
                made.cost.emplace_back();
                for (const std::vector<int>& after : vectors[here]) {
                    made.cost.back().push_back(
                        by_the_paper::edge_cost(*graph.vertices[from], before, einsum, operand, after));
                }
            }
            edges.push_back(std::move(made));
        }
    }
    std::vector<std::size_t> chosen(einsums.size(), 0);
    double best = std::numeric_limits<double>::infinity();
    for (bool more = true; more;) {
        double cost = 0;
        for (std::size_t here = 0; here < chosen.size(); ++here) {
            cost += alone[here][chosen[here]];
        }
        for (const edge& each : edges) {
            cost += each.cost[chosen[each.producer]][chosen[each.consumer]];
        }
        best = std::min(best, cost);
        std::size_t here = chosen.size();
        while (here > 0 && ++chosen[here - 1] == vectors[here - 1].size()) {
            chosen[--here] = 0;
        }
        more = here > 0;
    }
    return best;
}

constexpr int few_processes[] = {2, 3, 4, 6, 8, 11};

/// Compares as many of `all` random graphs as are tried, some of whose tensors are pinned where asked for; returns how
/// many of them had a linearisation that is worse.
int compare_with_brute_force(bool trees, int all, unsigned seed, bool pinned = false) {
    const int wanted = testing::tried_cases(all);
    test::random_graphs random(seed);
    int compared = 0;
    int worse = 0;
    for (int trial = 0; compared < wanted && trial < 20 * wanted; ++trial) {
        const int processes = few_processes[trial % 6];
        const std::vector<node> outputs = random.graph(
            {.vertices = random.between(1, 6), .labels = 4, .tree = trees, .empty_extents = trial % 7 == 0});
        if (outputs.empty()) {
            continue;
        }
        if (pinned) {
            test::pin_some(random, outputs, processes, 0);
        }
        const double best = brute_force(outputs, processes);
        if (std::isnan(best)) {
            continue;
        }
        options asked{.processes = processes, .objective = objective::paper};
        const plan exact = decompose_vertices(asked, outputs);
        INFO("trial " << trial << ", p = " << processes);
        REQUIRE(exact.cost() == doctest::Approx(best).epsilon(1e-9));
        REQUIRE(exact.lower_bound() == exact.cost());
        test::check_obeyed(exact);
        asked.method = method::linearized;
        const plan linear = decompose_vertices(asked, outputs);
        REQUIRE(linear.cost() >= best * (1 - 1e-9));
        REQUIRE(linear.lower_bound() <= best * (1 + 1e-9));
        worse += linear.cost() > best * (1 + 1e-9) ? 1 : 0;
        ++compared;
    }
    CHECK(compared == wanted);
    MESSAGE(wanted << " graphs; the linearisation is worse on " << worse);
    return worse;
}

}  // namespace

TEST_CASE("on random trees the plan costs what brute force finds") {
    CHECK(compare_with_brute_force(true, 500, 11) > 0);
}

TEST_CASE("on random DAGs the plan costs what brute force finds") {
    CHECK(compare_with_brute_force(false, 1000, 12) > 0);
}

TEST_CASE("on random DAGs with pinned tensors the plan costs what brute force finds") {
    CHECK(compare_with_brute_force(false, 1000, 15, true) > 0);
}

TEST_CASE("more effort gives no worse plan, and no bound above it") {
    test::random_graphs random(13);
    const int graphs = testing::tried_cases(60);
    int exact = 0;
    for (int trial = 0; trial < graphs; ++trial) {
        const std::vector<node> outputs =
            random.graph({.vertices = 8, .labels = 5, .tree = trial % 4 == 0, .any_sources = true, .processes = 24});
        for (const objective wanted : {objective::paper, objective::bytes, objective::time}) {
            double before = std::numeric_limits<double>::infinity();
            for (const std::size_t effort : {std::size_t{1}, std::size_t{10'000}, std::size_t{3'000'000}}) {
                const options asked{.processes = 24, .objective = wanted, .effort = effort};
                const plan made = decompose_vertices(asked, outputs);
                REQUIRE(made.objective_cost() <= before * (1 + 1e-9));
                before = made.objective_cost();
                REQUIRE(made.lower_bound());
                REQUIRE(*made.lower_bound() <= before * (1 + 1e-9));
                exact += *made.lower_bound() >= before * (1 - 1e-9) ? 1 : 0;
            }
        }
    }
    MESSAGE(exact << " of " << 9 * graphs << " searches ended with the best plan");
    CHECK(exact > 9 * graphs / 2);
}

TEST_CASE("chains of any length, identical plans every time") {
    node chain = test::input({6, 6});
    for (int vertex = 0; vertex < 30'000; ++vertex) {
        chain = test::einsum("ij->ji", {chain});
    }
    const options asked{.processes = 6, .objective = objective::paper};
    const plan made = decompose_vertices(asked, {chain});
    CHECK(made.vertices().size() == 30'001);
    CHECK(made.cost() == doctest::Approx(30'000.0 * 36));
    CHECK(made.bytes_sent() == 0);
}

TEST_CASE("the same graph recorded twice gives equal plans") {
    for (unsigned seed = 0; seed < 5; ++seed) {
        const test::graph_shape shape{.vertices = 6, .labels = 4, .tree = false};
        const std::vector<node> first = test::random_graphs(seed).graph(shape);
        const std::vector<node> second = test::random_graphs(seed).graph(shape);
        for (const objective wanted : {objective::paper, objective::bytes, objective::time}) {
            const options asked{.processes = 12, .objective = wanted};
            const plan once = decompose_vertices(asked, first);
            CHECK(once == decompose_vertices(asked, second));
            options other = asked;
            other.processes = 6;
            CHECK(!(once == decompose_vertices(other, first)));
        }
    }
}

}  // namespace search_test
