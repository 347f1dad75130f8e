#pragma once
// Experiment 2 of the EinDecomp paper (§9.2): one step of training a feed-forward classifier with one hidden layer, as
// far as the gradients of its weights.

#include "inputs.hpp"

#include <einparallel/graph/gradient.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/functions.hpp>
#include <einparallel/notation/label.hpp>

#include <tuple>

namespace experiments {

/// Extents: data points b in a batch, features f, hidden neurons h, classes l.
struct classifier_sizes {
    ep::index batch, features, hidden, classes;
};

/// AmazonCat-14K with 8192 hidden neurons; the paper's batches have 128 and 512 data points.
constexpr classifier_sizes amazon_cat(ep::index batch) {
    return {batch, 597'540, 8192, 14'588};
}

/// The inputs and everything that is made of them. The outputs are loss, dW1 and dW2.
template <class T>
struct classifier {
    ep::tensor<T, 2> X;   ///< [b, f] the data points
    ep::tensor<T, 2> Y;   ///< [b, l] what they should be classified as: the shares of each data point's classes, sum 1
    ep::tensor<T, 2> W1;  ///< [f, h]
    ep::tensor<T, 2> W2;  ///< [h, l]

    ep::tensor<T, 2> hidden, activated;        ///< [b, h] before and after relu
    ep::tensor<T, 2> scores;                   ///< [b, l]
    ep::tensor<T, 1> largest, sums, log_sums;  ///< [b] of softmax: max s, Σ exp(s − max s), log Σ exp s
    ep::tensor<T, 2> exponentials;             ///< [b, l] of softmax
    ep::tensor<T, 0> loss;                     ///< mean over b of the cross entropy −Σ Y log(softmax)

    ep::tensor<T, 2> dW1;  ///< [f, h] gradients of the loss
    ep::tensor<T, 2> dW2;  ///< [h, l]
};

template <class Inputs>
classifier<typename Inputs::value_type> build_classifier(const classifier_sizes& n, const Inputs& inputs) {
    EINPARALLEL_LABELS(b, f, h, l);
    classifier<typename Inputs::value_type> made;
    auto& [X, Y, W1, W2, hidden, activated, scores, largest, sums, log_sums, exponentials, loss, dW1, dW2] = made;
    X = inputs("X", {n.batch, n.features});
    Y = inputs("Y", {n.batch, n.classes});
    W1 = inputs("W1", {n.features, n.hidden});
    W2 = inputs("W2", {n.hidden, n.classes});
    const double share = 1.0 / static_cast<double>(n.batch > 0 ? n.batch : 1);

    hidden(b, h) = X(b, f) * W1(f, h);
    activated(b, h) = relu(hidden(b, h));
    scores(b, l) = activated(b, h) * W2(h, l);

    // The steps of the paper's softmax (EinDecomp §3), for the logarithm of a probability that is 0 in floating point
    // is still a number this way.
    largest(b) = ep::max(scores(b, l));
    exponentials(b, l) = exp(scores(b, l) - largest(b));
    sums(b) = exponentials(b, l);
    log_sums(b) = largest(b) + log(sums(b));
    loss() = ep::sum(share * (Y(b, l) * (log_sums(b) - scores(b, l))));

    hidden.named("hidden");
    activated.named("activated");
    scores.named("scores");
    largest.named("largest");
    exponentials.named("exponentials");
    sums.named("sums");
    log_sums.named("log_sums");
    loss.named("loss");
    std::tie(dW1, dW2) = ep::gradient(loss, W1, W2);
    dW1.named("dW1");
    dW2.named("dW2");
    return made;
}

}  // namespace experiments
