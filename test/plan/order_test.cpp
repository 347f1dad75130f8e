// Orders of products by the seconds of their plans, against a plan for every order there is.

#include "graphs.hpp"

#include <einparallel/order/contraction_order.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>

#include <support/long_suite.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace order_test {

namespace {

using namespace einparallel;
using test::node;

struct factor {
    std::string labels;
    node made;
};

/// A product of inputs with random labels, every one of which some other factor or the output has.
struct random_product {
    std::vector<factor> factors;
    std::string output;
    std::map<char, index> extents;

    random_product(std::mt19937& random, std::size_t count) {
        const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
        const index sizes[] = {2, 3, 5, 6, 8, 16, 24};
        const int labels = static_cast<int>(count) + pick(0, 2);
        std::vector<std::string> of_factor(count);
        for (int label = 0; label < labels; ++label) {
            const char letter = static_cast<char>('a' + label);
            extents[letter] = sizes[pick(0, 6)];
            const auto first = static_cast<std::size_t>(pick(0, static_cast<int>(count) - 1));
            const auto second = (first + 1 + static_cast<std::size_t>(pick(0, static_cast<int>(count) - 2))) % count;
            of_factor[first] += letter;
            of_factor[second] += letter;
            if (pick(0, 2) == 0) {
                output += letter;
            }
        }
        fill(of_factor);
    }

    /// A chain of matrices, few rows and columns each.
    static random_product chain(std::mt19937& random, std::size_t count) {
        random_product made;
        std::vector<std::string> of_factor(count);
        for (std::size_t label = 0; label <= count; ++label) {
            const char letter = static_cast<char>('a' + label);
            made.extents[letter] = std::uniform_int_distribution<index>(3, 6)(random);
            for (std::size_t factor = label == 0 ? 0 : label - 1; factor < std::min(label + 1, count); ++factor) {
                of_factor[factor] += letter;
            }
        }
        made.output = {'a', static_cast<char>('a' + count)};
        made.fill(of_factor);
        return made;
    }

private:
    random_product() = default;

    void fill(const std::vector<std::string>& of_factor) {
        for (const std::string& text : of_factor) {
            std::vector<index> bounds;
            for (const char letter : text) {
                bounds.push_back(extents[letter]);
            }
            factors.push_back({text, test::input(bounds, source_kind::placeholder)});
        }
    }
};

bool has(const std::string& labels, char letter) {
    return labels.find(letter) != std::string::npos;
}

/// The product of two factors, with the labels that others or the output still need.
factor contracted(const std::vector<factor>& factors, std::size_t a, std::size_t b, const std::string& output) {
    std::string joined = factors[a].labels;
    for (const char letter : factors[b].labels) {
        joined += has(joined, letter) ? "" : std::string(1, letter);
    }
    std::string kept;
    for (const char letter : joined) {
        bool needed = has(output, letter);
        for (std::size_t other = 0; other < factors.size(); ++other) {
            needed = needed || (other != a && other != b && has(factors[other].labels, letter));
        }
        kept += needed ? std::string(1, letter) : "";
    }
    kept = factors.size() == 2 ? output : kept;
    node made =
        test::einsum(factors[a].labels + "," + factors[b].labels + "->" + kept, {factors[a].made, factors[b].made});
    made->work = std::make_shared<test::paper_kernel>(true, 2);  // an outer product is the same kernel
    made->is_intermediate = factors.size() > 2;
    return {kept, std::move(made)};
}

/// Calls visit(root) for every sequence of pairs.
template <class Visit>
void each_order(const std::vector<factor>& factors, const std::string& output, const Visit& visit) {
    if (factors.size() == 1) {
        visit(factors.front().made);
        return;
    }
    for (std::size_t a = 0; a < factors.size(); ++a) {
        for (std::size_t b = a + 1; b < factors.size(); ++b) {
            std::vector<factor> fewer = factors;
            fewer.push_back(contracted(factors, a, b, output));
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(b));
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(a));
            each_order(fewer, output, visit);
        }
    }
}

/// The first factors first.
node from_the_left(std::vector<factor> factors, const std::string& output) {
    while (factors.size() > 1) {
        factors.front() = contracted(factors, 0, 1, output);
        factors.erase(factors.begin() + 1);
    }
    return factors.front().made;
}

/// Ranks for which neither arithmetic nor communication is everything.
options by_plan(int processes) {
    return {.processes = processes,
            .machine = {.seconds_per_message = 1e-9, .seconds_per_byte = 1e-11, .seconds_per_flop = 2e-11},
            .order = order::best_plan};
}

options by_operations(options asked) {
    asked.order = order::fewest_operations;
    return asked;
}

}  // namespace

TEST_CASE("the best of all orders of three and four tensors") {
    std::mt19937 random(7);
    int dearer_from_the_left = 0;
    const int products = testing::tried_cases(200);
    for (int trial = 0; trial < products; ++trial) {
        const random_product product(random, trial % 3 == 0 ? 3 : 4);
        const options asked = by_plan(std::vector<int>{2, 3, 4, 8}[static_cast<std::size_t>(trial) % 4]);
        double least = std::numeric_limits<double>::infinity();
        int orders = 0;
        each_order(product.factors, product.output, [&](const node& root) {
            least = std::min(least, decompose_vertices(by_operations(asked), {root}).seconds());
            ++orders;
        });
        REQUIRE(orders == (trial % 3 == 0 ? 3 : 18));
        const node root = from_the_left(product.factors, product.output);
        const plan found = decompose_vertices(asked, {root});
        CAPTURE(trial);
        CHECK(found.seconds() == doctest::Approx(least).epsilon(1e-9));
        CHECK(found.vertices()[found.outputs().front()].origin == root);
        CHECK_NOTHROW(static_cast<void>(found.partition(*root)));
        dearer_from_the_left +=
            decompose_vertices(by_operations(asked), {root}).seconds() > 1.01 * found.seconds() ? 1 : 0;
    }
    CHECK(dearer_from_the_left > products / 3);
}

TEST_CASE("products of many tensors never get dearer, and cheaper where communication counts") {
    std::mt19937 random(11);
    int cheaper = 0;
    const int products = testing::tried_cases(160);
    for (int trial = 0; trial < products; ++trial) {
        const std::size_t count = trial % 8 == 7 ? 14 : 5 + static_cast<std::size_t>(trial) % 4;
        const random_product product =
            trial % 4 < 3 ? random_product::chain(random, count) : random_product(random, count);
        // As recording orders it: by operations alone.
        std::vector<std::vector<label_id>> operands;
        std::vector<index> extents;
        std::string letters;
        for (const auto& [letter, extent] : product.extents) {
            letters += letter;
            extents.push_back(extent);
        }
        const auto ids = [&](const std::string& text) {
            std::vector<label_id> labels;
            for (const char letter : text) {
                labels.push_back(static_cast<label_id>(letters.find(letter)));
            }
            return labels;
        };
        for (const factor& each : product.factors) {
            operands.push_back(ids(each.labels));
        }
        std::vector<factor> known = product.factors;
        std::vector<bool> used(2 * count, false);
        for (const pairwise_contraction& step : contraction_order(operands, ids(product.output), extents)) {
            std::vector<factor> pair{known[step.left], known[step.right]};
            used[step.left] = used[step.right] = true;
            for (std::size_t other = 0; other < known.size(); ++other) {
                if (!used[other]) {
                    pair.push_back(known[other]);
                }
            }
            known.push_back(contracted(pair, 0, 1, product.output));
        }
        const options asked = by_plan(2 + trial % 5);
        const plan usual = decompose_vertices(by_operations(asked), {known.back().made});
        const plan found = decompose_vertices(asked, {known.back().made});
        CAPTURE(trial);
        CHECK(found.seconds() <= usual.seconds() * (1 + 1e-12));
        CHECK(found.vertices().size() == usual.vertices().size());
        CHECK(found == decompose_vertices(asked, {known.back().made}));
        cheaper += found.seconds() < 0.999 * usual.seconds() ? 1 : 0;
    }
    CHECK(12 * cheaper >= products);
}

TEST_CASE("products that are alike get one order; what others read or the user fixed keeps its place") {
    // (A·B)·v takes 64 times the operations of A·(B·v).
    const node a = test::input({64, 64});
    const node b = test::input({64, 64});
    const node v = test::input({64});
    const auto product = [&](bool is_intermediate) {
        const node ab = test::einsum("ij,jk->ik", {a, b});
        ab->is_intermediate = is_intermediate;
        return std::pair(ab, test::einsum("ik,k->i", {ab, v}));
    };
    const auto first_extents = [](const plan& made, const node& root) {
        for (const planned_vertex& each : made.vertices()) {
            if (each.origin == root) {
                return made.vertices()[each.inputs.front()].bounds;
            }
        }
        return std::vector<index>{};
    };
    const options asked = by_plan(4);
    const std::vector<index> vector{64};
    const std::vector<index> matrix{64, 64};

    const auto [one, z] = product(true);
    const auto [two, y] = product(true);
    const plan both = decompose_vertices(asked, {z, y});
    // The product with v comes first now: whichever operand it is, no matrix product is left.
    for (const planned_vertex& each : both.vertices()) {
        CHECK((each.is_input() || each.bounds == vector));
    }

    const auto [kept, x] = product(false);
    CHECK(first_extents(decompose_vertices(asked, {x}), x) == matrix);
    const auto [read_twice, w] = product(true);
    CHECK(first_extents(decompose_vertices(asked, {w, read_twice}), w) == matrix);
    const auto [inner, u] = product(true);
    u->constraints.pin = std::vector<pinned_part>{{"i", 2}};
    CHECK(first_extents(decompose_vertices(asked, {u}), u) == matrix);
}

TEST_CASE("a memory limit that only another order keeps to takes that order") {
    const node matrix = test::einsum("ij,jk->ik", {test::input({64, 64}), test::input({64, 64})});
    matrix->is_intermediate = true;
    const node root = test::einsum("ik,k->i", {matrix, test::input({64})});
    options asked = by_plan(4);
    const auto peak = [](const plan& made) {
        std::size_t most = 0;
        for (int rank = 0; rank < made.processes(); ++rank) {
            most = std::max(most, made.peak_bytes(rank));
        }
        return most;
    };
    const std::size_t least = peak(decompose_vertices(asked, {root}));
    asked.memory_limit = least;
    CHECK_THROWS_AS(static_cast<void>(decompose_vertices(by_operations(asked), {root})), error);
    CHECK(peak(decompose_vertices(asked, {root})) == least);
    asked.memory_limit = 64;
    CHECK_THROWS_AS(static_cast<void>(decompose_vertices(asked, {root})), error);
}

TEST_CASE("an order that does not exist is refused") {
    options asked;
    asked.order = static_cast<order>(7);
    CHECK_THROWS_WITH_AS(static_cast<void>(decompose_vertices(asked, {test::einsum("i->i", {test::input({4})})})),
                         "decompose: options.order is neither fewest_operations nor best_plan", error);
}

}  // namespace order_test
