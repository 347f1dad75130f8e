#pragma once
// The MP2 correlation energy, from integrals over molecular orbitals or, with density fitting, over atomic ones:
//
//     E = Σ (ia|jb) (2 (ia|jb) − (ib|ja)) / (e_i + e_j − e_a − e_b),   i, j occupied, a, b virtual.

#include "inputs.hpp"
#include "names.hpp"

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>

namespace experiments {

/// Extents: occupied orbitals i, j, virtual ones a, b; with density fitting also atomic orbitals p, q and auxiliary
/// functions P, Q.
struct mp2_sizes {
    ep::index occupied, virtuals;
    ep::index atomic = 0, auxiliary = 0;
};

template <class T>
struct mp2 {
    ep::tensor<T, 1> e_o, e_v;
    ep::tensor<T, 4> iajb;  ///< (ia|jb)
    ep::tensor<T, 4> t;     ///< amplitudes
    ep::tensor<T, 0> E;     ///< the output
};

/// Amplitudes and energy of `iajb`.
template <class Inputs>
mp2<typename Inputs::value_type> build_mp2_energy(const mp2_sizes& n, const Inputs& inputs,
                                                  const ep::tensor<typename Inputs::value_type, 4>& iajb) {
    EINPARALLEL_LABELS(i, a, j, b);
    mp2<typename Inputs::value_type> made;
    made.e_o = inputs("e_o", {n.occupied});
    made.e_v = inputs("e_v", {n.virtuals});
    made.iajb = iajb;

    made.t(i, a, j, b) = iajb(i, a, j, b) / (made.e_o(i) + made.e_o(j) - made.e_v(a) - made.e_v(b));
    made.E() = 2.0 * made.t(i, a, j, b) * iajb(i, a, j, b) - made.t(i, a, j, b) * iajb(i, b, j, a);

    made.t.named("t");
    made.E.named("E");
    name_terms(made.E);
    return made;
}

/// From (ia|jb) as an input.
template <class Inputs>
mp2<typename Inputs::value_type> build_mp2(const mp2_sizes& n, const Inputs& inputs) {
    return build_mp2_energy(n, inputs, inputs("(ia|jb)", {n.occupied, n.virtuals, n.occupied, n.virtuals}));
}

/// From (Q|pq) and J = (P|Q)^−½, in four statements: B = J (Q|pq) C_o C_v, (ia|jb) = Σ_Q B B, amplitudes, energy.
template <class Inputs>
mp2<typename Inputs::value_type> build_df_mp2(const mp2_sizes& n, const Inputs& inputs) {
    using T = typename Inputs::value_type;
    EINPARALLEL_LABELS(P, Q, p, q, i, a, j, b);
    const ep::tensor<T, 2> J = inputs("J", {n.auxiliary, n.auxiliary});
    const ep::tensor<T, 3> Qpq = inputs("(Q|pq)", {n.auxiliary, n.atomic, n.atomic});
    const ep::tensor<T, 2> C_o = inputs("C_o", {n.atomic, n.occupied});
    const ep::tensor<T, 2> C_v = inputs("C_v", {n.atomic, n.virtuals});

    ep::tensor<T, 3> B;
    ep::tensor<T, 4> iajb;
    B(P, i, a) = J(P, Q) * Qpq(Q, p, q) * C_o(p, i) * C_v(q, a);
    iajb(i, a, j, b) = B(P, i, a) * B(P, j, b);

    B.named("B");
    iajb.named("(ia|jb)");
    return build_mp2_energy(n, inputs, iajb);
}

}  // namespace experiments
