// Running sums on ranks, with the dimensions of the operand in any order: any extents, cuts and cut points, empty
// blocks, several labels cut, with gradients, against scalar loops.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/long_suite.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace running_order_test {

namespace ep = einparallel;
using ep::index;

namespace {

EINPARALLEL_LABELS(i, j, k);
const std::array<std::string, 3> names{"i", "j", "k"};

/// By dimension of the operand, the label it has: 0, 1, 2 are i, j, k, the order of the result.
constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/// Records S(i, j, k) = cumsum or cumprod of an operand whose dimensions stand in such an order.
template <class Label>
void record(ep::tensor<double, 3>& S, const ep::tensor<double, 3>& X, int order, Label along, bool multiplies) {
    const auto write = [&](const auto& terms) {
        if (multiplies) {
            S(i, j, k) = ep::cumprod(along, terms);
        } else {
            S(i, j, k) = ep::cumsum(along, terms);
        }
    };
    switch (order) {
        case 0:
            return write(X(i, j, k));
        case 1:
            return write(X(i, k, j));
        case 2:
            return write(X(j, i, k));
        case 3:
            return write(X(j, k, i));
        case 4:
            return write(X(k, i, j));
        default:
            return write(X(k, j, i));
    }
}

struct drawn {
    std::mt19937 bits;

    index from(index first, index last) { return std::uniform_int_distribution<index>(first, last)(bits); }

    /// A grid of no more ranks than there are, by dimension; without cut points no finer than the extents.
    std::vector<ep::pinned_part> pin(const std::array<index, 3>& extents, int ranks) {
        std::vector<ep::pinned_part> parts;
        std::array<int, 3> dimensions{0, 1, 2};
        std::shuffle(dimensions.begin(), dimensions.end(), bits);
        for (const int dimension : dimensions) {
            const index extent = extents[std::size_t(dimension)];
            const bool at_points = from(0, 1) == 0;
            const int count = int(from(1, at_points ? ranks : std::min<index>(std::max<index>(extent, 1), ranks)));
            ranks /= count;
            if (at_points && count > 1) {
                std::vector<index> points{0, extent};
                for (int more = 1; more < count; ++more) {
                    points.push_back(from(0, extent));
                }
                std::sort(points.begin(), points.end());
                parts.emplace_back(dimension, ep::cut_points(points));
            } else if (count > 1) {
                parts.emplace_back(dimension, count);
            }
        }
        return parts;
    }
};

/// One running sum against loops, and its gradient. Elements are whole and small: results are exact.
struct running_case {
    std::array<index, 3> extents{};  ///< of i, j, k
    int order = 0;
    std::size_t along = 0;
    bool multiplies = false;
    ep::array<double, 3> x{}, weights{};

    std::array<index, 3> at_operand(const std::array<index, 3>& at) const {
        std::array<index, 3> moved{};
        for (std::size_t dimension = 0; dimension < 3; ++dimension) {
            moved[dimension] = at[std::size_t(orders[order][dimension])];
        }
        return moved;
    }
    double element(const ep::array<double, 3>& of, const std::array<index, 3>& at) const {
        const std::array<index, 3> moved = at_operand(at);
        return of(moved[0], moved[1], moved[2]);
    }
    void for_each(auto visit) const {
        for (index a = 0; a < extents[0]; ++a) {
            for (index b = 0; b < extents[1]; ++b) {
                for (index c = 0; c < extents[2]; ++c) {
                    visit(std::array<index, 3>{a, b, c});
                }
            }
        }
    }

    /// What stands at an index, from all terms up to it but one.
    double sum_up_to(std::array<index, 3> at, index without = -1) const {
        double sum = multiplies ? 1 : 0;
        const index last = at[along];
        for (at[along] = 0; at[along] <= last; ++at[along]) {
            const double term = element(x, at);
            sum = at[along] == without ? sum : multiplies ? sum * term : sum + term;
        }
        return sum;
    }
    /// d Σ weights · S / d x: each later sum has the term.
    double gradient(std::array<index, 3> at) const {
        double sum = 0;
        const index term = at[along];
        for (; at[along] < extents[along]; ++at[along]) {
            sum += weights(at[0], at[1], at[2]) * (multiplies ? sum_up_to(at, term) : 1);
        }
        return sum;
    }

    /// Wrong elements of a result, and of a gradient in the operand's order.
    index wrong(const ep::array<double, 3>& sums) const {
        index count = sums.extents() == extents ? 0 : 1;
        for_each([&](const std::array<index, 3>& at) {
            count += count == 0 && sums(at[0], at[1], at[2]) != sum_up_to(at) ? 1 : 0;
        });
        return count;
    }
    index wrong_gradient(const ep::array<double, 3>& got) const {
        index count = got.extents() == x.extents() ? 0 : 1;
        for_each(
            [&](const std::array<index, 3>& at) { count += count == 0 && element(got, at) != gradient(at) ? 1 : 0; });
        return count;
    }
};

running_case draw(drawn& random) {
    running_case made;
    for (index& extent : made.extents) {
        extent = random.from(0, 12) == 0 ? 0 : random.from(1, 7);
    }
    made.order = int(random.from(0, 5));
    made.along = std::size_t(random.from(0, 2));
    made.multiplies = random.from(0, 2) == 0;
    const std::array<index, 3> of_operand = made.at_operand(made.extents);
    made.x = ep::array<double, 3>({of_operand[0], of_operand[1], of_operand[2]});
    made.weights = ep::array<double, 3>({made.extents[0], made.extents[1], made.extents[2]});
    for (ep::array<double, 3>* each : {&made.x, &made.weights}) {
        for (index at = 0; at < each->size(); ++at) {
            each->data()[at] = double(random.from(-2, 3));
        }
    }
    return made;
}

/// Records the case: its operand is an input, or made by an einsum that lies somewhere else.
void record(const running_case& one, const ep::tensor<double, 3>& Y, ep::tensor<double, 3>& S) {
    one.along == 0   ? record(S, Y, one.order, i, one.multiplies)
    : one.along == 1 ? record(S, Y, one.order, j, one.multiplies)
                     : record(S, Y, one.order, k, one.multiplies);
}

}  // namespace

TEST_CASE("a running sum whose operand has another order of dimensions") {
    ep::context world(MPI_COMM_WORLD);
    ep::array<double, 2> a({2, 2}), sums({2, 2});
    a(0, 0) = 1, a(0, 1) = 2, a(1, 0) = 3, a(1, 1) = 4;
    sums(0, 0) = 1, sums(0, 1) = 3, sums(1, 0) = 3, sums(1, 1) = 7;  // by (t, j)
    const ep::tensor<double, 2> A = ep::from_root(a, 0);
    ep::tensor<double, 2> S;
    S(k, j) = ep::cumsum(k, A(j, k));
    S.pinned({{"k", std::min(world.size(), 2)}});
    const ep::array<double, 2> got = ep::evaluate(world, S).allgather();
    CHECK((got(0, 0) == 1 && got(0, 1) == 3 && got(1, 0) == 3 && got(1, 1) == 7));
}

TEST_CASE("the gradient of a running sum along a diagonal") {
    ep::context world(MPI_COMM_WORLD);
    ep::array<double, 2> a({3, 3});
    a(i, j) = 3.0 * ep::iota(i) + ep::iota(j) + 1.0;
    const ep::tensor<double, 2> A = ep::from_root(a, 0);
    ep::tensor<double, 1> sums, products;
    sums(i) = ep::cumsum(i, A(i, i));
    products(i) = ep::cumprod(i, A(i, i));
    ep::tensor<double, 0> loss;
    loss() = ep::sum(i, sums(i) * sums(i)) + ep::sum(i, products(i));
    const ep::tensor<double, 2> slope = ep::gradient(loss, A);
    const ep::array<double, 2> got = ep::evaluate(world, slope).allgather();
    // Of squares of 1, 6, 15, and of 1, 5, 45.
    const double expected[3] = {2.0 * (1 + 6 + 15) + 1 + 5 + 45, 2.0 * (6 + 15) + 1 + 9, 2.0 * 15 + 5};
    for (index row = 0; row < 3; ++row) {
        for (index column = 0; column < 3; ++column) {
            CHECK(got(row, column) == doctest::Approx(row == column ? expected[row] : 0));
        }
    }
}

TEST_CASE("random running sums, cut in any way, and their gradients") {
    ep::context world(MPI_COMM_WORLD);
    drawn random{std::mt19937(59)};
    const int rounds = ep::testing::tried_cases(500);
    for (int round = 0; round < rounds; ++round) {
        const running_case one = draw(random);
        const ep::tensor<double, 3> X = ep::from_root(one.x, round % world.size());
        const ep::tensor<double, 3> W = ep::from_root(one.weights, 0);
        ep::tensor<double, 3> Y = X, S;
        if (round % 3 != 0) {
            Y(i, j, k) = 1.0 * X(i, j, k);
            if (round % 3 == 1) {
                Y.pinned(random.pin(one.x.extents(), world.size()));
            }
        }
        record(one, Y, S);
        if (random.from(0, 5) != 0) {
            S.pinned(random.pin(one.extents, world.size()));
        }
        ep::tensor<double, 0> loss;
        loss() = ep::sum(W(i, j, k) * S(i, j, k));
        const ep::tensor<double, 3> dX = ep::gradient(loss, X);
        const ep::objective asked[] = {ep::objective::time, ep::objective::bytes, ep::objective::paper};
        const ep::plan plan = ep::decompose(world, {.objective = asked[random.from(0, 2)]}, S, dX);
        const ep::results made = plan.run(world);
        INFO("round ", round, ", order ", one.order, ", along ", names[one.along], ", ", plan);
        CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
        CHECK(one.wrong(made.get(S).allgather()) == 0);
        CHECK(one.wrong_gradient(made.get(dX).allgather()) == 0);
    }
}

TEST_CASE("a running sum of a long series in the application's own blocks, cut along time") {
    ep::context world(MPI_COMM_WORLD);
    const int ranks = world.size();
    const index length = ranks > 4 ? 3000 : 200000;
    for (const bool time_first : {false, true}) {
        std::vector<index> points;
        for (int rank = 0; rank <= ranks; ++rank) {
            points.push_back(length * rank * (rank + 1) / (ranks * (ranks + 1)));
        }
        const index first = points[std::size_t(world.rank())];
        const index count = points[std::size_t(world.rank()) + 1] - first;
        ep::array<double, 2> own(time_first ? std::array<index, 2>{count, 4} : std::array<index, 2>{4, count});
        for (index t = 0; t < count; ++t) {
            for (index series = 0; series < 4; ++series) {
                (time_first ? own(t, series) : own(series, t)) = double((first + t) % 5 - series);
            }
        }
        const index begin = time_first ? first : 0;
        const ep::distributed<double, 2> x = time_first
                                                 ? ep::distributed<double, 2>(world, {length, 4}, {begin, 0}, own)
                                                 : ep::distributed<double, 2>(world, {4, length}, {0, first}, own);
        const ep::tensor<double, 2> X = ep::from_distributed(x);
        ep::tensor<double, 2> S, T;
        if (time_first) {
            S(k, j) = ep::cumsum(k, X(k, j));
            T(j, k) = ep::cumsum(k, X(k, j));
        } else {
            S(k, j) = ep::cumsum(k, X(j, k));
            T(j, k) = ep::cumsum(k, X(j, k));
        }
        const auto [s, t] = ep::evaluate(world, S, T);
        const ep::array<double, 2> by_time = s.allgather(), by_series = t.allgather();
        index wrong = 0;
        for (index series = 0; series < 4; ++series) {
            double sum = 0;
            for (index at = 0; at < length; ++at) {
                sum += double(at % 5 - series);
                wrong += by_time(at, series) != sum || by_series(series, at) != sum ? 1 : 0;
            }
        }
        CHECK(wrong == 0);
    }
}

}  // namespace running_order_test
