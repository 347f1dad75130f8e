#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace distributed_test {

namespace {

/// The tensor that every rank holds a part of: element = 1 + its row-major number.
template <class T, std::size_t Rank>
int wrong_numbers(const ep::array<T, Rank>& whole, const std::array<ep::index, Rank>& extents) {
    int wrong = whole.extents() == extents ? 0 : 1;
    for (ep::index number = 0; number < whole.size(); ++number) {
        wrong += whole.data()[number] == T(static_cast<float>(1 + number)) ? 0 : 1;
    }
    return wrong;
}

template <class T, std::size_t Rank>
void number_elements(const ep::distributed<T, Rank>& spread) {
    const std::array<ep::index, Rank> extents = spread.extents();
    spread.for_each_local([&](const std::array<ep::index, Rank>& at, T& element) {
        ep::index number = 0;
        for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
            number = number * extents[dimension] + at[dimension];
        }
        element = T(static_cast<float>(1 + number));
    });
}

/// Rows by rank, the first ranks one more; with columns reversed in memory.
template <class T>
void rows_backwards(ep::context& world, ep::index rows, ep::index columns) {
    const ep::interval mine = ep::block_of(rows, world.size(), world.rank());
    std::vector<char> memory(static_cast<std::size_t>(mine.size() * columns + 1) * sizeof(T));
    T* const first = reinterpret_cast<T*>(memory.data());
    const ep::view<T, 2> local(first + (columns > 0 ? columns - 1 : 0), {mine.size(), columns}, {columns, -1});
    const ep::distributed<T, 2> spread(world, {rows, columns}, {mine.begin, 0}, local);
    number_elements(spread);
    for (ep::index row = 0; row < mine.size(); ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            CHECK(first[row * columns + columns - 1 - column] ==
                  T(static_cast<float>(1 + (mine.begin + row) * columns + column)));
        }
    }
    CHECK(wrong_numbers(spread.allgather(), {rows, columns}) == 0);
    for (int root = 0; root < world.size(); ++root) {
        const ep::array<T, 2> whole = spread.gather(root);
        if (world.rank() == root) {
            CHECK(wrong_numbers(whole, {rows, columns}) == 0);
        } else {
            CHECK(whole.size() == 0);
        }
    }
}

}  // namespace

TEST_CASE("the application's own rows, strided, of every kind of element, fewer rows than ranks too") {
    ep::context world(MPI_COMM_WORLD);
    for (const auto& [rows, columns] : {std::pair<int, int>{7, 5}, {2, 3}, {1, 1}, {0, 4}, {4, 0}}) {
        rows_backwards<double>(world, rows, columns);
    }
    rows_backwards<float>(world, 5, 3);
    rows_backwards<std::complex<double>>(world, 5, 3);
    rows_backwards<std::complex<float>>(world, 3, 5);
    rows_backwards<std::int8_t>(world, 5, 7);
    rows_backwards<std::int16_t>(world, 5, 7);
}

TEST_CASE("parts in random order and number of dimensions") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(77);
    int wrong = 0;
    for (int repetition = 0; repetition < 12; ++repetition) {
        const std::vector<ep::index> bounds{1 + static_cast<ep::index>(random() % 6),
                                            1 + static_cast<ep::index>(random() % 6),
                                            1 + static_cast<ep::index>(random() % 6)};
        const ep::distribution where = random_slabs(bounds, world.size(), random);
        const ep::box held = where.held_by(world.rank());
        std::vector<double> memory(static_cast<std::size_t>(held.size()) + 1);
        std::array<ep::extent, 3> lower{};
        std::array<ep::index, 3> shape{};
        for (std::size_t dimension = 0; dimension < 3 && !held.empty(); ++dimension) {
            lower[dimension] = held.sides[dimension].begin;
            shape[dimension] = held.sides[dimension].size();
        }
        const ep::view<double, 3> local(memory.data(), {shape[0], shape[1], shape[2]});
        const ep::distributed<double, 3> spread(world, {bounds[0], bounds[1], bounds[2]}, lower, local);
        wrong += spread.where() == where ? 0 : 1;
        number_elements(spread);
        wrong += wrong_numbers(spread.allgather(), {bounds[0], bounds[1], bounds[2]});
        const int root = static_cast<int>(random() % static_cast<unsigned>(world.size()));
        const ep::array<double, 3> whole = spread.gather(root);
        wrong += world.rank() == root ? wrong_numbers(whole, {bounds[0], bounds[1], bounds[2]}) : 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a tensor of rank 0 rests on one rank") {
    ep::context world(MPI_COMM_WORLD);
    double element = 4.5;
    const int owner = world.size() - 1;
    const ep::view<double, 0> local(world.rank() == owner ? &element : nullptr, {});
    const ep::distributed<double, 0> spread(world, {}, {}, local);
    CHECK(spread.held().empty() == (world.rank() != owner));
    CHECK(spread.allgather().value() == 4.5);
    const ep::array<double, 0> on_root = spread.gather(0);
    CHECK(on_root.value() == (world.rank() == 0 ? 4.5 : 0.0));
    int visited = 0;
    spread.for_each_local([&](std::array<ep::index, 0>, double& each) { visited += each == 4.5 ? 1 : 100; });
    CHECK(visited == (world.rank() == owner ? 1 : 0));
}

TEST_CASE("distributions that are none") {
    ep::context world(MPI_COMM_WORLD);
    const int last = world.size() - 1;
    const bool is_last = world.rank() == last;
    const bool several = world.size() > 1;
    std::vector<double> memory(100);
    const auto made_of = [&](ep::index rows, ep::index first, ep::index count) {
        return sentence_of([&] {
            const ep::distributed<double, 2> spread(world, {rows, 3}, {first, 0},
                                                    ep::view<double, 2>(memory.data(), {count, 3}));
        });
    };
    const ep::index rows = 2 * world.size() + 1;
    const std::string all = std::to_string(rows);
    const std::string more = std::to_string(rows + 1);
    const ep::interval mine = ep::block_of(rows, world.size(), world.rank());
    CHECK(made_of(rows, mine.begin, mine.size()).empty());
    CHECK(made_of(is_last ? rows + 1 : rows, mine.begin, is_last ? mine.size() + 1 : mine.size()) ==
          (several ? "distributed: dimension 0: extent " + all + " on rank 0 and " + more + " on rank " +
                         std::to_string(last)
                   : ""));
    CHECK(made_of(rows, mine.begin, is_last ? mine.size() + 1 : mine.size()) ==
          "distributed: the part of rank " + std::to_string(last) + " reaches from " +
              std::to_string(ep::block_of(rows, world.size(), last).begin) + " to " + more +
              " in dimension 0, the extent is " + all);
    CHECK(made_of(rows, mine.begin, is_last ? mine.size() - 1 : mine.size()) ==
          "distributed: the parts hold " + std::to_string(3 * rows - 3) + " of " + std::to_string(3 * rows) +
              " elements: no rank has the element at (" + std::to_string(rows - 1) +
              ", 0); the part in front of it is that of rank " + std::to_string(last) + ", with extents (" +
              std::to_string(ep::block_of(rows, world.size(), last).size() - 1) + ", 3) from element (" +
              std::to_string(ep::block_of(rows, world.size(), last).begin) + ", 0) on");
    CHECK(made_of(rows, 0, 0) == "distributed: the parts hold 0 of " + std::to_string(3 * rows) +
                                     " elements: no rank has the element at (0, 0)");
    CHECK(made_of(rows, mine.begin, is_last ? -2 : mine.size()) ==  // an extent that only this rank can see
          "distributed: rank " + std::to_string(last) + ": extent -2 of dimension 0 is negative");
    CHECK(made_of(rows, several && is_last ? mine.begin - 1 : mine.begin, mine.size()) ==
          (several ? "distributed: the parts of ranks " + std::to_string(last - 1) + " and " + std::to_string(last) +
                         " overlap"
                   : ""));
    const ep::index huge = ep::index{1} << 62U;  // times 3, wraps
    CHECK(made_of(huge, 0, 0) == "distributed: these extents make more than 2^59 elements");
    const ep::index end = std::numeric_limits<ep::index>::max();  // and 4 more, wraps
    CHECK(made_of(rows, end - 1, 4) == "distributed: the part of rank 0 reaches from " + std::to_string(end - 1) +
                                           " to " + std::to_string(end) + " in dimension 0, the extent is " + all);
    CHECK(made_of(rows, end, 4) == "distributed: the part of rank 0 reaches from " + std::to_string(end) + " to " +
                                       std::to_string(end) + " in dimension 0, the extent is " + all);
    CHECK(made_of(-1, 0, 0) == "distributed: extent -1 of dimension 0 is negative");
}

TEST_CASE("an element that nobody has is found, wherever it is") {
    std::mt19937 random(5);
    for (int repetition = 0; repetition < 200; ++repetition) {
        const std::vector<ep::index> bounds{1 + static_cast<ep::index>(random() % 4),
                                            1 + static_cast<ep::index>(random() % 4),
                                            1 + static_cast<ep::index>(random() % 4)};
        ep::distribution where = random_slabs(bounds, 1 + static_cast<int>(random() % 5), random);
        std::vector<ep::box> parts;
        for (int rank = 0; rank < where.holders(); ++rank) {
            parts.push_back(random() % 3 == 0 ? ep::no_box(3) : where.held_by(rank));
        }
        std::optional<std::vector<ep::index>> first;
        for (ep::index number = bounds[0] * bounds[1] * bounds[2]; number-- > 0;) {
            const std::vector<ep::index> at{number / (bounds[1] * bounds[2]), number / bounds[2] % bounds[1],
                                            number % bounds[2]};
            const ep::box element{{{at[0], at[0] + 1}, {at[1], at[1] + 1}, {at[2], at[2] + 1}}};
            if (std::ranges::none_of(parts, [&](const ep::box& part) { return ep::contains(part, element); })) {
                first = at;
            }
        }
        CHECK(ep::detail::first_hole(ep::whole_box(bounds), parts) == first);
    }
}

TEST_CASE("parts of a context with other ranks are refused before anything runs") {
    ep::context world(MPI_COMM_WORLD);
    const int last = world.size() - 1;
    MPI_Comm turned = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, last - world.rank(), &turned);
    ep::context other(turned);
    std::vector<double> memory(3);
    const ep::distributed<double, 2> there(other, {world.size(), 3}, {other.rank(), 0},
                                           ep::view<double, 2>(memory.data(), {1, 3}));
    EINPARALLEL_LABELS(i, j);
    ep::tensor<double, 1> sums;
    sums(i) = ep::tensor<double, 2>(ep::from_distributed(there).named("X"))(i, j);
    const std::string refused =
        "was distributed on a context with other ranks, or with the same ranks in another order";
    CHECK(sentence_of([&] {
              static_cast<void>(ep::decompose(world, sums));
          }).starts_with(last > 0 ? "decompose: X (from_distributed) " + refused : ""));
    ep::tensor<double, 2> X = ep::placeholder<double>({world.size(), 3}).named("X");
    sums(i) = X(i, j);
    const ep::plan plan = ep::decompose(world, sums);
    const std::string said = sentence_of([&] { static_cast<void>(plan.run(world, ep::bind(X, there))); });
    CHECK(said.starts_with(last > 0 ? "run: the value bound to placeholder 'X' " + refused : ""));
    CHECK(said.empty() == (last == 0));
    MPI_Comm_free(&turned);
}

TEST_CASE("collective calls that do not fit are refused, and a handle outlives its context") {
    std::optional<ep::context> world(std::in_place, MPI_COMM_WORLD);
    std::vector<double> memory(6, 1.0);
    const bool on_root = world->rank() == 0;
    const ep::distributed<double, 1> spread(*world, {6}, {0}, ep::view<double, 1>(memory.data(), {on_root ? 6 : 0}));
    const int size = world->size();
    CHECK(sentence_of([&] { static_cast<void>(spread.gather(size)); }) ==
          "gather: there is no rank " + std::to_string(size) + " in a context of " + std::to_string(size));
    CHECK(sentence_of([&] { static_cast<void>(spread.gather(-1)); }) ==
          "gather: there is no rank -1 in a context of " + std::to_string(size));
    if (size > 1) {
        CHECK(sentence_of([&] { static_cast<void>(spread.gather(on_root ? 0 : 1)); }) ==
              "gather: the ranks do not gather the same tensor to the same root");
    }
    CHECK(spread.allgather().size() == 6);
    world.reset();
    CHECK(sentence_of([&] { static_cast<void>(spread.gather(0)); }) ==
          "distributed: the context of this tensor is gone");
    double sum = 0;
    spread.for_each_local([&](auto, double& element) { sum += element; });
    CHECK(sum == (on_root ? 6 : 0));
    const ep::distributed<double, 1> nothing;
    nothing.for_each_local([&](auto, double& element) { sum += element; });
    CHECK(sum == (on_root ? 6 : 0));
    CHECK(nothing.local().extent(0) == 0);
    CHECK(sentence_of([&] { static_cast<void>(ep::distributed<double, 1>().allgather()); }) ==
          "distributed: this handle holds nothing");
}

}  // namespace distributed_test
