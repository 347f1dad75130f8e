#pragma once
// Experiment 1 of the EinDecomp paper (§9.2): the chain (A×B) + (C×(D×E)).

#include "inputs.hpp"

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>

namespace experiments {

/// Extents of the labels in A(i, j) · B(j, m) + C(i, k) · D(k, l) · E(l, m).
struct matrix_chain_sizes {
    ep::index i, j, k, l, m;
};

/// All five matrices s × s.
constexpr matrix_chain_sizes square_chain(ep::index s) {
    return {s, s, s, s, s};
}

/// A s × s/10, B s/10 × s, C s × s/10, D s/10 × 10s, E 10s × s.
constexpr matrix_chain_sizes skewed_chain(ep::index s) {
    return {s, s / 10, s / 10, 10 * s, s};
}

/// The inputs and everything that is made of them.
template <class T>
struct matrix_chain {
    ep::tensor<T, 2> A, B, C, D, E;
    ep::tensor<T, 2> AB, DE, CDE;
    ep::tensor<T, 2> Z;  ///< the output
};

template <class Inputs>
matrix_chain<typename Inputs::value_type> build_matrix_chain(const matrix_chain_sizes& n, const Inputs& inputs) {
    EINPARALLEL_LABELS(i, j, k, l, m);
    matrix_chain<typename Inputs::value_type> made;
    made.A = inputs("A", {n.i, n.j});
    made.B = inputs("B", {n.j, n.m});
    made.C = inputs("C", {n.i, n.k});
    made.D = inputs("D", {n.k, n.l});
    made.E = inputs("E", {n.l, n.m});

    made.AB(i, m) = made.A(i, j) * made.B(j, m);
    made.DE(k, m) = made.D(k, l) * made.E(l, m);
    made.CDE(i, m) = made.C(i, k) * made.DE(k, m);
    made.Z(i, m) = made.AB(i, m) + made.CDE(i, m);

    made.AB.named("AB");
    made.DE.named("DE");
    made.CDE.named("CDE");
    made.Z.named("Z");
    return made;
}

}  // namespace experiments
