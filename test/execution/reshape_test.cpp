// Parts of tensors, tensors one behind the other and with other extents, on any number of ranks: the same as on arrays
// (test/array/index_test.cpp has these against loops); bytes as the plan says, and no more than what is lacked.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>
#include <support/long_suite.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace reshape_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k, l, r);

class random_numbers {
public:
    explicit random_numbers(unsigned seed) : bits_(seed) {}
    index operator()(index from, index to) { return std::uniform_int_distribution<index>(from, to)(bits_); }

private:
    std::mt19937 bits_;
};

/// Element `at` in row-major order is at + 1.
template <std::size_t Rank>
ep::array<double, Rank> counted(const std::array<index, Rank>& extents, double first = 1) {
    ep::array<double, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = first + static_cast<double>(at);
    }
    return made;
}

/// The same as a tensor: on each rank, on one, bound at the run, or made by an einsum.
template <std::size_t Rank>
struct given {
    ep::array<double, Rank> elements;
    ep::tensor<double, Rank> tensor;
    ep::tensor<double, Rank> bound;

    given(const std::array<index, Rank>& extents, index kind, double first = 1)
        : elements(counted(extents, first)), bound(ep::placeholder<double>(extents)) {
        if (kind == 0) {
            tensor = ep::from_root(elements, 0);
        } else if (kind == 1) {
            tensor = bound;
        } else {
            const ep::tensor<double, Rank> all = ep::generate<double>(extents, [extents, first](auto... at) {
                index number = 0;
                std::size_t dimension = 0;
                ((number = number * extents[dimension++] + at), ...);
                return first + static_cast<double>(number);
            });
            const auto copied = [&](auto... labels) { tensor(labels...) = 1.0 * all(labels...); };
            if constexpr (Rank == 1) {
                copied(i);
            } else if constexpr (Rank == 2) {
                copied(i, j);
            } else if constexpr (Rank == 3) {
                copied(i, j, k);
            } else {
                copied(i, j, k, l);
            }
        }
    }
    given(const given&) = delete;
};

template <std::size_t Rank>
bool agrees(const ep::array<double, Rank>& got, const ep::array<double, Rank>& expected) {
    return got.extents() == expected.extents() && std::equal(got.data(), got.data() + got.size(), expected.data());
}

template <std::size_t Rank>
std::array<index, Rank> factors_of(index count, random_numbers& random) {
    std::array<index, Rank> made{};
    for (std::size_t dimension = 0; dimension + 1 < Rank; ++dimension) {
        do {
            made[dimension] = random(1, 7);
        } while (count % made[dimension] != 0);
        count /= made[dimension];
    }
    made[Rank - 1] = count;
    std::shuffle(made.begin(), made.end(), std::mt19937(unsigned(random(0, 1000))));
    return made;
}

template <class Target, class Operand>
void copy(Target& to, const Operand& from) {
    if constexpr (Operand::rank == 1) {
        to(i) = from(i);
    } else if constexpr (Operand::rank == 2) {
        to(i, j) = from(i, j);
    } else if constexpr (Operand::rank == 3) {
        to(i, j, k) = from(i, j, k);
    } else {
        to(i, j, k, l) = from(i, j, k, l);
    }
}

/// Counts what a plan's run does otherwise than it should.
struct mistakes {
    int elements = 0;
    int bytes = 0;
};

template <std::size_t From, std::size_t To>
void reshape_randomly(ep::context& world, random_numbers& random, mistakes& found) {
    std::array<index, From> extents{};
    for (index& extent : extents) {
        extent = random(1, 4) * random(1, 3);
    }
    const index kind = random(0, 3);
    const given<From> X(extents, kind);
    const std::array<index, To> wanted = factors_of<To>(X.elements.size(), random);
    ep::tensor<double, To> Z;
    copy(Z, ep::reshape(X.tensor, wanted));
    ep::tensor<double, To> Y = Z;
    if (random(0, 2) == 0) {  // cut along whichever dimensions
        const int parts = world.size();
        const index longest = *std::max_element(wanted.begin(), wanted.end());
        const auto along = int(std::find(wanted.begin(), wanted.end(), longest) - wanted.begin());
        if (longest >= parts) {
            Z.pinned({{along, parts}});
        }
    }
    const ep::options asked{.objective = random(0, 1) == 0 ? ep::objective::bytes : ep::objective::time,
                            .effort = ep::testing::short_search};
    const ep::plan plan = ep::decompose(world, asked, Z);
    const ep::results made = kind == 1 ? plan.run(world, ep::bind(X.bound, X.elements)) : plan.run(world);
    found.elements += agrees(made.get(Z).allgather(), counted(wanted)) ? 0 : 1;
    found.bytes += made.bytes_sent() == plan.bytes_sent(world.rank()) ? 0 : 1;
}

std::size_t all_bytes(const ep::plan& plan) {
    std::size_t all = 0;
    for (int rank = 0; rank < plan.processes(); ++rank) {
        all += plan.bytes_sent(rank);
    }
    return all;
}

}  // namespace

TEST_CASE("random tensors with other extents") {
    ep::context world(MPI_COMM_WORLD);
    random_numbers random(3);
    mistakes found;
    for (int round = 0; round < (world.size() > 4 ? 1 : 12); ++round) {
        reshape_randomly<1, 2>(world, random, found);
        reshape_randomly<2, 1>(world, random, found);
        reshape_randomly<2, 2>(world, random, found);
        reshape_randomly<3, 2>(world, random, found);
        reshape_randomly<2, 4>(world, random, found);
        reshape_randomly<4, 3>(world, random, found);
        reshape_randomly<4, 4>(world, random, found);
    }
    CHECK(found.elements == 0);
    CHECK(found.bytes == 0);
}

TEST_CASE("what corresponds stays, and of the rest what is lacked moves") {
    ep::context world(MPI_COMM_WORLD);
    const int p = world.size();
    const auto moved = [&](const ep::tensor<double, 2>& X, index rows, const auto& extents) {
        ep::tensor<double, 2> Y;
        Y(i, j) = 1.0 * X(i, j);
        Y.pinned({{0, p}});
        ep::tensor<double, std::tuple_size_v<std::remove_cvref_t<decltype(extents)>>> Z;
        copy(Z, ep::reshape(Y, extents));
        Z.pinned({{0, p}});
        const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Z);
        const ep::results made = plan.run(world);
        CHECK(agrees(made.get(Z).allgather(), counted(extents)));
        CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
        CHECK(Y.extent(0) == rows);
        return all_bytes(plan);
    };
    const auto tensor_of = [](index rows, index columns) {
        return ep::generate<double>({rows, columns}, [columns](index row, index column) {
            return static_cast<double>(row * columns + column + 1);
        });
    };
    const ep::tensor<double, 2> even = tensor_of(4 * p, 6);
    CHECK(moved(even, 4 * p, std::array<index, 2>{2 * p, 12}) == 0);
    CHECK(moved(even, 4 * p, std::array<index, 2>{8 * p, 3}) == 0);
    CHECK(moved(even, 4 * p, std::array<index, 1>{24 * p}) == 0);
    CHECK(moved(even, 4 * p, std::array<index, 4>{p, 2, 3, 4}) == 0);
    for (const auto& [rows, columns] : {std::array<index, 2>{2 * p + 1, 4}, {3 * p - 1, 5}, {2 * p, 7}}) {
        // Elements follow each other: rows that a block of Z touches, but for those of Y's own block.
        std::size_t lacked = 0;
        for (int rank = 0; rank < p; ++rank) {
            const ep::interval wanted = ep::block_of(rows * columns, p, rank);
            const ep::interval own = ep::block_of(rows, p, rank);
            for (index row = wanted.begin / columns; row <= (wanted.end - 1) / columns; ++row) {
                lacked += row < own.begin || row >= own.end ? std::size_t(columns) : 0;
            }
        }
        CHECK(moved(tensor_of(rows, columns), rows, std::array<index, 1>{rows * columns}) == lacked * sizeof(double));
    }
    // Of a part only what is read leaves the root.
    const auto elements = counted(std::array<index, 2>{4 * p + 3, 5});
    const ep::tensor<double, 2> X = ep::from_root(elements, 0);
    ep::tensor<double, 2> Z;
    Z(i, j) = ep::slice(X, {2, 1}, {4 * p + 2, 4})(i, j);
    Z.pinned({{0, p}});
    CHECK(all_bytes(ep::decompose(world, Z)) == std::size_t(p - 1) * 4 * 3 * sizeof(double));
    Z(i, j) = ep::concatenate(0, ep::slice(X, {2 * p + 3, 1}, {4 * p + 3, 4}), ep::slice(X, {0, 2}, {2 * p, 5}))(i, j);
    Z.pinned({{0, p}});
    const ep::plan plan = ep::decompose(world, Z);
    CHECK(all_bytes(plan) == std::size_t(p - 1) * 4 * 3 * sizeof(double));
    const auto got = plan.run(world).get(Z).allgather();
    CHECK(got(0, 0) == elements(2 * p + 3, 1));
    CHECK(got(2 * p, 2) == elements(0, 4));
}

TEST_CASE("random parts, tensors one behind the other, and views of views") {
    ep::context world(MPI_COMM_WORLD);
    random_numbers random(7);
    mistakes found;
    for (int round = 0; round < (world.size() > 4 ? 3 : 25); ++round) {
        const index m = random(2, 7), n = 2 * random(1, 4), q = random(0, 3), h = n / 2;
        const index kind = random(0, 3);
        const given<2> A({m + 3, n + 1}, kind), B({random(1, 5), n}, random(0, 1) * 2, 100), W({2, 1}, 2, 1000);
        const auto graph = [&](auto& Z, auto& Y, auto& X, auto& V, auto& U, const auto& a, const auto& b,
                               const auto& w) {
            const auto part = ep::slice(a, {q, 1}, {m + q, n + 1});
            const auto all = ep::concatenate(0, part, b, ep::slice(a, {0, 0}, {2, n}));
            Z(i, j) = all(i, j) + 0.5;
            Y(i, j) = all(i + r, n - 1 - j) * w(r, 0);
            X(i) = ep::max(j, ep::padded(part, {1, 0}, {0, 2}, 0.5)(i, j) - part(0, 0));
            V(i, j) = ep::concatenate(1, ep::slice(a, {0, h}, {m, n}), ep::slice(a, {0, 0}, {m, h}))(i, j) * part(i, j);
            U(i, k, l) = ep::reshape(b, std::array<index, 3>{b.extent(0), 2, h})(i, l, k) + b(i, 2 * k);
        };
        ep::array<double, 2> Z, Y, V({m, n}), P, Q, S;
        ep::array<double, 1> X, R;
        ep::array<double, 3> U({B.elements.extent(0), h, 2});
        ep::tensor<double, 2> TZ, TY, TV, TP, TQ, TS;
        ep::tensor<double, 1> TX, TR;
        ep::tensor<double, 3> TU;
        graph(Z, Y, X, V, U, A.elements, B.elements, W.elements);
        graph(TZ, TY, TX, TV, TU, A.tensor, B.tensor, W.tensor);
        // Of what is no view of one array: made first there.
        ep::array<double, 2> all, part, edged;
        all(i, j) = Z(i, j) - 0.5;
        part(i, j) = ep::slice(A.elements, {q, 1}, {m + q, n + 1})(i, j);
        edged(i, j) = ep::padded(part, {0, 1}, {1, 0}, 2.0)(i, j);
        P(i, j) = ep::slice(all, {1, 1}, {m + 2, n})(i, j);
        Q(i, j) = ep::padded(all, {0, 2}, {1, 0}, -1.0)(i, j);
        S(i, j) = ep::concatenate(1, part, ep::slice(edged, {1, 0}, {m + 1, 2}))(i, j);
        R(i) = ep::reshape(part, {m * n})(i);
        const auto seen = ep::slice(A.tensor, {q, 1}, {m + q, n + 1});
        const auto joined = ep::concatenate(0, seen, B.tensor, ep::slice(A.tensor, {0, 0}, {2, n}));
        TP(i, j) = ep::slice(joined, {1, 1}, {m + 2, n})(i, j);
        TQ(i, j) = ep::padded(joined, {0, 2}, {1, 0}, -1.0)(i, j);
        TS(i, j) = ep::concatenate(1, seen, ep::slice(ep::padded(seen, {0, 1}, {1, 0}, 2.0), {1, 0}, {m + 1, 2}))(i, j);
        TR(i) = ep::reshape(seen, {m * n})(i);
        ep::options asked{.objective = round % 3 == 0   ? ep::objective::time
                                       : round % 3 == 1 ? ep::objective::bytes
                                                        : ep::objective::paper,
                          .effort = ep::testing::short_search};
        asked.algorithm = round % 5 == 4 ? ep::algorithm::k : ep::algorithm::automatic;
        const ep::plan plan = ep::decompose(world, asked, TZ, TY, TX, TV, TU, TP, TQ, TS, TR);
        const ep::results made = kind == 1 ? plan.run(world, ep::bind(A.bound, A.elements)) : plan.run(world);
        const auto check = [&](const auto& got, const auto& expected) {
            found.elements += agrees(made.get(got).allgather(), expected) ? 0 : 1;
        };
        check(TZ, Z);
        check(TY, Y);
        check(TX, X);
        check(TV, V);
        check(TU, U);
        check(TP, P);
        check(TQ, Q);
        check(TS, S);
        check(TR, R);
        found.bytes += made.bytes_sent() == plan.bytes_sent(world.rank()) ? 0 : 1;
    }
    CHECK(found.elements == 0);
    CHECK(found.bytes == 0);
}

TEST_CASE("what has no such shape is one sentence at decompose") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> X = ep::placeholder<double>(std::array<int, 2>{4, 6});
    const ep::tensor<double, 2> Y = ep::placeholder<double>({5, 6}), nothing;
    const auto said = [&](const auto& view) {
        ep::tensor<double, 2> Z;
        Z(i, j) = view(i, j) * 2.0;
        return sentence_of([&] { static_cast<void>(ep::decompose(world, Z)); });
    };
    CHECK(said(ep::reshape(X, {5, 5})) ==
          "decompose: ep::reshape: 24 elements cannot have extents of which the product is 25");
    CHECK(said(ep::slice(X, {0, 1}, {4, 7})) ==
          "decompose: ep::slice: dimension 1 from 1 to 7 is not inside the extent 6");
    CHECK(said(ep::concatenate(1, X, X, Y)) == "decompose: ep::concatenate: extents 4 and 5 of dimension 0 differ");
    CHECK(said(ep::concatenate(2, X, Y)) ==
          "decompose: ep::concatenate: there is no dimension 2, the tensors have 2 dimensions, numbered from 0");
    CHECK(said(ep::padded(X, {0, -1}, {0, 0}, 0.0)) ==
          "decompose: ep::padded: the number of elements before or after is negative");
    CHECK(said(ep::slice(ep::reshape(nothing, {2, 3}), {0, 0}, {1, 1})) ==
          "decompose: a tensor was used before anything was assigned to it");
    ep::tensor<double, 2> empty;
    empty(i, j) = ep::reshape(ep::generate<double>({0, 3}, [](auto, auto) { return 4.0; }), {5, 0})(i, j);
    CHECK(ep::evaluate(world, empty).allgather().extents() == std::array<index, 2>{5, 0});
    ep::tensor<double, 0> one;
    one() = ep::reshape(ep::generate<double>({1, 1}, [](auto, auto) { return 4.0; }), {})();
    CHECK(ep::evaluate(world, one).allgather().value() == 4);
    ep::tensor<double, 2> Z;
    Z(i, j) = ep::reshape(X, {8, 3})(i, j);
    CHECK(ep::decompose({.processes = 2}, Z).cost() >= 0);
}

TEST_CASE("a reshaped tensor whose blocks have gaps or another order of dimensions") {
    ep::context world(MPI_COMM_WORLD);
    const index ranks = world.size(), m = 6, n = 4;
    const index begin = world.rank() * m / ranks, rows = (world.rank() + 1) * m / ranks - begin;
    using strides = std::array<index, 2>;
    for (const bool by_columns : {false, true}) {
        const auto strides_of = [&](index high) { return by_columns ? strides{1, high} : strides{2 * n + 1, 2}; };
        const auto filled = [&](index first, index high) {
            std::vector<double> memory(100, -77);
            const auto [down, across] = strides_of(high);
            for (index row = 0; row < high; ++row) {
                for (index column = 0; column < n; ++column) {
                    memory[std::size_t(row * down + column * across)] = double((first + row) * n + column);
                }
            }
            return memory;
        };
        const std::vector<double> all = filled(0, m);
        std::vector<double> own = filled(begin, rows), written(100);
        const ep::view<const double, 2> whole(all.data(), std::array{m, n}, strides_of(m));
        const ep::distributed<double, 2> given(world, {m, n}, {begin, 0},
                                               ep::view<double, 2>(own.data(), std::array{rows, n}, strides_of(rows)));
        const ep::distributed<double, 2> into(
            world, {m, n}, {begin, 0}, ep::view<double, 2>(written.data(), std::array{rows, n}, strides_of(rows)));
        const auto check = [&](const ep::results& made, const ep::tensor<double, 2>& reshaped) {
            const ep::array<double, 2> elements = made.get(reshaped).allgather();
            for (index at = 0; at < m * n; ++at) {
                CHECK(elements(at / m, at % m) == double(at));
            }
        };
        ep::tensor<double, 2> rests = ep::from_distributed(given), bound = ep::placeholder<double>({m, n}), same;
        ep::tensor<double, 2> of_rests, of_bound, of_same;
        same(i, j) = 1.0 * rests(i, j);
        same.pinned(into.pin());
        of_rests(i, j) = ep::reshape(rests, {n, m})(i, j);
        of_bound(i, j) = ep::reshape(bound, {n, m})(i, j);
        of_same(i, j) = ep::reshape(same, {n, m})(i, j);
        const ep::plan plan = ep::decompose(world, of_rests, of_bound, of_same, same);
        for (const bool split_at_joins : {false, true}) {
            const ep::results made = split_at_joins ? plan.run(world, ep::bind(bound, given), ep::into(same, into))
                                                    : plan.run(world, ep::bind(bound, whole), ep::into(same, into));
            check(made, of_rests);
            check(made, of_bound);
            check(made, of_same);
        }
    }
}

}  // namespace reshape_test
