// Tensors of halves over the ranks: what a run gives is what a rank alone computes, whatever the plan; halves travel as
// such, and sums that are pending as floats.

#include <support/blocks.hpp>
#include <support/long_suite.hpp>

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace half_run_test {

namespace {

namespace ep = einparallel;
EINPARALLEL_LABELS(i, j, k, l);

template <class T>
ep::array<T, 2> random_matrix(ep::index rows, ep::index columns, unsigned seed) {
    std::mt19937 random(seed);
    ep::array<T, 2> x({rows, columns});
    for (ep::index row = 0; row < rows; ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            // Few bits: sums of products are exact in float, in whatever order.
            x(row, column) = T(float(int(random() % 15) - 7) / 8);
        }
    }
    return x;
}

}  // namespace

TEST_CASE_TEMPLATE("a chain of products of halves is rounded where it has a name, on all ranks alike", Half,
                   ep::float16, ep::bfloat16, ep::float8_e4m3, ep::float8_e5m2) {
    ep::context world(MPI_COMM_WORLD);
    const auto a = random_matrix<Half>(19, 23, 1);
    const auto b = random_matrix<Half>(23, 17, 2);
    const auto c = random_matrix<float>(17, 21, 3);
    ep::array<Half, 2> ab({19, 17}), expected({19, 21}), total({19, 21});
    ab(i, k) = a(i, j) * b(j, k);
    expected(i, l) = relu(ep::sum(k, ab(i, k) * c(k, l)));
    total(i, l) = expected(i, l) + ep::sum(k, ab(i, k) * c(k, l)) / 4;
    for (const ep::objective minimised : {ep::objective::time, ep::objective::bytes, ep::objective::paper}) {
        const auto A = ep::placeholder<Half>({19, 23});
        const auto B = ep::placeholder<Half>({23, 17});
        const auto C = ep::placeholder<float>({17, 21});
        ep::tensor<Half, 2> AB, Z, T;
        AB(i, k) = A(i, j) * B(j, k);
        Z(i, l) = relu(ep::sum(k, AB(i, k) * C(k, l)));
        T(i, l) = Z(i, l) + ep::sum(k, AB(i, k) * C(k, l)) / 4;
        const ep::plan plan = ep::decompose({.processes = world.size(), .objective = minimised}, AB, Z, T);
        const ep::results made = plan.run(world, ep::bind(A, a), ep::bind(B, b), ep::bind(C, c));
        const auto product = made.get(AB).allgather();
        const auto result = made.get(Z).allgather();
        const auto sum = made.get(T).allgather();
        int wrong = 0;
        for (ep::index row = 0; row < 19; ++row) {
            for (ep::index column = 0; column < 17; ++column) {
                wrong += product(row, column).bits() == ab(row, column).bits() ? 0 : 1;
            }
            for (ep::index column = 0; column < 21; ++column) {
                wrong += result(row, column).bits() == expected(row, column).bits() ? 0 : 1;
                wrong += sum(row, column).bits() == total(row, column).bits() ? 0 : 1;
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("what is rounded, and what softmax is made of, is there a strip at a time") {
    ep::context world(MPI_COMM_WORLD);
    const auto a = random_matrix<ep::bfloat16>(1201, 13, 11);
    const auto b = random_matrix<ep::bfloat16>(13, 17, 12);
    ep::array<ep::bfloat16, 2> expected({1201, 17});
    expected(i, k) = a(i, j) * b(j, k);
    ep::array<ep::bfloat16, 3> q({5, 37, 8}), keys({5, 41, 8}), values({5, 41, 8}), weighted({5, 37, 8});
    ep::array<ep::bfloat16, 3> scores({5, 37, 41}), shares({5, 37, 41});
    for (auto* const each : {&q, &keys, &values}) {
        for (ep::index at = 0; at < each->size(); ++at) {
            each->data()[at] = ep::bfloat16(float(at * 37 % 29 - 14) / 16);
        }
    }
    scores(l, i, k) = q(l, i, j) * keys(l, k, j);
    shares(l, i, k) = softmax(k, scores(l, i, k));
    weighted(l, i, j) = shares(l, i, k) * values(l, k, j);
    std::vector<std::size_t> peaks;
    for (const std::size_t limit : {std::size_t{0}, std::size_t{400'000}}) {
        const auto A = ep::placeholder<ep::bfloat16>({1201, 13});
        const auto B = ep::placeholder<ep::bfloat16>({13, 17});
        const auto Q = ep::placeholder<ep::bfloat16>({5, 37, 8});
        const auto K = ep::placeholder<ep::bfloat16>({5, 41, 8});
        const auto V = ep::placeholder<ep::bfloat16>({5, 41, 8});
        ep::tensor<ep::bfloat16, 2> Z;
        ep::tensor<ep::bfloat16, 3> S, P, W;
        Z(i, k) = A(i, j) * B(j, k);
        S(l, i, k) = Q(l, i, j) * K(l, k, j);
        P(l, i, k) = softmax(k, S(l, i, k));
        W(l, i, j) = P(l, i, k) * V(l, k, j);
        const ep::plan plan = ep::decompose(
            {.processes = world.size(), .memory_limit = limit, .effort = ep::testing::short_search}, Z, W);
        const ep::results made =
            plan.run(world, ep::bind(A, a), ep::bind(B, b), ep::bind(Q, q), ep::bind(K, keys), ep::bind(V, values));
        const auto product = made.get(Z).allgather();
        int wrong = 0;
        for (ep::index at = 0; at < product.size(); ++at) {
            wrong += product.data()[at].bits() == expected.data()[at].bits() ? 0 : 1;
        }
        CHECK(wrong == 0);
        const auto mixed = made.get(W).allgather();
        for (ep::index at = 0; at < mixed.size(); ++at) {
            wrong += std::abs(float(mixed.data()[at]) - float(weighted.data()[at])) <= 0x1p-7F ? 0 : 1;
        }
        CHECK(wrong == 0);
        const ep::plan alone = ep::decompose({.memory_limit = limit}, Z, W);
        peaks.push_back(alone.peak_bytes(0));
    }
    // The product in floats, 82 kB, and scores and shares, 30 kB each; strips of them are 25 kB at least.
    CHECK(peaks[1] + 40'000 < peaks[0]);
}

TEST_CASE("products that read halves keep their places where the planner chooses an order") {
    ep::context world(MPI_COMM_WORLD);
    const auto a = random_matrix<ep::bfloat16>(4, 6, 7);
    const auto b = random_matrix<ep::float16>(6, 5, 8);
    const auto c = random_matrix<float>(5, 7, 9);
    ep::array<float, 2> expected({4, 7});
    expected(i, l) = ep::sum(k, ep::sum(j, a(i, j) * b(j, k)) * c(k, l));
    const auto A = ep::placeholder<ep::bfloat16>({4, 6});
    const auto B = ep::placeholder<ep::float16>({6, 5});
    const auto C = ep::placeholder<float>({5, 7});
    ep::tensor<float, 2> nested, flat;
    nested(i, l) = ep::sum(k, ep::sum(j, A(i, j) * B(j, k)) * C(k, l));
    flat(i, l) = A(i, j) * B(j, k) * C(k, l);
    for (const ep::order order : {ep::order::fewest_operations, ep::order::best_plan}) {
        const ep::plan plan = ep::decompose(
            {.processes = world.size(), .order = order, .effort = ep::testing::short_search}, nested, flat);
        const ep::results made = plan.run(world, ep::bind(A, a), ep::bind(B, b), ep::bind(C, c));
        for (const auto& result : {made.get(nested).allgather(), made.get(flat).allgather()}) {
            int wrong = 0;
            for (ep::index at = 0; at < expected.size(); ++at) {
                wrong += result.data()[at] == expected.data()[at] ? 0 : 1;
            }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE_TEMPLATE("halves in parts replace halves where tokens say", Half, ep::float16, ep::bfloat16) {
    ep::context world(MPI_COMM_WORLD);
    EINPARALLEL_LABELS(g, t, d);
    const auto K = ep::generate<Half>({3, 8, 4}, [](auto...) { return Half(-1.0F); });
    const auto fresh =
        ep::generate<Half>({3, 5, 4}, [](auto a, auto b, auto c) { return Half(float(a + 10 * b) + 0.5F * float(c)); });
    const auto position = ep::generate<int>({2}, [](auto at) { return int(6 - 3 * at); });
    ep::tensor<Half, 3> after = K;
    after(g, position(t), d) = ep::slice(fresh, {0, 1, 0}, {3, 3, 4})(g, t, d);
    const ep::array<Half, 3> made = ep::evaluate(world, after).allgather();
    for (ep::index a = 0; a < 3; ++a) {
        for (ep::index row = 0; row < 8; ++row) {
            for (ep::index c = 0; c < 4; ++c) {
                const float expected = row == 6   ? float(a + 10) + 0.5F * float(c)
                                       : row == 3 ? float(a + 20) + 0.5F * float(c)
                                                  : -1.0F;
                CHECK(float(made(a, row, c)) == expected);
            }
        }
    }
}

TEST_CASE_TEMPLATE("softmax of halves, and its gradient, are those of the floats, rounded once", Half, ep::float16,
                   ep::bfloat16) {
    ep::context world(MPI_COMM_WORLD);
    const auto x = random_matrix<Half>(7, 13, 4);
    const auto w = random_matrix<Half>(7, 13, 5);
    ep::array<float, 2> wide_x({7, 13});
    wide_x(i, j) = x(i, j);
    const auto X = ep::placeholder<Half>({7, 13});
    const auto W = ep::placeholder<Half>({7, 13});
    const auto wide = ep::placeholder<float>({7, 13});
    const auto statements = [&](const auto& of, auto y) {
        y(i, j) = ep::softmax(j, of(i, j)) * W(i, j);
        ep::tensor<float, 0> loss;
        loss() = ep::sum(ep::softmax(j, of(i, j)) * W(i, j));
        return std::pair(y, ep::gradient(loss, of));
    };
    const auto [y, dx] = statements(X, ep::tensor<Half, 2>());
    const auto [wide_y, wide_dx] = statements(wide, ep::tensor<float, 2>());
    const ep::plan plan =
        ep::decompose({.processes = world.size(), .effort = ep::testing::short_search}, y, dx, wide_y, wide_dx);
    const ep::results made = plan.run(world, ep::bind(X, x), ep::bind(W, w), ep::bind(wide, wide_x));
    const auto wrong = [](const ep::array<Half, 2>& half, const ep::array<float, 2>& expected) {
        int count = 0;
        for (ep::index at = 0; at < half.size(); ++at) {
            const float nearest = Half(expected.data()[at]);
            count += std::abs(half.data()[at] - nearest) <= 1e-5F * std::abs(nearest) + 1e-7F ? 0 : 1;
        }
        return count;
    };
    CHECK(wrong(made.get(y).allgather(), made.get(wide_y).allgather()) == 0);
    CHECK(wrong(made.get(dx).allgather(), made.get(wide_dx).allgather()) == 0);
}

TEST_CASE_TEMPLATE("gradients of halves are summed in float and rounded once", Half, ep::float16, ep::bfloat16) {
    ep::context world(MPI_COMM_WORLD);
    const auto x = random_matrix<Half>(8, 12, 4);
    const auto w = random_matrix<Half>(12, 6, 5);
    ep::array<ep::index, 1> token({8});
    for (ep::index row = 0; row < 8; ++row) {
        token(row) = (3 * row) % 5;
    }
    const auto table = random_matrix<Half>(5, 6, 6);
    const auto check = [&](auto type) {
        using T = typename decltype(type)::type;
        const auto X = ep::placeholder<T>({8, 12});
        const auto W = ep::placeholder<T>({12, 6});
        const auto E = ep::placeholder<T>({5, 6});
        const auto at = ep::placeholder<ep::index>({8});
        ep::tensor<float, 2> Y;
        Y(i, k) = tanh(ep::sum(j, X(i, j) * W(j, k))) + E(at(i), k) * 3;
        ep::tensor<float, 0> loss;
        // The gradient by every other element of W is one of E, as it is.
        loss() = ep::sum(Y(i, k) * Y(i, k)) + ep::sum(exp(W(j, k))) + ep::sum(E(l, k) * W(2 * l, k));
        const auto [dX, dW, dE] = ep::gradient(loss, X, W, E);
        const ep::plan plan =
            ep::decompose({.processes = world.size(), .effort = ep::testing::short_search}, loss, dX, dW, dE);
        const auto as = [](const auto& given) {
            ep::array<T, 2> made;
            made(i, j) = given(i, j);
            return made;
        };
        const ep::results made =
            plan.run(world, ep::bind(X, as(x)), ep::bind(W, as(w)), ep::bind(E, as(table)), ep::bind(at, token));
        return std::tuple(made.get(dX).allgather(), made.get(dW).allgather(), made.get(dE).allgather());
    };
    const auto [dX, dW, dE] = check(std::type_identity<Half>());
    const auto [wide_dX, wide_dW, wide_dE] = check(std::type_identity<float>());
    const auto apart = [](const auto& half, const auto& wide) {
        const float ulp = std::is_same_v<Half, ep::float16> ? 0x1p-10F : 0x1p-7F;
        float most = 0;
        for (ep::index row = 0; row < half.extent(0); ++row) {
            for (ep::index column = 0; column < half.extent(1); ++column) {
                const float size = std::abs(wide(row, column)) + 1e-3F;
                most = std::max(most, std::abs(float(half(row, column)) - wide(row, column)) / (size * ulp));
            }
        }
        return most;
    };
    CHECK(apart(dX, wide_dX) < 0.51F);
    CHECK(apart(dW, wide_dW) < 0.51F);
    CHECK(apart(dE, wide_dE) < 0.51F);
}

TEST_CASE_TEMPLATE("gradients by halves, and beside them, in statements of doubles", Half, ep::float16, ep::bfloat16,
                   ep::float8_e4m3, ep::float8_e5m2) {
    ep::context world(MPI_COMM_WORLD);
    ep::array<float, 1> x({6}), y({6});
    for (ep::index at = 0; at < 6; ++at) {
        x(at) = float(at) - 2;
        y(at) = float(at % 3) - 0.5F;
    }
    const auto made = [&](auto of_x, auto of_y) {
        using A = typename decltype(of_x)::type;
        using B = typename decltype(of_y)::type;
        const auto X = ep::placeholder<A>({6});
        const auto Y = ep::placeholder<B>({6});
        ep::array<A, 1> here;
        ep::array<B, 1> there;
        here(i) = x(i);
        there(i) = y(i);
        ep::tensor<double, 0> loss;
        loss() =
            ep::sum(sin(X(i)) + expm1(X(i)) * Y(i) + where(X(i) > Y(i), X(i) * X(i), X(i)) + max(X(i), Y(i)) * X(i));
        const auto [dX, dY] = ep::gradient(loss, X, Y);
        const auto [all_x, all_y] = ep::evaluate(world, dX, dY, ep::bind(X, here), ep::bind(Y, there));
        return std::pair(all_x.allgather(), all_y.allgather());
    };
    const auto check = [](const auto& found, const auto& wide) {
        using T = typename std::remove_cvref_t<decltype(found)>::value_type;
        for (ep::index at = 0; at < wide.size(); ++at) {
            const auto step = double(std::numeric_limits<T>::epsilon()) + 1e-6;
            CHECK(std::abs(double(float(found(at))) - wide(at)) <= step * (std::abs(wide(at)) + 0.1));
        }
    };
    constexpr std::type_identity<double> wide;
    constexpr std::type_identity<Half> half;
    const auto by = made(wide, wide);
    const auto compare = [&](const auto& both) {
        check(both.first, by.first);
        check(both.second, by.second);
    };
    compare(made(half, half));
    compare(made(half, wide));
    compare(made(wide, half));
    compare(made(half, std::type_identity<float>()));
}

}  // namespace half_run_test
