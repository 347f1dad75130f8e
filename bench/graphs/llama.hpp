#pragma once
// Experiments 3 and 4 of the EinDecomp paper (§9.2): the prefill of a LLaMA large language model, from the embedded
// prompt to the scores of the first new token, with all layers.
//
// What einsums have no words for are tables looked up by the values of a tensor, and subscripts that are numbers: so
// the graph begins with the embedded tokens, and the token whose scores are wanted is chosen by a product with a unit
// vector.

#include "inputs.hpp"

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace experiments {

/// Extents: prompts b in a batch, tokens s of a prompt (t where one looks at another), attributes a, attention heads h
/// of `depth` numbers each (d; an even number, as depth/2 pairs r of two for the rotary position), neurons f of the
/// feed-forward network, tokens v of the vocabulary.
struct llama_sizes {
    ep::index batch, sequence;
    int layers;
    ep::index attributes, heads, depth, neurons, vocabulary;
};

constexpr llama_sizes llama_7b(ep::index batch, ep::index sequence) {
    return {batch, sequence, 32, 4096, 32, 128, 11'008, 32'000};
}
constexpr llama_sizes llama_65b(ep::index batch, ep::index sequence) {
    return {batch, sequence, 80, 8192, 64, 128, 22'016, 32'000};
}

/// The rotary position as a 2 × 2 matrix for each token and each pair of a head's numbers: a turn by
/// s · 10000^(−2r / depth), a function of the index alone.
template <class T>
struct rotation {
    ep::index depth;

    T operator()(ep::index s, ep::index r, ep::index before, ep::index after) const {
        const double angle =
            static_cast<double>(s) * std::pow(10'000.0, -2.0 * static_cast<double>(r) / static_cast<double>(depth));
        const double entry = before == after ? std::cos(angle) : std::sin(angle);
        return static_cast<T>(before == 1 && after == 0 ? -entry : entry);
    }
};

/// What is added to the scores of attention so that no token looks at a later one.
template <class T>
struct causal_mask {
    T operator()(ep::index s, ep::index t) const { return t <= s ? T(0) : T(-std::numeric_limits<T>::infinity()); }
};

/// Everything that one layer makes.
template <class T>
struct llama_layer {
    ep::tensor<T, 2> attention_squares;              ///< [b, s] mean square over a
    ep::tensor<T, 3> attention_input;                ///< [b, s, a] after RMS norm
    ep::tensor<T, 5> query, key;                     ///< [b, s, h, r, 2]
    ep::tensor<T, 5> rotated_query, rotated_key;     ///< [b, s, h, r, 2]
    ep::tensor<T, 4> value;                          ///< [b, s, h, d]
    ep::tensor<T, 4> scores, masked, probabilities;  ///< [b, h, s, t]
    ep::tensor<T, 4> attended;                       ///< [b, s, h, d]
    ep::tensor<T, 3> projected, attention_output;    ///< [b, s, a] before and after the residual
    ep::tensor<T, 2> network_squares;                ///< [b, s]
    ep::tensor<T, 3> network_input;                  ///< [b, s, a]
    ep::tensor<T, 3> gate, up, gated;                ///< [b, s, f] SwiGLU
    ep::tensor<T, 3> down, output;                   ///< [b, s, a] before and after the residual
};

/// The inputs that are not weights, all layers, and the end. The output is `logits`.
template <class T>
struct llama {
    ep::tensor<T, 3> prompt;  ///< [b, s, a] the embedded tokens
    ep::tensor<T, 2> chosen;  ///< [b, s] 1 at the last token of each prompt, otherwise 0
    std::vector<llama_layer<T>> layers;
    ep::tensor<T, 2> last;          ///< [b, a]
    ep::tensor<T, 1> last_squares;  ///< [b]
    ep::tensor<T, 2> normalised;    ///< [b, a]
    ep::tensor<T, 2> logits;        ///< [b, v]
};

/// Names the vertices that `made = ep::softmax(…)` consists of beside its last one.
template <class T, std::size_t Rank>
void name_softmax(const ep::tensor<T, Rank>& made, const std::string& prefix) {
    const ep::vertex& quotient =
        std::is_floating_point_v<T> ? *made.node() : *made.node()->operands[0];  // halves are rounded after it
    ep::vertex& exponentials = *quotient.operands[0];
    exponentials.name = prefix + "exponentials";
    quotient.operands[1]->name = prefix + "sums";
    exponentials.operands[1]->name = prefix + "largest";
}

/// One layer: attention, then the SwiGLU network, each on a normalised copy and added to what came in. `turn` is
/// [s, r, 2, 2], `mask` is [s, t]; the names of what it makes begin with `prefix`.
template <class Inputs>
llama_layer<typename Inputs::value_type> build_llama_layer(const llama_sizes& n, const Inputs& inputs,
                                                           const std::string& prefix,
                                                           const ep::tensor<typename Inputs::value_type, 3>& X,
                                                           const ep::tensor<typename Inputs::value_type, 4>& turn,
                                                           const ep::tensor<typename Inputs::value_type, 2>& mask) {
    EINPARALLEL_LABELS(b, s, t, a, h, r, c, e, d, f);
    const ep::index pairs = n.depth / 2;
    const double share = 1.0 / static_cast<double>(n.attributes > 0 ? n.attributes : 1);
    const double scale = 1.0 / std::sqrt(static_cast<double>(n.depth > 0 ? n.depth : 1));

    const auto attention_gain = inputs(prefix + "attention_gain", {n.attributes});
    const auto W_Q = inputs(prefix + "W_Q", {n.attributes, n.heads, pairs, 2});
    const auto W_K = inputs(prefix + "W_K", {n.attributes, n.heads, pairs, 2});
    const auto W_V = inputs(prefix + "W_V", {n.attributes, n.heads, n.depth});
    const auto W_O = inputs(prefix + "W_O", {n.heads, n.depth, n.attributes});
    const auto network_gain = inputs(prefix + "network_gain", {n.attributes});
    const auto W_gate = inputs(prefix + "W_gate", {n.attributes, n.neurons});
    const auto W_up = inputs(prefix + "W_up", {n.attributes, n.neurons});
    const auto W_down = inputs(prefix + "W_down", {n.neurons, n.attributes});

    llama_layer<typename Inputs::value_type> made;
    auto& [attention_squares, attention_input, query, key, rotated_query, rotated_key, value, scores, masked,
           probabilities, attended, projected, attention_output, network_squares, network_input, gate, up, gated, down,
           output] = made;

    attention_squares(b, s) = share * X(b, s, a) * X(b, s, a);
    attention_input(b, s, a) = X(b, s, a) * attention_gain(a) / sqrt(attention_squares(b, s) + 1e-5);
    query(b, s, h, r, c) = attention_input(b, s, a) * W_Q(a, h, r, c);
    key(b, s, h, r, c) = attention_input(b, s, a) * W_K(a, h, r, c);
    value(b, s, h, d) = attention_input(b, s, a) * W_V(a, h, d);
    rotated_query(b, s, h, r, e) = query(b, s, h, r, c) * turn(s, r, c, e);
    rotated_key(b, s, h, r, e) = key(b, s, h, r, c) * turn(s, r, c, e);
    scores(b, h, s, t) = rotated_query(b, s, h, r, c) * rotated_key(b, t, h, r, c);
    masked(b, h, s, t) = scale * scores(b, h, s, t) + mask(s, t);
    probabilities(b, h, s, t) = ep::softmax(t, masked(b, h, s, t));
    attended(b, s, h, d) = probabilities(b, h, s, t) * value(b, t, h, d);
    projected(b, s, a) = attended(b, s, h, d) * W_O(h, d, a);
    attention_output(b, s, a) = X(b, s, a) + projected(b, s, a);

    network_squares(b, s) = share * attention_output(b, s, a) * attention_output(b, s, a);
    network_input(b, s, a) = attention_output(b, s, a) * network_gain(a) / sqrt(network_squares(b, s) + 1e-5);
    gate(b, s, f) = network_input(b, s, a) * W_gate(a, f);
    up(b, s, f) = network_input(b, s, a) * W_up(a, f);
    gated(b, s, f) = silu(gate(b, s, f)) * up(b, s, f);
    down(b, s, a) = gated(b, s, f) * W_down(f, a);
    output(b, s, a) = attention_output(b, s, a) + down(b, s, a);

    attention_squares.named(prefix + "attention_squares");
    attention_input.named(prefix + "attention_input");
    query.named(prefix + "query");
    key.named(prefix + "key");
    value.named(prefix + "value");
    rotated_query.named(prefix + "rotated_query");
    rotated_key.named(prefix + "rotated_key");
    scores.named(prefix + "scores");
    masked.named(prefix + "masked");
    probabilities.named(prefix + "probabilities");
    name_softmax(probabilities, prefix);
    attended.named(prefix + "attended");
    projected.named(prefix + "projected");
    attention_output.named(prefix + "attention_output");
    network_squares.named(prefix + "network_squares");
    network_input.named(prefix + "network_input");
    gate.named(prefix + "gate");
    up.named(prefix + "up");
    gated.named(prefix + "gated");
    down.named(prefix + "down");
    output.named(prefix + "output");
    return made;
}

template <class Inputs>
llama<typename Inputs::value_type> build_llama(const llama_sizes& n, const Inputs& inputs) {
    using T = typename Inputs::value_type;
    EINPARALLEL_LABELS(b, s, a, v);
    const double share = 1.0 / static_cast<double>(n.attributes > 0 ? n.attributes : 1);

    llama<T> made;
    made.prompt = inputs("prompt", {n.batch, n.sequence, n.attributes});
    made.chosen = inputs("chosen", {n.batch, n.sequence});
    const auto final_gain = inputs("final_gain", {n.attributes});
    const auto W_logits = inputs("W_logits", {n.attributes, n.vocabulary});
    const auto turn = ep::generate<T>({n.sequence, n.depth / 2, 2, 2}, rotation<T>{n.depth}).named("rotation");
    const auto mask = ep::generate<T>({n.sequence, n.sequence}, causal_mask<T>{}).named("mask");

    ep::tensor<T, 3> X = made.prompt;
    for (int layer = 0; layer < n.layers; ++layer) {
        made.layers.push_back(build_llama_layer(n, inputs, "layer" + std::to_string(layer) + ".", X, turn, mask));
        X = made.layers.back().output;
    }
    made.last(b, a) = X(b, s, a) * made.chosen(b, s);
    made.last_squares(b) = share * made.last(b, a) * made.last(b, a);
    made.normalised(b, a) = made.last(b, a) * final_gain(a) / sqrt(made.last_squares(b) + 1e-5);
    made.logits(b, v) = made.normalised(b, a) * W_logits(a, v);

    made.last.named("last");
    made.last_squares.named("last_squares");
    made.normalised.named("normalised");
    made.logits.named("logits");
    return made;
}

}  // namespace experiments
