#pragma once
// The LLaMA architecture as it is used: tokens in, scores of the next token out, with a cache of the keys and values of
// earlier positions. Prefill and decoding are one graph, of many new tokens or of one.

#include <einparallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

namespace experiments {

namespace ep = einparallel;

/// Rotary frequencies of a model that reads more positions than it was trained with.
struct rotary_scaling {
    double factor = 1;      ///< by which frequencies are divided
    ep::index trained = 0;  ///< positions of Llama 3's rule; 0: all frequencies are divided
    double slowest = 1;     ///< turns in `trained` positions below which a frequency is divided
    double fastest = 4;     ///< turns above which it stays; between the two the divided share is linear
};

/// Extents and constants, as config.json has them.
struct llama_config {
    ep::index attributes, neurons, layers;
    ep::index groups;  ///< of heads; those of a group share keys and values
    ep::index heads;   ///< of a group
    ep::index depth;   ///< numbers of a head; even
    ep::index vocabulary, positions;
    double epsilon = 1e-6, theta = 10'000;
    rotary_scaling scaling;
    bool tied = false;  ///< scores come from the embedding's rows
    struct {
        int mask = 0, keys = 0, cache = 0;
    } off;  ///< what a test gets wrong: positions of the mask, of the keys' turn, in the cache
};

/// A gain of a normalisation, of the type that the checkpoint has it in: often floats beside matrices of halves. It
/// multiplies floats.
using llama_gain = std::variant<ep::tensor<float, 1>, ep::tensor<ep::float16, 1>, ep::tensor<ep::bfloat16, 1>>;

/// The weights of a model. In a head's rows of W_Q and W_K the rotary position turns number r of the first half with
/// number r of the second.
template <class T>
struct llama_weights {
    struct layer {
        llama_gain attention_gain, network_gain;  ///< [a]
        ep::tensor<T, 5> W_Q;                     ///< [g, h, half, r, a]
        ep::tensor<T, 4> W_K;                     ///< [g, half, r, a]
        ep::tensor<T, 3> W_V;                     ///< [g, d, a]
        ep::tensor<T, 4> W_O;                     ///< [a, g, h, d]
        ep::tensor<T, 2> W_gate, W_up, W_down;    ///< [f, a], [f, a], [a, f]
    };
    ep::tensor<T, 2> embedding, W_logits;  ///< [v, a]
    llama_gain last_gain;                  ///< [a]
    std::vector<layer> layers;
};

/// Radians by which numbers r of a head's halves turn from one position to the next: theta^(−2r / d), scaled. Llama 3's
/// rule is that of Hugging Face's rope_type "llama3".
inline double rotary_frequency(const llama_config& n, ep::index r) {
    const double frequency = std::pow(n.theta, -2.0 * double(r) / double(n.depth));
    const rotary_scaling& scaling = n.scaling;
    double kept = 0;  // share of the frequency that is not divided
    if (scaling.trained > 0) {
        const double turns = double(scaling.trained) * frequency / (2 * std::numbers::pi);
        kept = std::clamp((turns - scaling.slowest) / (scaling.fastest - scaling.slowest), 0.0, 1.0);
    }
    return frequency * (kept + (1 - kept) / scaling.factor);
}

/// Cosines and sines of all positions as 2 × 2 matrices [s, from, to, r]: halves of a head turn by s · frequency r.
inline ep::tensor<float, 4> rotary_table(const llama_config& n) {
    std::vector<double> frequencies;
    for (ep::index r = 0; r < n.depth / 2; ++r) {
        frequencies.push_back(rotary_frequency(n, r));
    }
    return ep::generate<float>({n.positions, 2, 2, n.depth / 2}, [frequencies](auto s, auto from, auto to, auto r) {
        const double angle = double(s) * frequencies[std::size_t(r)];
        return float(from == to ? std::cos(angle) : to == 1 ? std::sin(angle) : -std::sin(angle));
    });
}

/// Keys [b, g, t, half, r] and values [b, g, t, d] of a layer's positions t; those that are not filled yet are read by
/// nobody.
template <class Keys, class Values>
struct llama_cache {
    std::vector<Keys> keys;
    std::vector<Values> values;
};
template <class T>
using recorded_cache = llama_cache<ep::tensor<T, 5>, ep::tensor<T, 4>>;

/// New tokens at positions that are bound: `token` [b, s], `position` [s]; `logits` [b, v] and `next` [b], the
/// likeliest token, are behind the last of them.
template <class T>
struct llama_step {
    ep::tensor<int, 2> token;
    ep::tensor<int, 1> position;
    recorded_cache<T> before, after;
    ep::tensor<float, 2> logits;
    ep::tensor<int, 1> next;
};

/// Records a step. What is multiplied, and the cache, is of type T; sums, and the path past the layers, are floats.
/// @param before  of `capacity` positions
template <class T>
llama_step<T> build_llama_step(const llama_config& n, const llama_weights<T>& weights,
                               const ep::tensor<float, 4>& table, ep::index batch, ep::index tokens,
                               recorded_cache<T> before) {
    EINPARALLEL_LABELS(b, s, t, a, g, h, c, e, r, d, f, v);
    const float share = 1 / float(n.attributes);
    const float scale = 1 / std::sqrt(float(n.depth));
    const auto epsilon = float(n.epsilon);
    const auto tokens_in = ep::placeholder<int>({batch, tokens}).named("token");
    const auto position = ep::placeholder<int>({tokens}).named("position");
    llama_step<T> made{tokens_in, position, before, before, {}, {}};

    const auto at = [&](int off) {
        ep::tensor<int, 1> moved = position;
        if (off != 0) {
            moved(s) = position(s) + off;
        }
        return moved;
    };
    const auto seen_to = at(n.off.mask), turned_by = at(n.off.keys), kept_at = at(n.off.cache);
    ep::tensor<float, 4> turn;
    turn(s, c, e, r) = table(position(s), c, e, r);
    ep::tensor<float, 4> key_turn = turn;
    if (n.off.keys != 0) {
        key_turn(s, c, e, r) = table(turned_by(s), c, e, r);
    }
    ep::tensor<float, 3> x;
    x(b, s, a) = weights.embedding(tokens_in(b, s), a);
    for (std::size_t number = 0; number < weights.layers.size(); ++number) {
        const auto& layer = weights.layers[number];
        ep::tensor<float, 2> squares;
        ep::tensor<T, 3> input, gated;
        squares(b, s) = share * x(b, s, a) * x(b, s, a);
        std::visit([&](const auto& gain) { input(b, s, a) = x(b, s, a) * gain(a) / sqrt(squares(b, s) + epsilon); },
                   layer.attention_gain);

        ep::tensor<float, 6> query, turned;
        ep::tensor<float, 5> key;
        ep::tensor<T, 5> turned_key;
        ep::tensor<T, 4> value;
        query(b, g, h, s, c, r) = input(b, s, a) * layer.W_Q(g, h, c, r, a);
        key(b, g, s, c, r) = input(b, s, a) * layer.W_K(g, c, r, a);
        value(b, g, s, d) = input(b, s, a) * layer.W_V(g, d, a);
        turned(b, g, h, s, e, r) = query(b, g, h, s, c, r) * turn(s, c, e, r);
        turned_key(b, g, s, e, r) = key(b, g, s, c, r) * key_turn(s, c, e, r);
        ep::tensor<T, 5>& keys = made.after.keys[number];
        ep::tensor<T, 4>& values = made.after.values[number];
        keys(b, g, kept_at(s), e, r) = turned_key(b, g, s, e, r);
        values(b, g, kept_at(s), d) = value(b, g, s, d);
        keys.named("cache of keys " + std::to_string(number));
        values.named("cache of values " + std::to_string(number));

        ep::tensor<float, 5> scores, masked, shares;
        ep::tensor<T, 5> attended;
        scores(b, g, h, s, t) = turned(b, g, h, s, c, r) * keys(b, g, t, c, r);
        masked(b, g, h, s, t) = ep::where(ep::iota(t) <= seen_to(s), scale * scores(b, g, h, s, t),
                                          -std::numeric_limits<float>::infinity());
        shares(b, g, h, s, t) = ep::softmax(t, masked(b, g, h, s, t));
        attended(b, s, g, h, d) = shares(b, g, h, s, t) * values(b, g, t, d);
        ep::tensor<float, 3> projected, between, down, out;
        projected(b, s, a) = attended(b, s, g, h, d) * layer.W_O(a, g, h, d);
        between(b, s, a) = x(b, s, a) + projected(b, s, a);

        ep::tensor<float, 2> network_squares;
        ep::tensor<T, 3> network_input;
        ep::tensor<float, 3> gate, up;
        network_squares(b, s) = share * between(b, s, a) * between(b, s, a);
        std::visit(
            [&](const auto& gain) {
                network_input(b, s, a) = between(b, s, a) * gain(a) / sqrt(network_squares(b, s) + epsilon);
            },
            layer.network_gain);
        gate(b, s, f) = network_input(b, s, a) * layer.W_gate(f, a);
        up(b, s, f) = network_input(b, s, a) * layer.W_up(f, a);
        gated(b, s, f) = silu(gate(b, s, f)) * up(b, s, f);
        down(b, s, a) = gated(b, s, f) * layer.W_down(a, f);
        out(b, s, a) = between(b, s, a) + down(b, s, a);
        x = out;
    }
    ep::tensor<float, 2> last;
    ep::tensor<float, 1> squares;
    ep::tensor<T, 2> normalised;
    last(b, a) = x(b, tokens - 1, a);
    squares(b) = share * last(b, a) * last(b, a);
    std::visit([&](const auto& gain) { normalised(b, a) = last(b, a) * gain(a) / sqrt(squares(b) + epsilon); },
               weights.last_gain);
    made.logits(b, v) = normalised(b, a) * weights.W_logits(v, a);
    made.next(b) = ep::argmax(v, made.logits(b, v));
    return made;
}

}  // namespace experiments
