#pragma once
// Multi-head attention as the EinDecomp paper writes it (§3), softmax included.

#include "inputs.hpp"
#include "names.hpp"

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <cmath>

namespace experiments {

/// Extents: tokens s (t where one looks at another), attributes a, heads h of `depth` numbers d.
struct attention_sizes {
    ep::index sequence, attributes, heads, depth;
};

template <class T>
struct attention {
    ep::tensor<T, 3> Q_H, K_H, V_H;  ///< [s, h, d] projections of Q, K, V
    ep::tensor<T, 3> T1, T2, T3;     ///< [h, s, t] scores, scaled, probabilities
    ep::tensor<T, 3> O;              ///< [s, h, d]
    ep::tensor<T, 2> Y;              ///< [s, a] the output
};

template <class Inputs>
attention<typename Inputs::value_type> build_attention(const attention_sizes& n, const Inputs& inputs) {
    EINPARALLEL_LABELS(s, t, a, h, d);
    const auto Q = inputs("Q", {n.sequence, n.attributes});
    const auto K = inputs("K", {n.sequence, n.attributes});
    const auto V = inputs("V", {n.sequence, n.attributes});
    const auto W_Q = inputs("W_Q", {n.attributes, n.heads, n.depth});
    const auto W_K = inputs("W_K", {n.attributes, n.heads, n.depth});
    const auto W_V = inputs("W_V", {n.attributes, n.heads, n.depth});
    const auto W_O = inputs("W_O", {n.attributes, n.heads, n.depth});

    attention<typename Inputs::value_type> made;
    auto& [Q_H, K_H, V_H, T1, T2, T3, O, Y] = made;
    Q_H(s, h, d) = Q(s, a) * W_Q(a, h, d);
    K_H(s, h, d) = K(s, a) * W_K(a, h, d);
    V_H(s, h, d) = V(s, a) * W_V(a, h, d);
    T1(h, s, t) = Q_H(s, h, d) * K_H(t, h, d);
    T2(h, s, t) = 1.0 / std::sqrt(static_cast<double>(n.depth)) * T1(h, s, t);
    T3(h, s, t) = ep::softmax(t, T2(h, s, t));
    O(s, h, d) = T3(h, s, t) * V_H(t, h, d);
    Y(s, a) = O(s, h, d) * W_O(a, h, d);

    Q_H.named("Q_H");
    K_H.named("K_H");
    V_H.named("V_H");
    T1.named("T1");
    T2.named("T2");
    T3.named("T3");
    O.named("O");
    Y.named("Y");
    name_terms(Y);
    return made;
}

}  // namespace experiments
