// Ranks with unlike histories: some have let go of what a context keeps, left out a binding, or failed in a run. Later
// right runs are right, layouts that are equal are the same however they are described, and what really differs is one
// sentence on every rank.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>

#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace ep = einparallel;
using ep::testing::same_everywhere;
using ep::testing::sentence_of;

namespace histories_test {

namespace {

EINPARALLEL_LABELS(i, j);

constexpr ep::index rows = 6, columns = 4;

double x_at(ep::index row, ep::index column) {
    return double(10 * row + column);
}

/// Rows of a tensor on the first `holders` ranks, in blocks; other ranks give a view without elements.
class rows_on {
public:
    rows_on(ep::context& world, int holders) {
        const auto begin = [&](int rank) { return rows * std::min(rank, holders) / holders; };
        const ep::index first = begin(world.rank());
        const ep::index count = begin(world.rank() + 1) - first;
        for (ep::index row = first; row < first + count; ++row) {
            for (ep::index column = 0; column < columns; ++column) {
                elements_.push_back(x_at(row, column));
            }
        }
        held = ep::distributed<double, 2>(world, {rows, columns}, {first, 0},
                                          ep::view<double, 2>(elements_.data(), {count, columns}));
    }

    ep::distributed<double, 2> held;

private:
    std::vector<double> elements_;
};

/// The same rows, as a plan leaves them: ranks behind the last that holds some are not spoken of.
ep::distributed<double, 2> made_on(ep::context& world, int holders) {
    const ep::tensor<double, 2> X = ep::generate<double>({rows, columns}, x_at);
    ep::tensor<double, 2> Y;
    Y(i, j) = 1.0 * X(i, j);
    Y.pinned({{"i", holders}});
    return ep::evaluate(world, Y);
}

}  // namespace

TEST_CASE("one rank has let go: a layout described in another way is the same layout") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> X = ep::placeholder<double>({rows, columns}).named("X");
    ep::tensor<double, 1> Z;
    Z(j) = X(i, j);
    Z.pinned({{"j", std::min(world.size(), int(columns))}});
    for (const std::size_t runs : {1UL, 5UL}) {
        const ep::plan plan = ep::decompose(world, {.runs = runs}, Z);
        const auto is_right = [&](const ep::binding& x) {
            const ep::distributed<double, 1> z = plan.run(world, x);
            return z.allgather()(1) == 156;
        };
        for (int holders = 1; holders <= std::min(world.size(), 3); ++holders) {
            for (const int releases : {0, world.size() - 1}) {
                const rows_on own(world, holders);
                const ep::distributed<double, 2> made = made_on(world, holders);
                CHECK(is_right(ep::bind(X, own.held)));
                if (world.rank() == releases) {
                    world.release_memory();
                }
                CHECK(is_right(ep::bind(X, made)));
                CHECK(is_right(ep::bind(X, own.held)));
            }
        }
        // all on one rank, said in two ways, even at once
        ep::array<double, 2> whole({rows, columns});
        for (ep::index row = 0; row < rows; ++row) {
            for (ep::index column = 0; column < columns; ++column) {
                whole(row, column) = x_at(row, column);
            }
        }
        const rows_on own(world, 1);
        const ep::binding said = ep::bind(X, ep::from_root(whole, 0));
        CHECK(is_right(said));
        CHECK(is_right(ep::bind(X, own.held)));
        CHECK(is_right(world.rank() == 0 ? said : ep::bind(X, own.held)));
        // what differs is a sentence, and no run after it is worse off
        const rows_on second(world, world.size());
        if (world.size() > 1) {
            const std::string unlike = sentence_of(
                [&] { static_cast<void>(is_right(ep::bind(X, world.rank() == 0 ? own.held : second.held))); });
            CHECK(unlike == "run: what is bound to placeholder 'X', or where it rests, is not the same on all ranks");
            CHECK(same_everywhere(world, unlike));
        }
        CHECK(is_right(ep::bind(X, second.held)));
        CHECK(is_right(ep::bind(X, own.held)));
    }
}

TEST_CASE("random histories: what went wrong on some ranks leaves later runs right") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 common(5);                          // what all ranks do
    std::mt19937 own(unsigned(100 + world.rank()));  // what only this one does
    const auto draw = [](std::mt19937& from, int below) { return int(from() % unsigned(below)); };
    bool throws = false;
    const ep::tensor<double, 2> X = ep::placeholder<double>({rows, columns}).named("X");
    const ep::tensor<double, 2> W = ep::generate<double>({rows, columns}, [&](auto row, auto column) {
        if (throws) {
            throw std::runtime_error("this source was told to throw");
        }
        return double(row + column);
    });
    ep::tensor<double, 2> Y, Z;
    Y(i, j) = 2.0 * W(i, j);
    Z(i, j) = X(i, j) + Y(i, j);
    Y.pinned({{"i", std::min(2, world.size())}});
    Z.pinned({{"j", std::min(world.size(), int(columns))}});
    std::vector<ep::plan> plans;
    for (const std::size_t runs : {1UL, 5UL}) {
        plans.push_back(ep::decompose(world, {.runs = runs}, Z));
    }
    std::vector<ep::distributed<double, 2>> layouts;
    std::vector<rows_on> memory;
    for (int holders = 1; holders <= std::min(world.size(), 3); ++holders) {
        memory.emplace_back(world, holders);
        layouts.push_back(memory.back().held);
        layouts.push_back(made_on(world, holders));
    }
    ep::array<double, 2> result({rows, columns});
    int wrong = 0, unlike = 0;
    for (int turn = 0; turn < 60; ++turn) {
        const ep::plan& plan = plans[std::size_t(draw(common, 2))];
        const ep::distributed<double, 2>& x = layouts[std::size_t(draw(common, int(layouts.size())))];
        const int mishap = draw(common, 4);
        if (mishap == 0 && draw(own, 2) == 0) {
            world.release_memory();
        }
        std::string said;
        if (mishap == 1 || mishap == 2) {
            throws = mishap == 1 && draw(own, 2) == 0;
            const bool forgets = mishap == 2 && draw(own, 2) == 0;
            said = sentence_of([&] {
                forgets ? static_cast<void>(plan.run(world)) : static_cast<void>(plan.run(world, ep::bind(X, x)));
            });
            throws = false;
            unlike += same_everywhere(world, said) ? 0 : 1;
        }
        const ep::distributed<double, 2> z = plan.run(world, ep::bind(X, x));
        z.for_each_local([&](const auto& at, double element) {
            wrong += element == x_at(at[0], at[1]) + 2 * double(at[0] + at[1]) ? 0 : 1;
        });
    }
    CHECK(wrong == 0);
    CHECK(unlike == 0);
}

}  // namespace histories_test
