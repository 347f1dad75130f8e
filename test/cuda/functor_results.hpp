#pragma once
// Results of what functors.hpp records, compared.

#include <einparallel/array/array.hpp>
#include <einparallel/data/distributed.hpp>
#include <einparallel/data/results.hpp>

#include "functors.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

namespace functor_test {

template <class T, std::size_t Rank>
std::vector<std::complex<double>> elements_of(const ep::results& made) {
    const ep::array<T, Rank> all = made.at<T, Rank>(0).allgather();
    return {all.data(), all.data() + all.size()};
}

/// The largest difference of two elements, relative to the first; 2 where results have other extents. Collective.
inline double distance(const recorded& of, const ep::results& a, const ep::results& b) {
    const auto elements = [&](const ep::results& made) {
        return of.made->bounds.size() == 2    ? elements_of<double, 2>(made)
               : of.made->element.kind == 'b' ? elements_of<bool, 1>(made)
               : of.made->element.kind == 'c' ? elements_of<std::complex<float>, 1>(made)
                                              : elements_of<double, 1>(made);
    };
    const auto x = elements(a), y = elements(b);
    double most = x.size() == y.size() ? 0 : 2;
    for (std::size_t at = 0; at < x.size() && most < 2; ++at) {
        most = x[at] == y[at] ? most : std::max(most, std::abs(x[at] - y[at]) / std::abs(x[at]));
    }
    return most;
}

}  // namespace functor_test
