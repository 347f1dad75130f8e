#pragma once
// Response functions of a crystal.

#include "inputs.hpp"
#include "names.hpp"

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>

namespace experiments {

/// The independent-particle response of a crystal at a few frequencies, from pair densities of its bands:
///
///     P(w, g, h) = sum over k, v, c of  D(w, k, v, c) M(k, v, c, g) M(k, v, c, h),   D = 1 / (e_c - e_v + x_w),
///
/// and the screened exchange that follows with a kernel v(g): one iteration of the series of Dyson's equation.
/// Extents: points k of the Brillouin zone, occupied bands v, empty bands c, plane waves g, frequencies w, functions u
/// of the grid on which orbitals are given.
struct response_sizes {
    ep::index points, occupied, empty, waves, frequencies, grid;
};

template <class T>
struct response {
    ep::tensor<T, 4> M;  ///< [k, v, c, g] pair densities
    ep::tensor<T, 4> D;  ///< [w, k, v, c]
    ep::tensor<T, 3> P;  ///< [w, g, h]
    ep::tensor<T, 3> Q;  ///< [w, g, h] P + P v P: an output
    ep::tensor<T, 3> S;  ///< [w, k, v] exchange energies: an output
};

template <class Inputs>
response<typename Inputs::value_type> build_response(const response_sizes& n, const Inputs& inputs) {
    EINPARALLEL_LABELS(k, v, c, g, h, q, u, w);
    response<typename Inputs::value_type> made;
    auto& [M, D, P, Q, S] = made;
    const auto psi_v = inputs("psi_v", {n.points, n.occupied, n.grid});
    const auto psi_c = inputs("psi_c", {n.points, n.empty, n.grid});
    const auto wave = inputs("wave", {n.waves, n.grid});
    const auto e_v = inputs("e_v", {n.points, n.occupied});
    const auto e_c = inputs("e_c", {n.points, n.empty});
    const auto x = inputs("x", {n.frequencies});
    const auto kernel = inputs("kernel", {n.waves});

    M(k, v, c, g) = psi_v(k, v, u) * psi_c(k, c, u) * wave(g, u);
    D(w, k, v, c) = 1.0 / (e_c(k, c) - e_v(k, v) + x(w));
    P(w, g, h) = D(w, k, v, c) * M(k, v, c, g) * M(k, v, c, h);
    Q(w, g, h) = P(w, g, h) + P(w, g, q) * kernel(q) * P(w, q, h);
    S(w, k, v) = D(w, k, v, c) * M(k, v, c, g) * M(k, v, c, h) * Q(w, g, h);

    M.named("M");
    D.named("D");
    P.named("P");
    Q.named("Q");
    S.named("S");
    name_terms(Q, S);
    return made;
}

}  // namespace experiments
