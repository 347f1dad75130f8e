// Gradients that random graphs do not come by: ties, zeros, complex elements, functors, and what has none.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <support/long_suite.hpp>
#include <support/sentence_of.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace gradient_test {

namespace ep = einparallel;

using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k, l, r, s, d, v);

using complex = std::complex<double>;
using scalar = ep::tensor<double, 0>;
using vector = ep::tensor<double, 1>;
using matrix = ep::tensor<double, 2>;

template <class T, std::size_t Rank>
ep::array<T, Rank> some(const ep::index (&extents)[Rank], int salt) {
    std::array<ep::index, Rank> all{};
    std::copy(extents, extents + Rank, all.begin());
    ep::array<T, Rank> made(all);
    for (ep::index at = 0; at < made.size(); ++at) {
        const double value = std::sin(double(7 * at + 13 * salt + 1));
        if constexpr (std::is_same_v<T, complex>) {
            made.data()[at] = {value, std::cos(double(5 * at + salt))};
        } else {
            made.data()[at] = T(value);
        }
    }
    return made;
}

/// The gradients of loss(inputs…) as arrays.
template <class Loss, class... T, std::size_t... Rank>
auto gradients(ep::context& world, const Loss& loss_of, const ep::array<T, Rank>&... input) {
    const auto tensors = std::tuple(ep::from_root(input, 0)...);
    const auto loss = std::apply(loss_of, tensors);
    const auto all = std::apply(
        [&](const auto&... with) {
            if constexpr (sizeof...(with) == 1) {
                return std::tuple(ep::gradient(loss, with...));
            } else {
                return ep::gradient(loss, with...);
            }
        },
        tensors);
    return std::apply(
        [&](const auto&... gradient) {
            ep::results made =
                ep::decompose(world, {.effort = ep::testing::short_search}, loss, gradient...).run(world);
            return std::tuple(made.get(gradient).allgather()...);
        },
        all);
}

/// The gradients are what the loss changes by, by central differences of the loss itself.
template <class Loss, class... T, std::size_t... Rank>
void check_gradients(ep::context& world, const Loss& loss_of, ep::array<T, Rank>... input) {
    const auto values = std::tuple(ep::placeholder<T>(input.extents())...);
    const auto loss = std::apply(loss_of, values);
    const ep::plan plan = ep::decompose(world, loss);
    const auto run = [&] {
        return std::apply(
            [&](const auto&... value) {
                return plan.run(world, ep::bind(value, input)...).get(loss).allgather().value();
            },
            values);
    };
    const auto found = gradients(world, loss_of, input...);
    const auto compare = [&](auto& elements, const auto& gradient) {
        using Element = std::remove_cvref_t<decltype(elements.data()[0])>;
        const double width = 1e-5;
        for (ep::index at = 0; at < elements.size(); ++at) {
            Element& element = elements.data()[at];
            const Element there = element;
            const auto by = [&](Element step) {
                element = there + step;
                const double up = double(run());
                element = there - step;
                const double down = double(run());
                element = there;
                return (up - down) / (2 * width);
            };
            Element wanted(by(Element(width)));
            if constexpr (std::is_same_v<Element, complex>) {
                wanted += complex(0, by(complex(0, width)));
            }
            CHECK(std::abs(gradient.data()[at] - wanted) <= 1e-7 * std::max(1.0, double(std::abs(wanted))));
        }
    };
    std::apply([&](const auto&... gradient) { (compare(input, gradient), ...); }, found);
}

ep::array<double, 2> with_zeros(ep::array<double, 2> made, std::initializer_list<int> at) {
    for (const int zero : at) {
        made.data()[zero] = 0;
    }
    return made;
}

/// x³, twice to derive.
struct cube {
    static constexpr const char* name = "cube";
    double operator()(double x) const { return x * x * x; }
    struct slope {
        double operator()(double x) const { return 3 * x * x; }
        auto derivative() const {
            return [](double x) { return 6 * x; };
        }
    };
    auto derivative() const { return slope(); }
};

struct wave {
    double height;
    double operator()(double x, double y) const { return height * x * std::sin(y); }
    auto derivative() const {
        return std::tuple([height = height](double /*x*/, double y) { return height * std::sin(y); },
                          [height = height](double x, double y) { return height * x * std::cos(y); });
    }
};

template <int Factor>
struct nameless {
    double operator()(double x) const { return Factor * x * x; }
    auto derivative() const {
        return [](double x) { return 2 * Factor * x; };
    }
};

struct unknown {
    static constexpr const char* name = "unknown";
    double operator()(double x) const { return x; }
};

struct larger_of {
    static constexpr bool associative_commutative = true;
    template <class T>
    static constexpr T identity() {
        return T(-1e300);
    }
    template <class T>
    constexpr T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};

}  // namespace

TEST_CASE("of equal elements the first one has the gradient of max and min, on any number of ranks") {
    ep::context world{MPI_COMM_WORLD};
    ep::array<double, 2> X({3, 4});
    std::fill(X.data(), X.data() + 12, 2.0);
    X(1, 0) = 1;
    X(1, 2) = 5;
    X(1, 3) = 5;
    const auto row = std::get<0>(gradients(
        world,
        [](const matrix& A) {
            vector largest;
            largest(i) = ep::max(A(i, j));
            scalar loss;
            loss() = largest(i) * (1.0 + ep::iota(i));
            return loss;
        },
        X));
    const double rows[] = {1, 0, 0, 0, 0, 0, 2, 0, 3, 0, 0, 0};
    CHECK(std::equal(rows, rows + 12, row.data()));
    const auto all = std::get<0>(gradients(
        world,
        [](const matrix& A) {
            scalar smallest;
            smallest() = ep::min(max(A(i, j), 2.0));
            return smallest;
        },
        X));
    const double only[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    CHECK(std::equal(only, only + 12, all.data()));
    const auto larger = gradients(
        world,
        [](const matrix& A, const matrix& B) {
            scalar sum;
            sum() = max(A(i, j), B(i, j));
            return sum;
        },
        X, X);
    CHECK(std::all_of(std::get<0>(larger).data(), std::get<0>(larger).data() + 12, [](double x) { return x == 1; }));
    CHECK(std::all_of(std::get<1>(larger).data(), std::get<1>(larger).data() + 12, [](double x) { return x == 0; }));
}

TEST_CASE("products have gradients where factors are 0") {
    ep::context world{MPI_COMM_WORLD};
    const auto product = [](const matrix& A) {
        vector rows;
        rows(i) = ep::prod(A(i, j));
        scalar loss;
        loss() = rows(i) * (2.0 - ep::iota(i));
        return loss;
    };
    check_gradients(world, product, with_zeros(some<double>({4, 5}, 1), {2, 5, 7, 19}));
    const auto running = [](const matrix& A) {
        matrix all;
        all(i, j) = ep::cumprod(j, A(i, j));
        scalar loss;
        loss() = all(i, j) * sin(1.0 + ep::iota(j));
        return loss;
    };
    check_gradients(world, running, with_zeros(some<double>({4, 5}, 1), {2, 5, 7, 10, 19}));
}

TEST_CASE("the gradient of softmax is finite and right far out, and that of comparisons is 0") {
    ep::context world{MPI_COMM_WORLD};
    ep::array<double, 2> X({2, 3});
    const double elements[] = {1e4, -1e4, 0, -1e4, -1e4, -1e4 + 1};
    std::copy(elements, elements + 6, X.data());
    const auto found = std::get<0>(gradients(
        world,
        [](const matrix& A) {
            matrix share;
            share(i, j) = ep::softmax(j, A(i, j));
            scalar loss;
            loss() = share(i, 2);
            return loss;
        },
        X));
    const double e = std::exp(1.0);
    const double share = e / (2 + e);
    const double wanted[] = {0, 0, 0, -share / (2 + e), -share / (2 + e), share * (1 - share)};
    for (int at = 0; at < 6; ++at) {
        CHECK(std::abs(found.data()[at] - wanted[at]) < 1e-15);
    }
    const auto steps = std::get<0>(gradients(
        world,
        [](const matrix& A) {
            scalar loss;
            loss() = ep::where(A(i, j) > 0.5, 1.0, 0.0) + floor(A(i, j));
            return loss;
        },
        X));
    CHECK(std::all_of(steps.data(), steps.data() + 6, [](double x) { return x == 0; }));
}

TEST_CASE("the gradient of complex elements has the derivatives by their parts as parts") {
    ep::context world{MPI_COMM_WORLD};
    using tensor = ep::tensor<complex, 2>;
    check_gradients(
        world,
        [](const tensor& A, const tensor& B) {
            tensor made;
            made(i, k) = A(i, j) * B(j, k);
            scalar loss;
            loss() = abs(made(i, k)) * abs(made(i, k)) + ep::sum(abs(conj(A(i, j)) * B(j, k)));
            return loss;
        },
        some<complex>({3, 4}, 1), some<complex>({4, 2}, 2));
    check_gradients(
        world,
        [](const tensor& A) {
            tensor made;
            made(i, j) =
                exp(A(i, j)) * sin(A(i, j)) + A(i, j) / (complex(2, 1) + A(i, j)) + log(A(i, j)) * cos(A(i, j));
            ep::tensor<complex, 1> rows;
            rows(i) = ep::prod(made(i, j));
            scalar loss;
            loss() = abs(rows(i)) + ep::sum(abs(ep::cumprod(j, A(i, j))));
            return loss;
        },
        some<complex>({3, 4}, 1));
}

TEST_CASE("a functor of the application's is derived by its derivative()") {
    ep::context world{MPI_COMM_WORLD};
    const auto loss_of = [](const matrix& A, const matrix& B) {
        matrix made;
        made(i, k) = ep::sum(ep::join(wave{1.5}, A(i, j), B(j, k)));
        scalar loss;
        loss() = ep::map(cube(), made(i, k)) + ep::sum(ep::map(cube(), A(i, j)) * A(i, j));
        return loss;
    };
    check_gradients(world, loss_of, some<double>({3, 4}, 1), some<double>({4, 2}, 2));
    check_gradients(
        world,
        [](const matrix& A) {
            scalar first;
            first() = ep::map(cube(), A(i, j)) * A(i, j);
            const matrix slope = ep::gradient(first, A);
            scalar second;
            second() = slope(i, j) * slope(i, j);
            return second;
        },
        some<double>({3, 4}, 1));
}

TEST_CASE("functors without a name are not taken for each other") {
    ep::context world{MPI_COMM_WORLD};
    check_gradients(
        world,
        [](const matrix& A, const matrix& B) {
            const auto first = ep::map(nameless<2>(), A(i, j));
            const auto second = ep::map(nameless<3>(), A(i, j));
            scalar loss;
            loss() = ep::sum(first * B(i, j)) + ep::sum(second * B(i, j)) + ep::sum(first * first) +
                     ep::sum(second * second);
            return loss;
        },
        some<double>({3, 4}, 1), some<double>({3, 4}, 2));
    check_gradients(
        world,
        [](const matrix& A) {  // of one vertex
            scalar loss;
            loss() = ep::map(nameless<2>(), A(i, j)) * ep::map(nameless<3>(), A(i, j)) * A(i, j);
            return loss;
        },
        some<double>({3, 4}, 1));
}

namespace {

/// log Σ exp of each row in the stable form, of which terms(exponentials, sums, largest) is left out or added.
template <class Terms>
scalar by_largest(const matrix& A, const Terms& terms) {
    vector largest, sums;
    largest(i) = ep::max(A(i, j));
    largest.named("largest");
    matrix exponentials;
    exponentials(i, j) = exp(A(i, j) - largest(i));
    sums(i) = exponentials(i, j);
    return terms(exponentials, sums, largest);
}

}  // namespace

TEST_CASE("what is subtracted before exponentials and added behind the logarithm has no gradient to compute") {
    ep::context world{MPI_COMM_WORLD};
    const auto vertices_of = [&](const auto& terms) {
        const matrix A = ep::placeholder<double>({4, 4});
        const auto planned =
            ep::decompose(world, {.effort = ep::testing::short_search}, ep::gradient(by_largest(A, terms), A))
                .vertices();
        return std::count_if(planned.begin(), planned.end(),
                             [](const auto& each) { return each.name.find("d largest") != std::string::npos; });
    };
    const auto check = [&](bool cancels, const auto& terms) {
        CHECK((vertices_of(terms) == 0) == cancels);
        check_gradients(
            world, [&](const matrix& A) { return by_largest(A, terms); }, some<double>({4, 4}, 3));
    };
    check(true, [](const matrix& /*e*/, const vector& sums, const vector& largest) {
        scalar loss;
        loss() = sin(log(sums(i)) + largest(i));
        return loss;
    });
    check(true, [](const matrix& e, const vector& sums, const vector& /*largest*/) {
        scalar loss;
        loss() = sqrt(e(i, j) / sums(i));
        return loss;
    });
    check(true, [](const matrix& e, const vector& sums, const vector& largest) {
        matrix pairs, shifted;
        pairs(i, k) = 0.5 * (e(i, j) * e(i, k));
        shifted(i, k) = log(pairs(i, k) / (sums(i) - 0.25 * sums(i))) - (-largest(i));
        scalar loss;
        loss() = shifted(i, k) * shifted(i, k);
        return loss;
    });
    // Left out, twice, at another label, behind another sum, as a number that something else depends on.
    check(false, [](const matrix& /*e*/, const vector& sums, const vector& /*largest*/) {
        scalar loss;
        loss() = log(sums(i));
        return loss;
    });
    check(false, [](const matrix& /*e*/, const vector& sums, const vector& largest) {
        scalar loss;
        loss() = sin(log(sums(i)) + 2 * largest(i));
        return loss;
    });
    check(false, [](const matrix& e, const vector& sums, const vector& largest) {
        matrix mixed;
        mixed(i, j) = sin(log(sums(i)) + largest(j)) * e(i, j) / sums(i);
        scalar loss;
        loss() = mixed(i, j);
        return loss;
    });
    check(false, [](const matrix& e, const vector& /*sums*/, const vector& largest) {
        vector columns;
        columns(j) = e(i, j);
        scalar loss;
        loss() = log(columns(j)) + largest(j);
        return loss;
    });
    check(false, [](const matrix& /*e*/, const vector& sums, const vector& largest) {
        vector moved;
        moved(i) = largest(3 - i) * 1.0;
        scalar loss;
        loss() = ep::where(largest(i) > 0.5, 2.0, 1.0) * (log(sums(i)) + moved(i));
        return loss;
    });
}

TEST_CASE("cross entropy of classes that an array of integers says") {
    ep::context world{MPI_COMM_WORLD};
    ep::array<int, 1> classes({4});
    std::copy_n(std::array{3, 0, 3, 1}.data(), 4, classes.data());
    const ep::tensor<int, 1> its = ep::from_root(classes, 0);
    check_gradients(
        world,
        [&](const matrix& A) {
            return by_largest(A, [&](const matrix& /*e*/, const vector& sums, const vector& largest) {
                scalar loss;
                loss() = log(sums(i)) + largest(i) - A(i, its(i));
                return loss;
            });
        },
        some<double>({4, 4}, 5));
}

TEST_CASE("a tensor that is read very often, and by itself again and again") {
    ep::context world{MPI_COMM_WORLD};
    const auto found = std::get<0>(gradients(
        world,
        [](const vector& x) {
            vector state;
            state(i) = 0.0 * x(i);
            for (int step = 0; step < 100; ++step) {
                state(i) = 0.5 * state(i) + x(i);
            }
            scalar loss;
            loss() = state(i);
            loss() = loss() * loss();
            return loss;
        },
        some<double>({5}, 1)));
    double sum = 0;
    const ep::array<double, 1> x = some<double>({5}, 1);
    std::for_each(x.data(), x.data() + 5, [&](double each) { sum += 2 * each; });
    CHECK(std::all_of(found.data(), found.data() + 5, [&](double each) { return std::abs(each - 4 * sum) < 1e-12; }));
}

TEST_CASE("by a tensor on the way and by what that is made of") {
    ep::context world{MPI_COMM_WORLD};
    const matrix A = ep::from_root(some<double>({3, 4}, 1), 0);
    matrix half;
    half(i, j) = 0.5 * A(i, j);
    scalar loss;
    loss() = half(i, j) * half(i, j) + ep::sum(A(i, j));
    const auto [d_half, dA, d_loss] = ep::gradient(loss, half, A, loss);
    ep::results made = ep::decompose(world, d_half, dA, d_loss).run(world);
    const ep::array<double, 2> a = some<double>({3, 4}, 1);
    const ep::array<double, 2> by_half = made.get(d_half).allgather();
    const ep::array<double, 2> by_a = made.get(dA).allgather();
    for (ep::index at = 0; at < 12; ++at) {
        CHECK(std::abs(by_half.data()[at] - a.data()[at]) < 1e-15);
        CHECK(std::abs(by_a.data()[at] - (a.data()[at] / 2 + 1)) < 1e-15);
    }
    CHECK(made.get(d_loss).allgather().value() == 1);
}

TEST_CASE("within a memory limit what the backward pass reads is computed again") {
    ep::context world{MPI_COMM_WORLD};
    constexpr ep::index width = 8;
    constexpr ep::index samples = 400;
    const matrix X = ep::placeholder<double>({samples, width});
    std::vector<matrix> W;
    matrix x = X;
    for (int layer = 0; layer < 3; ++layer) {
        W.push_back(ep::placeholder<double>({width, width}));
        matrix sum;
        sum(i, k) = x(i, j) * W.back()(j, k);
        x(i, k) = sin(sum(i, k));
        x.named("layer " + std::to_string(layer));
    }
    scalar loss;
    loss() = x(i, j) * x(i, j);
    const std::vector<matrix> dW = ep::gradient(loss, W);
    const ep::plan all = ep::decompose({.processes = world.size(), .effort = ep::testing::short_search}, loss, dW);
    const auto peak_of = [&](const ep::plan& plan) {
        std::size_t most = 0;
        for (int rank = 0; rank < world.size(); ++rank) {
            most = std::max(most, plan.peak_bytes(rank));
        }
        return most;
    };
    const auto again = [](const ep::plan& plan) {
        return ep::detail::count_if_in(plan.vertices(),
                                       [](const auto& each) { return each.name.find(" again") != std::string::npos; });
    };
    CHECK(again(all) == 0);
    // Until cutting otherwise is not enough any more; before that, nothing is planned.
    ep::options asked{.processes = world.size(), .memory_limit = peak_of(all), .effort = ep::testing::short_search};
    ep::plan limited;
    while (again(limited) == 0) {
        asked.memory_limit = asked.memory_limit * 8 / 10;
        if (asked.memory_limit * std::size_t(world.size() + 1) < 2 * peak_of(all)) {
            limited = ep::decompose(asked, loss, dW);
        }
    }
    CHECK(peak_of(limited) <= asked.memory_limit);
    std::ostringstream table;
    table << limited;
    CHECK(table.str().find("again: it is not kept for its later readers, for options.memory_limit") !=
          std::string::npos);
    const ep::array<double, 2> data = some<double>({samples, width}, 2);
    const std::array<ep::array<double, 2>, 3> weights{some<double>({width, width}, 3), some<double>({width, width}, 4),
                                                      some<double>({width, width}, 5)};
    const auto run = [&](const ep::plan& plan) {
        return plan.run(world, ep::bind(X, data), ep::bind(W[0], weights[0]), ep::bind(W[1], weights[1]),
                        ep::bind(W[2], weights[2]));
    };
    ep::results wanted = run(all);
    ep::results found = run(limited);
    CHECK(found.bytes_sent() == limited.bytes_sent(world.rank()));
    for (const matrix& each : dW) {
        const ep::array<double, 2> a = wanted.get(each).allgather();
        const ep::array<double, 2> b = found.get(each).allgather();
        for (ep::index at = 0; at < a.size(); ++at) {
            CHECK(std::abs(a.data()[at] - b.data()[at]) <= 1e-11 * std::max(1.0, std::abs(a.data()[at])));
        }
    }
    if (world.size() <= 2) {  // each rank looks for the least limit, for many seconds on more of them
        asked.memory_limit = peak_of(all) / 20;
        CHECK_THROWS_AS(ep::decompose(asked, loss, dW), ep::error);
    }
}

TEST_CASE("lists of tensors have lists of gradients") {
    ep::context world{MPI_COMM_WORLD};
    std::vector<matrix> weights;
    for (int layer = 0; layer < 3; ++layer) {
        weights.push_back(ep::placeholder<double>({4, 4}));
    }
    matrix x = ep::from_root(some<double>({3, 4}, 1), 0);
    const matrix input = x;
    for (const matrix& weight : weights) {
        x(i, k) = tanh(ep::sum(j, x(i, j) * weight(j, k)));
    }
    scalar loss;
    loss() = x(i, k);
    const auto [by_weights, by_input] = ep::gradient(loss, weights, input);
    const std::vector<matrix> alone = ep::gradient(loss, weights);
    const ep::plan plan =
        ep::decompose(world, {.effort = ep::testing::short_search}, by_weights, alone, by_input, loss);
    std::vector<ep::binding> bound;
    for (std::size_t layer = 0; layer < 3; ++layer) {
        bound.push_back(ep::bind(weights[layer], some<double>({4, 4}, int(layer) + 2)));
    }
    const ep::results made = plan.run(world, bound);
    for (std::size_t layer = 0; layer < 3; ++layer) {
        const ep::array<double, 2> one = made.get(by_weights[layer]).allgather();
        const ep::array<double, 2> other = made.get(alone[layer]).allgather();
        CHECK(std::equal(one.data(), one.data() + 16, other.data()));
    }
}

TEST_CASE("a convolution has the gradient of its image and its weights, with strides too") {
    ep::context world{MPI_COMM_WORLD};
    using cube_of = ep::tensor<double, 3>;
    using weights = ep::tensor<double, 4>;
    for (const bool has_strides : {false, true}) {
        check_gradients(
            world,
            [has_strides](const cube_of& image, const weights& w) {
                cube_of made;
                if (has_strides) {
                    made(k, i, j) =
                        ep::padded(image, {0, 1, 1}, {0, 1, 1}, 0.0)(l, 2 * i + r, 2 * j + s) * w(k, l, r, s);
                } else {
                    made(k, i, j) = ep::padded(image, {0, 1, 1}, {0, 1, 1}, 0.0)(l, i + r, j + s) * w(k, l, r, s);
                }
                scalar loss;
                loss() = made(k, i, j) * made(k, i, j) * made(k, i, j);
                return loss;
            },
            some<double>({2, 4, 5}, 1), some<double>({3, 2, 3, 3}, 2));
    }
}

TEST_CASE("reshaped tensors that are read in part, shifted, padded, by diagonals and backwards") {
    ep::context world{MPI_COMM_WORLD};
    const auto x = some<double>({4, 5}, 1);
    const auto cubed = [](const vector& made) {
        scalar loss;
        loss() = made(i) * made(i) * made(i);
        return loss;
    };
    vector made;
    check_gradients(
        world,
        [&](const matrix& A) {
            made(i) = ep::reshape(A, {20})(i + 3) * ep::reshape(A, {20})(2 * i);
            return cubed(made);
        },
        x);
    check_gradients(
        world,
        [&](const matrix& A) {
            made(i) = ep::padded(ep::reshape(A, {20}), {2}, {1}, 0.5)(i) * sin(1.0 + ep::iota(i));
            return cubed(made);
        },
        x);
    check_gradients(
        world,
        [&](const matrix& A) {
            made(i) = ep::reshape(A, {20})(19 - i) * sin(1.0 + ep::iota(i));
            return cubed(made);
        },
        x);
    check_gradients(
        world,
        [&](const matrix& A) {
            made(i) = ep::reshape(A, {4, 4})(i, i) + ep::slice(ep::reshape(A, {8, 2}), {1, 0}, {5, 1})(i, 0);
            return cubed(made);
        },
        some<double>({2, 8}, 1));
}

namespace {

template <class Make>
void check_of_two(ep::context& world, const Make& make) {
    check_gradients(
        world,
        [&](const matrix& W, const matrix& C) {
            const scalar sum = make(W, C);
            scalar loss;
            loss() = sum() * sum() + ep::sum(C(i, j) * C(i, j));
            return loss;
        },
        some<double>({4, 4}, 1), some<double>({4, 4}, 5));
}

}  // namespace

TEST_CASE("gradients of one number go to diagonals, slices and parts of a tensor") {
    ep::context world{MPI_COMM_WORLD};
    const auto summed = [](const auto& expression) {
        scalar sum;
        sum() = ep::sum(expression);
        return sum;
    };
    check_of_two(world, [&](const matrix& W, const matrix& C) { return summed(W(i, i) * C(1, i)); });
    check_of_two(world, [&](const matrix& W, const matrix& /*C*/) { return summed(W(i, i)); });
    check_of_two(world, [&](const matrix& W, const matrix& /*C*/) { return summed(W(i, 1)); });
    check_of_two(world, [&](const matrix& W, const matrix& /*C*/) {
        return summed(ep::slice(W, {1, 0}, {3, 2})(i, j));
    });
    check_of_two(world, [&](const matrix& W, const matrix& C) { return summed(ep::concatenate(0, C, W)(i, j)); });
    check_of_two(world, [&](const matrix& W, const matrix& /*C*/) {
        return summed(ep::padded(W, {1, 1}, {0, 2}, 0.5)(i, j));
    });
    check_of_two(world, [&](const matrix& W, const matrix& C) {
        matrix Z = W;
        Z(0, j) = C(0, j);
        return summed(Z(i, j));
    });
}

TEST_CASE("gradients behind parts that are replaced, and behind slices of what was joined") {
    ep::context world{MPI_COMM_WORLD};
    for (const int row : {0, 1, 3}) {
        check_of_two(world, [&](const matrix& W, const matrix& C) {
            matrix Z = W;
            Z(row, j) = C(row, j);
            scalar sum;
            sum() = Z(i, j) * C(i, j) + ep::sum(W(i, j) * C(j, i));
            return sum;
        });
    }
    const auto joined = [](const matrix& a, const matrix& b) {
        matrix made;
        made(i, j) = ep::slice(ep::concatenate(0, a, b), {2, 0}, {6, 4})(i, j);
        return made;
    };
    check_of_two(world, [&](const matrix& W, const matrix& C) {
        const matrix made = joined(joined(C, W), C);
        scalar sum;
        sum() = tanh(made(i, j)) * C(i, j);
        return sum;
    });
    ep::array<double, 1> exponents({3});
    std::fill_n(exponents.data(), 3, 1.5);
    check_gradients(
        world,
        [](const vector& x) {
            scalar loss;
            loss() = ep::sum(pow(0.0, x(i)) + x(i));
            return loss;
        },
        exponents);
}

TEST_CASE("gradients of float are float, and those through other types are cast") {
    ep::context world{MPI_COMM_WORLD};
    const auto found = std::get<0>(gradients(
        world,
        [](const ep::tensor<float, 2>& A) {
            matrix wide;
            wide(i, j) = A(i, j) * A(i, j);
            scalar loss;
            loss() = wide(i, j) * 0.5;
            return loss;
        },
        some<float>({3, 4}, 1)));
    const ep::array<float, 2> wanted = some<float>({3, 4}, 1);
    CHECK(std::equal(wanted.data(), wanted.data() + 12, found.data()));
}

TEST_CASE("what has no gradient says so, the same on every rank") {
    ep::context world{MPI_COMM_WORLD};
    const matrix A = ep::from_root(some<double>({3, 4}, 1), 0);
    matrix other = ep::from_root(some<double>({3, 4}, 2), 0);
    other.named("other");
    const auto said = [&](const auto& gradient) {
        return sentence_of([&] { static_cast<void>(ep::decompose(world, gradient)); });
    };
    scalar loss;
    loss() = A(i, j) * A(i, j);
    CHECK(said(std::get<1>(ep::gradient(loss, A, other))) ==
          "decompose: ep::gradient: the loss does not depend on 'other', tensor 2 with respect to which it is "
          "differentiated: if this handle was assigned to again, give a copy that was made before");
    CHECK(said(ep::gradient(loss, matrix())).find("before anything was assigned to it") != std::string::npos);
    CHECK(said(ep::gradient(scalar(), A)).find("before anything was assigned to it") != std::string::npos);
    loss() = ep::map(unknown(), A(i, j));
    CHECK(said(ep::gradient(loss, A)) ==
          "decompose: ep::gradient: sum unknown(x): the functor unknown has no derivative() that returns the functor "
          "of its "
          "derivative");
    loss() = ep::reduce(larger_of(), A(i, j));
    CHECK(said(ep::gradient(loss.named("most"), A)) ==
          "decompose: ep::gradient: 'most': the reduction is the application's own and has no derivative; the "
          "library's reductions have one");
    loss() = ep::sum(A(i, j) + A(j, i));  // 3 x 4: it failed itself
    CHECK(said(ep::gradient(loss, A)).find("label") != std::string::npos);
}

TEST_CASE("gradients of tensors without elements are such tensors") {
    ep::context world{MPI_COMM_WORLD};
    const auto found = gradients(
        world,
        [](const matrix& A, const matrix& B) {
            scalar loss;
            loss() = A(i, j) * B(j, k) + ep::sum(tanh(A(i, j)));
            return loss;
        },
        some<double>({3, 0}, 1), some<double>({0, 2}, 2));
    CHECK(std::get<0>(found).extents() == std::array<ep::index, 2>{3, 0});
    CHECK(std::get<1>(found).extents() == std::array<ep::index, 2>{0, 2});
}

}  // namespace gradient_test
