// Orders of pairwise contractions against all orders there are.

#include <einparallel/order/contraction_order.hpp>

#include <support/long_suite.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace contraction_order_test {

namespace {

namespace ep = einparallel;

using einparallel::contraction_order;
using einparallel::index;
using einparallel::label_id;
using einparallel::pairwise_contraction;

using labels = std::set<label_id>;

struct network {
    std::vector<std::vector<label_id>> operands;
    std::vector<label_id> output;
    std::vector<index> extents;
};

double volume(const labels& of, const std::vector<index>& extents) {
    double size = 1;
    for (const label_id label : of) {
        size *= static_cast<double>(extents[static_cast<std::size_t>(label)]);
    }
    return size;
}

/// What of `own` is still needed once `others` are the other tensors.
labels needed(const labels& own, const std::vector<labels>& others, const labels& output) {
    labels kept;
    for (const label_id label : own) {
        const bool elsewhere =
            std::any_of(others.begin(), others.end(), [&](const labels& set) { return set.contains(label); });
        if (elsewhere || output.contains(label)) {
            kept.insert(label);
        }
    }
    return kept;
}

struct cost {
    double operations = 0;
    double elements = 0;
    bool operator<(const cost& other) const {
        return operations < other.operations || (operations == other.operations && elements < other.elements);
    }
};

/// The cheapest of all orders, by trying every pair at every step.
cost cheapest(std::vector<labels> tensors, const labels& output, const std::vector<index>& extents) {
    if (tensors.size() == 1) {
        return {};
    }
    cost best{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t left = 0; left < tensors.size(); ++left) {
        for (std::size_t right = left + 1; right < tensors.size(); ++right) {
            std::vector<labels> rest;
            for (std::size_t each = 0; each < tensors.size(); ++each) {
                if (each != left && each != right) {
                    rest.push_back(tensors[each]);
                }
            }
            labels joined = tensors[left];
            joined.insert(tensors[right].begin(), tensors[right].end());
            const labels made = needed(joined, rest, output);
            rest.push_back(made);
            cost total = cheapest(rest, output, extents);
            total.operations += volume(joined, extents);
            total.elements += volume(made, extents);
            best = std::min(best, total);
        }
    }
    return best;
}

std::vector<labels> starting_sets(const network& net) {
    const labels output(net.output.begin(), net.output.end());
    std::vector<labels> sets;
    for (const std::vector<label_id>& operand : net.operands) {
        sets.emplace_back(operand.begin(), operand.end());
    }
    std::vector<labels> kept;
    for (std::size_t each = 0; each < sets.size(); ++each) {
        std::vector<labels> others = sets;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(each));
        kept.push_back(needed(sets[each], others, output));
    }
    return kept;
}

/// Plays the order: every tensor used once, labels of every result right. Returns its cost.
cost play(const network& net, const std::vector<pairwise_contraction>& order) {
    const labels output(net.output.begin(), net.output.end());
    std::vector<labels> tensors = starting_sets(net);
    std::vector<bool> used(tensors.size(), false);
    cost total;
    REQUIRE(order.size() + 1 == net.operands.size());
    for (const pairwise_contraction& step : order) {
        REQUIRE(step.left < tensors.size());
        REQUIRE(step.right < tensors.size());
        REQUIRE(step.left != step.right);
        REQUIRE_FALSE(used[step.left]);
        REQUIRE_FALSE(used[step.right]);
        used[step.left] = used[step.right] = true;
        labels joined = tensors[step.left];
        joined.insert(tensors[step.right].begin(), tensors[step.right].end());
        std::vector<labels> rest;
        for (std::size_t each = 0; each < tensors.size(); ++each) {
            if (!used[each]) {
                rest.push_back(tensors[each]);
            }
        }
        const labels made = needed(joined, rest, output);
        CHECK(labels(step.labels.begin(), step.labels.end()) == made);
        CHECK(step.labels.size() == made.size());
        total.operations += volume(joined, net.extents);
        total.elements += volume(made, net.extents);
        tensors.push_back(made);
        used.push_back(false);
    }
    CHECK(order.back().labels == net.output);
    return total;
}

/// Labels in one to three operands, sometimes in many (hyperedges and batch labels); extents of 1 often, 0 on request.
network random_network(std::mt19937& random, std::size_t operands, std::size_t label_count, bool with_zero = false) {
    network net;
    net.operands.resize(operands);
    for (std::size_t label = 0; label < label_count; ++label) {
        const auto id = static_cast<label_id>(label);
        net.extents.push_back(with_zero && random() % 6 == 0 ? 0 : 1 + static_cast<index>(random() % 9));
        const std::size_t places = random() % 5 == 0 ? 3 + random() % 4 : 1 + random() % 3;
        for (std::size_t place = 0; place < places; ++place) {
            net.operands[random() % operands].push_back(id);  // may stand twice in one operand
        }
        if (random() % 3 == 0) {
            net.output.push_back(id);
        }
    }
    std::shuffle(net.output.begin(), net.output.end(), random);
    return net;
}

/// Tensors at the nodes of a random graph: a tree and `more` edges beside it, and a few open labels.
network random_tensor_network(std::mt19937& random, std::size_t operands, std::size_t more) {
    network net;
    net.operands.resize(operands);
    const auto add_label = [&] {
        net.extents.push_back(2 + static_cast<index>(random() % 3));
        return static_cast<label_id>(net.extents.size() - 1);
    };
    for (std::size_t edge = 1; edge < operands + more; ++edge) {
        const std::size_t a = edge < operands ? edge : random() % operands;
        const std::size_t b = edge < operands ? random() % edge : random() % operands;
        const label_id label = add_label();
        net.operands[a].push_back(label);
        if (a != b) {
            net.operands[b].push_back(label);
        }
    }
    for (std::size_t open = 0; open < 4; ++open) {
        net.output.push_back(add_label());
        net.operands[random() % operands].push_back(net.output.back());
    }
    return net;
}

/// What the plain greedy order costs.
cost greedy_cost(const network& net) {
    const auto prepared = einparallel::detail::make_network(net.operands, net.output, net.extents);
    const auto greedy = einparallel::detail::greedy_order(prepared, 1);
    REQUIRE(greedy.steps.size() + 1 == net.operands.size());
    return play(net, einparallel::detail::with_labels(greedy.steps, net.operands, net.output, net.extents.size()));
}

}  // namespace

TEST_CASE("contraction_order is the cheapest of all orders up to six operands") {
    std::mt19937 random(9);
    for (int repetition = 0; repetition < 1200; ++repetition) {
        CAPTURE(repetition);
        const std::size_t operands = 2 + random() % (repetition % 20 == 0 ? 5 : 4);
        const network net = random_network(random, operands, 1 + random() % 8, repetition % 7 == 0);
        const cost found = play(net, contraction_order(net.operands, net.output, net.extents));
        const cost best = cheapest(starting_sets(net), labels(net.output.begin(), net.output.end()), net.extents);
        CHECK(found.operations == best.operations);
        CHECK(found.elements == best.elements);
    }
}

TEST_CASE("contraction_order multiplies tensors that share nothing where that is cheapest") {
    // Two short vectors against a long matrix: outer product first, 9 + 9·1000, otherwise 3000 + 9000 more.
    const network net{{{0}, {1}, {0, 1, 2}}, {2}, {3, 3, 1000}};
    const std::vector<pairwise_contraction> order = contraction_order(net.operands, net.output, net.extents);
    CHECK(play(net, order).operations == 9 + 9000);
    CHECK(order.front().left + order.front().right == 1);
}

TEST_CASE("contraction_order: greedy and annealed orders are full orders, and what they say of their cost is so") {
    std::mt19937 random(12);
    for (int repetition = 0; repetition < ep::testing::tried_cases(1000); ++repetition) {
        CAPTURE(repetition);
        const network net = random_network(random, 3 + random() % 10, 1 + random() % 20, repetition % 7 == 0);
        const auto prepared = einparallel::detail::make_network(net.operands, net.output, net.extents);
        for (const auto& found : {einparallel::detail::greedy_order(prepared, repetition % 3),
                                  einparallel::detail::annealed_order(prepared)}) {
            REQUIRE(found.steps.size() + 1 == net.operands.size());
            const cost played =
                play(net, einparallel::detail::with_labels(found.steps, net.operands, net.output, net.extents.size()));
            CHECK(played.operations == found.operations);
        }
    }
}

TEST_CASE("contraction_order: turned and numbered anew, an order is the same tree") {
    using pairs = std::vector<einparallel::detail::tensor_pair>;
    CHECK(einparallel::detail::in_order({}) == pairs{});
    // ((2 0) (3 1)), the step of 3 and 1 first, sides exchanged.
    CHECK(einparallel::detail::in_order({{3, 1}, {2, 0}, {4, 5}}) == pairs{{1, 3}, {0, 2}, {5, 4}});
    CHECK(einparallel::detail::in_order({{0, 2}, {1, 3}, {5, 4}}) == pairs{{1, 3}, {0, 2}, {5, 4}});
}

TEST_CASE("contraction_order: exact for twelve operands, so never worse than greedy, and often better") {
    std::mt19937 random(13);
    int better = 0;
    for (int repetition = 0; repetition < 60; ++repetition) {
        CAPTURE(repetition);
        const network net = repetition % 2 == 0 ? random_network(random, 12, 10 + random() % 14)
                                                : random_tensor_network(random, 12, 6 + random() % 8);
        const cost found = play(net, contraction_order(net.operands, net.output, net.extents));
        const cost greedy = greedy_cost(net);
        CHECK_FALSE(greedy < found);
        better += found.operations < greedy.operations ? 1 : 0;
    }
    CHECK(better > 20);
}

TEST_CASE("contraction_order: hundreds of operands, never worse than greedy, often better, always the same") {
    std::mt19937 random(14);
    int better = 0;
    const int networks = std::min(ep::testing::tried_cases(60), 6);
    for (std::size_t repetition = 0; repetition < static_cast<std::size_t>(networks); ++repetition) {
        CAPTURE(repetition);
        const network net = repetition % 3 == 0 ? random_network(random, 300, 350)
                                                : random_tensor_network(random, 13 + 26 * repetition, 10 * repetition);
        const std::vector<pairwise_contraction> order = contraction_order(net.operands, net.output, net.extents);
        const cost found = play(net, order);
        const cost greedy = greedy_cost(net);
        CHECK_FALSE(greedy.operations * (1 + 1e-12) < found.operations);
        better += found.operations < greedy.operations ? 1 : 0;
        CHECK(order == contraction_order(net.operands, net.output, net.extents));
    }
    CHECK(better > networks / 3);
}

TEST_CASE("contraction_order: annealing finds on seven by seven lattices what a greedy run misses") {
    network lattice;
    lattice.operands.resize(49);
    for (std::size_t row = 0; row < 7; ++row) {
        for (std::size_t column = 0; column < 7; ++column) {
            for (const std::size_t other :
                 {row < 6 ? 7 * row + column + 7 : 49, column < 6 ? 7 * row + column + 1 : 49}) {
                if (other < 49) {
                    const auto label = static_cast<label_id>(lattice.extents.size());
                    lattice.extents.push_back(2);
                    lattice.operands[7 * row + column].push_back(label);
                    lattice.operands[other].push_back(label);
                }
            }
        }
    }
    const cost found = play(lattice, contraction_order(lattice.operands, lattice.output, lattice.extents));
    const cost greedy = greedy_cost(lattice);
    MESSAGE("operations: ", found.operations, " against ", greedy.operations, " of the plain greedy order");
    CHECK(found.operations < greedy.operations);
}

TEST_CASE("contraction_order: annealing mostly finds the cheapest of all orders of ten operands") {
    std::mt19937 random(15);
    int best = 0;
    constexpr int repetitions = 100;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        CAPTURE(repetition);
        const network net = repetition % 2 == 0 ? random_network(random, 10, 8 + random() % 10)
                                                : random_tensor_network(random, 10, 5 + random() % 6);
        const auto prepared = einparallel::detail::make_network(net.operands, net.output, net.extents);
        const cost exact = play(net, contraction_order(net.operands, net.output, net.extents));
        const double found = einparallel::detail::annealed_order(prepared).operations;
        CHECK(found >= exact.operations);
        best += found == exact.operations ? 1 : 0;
    }
    MESSAGE("annealed orders that are the cheapest of all: ", best, " of ", repetitions);
    CHECK(best > repetitions / 3);
}

TEST_CASE("contraction_order: the sequence behind annealing, and what comes of it, is the same everywhere") {
    std::uint64_t state = 0;
    CHECK(einparallel::detail::next_random(state) == 0xe220a8397b1dcdafU);  // splitmix64's published first numbers
    CHECK(einparallel::detail::next_random(state) == 0x6e789e6aa1b965f4U);
}

TEST_CASE("contraction_order: sizes beyond all numbers neither stop the search nor confuse it") {
    network net;
    for (label_id label = 0; label < 40; ++label) {
        net.extents.push_back(index{1} << 58);
        net.operands.push_back({label});
        net.output.push_back(label);
    }
    CHECK(contraction_order(net.operands, net.output, net.extents).size() == 39);
    net.extents.back() = 0;
    CHECK(contraction_order(net.operands, net.output, net.extents).size() == 39);
}

TEST_CASE("contraction_order: a matrix chain of ten is cut as the textbook cuts it") {
    network chain;
    const std::vector<index> sizes{30, 35, 15, 5, 10, 20, 25, 7, 40, 3, 12};
    chain.extents = sizes;
    for (label_id at = 0; at < 10; ++at) {
        chain.operands.push_back({at, static_cast<label_id>(at + 1)});
    }
    chain.output = {0, 10};
    const cost found = play(chain, contraction_order(chain.operands, chain.output, chain.extents));
    std::vector<std::vector<double>> table(10, std::vector<double>(10, 0));
    for (std::size_t length = 1; length < 10; ++length) {
        for (std::size_t from = 0; from + length < 10; ++from) {
            const std::size_t to = from + length;
            table[from][to] = std::numeric_limits<double>::infinity();
            for (std::size_t cut = from; cut < to; ++cut) {
                table[from][to] =
                    std::min(table[from][to], table[from][cut] + table[cut + 1][to] +
                                                  static_cast<double>(sizes[from] * sizes[cut + 1] * sizes[to + 1]));
            }
        }
    }
    CHECK(found.operations == table[0][9]);
}

TEST_CASE("contraction_order: labels beyond one word, operands beyond the exact limit, disconnected parts") {
    std::mt19937 random(10);
    for (int repetition = 0; repetition < ep::testing::tried_cases(100); ++repetition) {
        CAPTURE(repetition);
        const std::size_t operands = 5 + random() % 40;
        const network net = random_network(random, operands, 70 + random() % 100);
        play(net, contraction_order(net.operands, net.output, net.extents));
    }
}

TEST_CASE("contraction_order: a chain of five hundred matrices never outgrows its matrices") {
    network chain;
    chain.extents.assign(501, 2);
    for (label_id at = 0; at < 500; ++at) {
        chain.operands.push_back({at, static_cast<label_id>(at + 1)});
    }
    std::mt19937 random(11);
    std::shuffle(chain.operands.begin(), chain.operands.end(), random);
    chain.output = {500, 0};
    const cost found = play(chain, contraction_order(chain.operands, chain.output, chain.extents));
    CHECK(found.operations == 499 * 8.0);
}

TEST_CASE("contraction_order: a matrix times a tensor changes one label of it, and no order") {
    // xa,yb,zc,eabc->exyz with a = 0, b, c, e, x, y, z
    const std::vector<std::vector<label_id>> operands{{4, 0}, {5, 1}, {6, 2}, {3, 0, 1, 2}};
    const auto order = einparallel::contraction_order(operands, {3, 4, 5, 6}, {4, 4, 4, 1000, 4, 4, 4});
    REQUIRE(order.size() == 3);
    std::vector<label_id> expected{3, 0, 1, 2};
    for (const auto& step : order) {
        const std::size_t matrix = std::min(step.left, step.right);
        REQUIRE(matrix < 3);
        std::replace(expected.begin(), expected.end(), static_cast<label_id>(matrix), operands[matrix][0]);
        CHECK(step.labels == expected);
    }
}

TEST_CASE("contraction_order: nothing to do for fewer than two operands") {
    CHECK(contraction_order({}, {}, {}).empty());
    CHECK(contraction_order({{0, 1}}, {1}, {2, 3}).empty());
    const std::vector<pairwise_contraction> scalars = contraction_order({{}, {}, {}}, {}, {});
    CHECK(scalars.size() == 2);
}

TEST_CASE("order_within: intermediate results hold no more than the limit, in the first part and in the next") {
    std::mt19937 random(12);
    int keeping = 0;
    int limited = 0;
    for (int repetition = 0; repetition < 300; ++repetition) {
        CAPTURE(repetition);
        const network net = random_network(random, 3 + random() % 8, 4 + random() % 8);
        const std::size_t limit = 8 * (16U << (random() % 8));
        ep::detail::sliced_order found;
        try {
            found = ep::detail::order_within(net.extents, net.output, net.operands, 8, limit);
        } catch (const ep::error&) {
            continue;
        }
        std::vector<index> extents = net.extents;
        for (const label_id fixed : found.fixed) {
            extents[static_cast<std::size_t>(fixed)] = 1;
        }
        limited += found.fixed.empty() ? 0 : 1;
        keeping += found.varies.empty() ? 0 : 1;
        std::map<std::size_t, double> alive;  // elements by tensor
        const std::size_t operands = net.operands.size();
        const auto varies = [&](std::size_t tensor) { return found.varies.empty() || found.varies[tensor]; };
        for (int part = 0; part < 2; ++part) {
            for (std::size_t step = 0; step < found.steps.size(); ++step) {
                const pairwise_contraction& now = found.steps[step];
                if (part > 0 && !varies(operands + step)) {
                    continue;
                }
                if (step + 1 < found.steps.size()) {
                    alive[operands + step] = volume({now.labels.begin(), now.labels.end()}, extents);
                }
                double held = 0;
                for (const auto& [tensor, elements] : alive) {
                    held += elements;
                }
                CHECK(8 * held <= static_cast<double>(limit));
                for (const std::size_t read : {now.left, now.right}) {
                    if (varies(read) == varies(operands + step)) {
                        alive.erase(read);
                    }
                }
            }
        }
    }
    CHECK(limited > 50);
    CHECK(keeping > 10);
}

}  // namespace contraction_order_test
