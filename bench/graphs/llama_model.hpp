#pragma once
// The LLaMA architecture as it is used: tokens in, scores of the next token out, with a cache of the keys and values of
// earlier positions. Prefill and decoding are one graph, of many new tokens or of one.

#include <einparallel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace experiments {

namespace ep = einparallel;

/// Extents and constants, as config.json has them.
struct llama_config {
    ep::index attributes, neurons, layers;
    ep::index groups;  ///< of heads; those of a group share keys and values
    ep::index heads;   ///< of a group
    ep::index depth;   ///< numbers of a head; even
    ep::index vocabulary, positions;
    double epsilon = 1e-6, theta = 10'000;
    bool tied = false;  ///< scores come from the embedding's rows
};

/// The weights of a model. In a head's rows of W_Q and W_K the rotary position turns number r of the first half with
/// number r of the second.
template <class T>
struct llama_weights {
    struct layer {
        ep::tensor<T, 1> attention_gain, network_gain;  ///< [a]
        ep::tensor<T, 5> W_Q;                           ///< [g, h, half, r, a]
        ep::tensor<T, 4> W_K;                           ///< [g, half, r, a]
        ep::tensor<T, 3> W_V;                           ///< [g, d, a]
        ep::tensor<T, 4> W_O;                           ///< [a, g, h, d]
        ep::tensor<T, 2> W_gate, W_up, W_down;          ///< [f, a], [f, a], [a, f]
    };
    ep::tensor<T, 2> embedding, W_logits;  ///< [v, a]
    ep::tensor<T, 1> last_gain;            ///< [a]
    std::vector<layer> layers;
};

/// Cosines and sines of all positions as 2 × 2 matrices [s, from, to, r]: halves of a head turn by s · theta^(−2r / d).
inline ep::tensor<float, 4> rotary_table(const llama_config& n) {
    return ep::generate<float>({n.positions, 2, 2, n.depth / 2}, [n](auto s, auto from, auto to, auto r) {
        const double angle = double(s) * std::pow(n.theta, -2.0 * double(r) / double(n.depth));
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
template <class T>
using kept_cache = llama_cache<ep::distributed<T, 5>, ep::distributed<T, 4>>;

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

    ep::tensor<float, 4> turn;
    turn(s, c, e, r) = table(position(s), c, e, r);
    ep::tensor<float, 3> x;
    x(b, s, a) = weights.embedding(tokens_in(b, s), a);
    for (std::size_t number = 0; number < weights.layers.size(); ++number) {
        const auto& layer = weights.layers[number];
        ep::tensor<float, 2> squares;
        ep::tensor<T, 3> input, gated;
        squares(b, s) = share * x(b, s, a) * x(b, s, a);
        input(b, s, a) = x(b, s, a) * layer.attention_gain(a) / sqrt(squares(b, s) + epsilon);

        ep::tensor<float, 6> query, turned;
        ep::tensor<float, 5> key;
        ep::tensor<T, 5> turned_key;
        ep::tensor<T, 4> value;
        query(b, g, h, s, c, r) = input(b, s, a) * layer.W_Q(g, h, c, r, a);
        key(b, g, s, c, r) = input(b, s, a) * layer.W_K(g, c, r, a);
        value(b, g, s, d) = input(b, s, a) * layer.W_V(g, d, a);
        turned(b, g, h, s, e, r) = query(b, g, h, s, c, r) * turn(s, c, e, r);
        turned_key(b, g, s, e, r) = key(b, g, s, c, r) * turn(s, c, e, r);
        ep::tensor<T, 5>& keys = made.after.keys[number];
        ep::tensor<T, 4>& values = made.after.values[number];
        keys(b, g, position(s), e, r) = turned_key(b, g, s, e, r);
        values(b, g, position(s), d) = value(b, g, s, d);
        keys.named("cache of keys " + std::to_string(number));
        values.named("cache of values " + std::to_string(number));

        ep::tensor<float, 5> scores, masked, shares;
        ep::tensor<T, 5> attended;
        scores(b, g, h, s, t) = turned(b, g, h, s, c, r) * keys(b, g, t, c, r);
        masked(b, g, h, s, t) = ep::where(ep::iota(t) <= position(s), scale * scores(b, g, h, s, t),
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
        network_input(b, s, a) = between(b, s, a) * layer.network_gain(a) / sqrt(network_squares(b, s) + epsilon);
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
    normalised(b, a) = last(b, a) * weights.last_gain(a) / sqrt(squares(b) + epsilon);
    made.logits(b, v) = normalised(b, a) * weights.W_logits(v, a);
    made.next(b) = ep::argmax(v, made.logits(b, v));
    return made;
}

/// A conversation of a batch of prompts with a model: the cache, and a plan for each number of new tokens and each
/// capacity of the cache.
template <class T>
class llama_session {
public:
    /// The capacity grows by so many positions at once.
    static constexpr ep::index block = 64;

    /// What follows the tokens that were given last.
    struct outcome {
        ep::distributed<float, 2> logits;  ///< [b, v]
        ep::distributed<int, 1> next;      ///< [b] the likeliest tokens
    };

    /// @param rule  how einsums are cut, where that is not EinDecomp's to find
    llama_session(ep::context& world, const llama_config& n, const llama_weights<T>& weights, ep::index batch,
                  ep::options options, ep::cutting_rule rule = nullptr)
        : world_(world),
          n_(n),
          weights_(weights),
          table_(rotary_table(n)),
          batch_(batch),
          options_(std::move(options)),
          rule_(std::move(rule)) {}

    /// Goes on with tokens [b, s], the same on all ranks. Collective.
    /// @throws ep::error for positions beyond the rotary table, and tokens outside of the vocabulary
    outcome operator()(const ep::array<int, 2>& tokens) {
        check(tokens);
        const ep::index count = tokens.extent(1);
        const ep::index wanted = (filled_ + count + block - 1) / block * block;
        if (wanted > capacity_ && filled_ > 0) {
            grow(wanted);
        }
        capacity_ = std::max(capacity_, wanted);
        const prepared& now = step(count);
        ep::array<int, 1> position({count});
        for (ep::index each = 0; each < count; ++each) {
            position(each) = int(filled_ + each);
        }
        std::vector<ep::binding> bound{ep::bind(now.step.token, tokens), ep::bind(now.step.position, position)};
        const ep::results made = now.plan.run(world_, bind_cache(now.step.before, std::move(bound)));
        take_cache(made, now.step.after);
        filled_ += count;
        return {made.get(now.step.logits), made.get(now.step.next)};
    }

    /// Begins anew; plans and weights stay.
    void restart() {
        filled_ = capacity_ = 0;
        cache_ = {};
    }

    /// Positions in the cache, and for how many it has room.
    ///@{
    [[nodiscard]] ep::index filled() const { return filled_; }
    [[nodiscard]] ep::index capacity() const { return capacity_; }
    ///@}
    /// Bytes that all ranks together sent for larger caches.
    [[nodiscard]] std::size_t bytes_grown() const { return bytes_grown_; }
    /// The plan of the next step with so many tokens.
    [[nodiscard]] const ep::plan& plan(ep::index tokens) { return step(tokens).plan; }

private:
    struct prepared {
        llama_step<T> step;
        ep::plan plan;
    };

    void check(const ep::array<int, 2>& tokens) const {
        const ep::index count = tokens.extent(1);
        if (tokens.extent(0) != batch_ || count < 1) {
            throw ep::error("llama: " + std::to_string(tokens.extent(0)) + " x " + std::to_string(count) +
                            " tokens, and the batch is " + std::to_string(batch_) + " prompts");
        }
        if (filled_ + count > n_.positions) {
            throw ep::error("llama: " + std::to_string(filled_ + count) + " tokens, and the model has " +
                            std::to_string(n_.positions) + " positions (max_position_embeddings)");
        }
        for (ep::index b = 0; b < batch_; ++b) {
            for (ep::index s = 0; s < count; ++s) {
                if (tokens(b, s) < 0 || tokens(b, s) >= n_.vocabulary) {
                    throw ep::error("llama: token " + std::to_string(s) + " of prompt " + std::to_string(b) + " is " +
                                    std::to_string(tokens(b, s)) + ", and the vocabulary has " +
                                    std::to_string(n_.vocabulary));
                }
            }
        }
    }

    [[nodiscard]] std::array<ep::index, 5> key_extents(ep::index capacity) const {
        return {batch_, n_.groups, capacity, 2, n_.depth / 2};
    }
    [[nodiscard]] std::array<ep::index, 4> value_extents(ep::index capacity) const {
        return {batch_, n_.groups, capacity, n_.depth};
    }

    /// A cache to be bound, read where the one that exists rests.
    recorded_cache<T> recorded(ep::index capacity) const {
        recorded_cache<T> made;
        for (std::size_t layer = 0; layer < weights_.layers.size(); ++layer) {
            made.keys.push_back(ep::placeholder<T>(key_extents(capacity)));
            made.values.push_back(ep::placeholder<T>(value_extents(capacity)));
            if (!cache_.keys.empty()) {
                made.keys.back().pinned(cache_.keys[layer].pin());
                made.values.back().pinned(cache_.values[layer].pin());
            }
        }
        return made;
    }

    /// The cache is given up to the run, which writes to it; before the first one it is nothing.
    std::vector<ep::binding> bind_cache(const recorded_cache<T>& before, std::vector<ep::binding> bound = {}) {
        for (std::size_t layer = 0; layer < before.keys.size(); ++layer) {
            if (filled_ == 0) {
                const auto nothing = [](auto... /*at*/) { return T(0.0F); };
                bound.push_back(ep::bind(before.keys[layer], ep::generate<T>(key_extents(capacity_), nothing)));
                bound.push_back(ep::bind(before.values[layer], ep::generate<T>(value_extents(capacity_), nothing)));
            } else {
                bound.push_back(ep::bind(before.keys[layer], std::move(cache_.keys[layer])));
                bound.push_back(ep::bind(before.values[layer], std::move(cache_.values[layer])));
            }
        }
        return bound;
    }

    void take_cache(const ep::results& made, const recorded_cache<T>& after) {
        cache_ = {};
        for (std::size_t layer = 0; layer < after.keys.size(); ++layer) {
            cache_.keys.push_back(made.get(after.keys[layer]));
            cache_.values.push_back(made.get(after.values[layer]));
        }
    }

    /// The cache with more positions, each rank's of what it has: what is filled is copied, once.
    void grow(ep::index capacity) {
        EINPARALLEL_LABELS(b, g, t, e, r, d);
        const recorded_cache<T> before = recorded(capacity_);
        recorded_cache<T> after = before;
        const ep::index more = capacity - capacity_;
        for (std::size_t layer = 0; layer < after.keys.size(); ++layer) {
            ep::tensor<T, 5> keys;
            ep::tensor<T, 4> values;
            keys(b, g, t, e, r) =
                ep::padded(before.keys[layer], {0, 0, 0, 0, 0}, {0, 0, more, 0, 0}, T(0.0F))(b, g, t, e, r);
            values(b, g, t, d) = ep::padded(before.values[layer], {0, 0, 0, 0}, {0, 0, more, 0}, T(0.0F))(b, g, t, d);
            after.keys[layer] = keys;
            after.values[layer] = values;
        }
        const ep::plan larger = ep::decompose(world_, {.objective = ep::objective::bytes}, after.keys, after.values);
        take_cache(larger.run(world_, bind_cache(before)), after);
        bytes_grown_ += larger.bytes_sent();
        capacity_ = capacity;
    }

    const prepared& step(ep::index tokens) {
        const auto known = steps_.find({tokens, capacity_});
        if (known != steps_.end()) {
            return known->second;
        }
        prepared made{build_llama_step(n_, weights_, table_, batch_, tokens, recorded(capacity_)), {}};
        const auto& [keys, values] = made.step.after;
        made.plan = rule_ ? ep::plan_with(world_, options_, rule_, made.step.logits, made.step.next, keys, values)
                          : ep::decompose(world_, options_, made.step.logits, made.step.next, keys, values);
        return steps_.emplace(std::pair(tokens, capacity_), std::move(made)).first->second;
    }

    ep::context& world_;
    llama_config n_;
    const llama_weights<T>& weights_;
    ep::tensor<float, 4> table_;
    ep::index batch_;
    ep::options options_;
    ep::cutting_rule rule_;
    kept_cache<T> cache_;
    ep::index filled_ = 0, capacity_ = 0;
    std::map<std::pair<ep::index, ep::index>, prepared> steps_;  ///< by tokens and capacity
    std::size_t bytes_grown_ = 0;
};

}  // namespace experiments
