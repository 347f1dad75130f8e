#pragma once
// A step of Tucker's decomposition of a tensor of three dimensions.

#include "inputs.hpp"
#include "names.hpp"

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>

namespace experiments {

/// One sweep of the higher-order orthogonal iteration for a tensor of three dimensions: the Gram matrices whose
/// eigenvectors are the next factors, and the core of the present factors. Extents: dimensions i, j, k of the data, and
/// the rank of all factors (r, s, t).
struct tucker_sizes {
    ep::index i, j, k, rank;
};

template <class T>
struct tucker {
    ep::tensor<T, 3> Yu, Yv, Yw;  ///< the data, projected on the factors of two dimensions
    ep::tensor<T, 2> Gu, Gv, Gw;  ///< Gram matrices: outputs
    ep::tensor<T, 3> core;        ///< [r, s, t] an output
    ep::tensor<T, 0> norm;        ///< squared norm of the core: an output
};

template <class Inputs>
tucker<typename Inputs::value_type> build_tucker(const tucker_sizes& n, const Inputs& inputs) {
    EINPARALLEL_LABELS(i, j, k, l, r, s, t);
    tucker<typename Inputs::value_type> made;
    auto& [Yu, Yv, Yw, Gu, Gv, Gw, core, norm] = made;
    const auto X = inputs("X", {n.i, n.j, n.k});
    const auto U = inputs("U", {n.i, n.rank});
    const auto V = inputs("V", {n.j, n.rank});
    const auto W = inputs("W", {n.k, n.rank});

    Yu(i, s, t) = X(i, j, k) * V(j, s) * W(k, t);
    Yv(j, r, t) = X(i, j, k) * U(i, r) * W(k, t);
    Yw(k, r, s) = X(i, j, k) * U(i, r) * V(j, s);
    Gu(i, l) = Yu(i, s, t) * Yu(l, s, t);
    Gv(j, l) = Yv(j, r, t) * Yv(l, r, t);
    Gw(k, l) = Yw(k, r, s) * Yw(l, r, s);
    core(r, s, t) = Yu(i, s, t) * U(i, r);
    norm() = core(r, s, t) * core(r, s, t);

    Yu.named("Yu");
    Yv.named("Yv");
    Yw.named("Yw");
    Gu.named("Gu");
    Gv.named("Gv");
    Gw.named("Gw");
    core.named("core");
    norm.named("norm");
    name_terms(Gu, Gv, Gw, core, norm);
    return made;
}

}  // namespace experiments
