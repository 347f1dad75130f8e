// Outputs in the application's own layout: boxes given rank by rank, against the whole tensor element by element.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>

#include <support/graphs.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace fetch_test {

namespace {

/// What every element of a tensor with these extents is called: 1 + its row-major number.
ep::index number_at(const std::vector<ep::index>& bounds, const std::vector<ep::index>& at) {
    ep::index number = 0;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        number = number * bounds[dimension] + at[dimension];
    }
    return 1 + number;
}

std::shared_ptr<whole_tensor> numbered(const std::vector<ep::index>& bounds) {
    auto made = std::make_shared<whole_tensor>();
    made->bounds = bounds;
    made->elements.resize(static_cast<std::size_t>(ep::whole_box(bounds).size()));
    std::iota(made->elements.begin(), made->elements.end(), 1.0);
    return made;
}

/// Any box inside, often empty.
ep::box random_box(const std::vector<ep::index>& bounds, std::mt19937& random) {
    ep::box made;
    for (const ep::index bound : bounds) {
        const ep::index begin = static_cast<ep::index>(random() % static_cast<unsigned>(bound + 1));
        const ep::index length = static_cast<ep::index>(random() % static_cast<unsigned>(bound - begin + 1));
        made.sides.push_back({begin, begin + length});
    }
    return made;
}

/// Memory for a box with a gap after every element of every dimension, dimensions in any order, some backwards.
template <class T, std::size_t Rank>
struct odd_memory {
    std::vector<T> elements;
    std::array<ep::index, Rank> extents{};
    std::array<ep::index, Rank> strides{};
    ep::index first = 0;

    odd_memory(const ep::box& held, bool may_be_backwards, std::mt19937& random) {
        std::array<std::size_t, Rank> order{};
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        ep::index stride = 1 + static_cast<ep::index>(random() % 2);
        for (const std::size_t dimension : order) {
            extents[dimension] = held.sides[dimension].size();
            const bool backwards = may_be_backwards && random() % 3 == 0;
            strides[dimension] = backwards ? -stride : stride;
            first += backwards && extents[dimension] > 0 ? stride * (extents[dimension] - 1) : ep::index{0};
            stride *= extents[dimension] + static_cast<ep::index>(random() % 2);
        }
        elements.assign(static_cast<std::size_t>(stride) + 2, T(-1));
    }
    ep::view<T, Rank> view() { return {elements.data() + first, extents, strides}; }

    /// Elements that are not what `held` says, and elements between them that are no longer what they were.
    int wrong(const std::vector<ep::index>& bounds, const ep::box& held) {
        int count = 0;
        for_each_point(extents, [&](std::vector<ep::index> point) {
            ep::index offset = first;
            for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
                offset += point[dimension] * strides[dimension];
                point[dimension] += held.sides[dimension].begin;
            }
            T& element = elements[static_cast<std::size_t>(offset)];
            count += element == T(static_cast<float>(number_at(bounds, point))) ? 0 : 1;
            element = T(-1);
        });
        return count + static_cast<int>(std::ranges::count_if(elements, [](T each) { return each != T(-1); }));
    }
};

template <std::size_t Rank>
std::array<ep::extent, Rank> lower_of(const ep::box& held) {
    std::array<ep::extent, Rank> lower{};
    for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
        lower[dimension] = held.sides[dimension].begin;
    }
    return lower;
}

/// Bytes that `rank` has to send, counted point by point.
std::size_t bytes_wanted_of(const ep::distribution& where, const std::vector<ep::box>& wanted, int rank,
                            std::size_t element_bytes) {
    std::size_t bytes = 0;
    for (std::size_t reader = 0; reader < wanted.size(); ++reader) {
        if (static_cast<int>(reader) != rank) {
            const ep::index common = ep::intersect(where.held_by(rank), wanted[reader]).size();
            bytes += static_cast<std::size_t>(common) * element_bytes;
        }
    }
    return bytes;
}

}  // namespace

TEST_CASE("boxes that overlap, are empty or leave elements out, into memory with any strides") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(5);  // the same on every rank, whose own memory has its own
    std::mt19937 own(static_cast<unsigned>(1000 + world.rank()));
    int wrong = 0;
    std::size_t other_bytes = 0;
    for (int repetition = 0; repetition < 15; ++repetition) {
        const std::vector<ep::index> bounds{static_cast<ep::index>(random() % 7), static_cast<ep::index>(random() % 6),
                                            1 + static_cast<ep::index>(random() % 5)};
        const auto values = numbered(bounds);
        const ep::distribution where = random_slabs(bounds, world.size(), random);
        const auto part = part_of(*values, where, world);
        const ep::distributed<double, 3> spread(part->part);
        std::vector<ep::box> wanted;
        for (int rank = 0; rank < world.size(); ++rank) {
            wanted.push_back(random() % 4 == 0 ? ep::no_box(3) : random_box(bounds, random));
        }
        const ep::box& mine = wanted[static_cast<std::size_t>(world.rank())];
        odd_memory<double, 3> memory(mine, true, own);
        spread.fetch_into(lower_of<3>(mine), memory.view());
        wrong += memory.wrong(bounds, mine);

        const std::array<ep::extent, 3> extents{mine.sides[0].size(), mine.sides[1].size(), mine.sides[2].size()};
        const ep::array<double, 3> fetched = spread.fetch(lower_of<3>(mine), extents);
        ep::index next = 0;
        wrong += fetched.size() == mine.size() ? 0 : 1;
        for_each_point(mine, [&](const std::vector<ep::index>& point) {
            wrong += fetched.data()[next++] == static_cast<double>(number_at(bounds, point)) ? 0 : 1;
        });

        odd_memory<double, 3> again(mine, false, own);
        const std::size_t sent = ep::detail::fetch_tensor(part->part, mine, {}, [&] {
            const ep::view<double, 3> seen = again.view();
            return ep::detail::strided_box{reinterpret_cast<std::byte*>(seen.data()),
                                           mine,
                                           {seen.strides().begin(), seen.strides().end()},
                                           ep::element_type_of<double>()};
        });
        const std::size_t exact = bytes_wanted_of(where, wanted, world.rank(), sizeof(double));
        other_bytes += sent == exact ? 0 : 1;
        wrong += again.wrong(bounds, mine);
    }
    CHECK(wrong == 0);
    CHECK(other_bytes == 0);
}

TEST_CASE_TEMPLATE("all kinds of elements, backwards on both sides", T, std::int8_t, std::int16_t, float,
                   std::complex<double>) {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 own(static_cast<unsigned>(7 + world.rank()));
    const ep::interval rows = ep::block_of(5, world.size(), world.rank());
    const ep::box held{{rows, {0, 7}}, false};
    odd_memory<T, 2> memory(held, true, own);
    const ep::distributed<T, 2> spread(world, {5, 7}, {rows.begin, 0}, memory.view());
    spread.for_each_local(
        [](const std::array<ep::index, 2>& at, T& element) { element = T(static_cast<float>(1 + 7 * at[0] + at[1])); });
    const ep::interval columns = ep::block_of(7, world.size(), world.size() - 1 - world.rank());
    const ep::box wanted{{{0, 5}, columns}, false};
    odd_memory<T, 2> turned(wanted, true, own);
    spread.fetch_into({0, columns.begin}, turned.view());
    CHECK(turned.wrong({5, 7}, wanted) == 0);

    odd_memory<T, 2> other(wanted, true, own);
    const ep::distributed<T, 2> there(world, {5, 7}, {0, columns.begin}, other.view());
    spread.fetch_into(there);
    CHECK(other.wrong({5, 7}, wanted) == 0);
}

TEST_CASE("what a plan made, in the application's rows, into its own memory and bound to its next run") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(7, 5, 6);
    for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
        const ep::distributed<double, 2> z =
            ep::evaluate(world, {.objective = ep::objective::bytes, .algorithm = forced}, graph.handle());
        // All rows on the last two ranks; the first ones hold nothing.
        const int holders = std::min(2, world.size());
        const int holder = world.rank() - (world.size() - holders);
        const ep::interval mine = holder < 0 ? ep::interval{0, 0} : ep::block_of(7, holders, holder);
        std::vector<double> rows(static_cast<std::size_t>(mine.size() * 8), -1.0);
        const ep::view<double, 2> local(holder < 0 ? nullptr : rows.data(), {mine.size(), 6}, {8, 1});
        z.fetch_into({mine.begin, 0}, local);
        const ep::distributed<double, 2> own(world, {7, 6}, {mine.begin, 0}, local);
        int wrong = 0;
        own.for_each_local([&](const std::array<ep::index, 2>& at, double& element) {
            wrong += element == graph.z->at({at[0], at[1]}) ? 0 : 1;
            element = -1;
        });
        CHECK(wrong == 0);
        CHECK(std::ranges::count_if(rows, [](double each) { return each != -1; }) == 0);
        z.fetch_into(own);
        own.for_each_local([&](const std::array<ep::index, 2>& at, double& element) {
            wrong += element == graph.z->at({at[0], at[1]}) ? 0 : 1;
        });
        CHECK(wrong == 0);
        own.fetch_into(own);  // nothing moves
        const ep::array<double, 2> whole = own.allgather();
        CHECK(std::equal(whole.data(), whole.data() + whole.size(), graph.z->elements.begin()));
    }
}

TEST_CASE("ghost cells round a rank's own block are filled in place") {
    ep::context world(MPI_COMM_WORLD);
    const ep::index rows = 2 * world.size() + 1;
    const ep::interval mine = ep::block_of(rows, world.size(), world.rank());
    const ep::interval wide{std::max<ep::index>(mine.begin - 1, 0), std::min(mine.end + 1, rows)};
    ep::array<double, 2> field({wide.size(), 3});
    const ep::view<double, 2> block(field.data() + 3 * (mine.begin - wide.begin), {mine.size(), 3});
    const ep::distributed<double, 2> spread(world, {rows, 3}, {mine.begin, 0}, block);
    spread.for_each_local([&](const std::array<ep::index, 2>& at, double& element) {
        element = static_cast<double>(1 + 3 * at[0] + at[1]);
    });
    spread.fetch_into({wide.begin, 0}, field);
    int wrong = 0;
    for (ep::index element = 0; element < field.size(); ++element) {
        wrong += field.data()[element] == static_cast<double>(1 + 3 * wide.begin + element) ? 0 : 1;
    }
    CHECK(wrong == 0);

    // Blocks shifted by one rank within the same memory, too long for MPI to put aside: what others want is read before
    // it is overwritten.
    const ep::index length = 40000;
    std::vector<double> line(static_cast<std::size_t>(length));
    const ep::distributed<double, 1> ring(world, {length * world.size()}, {length * world.rank()},
                                          ep::view<double, 1>(line.data(), {length}));
    ring.for_each_local(
        [](const std::array<ep::index, 1>& at, double& element) { element = static_cast<double>(at[0]); });
    const ep::index turned = length * ((world.rank() + 1) % world.size());
    ring.fetch_into({turned}, ring.local());
    for (ep::index element = 0; element < length; ++element) {
        wrong += line[static_cast<std::size_t>(element)] == static_cast<double>(turned + element) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("the element of a tensor of rank 0, wanted by all or by the last rank only") {
    ep::context world(MPI_COMM_WORLD);
    double element = 4.5;
    const bool last = world.rank() == world.size() - 1;
    const ep::distributed<double, 0> spread(world, {}, {},
                                            ep::view<double, 0>(world.rank() == 0 ? &element : nullptr, {}));
    CHECK(spread.fetch({}, {}).value() == 4.5);
    double here = -1;
    spread.fetch_into({}, ep::view<double, 0>(last ? &here : nullptr, {}));
    CHECK(here == (last ? 4.5 : -1.0));
}

TEST_CASE("fetches that cannot be, on one rank: the same sentence on all, and nothing is written") {
    ep::context world(MPI_COMM_WORLD);
    const int culprit = world.size() - 1;
    const bool here = world.rank() == culprit;
    const std::string on_rank = "rank " + std::to_string(culprit);
    const ep::interval mine = ep::block_of(9, world.size(), world.rank());
    std::vector<double> memory(27, 1.0);
    const ep::distributed<double, 2> spread(world, {9, 3}, {mine.begin, 0},
                                            ep::view<double, 2>(memory.data(), {mine.size(), 3}));
    std::vector<double> target(40, -1.0);
    const auto fetch_at = [&](ep::index row, ep::index rows, ep::index columns) {
        return sentence_of([&] {
            spread.fetch_into({here ? row : 0, 0},
                              ep::view<double, 2>(target.data(), {here ? rows : 1, here ? columns : 3}, {4, 1}));
        });
    };
    const ep::index end = std::numeric_limits<ep::index>::max();
    const auto outside = [&](ep::index begin, ep::index behind) {
        return "fetch: the part of " + on_rank + " reaches from " + std::to_string(begin) + " to " +
               std::to_string(behind) + " in dimension 0, the extent is 9";
    };
    CHECK(fetch_at(8, 2, 3) == outside(8, 10));
    CHECK(fetch_at(-1, 2, 3) == outside(-1, 1));
    CHECK(fetch_at(9, 1, 3) == outside(9, 10));
    CHECK(fetch_at(end - 1, 4, 3) == outside(end - 1, end));
    CHECK(fetch_at(end, 4, 3) == outside(end, end));
    CHECK(fetch_at(0, 2, 4) ==
          "fetch: the part of " + on_rank + " reaches from 0 to 4 in dimension 1, the extent is 3");
    CHECK(sentence_of([&] {
              spread.fetch_into({0, 0}, ep::view<double, 2>(target.data(), {2, 3}, {3, here ? 0 : 1}));
          }) == "fetch: " + on_rank + ": the view has strides by which several of its elements share one place");
    CHECK(sentence_of([&] {
              static_cast<void>(spread.fetch({0, 0}, {1, here ? -2 : 1}));
          }) == "fetch: " + on_rank + ": extent -2 of dimension 1 is negative");
    CHECK(sentence_of([&] {
              static_cast<void>(spread.fetch({0, 0}, {end, end}));
          }) ==
          "fetch: the part of rank 0 reaches from 0 to " + std::to_string(end) + " in dimension 0, the extent is 9");
    CHECK(std::ranges::count(target, -1.0) == 40);

    const ep::distributed<double, 2> short_one(
        world, {8, 3}, {0, 0}, ep::view<double, 2>(world.rank() == 0 ? target.data() : nullptr, {8, 3}));
    CHECK(sentence_of([&] { spread.fetch_into(here ? ep::distributed<double, 2>() : spread); }) ==
          "fetch: the target is an empty handle" + ep::testing::only_last(world));
    CHECK(sentence_of([&] { spread.fetch_into(short_one); }) ==
          "fetch: the target has extent 8 in dimension 0, the tensor has 9");
    {
        ep::context other(MPI_COMM_WORLD);
        const ep::distributed<double, 2> elsewhere(other, {9, 3}, {mine.begin, 0},
                                                   ep::view<double, 2>(memory.data(), {mine.size(), 3}));
        CHECK(sentence_of([&] { spread.fetch_into(elsewhere); }) ==
              "fetch: the target is distributed over another context");
    }
    CHECK(std::ranges::count(target, -1.0) == 40);
    if (world.size() > 1) {
        CHECK(sentence_of([&] {
                  static_cast<void>((here ? short_one : spread).fetch({0, 0}, {1, 1}));
              }) == "fetch: the ranks do not fetch from the same tensor");
        CHECK(sentence_of([&] {
                  here ? spread.fetch_into(spread) : static_cast<void>(spread.fetch({0, 0}, {1, 1}));
              }) == "fetch: the ranks do not fetch into the same tensor");
    }
    CHECK(spread.fetch({8, 2}, {1, 1})(0, 0) == 1.0);
}

TEST_CASE("a source that fetches or gathers while a plan runs") {
    ep::context world(MPI_COMM_WORLD);
    const ep::distributed<double, 1> spread =
        ep::evaluate(world, ep::generate<double>({6}, [](auto i) { return static_cast<double>(i); }));
    const bool here = world.rank() == 0;
    const auto refused = [&](auto call, const std::string& doing) {
        const ep::tensor<double, 1> nested = ep::generate<double>({2 * world.size()}, [&](auto i) {
            if (here) {
                call();
            }
            return static_cast<double>(i);
        });
        const std::string got =
            sentence_of([&] { static_cast<void>(ep::evaluate(world, {.objective = ep::objective::bytes}, nested)); });
        CHECK(got.find("rank 0: " + doing + ": this context is in a collective call already") != std::string::npos);
        CHECK(same_everywhere(world, got));
    };
    refused([&] { static_cast<void>(spread.fetch({0}, {1})); }, "fetch");
    refused([&] { static_cast<void>(spread.gather(0)); }, "gather");
    refused([&] { static_cast<void>(spread.allgather()); }, "allgather");
    CHECK(spread.fetch({5}, {1})(0) == 5.0);
}

TEST_CASE("an output that is named twice is two handles on the same elements") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(7, 5, 6);
    auto [first, second] = ep::evaluate(world, {.objective = ep::objective::bytes}, graph.handle(), graph.handle());
    ep::distributed<double, 2> moved = std::move(first);
    first = {};
    moved = {};
    // The elements stay for as long as one of the handles does, whatever runs meanwhile.
    const ep::distributed<double, 2> third = ep::evaluate(world, {.objective = ep::objective::bytes}, graph.handle());
    third.for_each_local([](auto, double& element) { element = -7; });
    const ep::array<double, 2> whole = second.allgather();
    CHECK(std::equal(whole.data(), whole.data() + whole.size(), graph.z->elements.begin()));
}

}  // namespace fetch_test
