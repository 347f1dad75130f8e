#pragma once
// A small transformer over characters, and a step of training it with Adam, as einsums.

#include <einparallel/graph/gradient.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/shape.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/functions.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace experiments {

namespace ep = einparallel;

/// Texts b of `context` characters s and t, of an alphabet v; attributes d of a character, `width` of them, in heads h
/// of k; neurons f of a layer, four times as many.
struct character_sizes {
    ep::index batch, context, width, heads, layers, alphabet;
};

/// Extents of the weights: of characters, places, then six of each layer, then of the logits.
inline std::vector<std::array<ep::index, 2>> weights_of(const character_sizes& n) {
    std::vector<std::array<ep::index, 2>> all{{n.alphabet, n.width}, {n.context, n.width}};
    for (ep::index layer = 0; layer < n.layers; ++layer) {
        all.insert(all.end(), 4, {n.width, n.width});
        all.insert(all.end(), {{n.width, 4 * n.width}, {4 * n.width, n.width}});
    }
    all.push_back({n.width, n.alphabet});
    return all;
}

/// x over the root of its mean square.
template <class T>
ep::tensor<T, 3> normalized(const ep::tensor<T, 3>& x) {
    EINPARALLEL_LABELS(b, t, d);
    ep::tensor<T, 2> square;
    square(b, t) = x(b, t, d) * x(b, t, d) / T(x.extents()[2]);
    ep::tensor<T, 3> made;
    made(b, t, d) = x(b, t, d) / sqrt(square(b, t) + T(1e-5));
    return made;
}

/// Logits [b, t, v] of the next character, by place in the text.
template <class T>
ep::tensor<T, 3> logits_of(const character_sizes& n, const ep::tensor<int, 2>& text,
                           const std::vector<ep::tensor<T, 2>>& all) {
    EINPARALLEL_LABELS(b, s, t, d, h, k, f, v);
    const ep::index by_head = n.width / n.heads;
    ep::tensor<T, 3> x;
    x(b, t, d) = all[0](text(b, t), d) + all[1](t, d);
    for (std::size_t layer = 0; layer < std::size_t(n.layers); ++layer) {
        const auto weight = [&](std::size_t which) { return all[2 + 6 * layer + which]; };
        const auto in_heads = [&](std::size_t which) {
            return ep::reshape(weight(which), {n.width, n.heads, by_head});
        };
        ep::tensor<T, 3> y = normalized(x);
        ep::tensor<T, 4> query, key, value, share, seen;
        query(b, t, h, k) = y(b, t, d) * in_heads(0)(d, h, k);
        key(b, t, h, k) = y(b, t, d) * in_heads(1)(d, h, k);
        value(b, t, h, k) = y(b, t, d) * in_heads(2)(d, h, k);
        const T scale = 1 / std::sqrt(T(by_head));
        share(b, h, s, t) = ep::softmax(
            t, ep::where(ep::iota(t) <= ep::iota(s), scale * ep::sum(k, query(b, s, h, k) * key(b, t, h, k)), T(-1e9)));
        seen(b, s, h, k) = share(b, h, s, t) * value(b, t, h, k);
        x(b, t, d) = x(b, t, d) + seen(b, t, h, k) * ep::reshape(weight(3), {n.heads, by_head, n.width})(h, k, d);
        y = normalized(x);
        ep::tensor<T, 3> up;
        up(b, t, f) = gelu(ep::sum(d, y(b, t, d) * weight(4)(d, f)));
        x(b, t, d) = x(b, t, d) + up(b, t, f) * weight(5)(f, d);
    }
    ep::tensor<T, 3> logits;
    logits(b, t, v) = normalized(x)(b, t, d) * all.back()(d, v);
    return logits;
}

/// A step: what it reads, the mean cross entropy of the characters, and what it makes.
template <class T>
struct character_model {
    using matrices = std::vector<ep::tensor<T, 2>>;

    ep::tensor<int, 2> text, next;       ///< [b, t]
    ep::tensor<T, 0> bias, square_bias;  ///< 1 / (1 − 0.9^step), 1 / (1 − 0.99^step), the first step 1
    matrices weights, means, squares;    ///< Adam's means of gradients, and of their squares
    ep::tensor<T, 0> loss;               ///< in nats
    matrices new_weights, new_means, new_squares;
};

template <class T>
character_model<T> build_character_model(const character_sizes& n, double rate) {
    EINPARALLEL_LABELS(b, t, d, f, v);
    character_model<T> made;
    made.text = ep::placeholder<int>({n.batch, n.context}).named("text");
    made.next = ep::placeholder<int>({n.batch, n.context}).named("next");
    made.bias = ep::placeholder<T>({});
    made.square_bias = ep::placeholder<T>({});
    for (const auto& extents : weights_of(n)) {
        made.weights.push_back(ep::placeholder<T>(extents).named("W" + std::to_string(made.weights.size())));
        made.means.push_back(ep::placeholder<T>(extents));
        made.squares.push_back(ep::placeholder<T>(extents));
    }

    const ep::tensor<T, 3> logits = logits_of(n, made.text, made.weights);
    ep::tensor<T, 2> largest, entropy;
    largest(b, t) = ep::max(logits(b, t, v));
    entropy(b, t) =
        log(ep::sum(v, exp(logits(b, t, v) - largest(b, t)))) + largest(b, t) - logits(b, t, made.next(b, t));
    made.loss() = entropy(b, t) / T(n.batch * n.context);

    const std::vector<ep::tensor<T, 2>> gradients = ep::gradient(made.loss, made.weights);
    for (std::size_t each = 0; each < gradients.size(); ++each) {
        const ep::tensor<T, 2>& g = gradients[each];
        ep::tensor<T, 2> mean, square, weight;
        mean(d, f) = T(0.9) * made.means[each](d, f) + T(0.1) * g(d, f);
        square(d, f) = T(0.99) * made.squares[each](d, f) + T(0.01) * g(d, f) * g(d, f);
        weight(d, f) = made.weights[each](d, f) -
                       T(rate) * made.bias() * mean(d, f) / (sqrt(made.square_bias() * square(d, f)) + T(1e-8));
        made.new_means.push_back(mean);
        made.new_squares.push_back(square);
        made.new_weights.push_back(weight);
    }
    return made;
}

}  // namespace experiments
