#pragma once
// Statements with functors of the application's, recorded by units that different compilers compile.

#include <einparallel/array/array.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace functor_test {

namespace ep = einparallel;

/// What a unit has recorded: tensors of one or two dimensions.
struct recorded {
    std::string name;
    std::shared_ptr<ep::vertex> made;
};

/// Recorded by a unit of the host's, and by one for devices.
std::vector<recorded> recorded_on_host(ep::index rows, ep::index columns);
std::vector<recorded> recorded_for_devices(ep::index rows, ep::index columns);
/// By a unit for devices, with a functor whose state is more than bytes.
std::shared_ptr<ep::vertex> recorded_with_a_list();

struct squared {
    template <class T>
    EINPARALLEL_HOST_DEVICE T operator()(T x) const {
        return x * x;
    }
};

/// With a state, and operands of several types.
struct shifted {
    double by;
    std::int8_t also;
    template <class A, class B>
    EINPARALLEL_HOST_DEVICE double operator()(A x, B y) const {
        return static_cast<double>(x) - by * static_cast<double>(y) + also;
    }
};

/// Of a type that is no element's.
struct pair_of {
    struct both {
        double larger, smaller;
    };
    EINPARALLEL_HOST_DEVICE both operator()(double x, double y) const { return x < y ? both{y, x} : both{x, y}; }
};
struct spread {
    EINPARALLEL_HOST_DEVICE double operator()(pair_of::both of) const { return of.larger - of.smaller; }
};

/// ⊕ of the application's, with a state.
struct nearest {
    static constexpr bool associative_commutative = true;
    double to;
    template <class T>
    static constexpr T identity() {
        return T(1e30);
    }
    template <class T>
    EINPARALLEL_HOST_DEVICE T operator()(T a, T b) const {
        return std::abs(b - to) < std::abs(a - to) ? b : a;
    }
};

/// Of no 0, which only threads without an element would bring.
struct divided {
    EINPARALLEL_HOST_DEVICE int operator()(int x) const { return 840 / x; }
};

/// What only the host can have: bytes that cannot be copied to a launch.
struct in_a_list {
    std::vector<double> list;
    double operator()(double x) const { return list[x < 0 ? 0 : 1]; }
};

/// All of it; a template, because a unit for devices records other types than one of the host's.
template <class Unit>
std::vector<recorded> record(ep::index rows, ep::index columns) {
    EINPARALLEL_LABELS(i, j, k);
    const auto X = ep::generate<double>(
        {rows, columns}, [](auto row, auto column) { return static_cast<double>((3 * row + 5 * column) % 13 - 6); });
    const auto Y = ep::generate<float>(
        {columns, rows}, [](auto row, auto column) { return static_cast<float>((row + 2 * column) % 7 - 3); });
    const auto C = ep::generate<std::complex<float>>({rows, columns}, [](auto row, auto column) {
        return std::complex<float>(static_cast<float>(row % 5), static_cast<float>(column % 3));
    });
    const auto N = ep::generate<int>({rows, columns},
                                     [](auto row, auto column) { return static_cast<int>((row + column) % 6 + 1); });
    std::vector<recorded> all;
    const auto add = [&](const std::string& name, auto& made) {
        made.named(name);
        all.push_back({name, made.node()});
    };
    ep::tensor<double, 2> map, join, tree, several;
    ep::tensor<double, 1> sum, own, both, longest;
    ep::tensor<std::complex<float>, 1> complex;
    ep::tensor<bool, 1> truth;
    map(k, i) = ep::map(squared{}, X(i, k));
    add("map", map);
    join(i, k) = ep::sum(j, ep::join(shifted{0.5, 2}, X(i, j), Y(j, k)));
    add("join", join);
    tree(i, k) = 2.0 * ep::abs(ep::map(squared{}, X(i, k)) - ep::join(shifted{2, -1}, Y(k, i), X(i, k))) + X(i, k);
    add("tree", tree);
    sum(k) = ep::max(i, ep::map(spread{}, ep::join(pair_of{}, X(i, k), Y(k, i))));
    add("sum", sum);
    own(i) = ep::reduce(nearest{3.3}, X(i, k) + Y(k, i));
    add("own", own);
    complex(i) = ep::map(squared{}, C(i, k)) * C(i, k);
    add("complex", complex);
    truth(k) = ep::max(i, ep::map(squared{}, X(i, k)) > 30.0);
    add("truth", truth);
    several(i, k) = ep::map(squared{}, map(k, i)) - map(k, i);
    add("several", several);
    both(i) = ep::reduce(nearest{30.4}, ep::map(squared{}, X(i, k)));
    add("both", both);
    ep::tensor<double, 2> quotients;
    ep::tensor<double, 1> quotient;
    quotients(i, k) = 0.5 * ep::map(divided{}, N(i, k));
    add("quotients", quotients);
    quotient(k) = ep::max(i, 0.5 * ep::map(divided{}, N(i, k)));
    add("quotient", quotient);
    return all;
}

}  // namespace functor_test
