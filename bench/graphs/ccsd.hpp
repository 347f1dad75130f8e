#pragma once
// One iteration of closed-shell, spin-adapted CCSD: Hirata, Podeszwa, Tobita, Bartlett, J. Chem. Phys. 120, 2581
// (2004), equations 35 and 36, with the intermediates of PySCF's rccsd, (pq|rs) in Mulliken's order, real orbitals.
//
// Terms of equal shape share a product: L = 2 (pq|rs) − (ps|rq), τ = t2 + t1 t1, θ = 2 t2 − t2 with i and j exchanged.

#include "inputs.hpp"
#include "names.hpp"

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>

namespace experiments {

/// Extents: occupied orbitals i, j, k, l and virtual ones a, b, c, d. Water in 6-31G has 5 and 8.
struct ccsd_sizes {
    ep::index occupied, virtuals;
};

/// Everything that has a name in the equations; letters after _ are the labels of the dimensions, o or v.
template <class T>
struct ccsd {
    ep::tensor<T, 4> L_ovov, L_ovvv, L_ovoo, M_ovvo;        ///< combinations of integrals
    ep::tensor<T, 4> tau, theta, half;                      ///< combinations of amplitudes
    ep::tensor<T, 2> F_ov, F_oo, F_vv, L_oo, L_vv, D_ov;    ///< one-body intermediates
    ep::tensor<T, 4> W_oooo, W_vvvv, W_voov, W_vovo, X, Y;  ///< two-body intermediates
    ep::tensor<T, 4> A;                                     ///< [i, j, a, b] terms of R2 that (ia) ↔ (jb) doubles
    ep::tensor<T, 2> R1;                                    ///< [i, a]
    ep::tensor<T, 4> R2;                                    ///< [i, j, a, b]
    ep::tensor<T, 2> t1;                                    ///< the next amplitudes: an output
    ep::tensor<T, 4> t2;                                    ///< the next amplitudes: an output
    ep::tensor<T, 0> E;                                     ///< correlation energy before the iteration: an output
};

template <class Inputs>
ccsd<typename Inputs::value_type> build_ccsd(const ccsd_sizes& n, const Inputs& inputs) {
    EINPARALLEL_LABELS(i, j, k, l, a, b, c, d);
    const ep::index o = n.occupied;
    const ep::index v = n.virtuals;
    const auto t1 = inputs("t1", {o, v});
    const auto t2 = inputs("t2", {o, o, v, v});
    const auto f_oo = inputs("f_oo", {o, o});  // without its diagonal, which the denominators hold; f_vv alike
    const auto f_ov = inputs("f_ov", {o, v});
    const auto f_vv = inputs("f_vv", {v, v});
    const auto e_o = inputs("e_o", {o});
    const auto e_v = inputs("e_v", {v});
    const auto oooo = inputs("(oo|oo)", {o, o, o, o});
    const auto ovoo = inputs("(ov|oo)", {o, v, o, o});
    const auto oovv = inputs("(oo|vv)", {o, o, v, v});
    const auto ovvo = inputs("(ov|vo)", {o, v, v, o});
    const auto ovov = inputs("(ov|ov)", {o, v, o, v});
    const auto ovvv = inputs("(ov|vv)", {o, v, v, v});
    const auto vvvv = inputs("(vv|vv)", {v, v, v, v});

    ccsd<typename Inputs::value_type> made;
    auto& [L_ovov, L_ovvv, L_ovoo, M_ovvo, tau, theta, half, F_ov, F_oo, F_vv, L_oo, L_vv, D_ov, W_oooo, W_vvvv, W_voov,
           W_vovo, X, Y, A, R1, R2, new_t1, new_t2, E] = made;

    L_ovov(k, c, l, d) = 2.0 * ovov(k, c, l, d) - ovov(k, d, l, c);
    L_ovvv(k, d, a, c) = 2.0 * ovvv(k, d, a, c) - ovvv(k, c, a, d);
    L_ovoo(l, c, k, i) = 2.0 * ovoo(l, c, k, i) - ovoo(k, c, l, i);
    M_ovvo(k, c, a, i) = 2.0 * ovvo(k, c, a, i) - oovv(k, i, a, c);
    tau(i, j, a, b) = t2(i, j, a, b) + t1(i, a) * t1(j, b);
    theta(i, j, a, b) = 2.0 * t2(i, j, a, b) - t2(j, i, a, b);
    half(i, l, d, a) = 0.5 * t2(i, l, d, a) + t1(i, d) * t1(l, a);

    F_ov(k, c) = f_ov(k, c) + L_ovov(k, c, l, d) * t1(l, d);
    F_oo(k, i) = f_oo(k, i) + L_ovov(k, c, l, d) * tau(i, l, c, d);
    F_vv(a, c) = f_vv(a, c) - L_ovov(k, c, l, d) * tau(k, l, a, d);
    L_oo(k, i) = F_oo(k, i) + f_ov(k, c) * t1(i, c) + L_ovoo(l, c, k, i) * t1(l, c);
    L_vv(a, c) = F_vv(a, c) - f_ov(k, c) * t1(k, a) + L_ovvv(k, d, a, c) * t1(k, d);
    D_ov(k, c) = F_ov(k, c) - 2.0 * f_ov(k, c);

    W_oooo(k, l, i, j) = oooo(k, i, l, j) + ovoo(l, c, k, i) * t1(j, c) + ovoo(k, c, l, j) * t1(i, c) +
                         ovov(k, c, l, d) * tau(i, j, c, d);
    W_vvvv(a, b, c, d) = vvvv(a, c, b, d) - ovvv(k, d, a, c) * t1(k, b) - ovvv(k, c, b, d) * t1(k, a);
    W_voov(a, k, i, c) = ovvo(k, c, a, i) + ovvv(k, c, a, d) * t1(i, d) - ovoo(k, c, l, i) * t1(l, a) +
                         0.5 * L_ovov(l, d, k, c) * t2(i, l, a, d) - ovov(l, d, k, c) * half(i, l, d, a);
    W_vovo(a, k, c, i) = oovv(k, i, a, c) + ovvv(k, d, a, c) * t1(i, d) - ovoo(l, c, k, i) * t1(l, a) -
                         ovov(l, c, k, d) * half(i, l, d, a);

    R1(i, a) = f_ov(i, a) + F_vv(a, c) * t1(i, c) - F_oo(k, i) * t1(k, a) + D_ov(k, c) * t1(i, c) * t1(k, a) +
               F_ov(k, c) * theta(k, i, c, a) + M_ovvo(k, c, a, i) * t1(k, c) + L_ovvv(k, d, a, c) * tau(i, k, c, d) -
               L_ovoo(l, c, k, i) * tau(k, l, a, c);

    X(a, b, i, c) = ovvv(i, a, c, b) - oovv(k, i, b, c) * t1(k, a);
    Y(a, k, i, j) = ovoo(i, a, j, k) + ovvo(k, c, a, i) * t1(j, c);
    A(i, j, a, b) = X(a, b, i, c) * t1(j, c) - Y(a, k, i, j) * t1(k, b) + L_vv(a, c) * t2(i, j, c, b) -
                    L_oo(k, i) * t2(k, j, a, b) + W_voov(a, k, i, c) * theta(k, j, c, b) -
                    W_vovo(a, k, c, i) * t2(k, j, c, b) - W_vovo(b, k, c, i) * t2(k, j, a, c);
    R2(i, j, a, b) = ovov(i, a, j, b) + W_oooo(k, l, i, j) * tau(k, l, a, b) + W_vvvv(a, b, c, d) * tau(i, j, c, d) +
                     A(i, j, a, b) + A(j, i, b, a);

    new_t1(i, a) = R1(i, a) / (e_o(i) - e_v(a));
    new_t2(i, j, a, b) = R2(i, j, a, b) / (e_o(i) + e_o(j) - e_v(a) - e_v(b));
    E() = 2.0 * f_ov(i, a) * t1(i, a) + L_ovov(i, a, j, b) * tau(i, j, a, b);

    L_ovov.named("L_ovov");
    L_ovvv.named("L_ovvv");
    L_ovoo.named("L_ovoo");
    M_ovvo.named("M_ovvo");
    tau.named("tau");
    theta.named("theta");
    half.named("half");
    F_ov.named("F_ov");
    F_oo.named("F_oo");
    F_vv.named("F_vv");
    L_oo.named("L_oo");
    L_vv.named("L_vv");
    D_ov.named("D_ov");
    W_oooo.named("W_oooo");
    W_vvvv.named("W_vvvv");
    W_voov.named("W_voov");
    W_vovo.named("W_vovo");
    X.named("X");
    Y.named("Y");
    A.named("A");
    R1.named("R1");
    R2.named("R2");
    new_t1.named("new_t1");
    new_t2.named("new_t2");
    E.named("E");
    name_terms(new_t1, new_t2, E);
    return made;
}

}  // namespace experiments
