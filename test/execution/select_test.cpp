// Tensors read and written at indices that are data: the same as on arrays (test/array/select_test.cpp has these
// against loops), on any number of ranks, however labels are cut; bytes as the plan says.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>
#include <support/long_suite.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace select_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, d, e, t, v);

template <class T, std::size_t Rank>
bool same(const ep::array<T, Rank>& got, const ep::array<T, Rank>& expected) {
    return got.extents() == expected.extents() && std::equal(got.data(), got.data() + got.size(), expected.data());
}

/// Whole numbers, whose sums are exact: on all ranks, on one, bound at the run, or made by an einsum.
template <class T, std::size_t Rank>
struct given {
    ep::array<T, Rank> elements;
    ep::tensor<T, Rank> tensor;

    template <class Function>
    given(const index (&extents)[Rank], index kind, const Function& element) {
        std::array<index, Rank> all{};
        std::copy(extents, extents + Rank, all.begin());
        elements = ep::array<T, Rank>(all);
        for (index at = 0; at < elements.size(); ++at) {
            elements.data()[at] = T(element());
        }
        if constexpr (Rank == 1) {
            tensor = kind == 2 ? ep::placeholder<T>({extents[0]})
                               : ep::tensor<T, 1>(kind == 0 ? ep::generate<T>({extents[0]}, copied())
                                                            : ep::from_root(elements, 0));
            if (kind == 3) {
                tensor(i) = tensor(i) * T(1);
            }
        } else {
            tensor = kind == 2 ? ep::placeholder<T>({extents[0], extents[1]})
                               : ep::tensor<T, 2>(kind == 0 ? ep::generate<T>({extents[0], extents[1]}, copied())
                                                            : ep::from_root(elements, 0));
            if (kind == 3) {
                tensor(i, j) = tensor(i, j) * T(1);
            }
        }
    }
    given(const given&) = delete;

    auto copied() const {
        return [all = elements](auto... at) { return all(at...); };
    }
};

}  // namespace

TEST_CASE("random graphs that read and write at indices that are data") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 bits(7);
    const auto random = [&](index from, index to) { return std::uniform_int_distribution<index>(from, to)(bits); };
    int wrong = 0;
    int other_bytes = 0;
    for (int round = 0; round < 48; ++round) {
        const index rows = random(1, 9), columns = random(1, 7), m = random(1, 8);
        const bool is_bound = round % 4 == 1;
        const auto kind = [&] {
            return is_bound ? index{2} : std::array<index, 3>{0, 1, 3}[std::size_t(random(0, 2))];
        };
        const auto small = [&] { return random(-4, 4); };
        const given<double, 2> W({rows, columns}, kind(), small);
        const given<double, 2> x({m, columns}, kind(), small);
        const given<int, 1> token({m}, kind(), [&] { return random(0, rows - 1); });
        const given<index, 1> column({m}, kind(), [&] { return random(0, columns - 1); });
        std::vector<index> places(std::size_t(rows), 0);
        for (index at = 0; at < rows; ++at) {
            places[std::size_t(at)] = at;
        }
        std::shuffle(places.begin(), places.end(), bits);
        std::size_t next = 0;
        const index named = random(1, rows);
        const given<int, 1> position({named}, kind(), [&] { return places[next++]; });
        const auto graph = [&](auto& Y, auto& S, auto& Q, auto& F, auto& H, auto& K, auto& Z, auto& R, const auto& w,
                               const auto& X, const auto& tokens, const auto& columns_of, const auto& positions) {
            Y(i, d) = w(tokens(i), d);
            S(d) = w(tokens(i), d);
            Q(i, e) = w(tokens(i), d) * X(e, d) + 1.0 * w(tokens(i), 0) * X(e, 0);
            F(i) = w(tokens(i), columns_of(i)) + ep::max(d, abs(w(tokens(i), d)) - X(i, d));
            H(tokens(i)) += 1;
            H(tokens(i)) -= X(i, d);
            K(tokens(i), d) += X(i, d) * X(i, d);
            Z(tokens(i), columns_of(i)) += X(i, d);
            R(positions(t), d) = w(positions(t), d) * 2.0 - S(d);
        };
        ep::array<double, 2> Y, Q, K = W.elements, Z = W.elements, R = W.elements;
        ep::array<double, 1> S, F, H({rows});
        graph(Y, S, Q, F, H, K, Z, R, W.elements, x.elements, token.elements, column.elements, position.elements);
        ep::tensor<double, 2> TY, TQ, TK = W.tensor, TZ = W.tensor, TR;
        TR(i, d) = W.tensor(i, d) * 1.0;
        ep::tensor<double, 1> TS, TF, TH = ep::generate<double>({rows}, [](auto) { return 0.0; });
        graph(TY, TS, TQ, TF, TH, TK, TZ, TR, W.tensor, x.tensor, token.tensor, column.tensor, position.tensor);

        ep::options asked{.processes = world.size(),
                          .objective = round % 3 == 0   ? ep::objective::time
                                       : round % 3 == 1 ? ep::objective::bytes
                                                        : ep::objective::paper,
                          .effort = ep::testing::short_search};
        // Every other plan is made by hand: one label of each vertex, any, into as many parts as there are ranks.
        const auto by_hand = [&](const ep::vertex_to_cut& each) {
            ep::label_parts cut;
            const auto count = index(each.einsum.extents.size());
            const auto label = std::size_t(random(0, std::max<index>(0, count - 1)));
            const bool may =
                count > 0 && (!each.einsum.work->replaces() || each.einsum.form.in_output(ep::label_id(label)));
            if (may && each.einsum.extents[label] > 0) {
                cut.push_back({each.einsum.form.names[label],
                               int(std::min<index>(each.einsum.extents[label], random(1, world.size())))});
            }
            return cut;
        };
        const ep::plan plan = round % 2 == 0 ? ep::decompose(world, asked, TY, TS, TQ, TF, TH, TK, TZ, TR)
                                             : ep::plan_with(asked, by_hand, TY, TS, TQ, TF, TH, TK, TZ, TR);
        const auto bind = [](const auto& each) { return ep::bind(each.tensor, each.elements); };
        const ep::results made =
            is_bound ? plan.run(world, bind(W), bind(x), bind(token), bind(column), bind(position)) : plan.run(world);
        wrong += same(made.get(TY).allgather(), Y) ? 0 : 1;
        wrong += same(made.get(TS).allgather(), S) ? 0 : 1;
        wrong += same(made.get(TQ).allgather(), Q) ? 0 : 1;
        wrong += same(made.get(TF).allgather(), F) ? 0 : 1;
        wrong += same(made.get(TH).allgather(), H) ? 0 : 1;
        wrong += same(made.get(TK).allgather(), K) ? 0 : 1;
        wrong += same(made.get(TZ).allgather(), Z) ? 0 : 1;
        wrong += same(made.get(TR).allgather(), R) ? 0 : 1;
        other_bytes += made.bytes_sent() == plan.bytes_sent(world.rank()) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(other_bytes == 0);
}

TEST_CASE("rows that are cut stay where they are: partial sums of what tokens select travel") {
    ep::context world(MPI_COMM_WORLD);
    const index rows = 64 * world.size(), columns = 8, m = 6;
    ep::tensor<float, 2> W, Y;
    const ep::tensor<float, 2> all = ep::generate<float>({rows, columns}, [](auto row, auto) { return float(row); });
    W(i, d) = all(i, d) + 1.0F;
    W.named("W").pinned({{i, world.size()}});
    const ep::tensor<int, 1> token = ep::generate<int>({m}, [=](auto at) { return int(rows / m * at); });
    Y(i, d) = W(token(i), d);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Y);
    const ep::results made = plan.run(world);
    const ep::array<float, 2> y = made.get(Y).allgather();
    bool right = true;
    for (index at = 0; at < m; ++at) {
        right = right && y(at, 0) == float(rows / m * at) + 1;
    }
    CHECK(right);
    CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
    CHECK(plan.partition(Y)[0].first == "W.0");
    CHECK(plan.partition(Y)[0].second == world.size());
    CHECK(plan.bytes_sent(world.rank()) <= std::size_t(2 * m * columns) * sizeof(float));
}

TEST_CASE("a position is bound at the run: a loop plans once") {
    ep::context world(MPI_COMM_WORLD);
    const index length = 7, width = 3;
    ep::tensor<double, 2> K = ep::placeholder<double>({length, width});
    const ep::tensor<double, 2> old = K;
    const ep::tensor<double, 1> k = ep::placeholder<double>({width});
    const ep::tensor<int, 0> position = ep::placeholder<int>({});
    ep::tensor<double, 1> sum;
    K(position(), d) = k(d);
    sum(d) = ep::sum(t, ep::where(ep::iota(t) <= position(), K(t, d), 0.0));
    const ep::plan plan = ep::decompose(world, K, sum);
    ep::array<double, 2> cache({length, width});
    cache(t, d) = 100.0;
    ep::array<double, 1> row({width});
    for (int at = 0; at < 3; ++at) {
        ep::array<int, 0> now;
        now() = at;
        row(d) = 1.0 + at;
        const ep::results made = plan.run(world, ep::bind(old, cache), ep::bind(k, row), ep::bind(position, now));
        cache = made.get(K).allgather();
        CHECK(made.get(sum).allgather()(0) == (at + 1) * (at + 2) / 2.0);
    }
    CHECK((cache(2, 0) == 3 && cache(3, 0) == 100));
}

TEST_CASE("what is replaced twice is refused wherever it lies") {
    ep::context world(MPI_COMM_WORLD);
    const std::string twice =
        "einsum: the left-hand side names index 2 of dimension 0 twice: say += to add up what is assigned "
        "to it";
    for (int kind = 0; kind < 60; ++kind) {
        CAPTURE(kind);
        const auto computed = [&](int bit, auto tensor) {
            auto made = tensor;
            if ((kind >> bit & 1) != 0) {
                made = {};
                made(i) = tensor(i) * 1;
            }
            return made;
        };
        const auto token = computed(0, ep::generate<int>({4}, [](auto at) { return at == 1 ? 0 : at == 3 ? 3 : 2; }));
        const auto y = computed(1, ep::generate<double>({4}, ep::uniform(1)));
        auto Z = computed(2, ep::generate<double>({4}, ep::uniform(2)));
        switch (kind / 8 % 5) {
            case 0:
                Z(token(i)) = y(i);
                break;
            case 1:
                Z(token(i)) = ep::concatenate(0, ep::slice(y, {0}, {1}), ep::slice(y, {1}, {4}))(i);
                break;
            case 2:
                Z(ep::concatenate(0, ep::slice(token, {0}, {1}), ep::slice(token, {1}, {4}))(i)) = y(i);
                break;
            case 3:
                Z(token(i)) = ep::padded(y, {0}, {2}, 1.0)(i + 1);
                break;
            default:
                Z(token(i)) = 7.0;
        }
        const ep::options asked{.objective = kind < 20   ? ep::objective::bytes
                                             : kind < 40 ? ep::objective::paper
                                                         : ep::objective::time};
        CHECK(sentence_of([&] { static_cast<void>(ep::decompose(world, asked, Z).run(world)); }).ends_with(twice));
    }
}

TEST_CASE("what is replaced lies where the old tensor was") {
    const index length = 512, width = 64;
    ep::tensor<double, 2> K;
    ep::tensor<double, 1> sum;
    K(t, d) = 2.0 * ep::generate<double>({length, width}, [](auto row, auto) { return double(row); })(t, d);
    const ep::tensor<int, 1> position = ep::generate<int>({2}, [](auto at) { return int(3 * at); });
    K(position(i), d) = ep::generate<double>({2, width}, [](auto at, auto) { return double(100 + at); })(i, d);
    sum(t) = K(t, d) * K(t, d);
    const auto bytes = std::size_t(length * width) * sizeof(double);
    const ep::plan plan = ep::decompose({.processes = 1}, sum);
    CHECK(plan.peak_bytes(0) < 2 * bytes + bytes / 2);  // the function's elements beside K, never two of K beside these
    ep::context world(MPI_COMM_WORLD);
    const ep::array<double, 1> sums = ep::evaluate(world, sum).allgather();
    CHECK((sums(0) == 100.0 * 100 * width && sums(3) == 101.0 * 101 * width && sums(5) == 100.0 * width));
}

TEST_CASE("a one-hot operand names the label that it is contracted over") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> W =
        ep::generate<double>({13, 2}, [](auto row, auto at) { return double(2 * row + at); });
    const ep::tensor<int, 1> token = ep::generate<int>({5}, [](auto at) { return int(7 - at); });
    ep::tensor<double, 2> Y;
    Y(i, d) = ep::one_hot(token(i), v) * W(v, d);
    const ep::plan plan = ep::plan_with({.processes = world.size()}, ep::hand_cuts().cut(Y, {{"v", world.size()}}), Y);
    CHECK(plan.partition(Y)[0] == std::pair<std::string, int>("v", world.size()));
    const ep::array<double, 2> y = plan.run(world).get(Y).allgather();
    bool right = y.extents() == std::array<index, 2>{5, 2};
    for (index at = 0; right && at < 5; ++at) {
        right = y(at, 0) == double(2 * (7 - at)) && y(at, 1) == double(2 * (7 - at) + 1);
    }
    CHECK(right);
}

TEST_CASE("equal reads are computed once") {
    const ep::tensor<double, 2> W = ep::generate<double>({6, 2}, [](auto row, auto) { return double(row); });
    const ep::tensor<int, 1> token = ep::generate<int>({5}, [](auto at) { return int(at); });
    ep::tensor<double, 2> Y, Z;
    Y(i, d) = W(token(i), d);
    Z(i, d) = exp(W(token(i), d)) + W(token(i), d);
    int computed = 0;
    const ep::plan plan = ep::decompose({.processes = 1}, Y, Z);
    for (const ep::planned_vertex& each : plan.vertices()) {
        computed += each.is_input() ? 0 : 1;
    }
    CHECK(computed == 2);
}

TEST_CASE("what is wrong with data is one sentence on every rank") {
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 2> W = ep::generate<double>({6, 2}, [](auto row, auto) { return double(row); }), Y, K = W, R = W;
    W.named("W");
    const auto token = [](index wrong_at, int wrong) {
        return ep::generate<int>({5}, [=](auto at) { return at == wrong_at ? wrong : int(at); });
    };
    const auto said = [&](const auto& made) {
        return sentence_of([&] { static_cast<void>(ep::evaluate(world, made)); });
    };
    Y(i, d) = W(token(3, 6)(i), d);
    Y.named("Y");
    CHECK(said(Y).find("einsum: element (3) of the indices is 6, outside the extent 6 of W.0") != std::string::npos);
    Y(i, d) = W(token(4, -2)(i), d);
    CHECK(said(Y).find("einsum: element (4) of the indices is -2, outside the extent 6 of W.0") != std::string::npos);
    K(token(4, 1)(i), d) = W(i, d);
    CHECK(said(K) == "decompose: einsum: label i has extent 5 in operand 1 and 6 in operand 2");
    K = W;
    Y(i, d) = W(token(0, 0)(i), d);
    K(token(4, 1)(i), d) = Y(i, d);
    CHECK(said(K).find(
              "einsum: the left-hand side names index 1 of W.0 twice: say += to add up what is assigned to it") !=
          std::string::npos);
    R(token(2, 17)(i), d) += Y(i, d);
    CHECK(said(R).find("einsum: element (2) of the indices is 17, outside the extent 6 of W.0") != std::string::npos);
    if (world.size() > 1) {
        CHECK(sentence_of([&] {
                  static_cast<void>(ep::plan_with({.processes = world.size()}, ep::hand_cuts().cut(K, {{"i", 2}}), K));
              }).find("cannot cut label i: results of its parts cannot be put together") != std::string::npos);
    }
}

}  // namespace select_test
