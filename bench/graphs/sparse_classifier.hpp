#pragma once
// A classifier of samples that have few of many features, as integers, and a step of gradient descent.

#include <einparallel/graph/gradient.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/functions.hpp>
#include <einparallel/notation/label.hpp>

#include <vector>

namespace experiments {

namespace ep = einparallel;

/// Extents: samples b of a step, features e that each has of f, neurons h of the hidden layer, classes c.
struct sparse_classifier_sizes {
    ep::index samples, kept, features, width, classes;
};

template <class T>
struct sparse_classifier {
    ep::tensor<int, 2> features;            ///< [b, e]
    ep::tensor<int, 1> classes;             ///< [b]
    std::vector<ep::tensor<T, 2>> weights;  ///< W [f, h] and V [h, c]
    ep::tensor<T, 0> loss;                  ///< mean of the samples' cross entropies
    std::vector<ep::tensor<T, 2>> updated;  ///< the weights less rate · gradient
};

template <class T>
sparse_classifier<T> build_sparse_classifier(const sparse_classifier_sizes& n, double rate) {
    EINPARALLEL_LABELS(b, e, f, h, c);
    const auto feature = ep::placeholder<int>({n.samples, n.kept}).named("features");
    const auto own = ep::placeholder<int>({n.samples}).named("classes");
    const auto W = ep::placeholder<T>({n.features, n.width}).named("W");
    const auto V = ep::placeholder<T>({n.width, n.classes}).named("V");

    ep::tensor<T, 2> H, L;
    H(b, h) = relu(ep::sum(e, W(feature(b, e), h)));
    L(b, c) = H(b, h) * V(h, c);
    H.named("H");
    L.named("logits");
    ep::tensor<T, 1> largest, entropy;
    largest(b) = ep::max(L(b, c));
    entropy(b) = log(ep::sum(c, exp(L(b, c) - largest(b)))) + largest(b) - L(b, own(b));
    ep::tensor<T, 0> loss;
    loss() = entropy(b) / T(n.samples);
    loss.named("loss");

    const auto [dW, dV] = ep::gradient(loss, W, V);
    ep::tensor<T, 2> new_W, new_V;
    new_W(f, h) = W(f, h) - rate * dW(f, h);
    new_V(h, c) = V(h, c) - rate * dV(h, c);
    new_W.named("new W");
    new_V.named("new V");
    return {feature, own, {W, V}, loss, {new_W, new_V}};
}

}  // namespace experiments
