// The smallest sum of tables against brute force over all assignments.

#include <einparallel/search/solver/solve.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace solve_test {

namespace {

using namespace einparallel::detail;

double cost_of(const cost_sum& sum, const std::vector<int>& states) {
    double cost = 0;
    for (std::size_t variable = 0; variable < states.size(); ++variable) {
        cost += (*sum.variables[variable])[static_cast<std::size_t>(states[variable])];
    }
    for (const cost_table& table : sum.tables) {
        cost += table.at(states);
    }
    return cost;
}

class random_sums {
public:
    explicit random_sums(unsigned seed) : engine_(seed) {}

    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

    /// Up to six variables of up to six states, tables over up to three of them; some states look alike to some tables.
    cost_sum any() {
        cost_sum made;
        const int variables = between(1, 6);
        for (int variable = 0; variable < variables; ++variable) {
            std::vector<double> costs(static_cast<std::size_t>(between(1, 6)));
            for (double& cost : costs) {
                cost = between(0, 20);
            }
            made.variables.push_back(std::make_shared<const std::vector<double>>(std::move(costs)));
        }
        const int tables = between(0, 8);
        for (int number = 0; number < tables; ++number) {
            cost_table table;
            std::size_t cells = 1;
            for (std::size_t variable = 0; variable < made.variables.size() && table.scope.size() < 3; ++variable) {
                if (between(0, 2) == 0) {
                    auto classes = std::make_shared<state_classes>();
                    classes->count = static_cast<std::size_t>(between(1, 4));
                    for (std::size_t state = 0; state < made.variables[variable]->size(); ++state) {
                        classes->of_state.push_back(between(0, static_cast<int>(classes->count) - 1));
                    }
                    cells *= classes->count;
                    table.scope.push_back(variable);
                    table.classes.push_back(std::move(classes));
                }
            }
            if (table.scope.empty()) {
                continue;
            }
            std::vector<double> costs(cells);
            for (double& cost : costs) {
                cost = between(0, 30);
            }
            table.cost = std::make_shared<const std::vector<double>>(std::move(costs));
            made.tables.push_back(std::move(table));
        }
        return made;
    }

private:
    std::mt19937 engine_;
};

/// The smallest sum of all assignments.
double brute_force(const cost_sum& sum) {
    double least = std::numeric_limits<double>::infinity();
    std::vector<int> states(sum.variables.size(), 0);
    for (bool more = true; more;) {
        least = std::min(least, cost_of(sum, states));
        std::size_t place = states.size();
        while (place > 0 && ++states[place - 1] == static_cast<int>(sum.variables[place - 1]->size())) {
            states[--place] = 0;
        }
        more = place > 0;
    }
    return least;
}

}  // namespace

TEST_CASE("tables may list their variables in any order") {
    random_sums random(5);
    for (int trial = 0; trial < 500; ++trial) {
        const cost_sum sum = random.any();
        cost_sum turned = sum;
        for (cost_table& table : turned.tables) {
            if (table.scope.size() == 2) {
                std::vector<double> cost;
                const std::size_t columns = table.classes.back()->count;
                for (std::size_t column = 0; column < columns; ++column) {
                    for (std::size_t row = 0; row < table.classes.front()->count; ++row) {
                        cost.push_back((*table.cost)[row * columns + column]);
                    }
                }
                table.cost = std::make_shared<const std::vector<double>>(std::move(cost));
                std::swap(table.scope.front(), table.scope.back());
                std::swap(table.classes.front(), table.classes.back());
            }
        }
        CHECK(minimise(turned, 1'000'000).bound == doctest::Approx(minimise(sum, 1'000'000).bound));
        CHECK(cost_of(turned, minimise(turned, 1'000'000).states) == doctest::Approx(minimise(sum, 1'000'000).bound));
    }
}

TEST_CASE("elimination finds the smallest sum") {
    random_sums random(1);
    constexpr std::size_t any = std::size_t{1} << 30;
    for (int trial = 0; trial < 2000; ++trial) {
        const cost_sum sum = random.any();
        const double least = brute_force(sum);
        const minimum found = minimise(sum, any);
        REQUIRE(found.exact);
        REQUIRE(found.bound == doctest::Approx(least));
        REQUIRE(cost_of(sum, found.states) == doctest::Approx(least));
    }
}

TEST_CASE("split tables give a bound below the smallest sum, and an assignment above it") {
    random_sums random(2);
    int split = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const cost_sum sum = random.any();
        const double least = brute_force(sum);
        const minimum found = minimise(sum, 12);
        split += found.exact ? 0 : 1;
        REQUIRE(found.bound <= least * (1 + 1e-12));
        REQUIRE(cost_of(sum, found.states) >= least * (1 - 1e-12));
    }
    MESSAGE(split << " of 2000 sums had a table split");
    CHECK(split > 300);
}

}  // namespace solve_test
