#pragma once
// A conversation with a LLaMA model: its plans, and its cache from step to step.

#include "llama_model.hpp"

#include <einparallel.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace experiments {

template <class T>
using kept_cache = llama_cache<ep::distributed<T, 5>, ep::distributed<T, 4>>;

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

    /// Carries out a plan: on the host where there is no other one.
    using runner = std::function<ep::results(const ep::plan&, std::vector<ep::binding>)>;

    /// @param rule  how einsums are cut, where that is not EinDecomp's to find
    llama_session(ep::context& world, const llama_config& n, const llama_weights<T>& weights, ep::index batch,
                  ep::options options, ep::cutting_rule rule = nullptr, runner run = nullptr)
        : world_(world),
          n_(n),
          weights_(weights),
          table_(rotary_table(n)),
          batch_(batch),
          options_(std::move(options)),
          rule_(std::move(rule)),
          run_(run ? std::move(run) : [&world](const ep::plan& plan, const std::vector<ep::binding>& bound) {
              return plan.run(world, bound);
          }) {}

    /// Goes on with tokens [b, s], the same on all ranks. Collective. A step that fails while it runs loses the cache:
    /// then restart().
    /// @throws ep::error for positions beyond the rotary table, tokens outside of the vocabulary, and after such a step
    outcome operator()(const ep::array<int, 2>& tokens) {
        check(tokens);
        const ep::index count = tokens.extent(1);
        make_room(count);
        const prepared& now = step(count);
        ep::array<int, 1> position({count});
        for (ep::index each = 0; each < count; ++each) {
            position(each) = int(filled_ + each);
        }
        std::vector<ep::binding> bound{ep::bind(now.step.token, tokens), ep::bind(now.step.position, position)};
        is_lost_ = true;
        const ep::results made = run_(now.plan, bind_cache(now.step.before, std::move(bound)));
        take_cache(made, now.step.after);
        filled_ += count;
        is_lost_ = false;
        return {made.get(now.step.logits), made.get(now.step.next)};
    }

    /// Begins anew; plans and weights stay.
    void restart() {
        filled_ = capacity_ = 0;
        is_lost_ = false;
        cache_ = {};
    }

    /// Positions that the cache has room for.
    [[nodiscard]] ep::index capacity() const { return capacity_; }
    /// Bytes that all ranks together sent for larger caches.
    [[nodiscard]] std::size_t bytes_grown() const { return bytes_grown_; }
    /// The plan of the next step with so many tokens, for which the cache gets room. Collective.
    [[nodiscard]] const ep::plan& plan(ep::index tokens) {
        make_room(tokens);
        return step(tokens).plan;
    }

private:
    struct prepared {
        llama_step<T> step;
        ep::plan plan;
    };

    /// Room in the cache for so many tokens more.
    void make_room(ep::index tokens) {
        const ep::index wanted = (filled_ + tokens + n_.off.cache + block - 1) / block * block;
        if (wanted > capacity_ && filled_ > 0) {
            is_lost_ = true;
            grow(wanted);
            is_lost_ = false;
        }
        capacity_ = std::max(capacity_, wanted);
    }

    void check(const ep::array<int, 2>& tokens) const {
        if (is_lost_) {
            throw ep::error("llama: the cache was lost in the step that failed: restart");
        }
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
            const std::string number = std::to_string(layer);
            made.keys.push_back(ep::placeholder<T>(key_extents(capacity)).named("keys " + number));
            made.values.push_back(ep::placeholder<T>(value_extents(capacity)).named("values " + number));
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
        take_cache(run_(larger, bind_cache(before)), after);
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
        const auto less = steps_.lower_bound({tokens, 0});  // another capacity of the same step: cut alike
        const bool is_known = less != steps_.end() && less->first.first == tokens;
        // A plan by hand pages in its own order, and the cache is read where it rests anyhow.
        const bool is_alike = is_known && !options_.paging;
        const ep::cutting_rule rule = rule_ || !is_alike ? rule_ : ep::cuts_of(less->second.plan);
        made.plan = rule ? ep::plan_with(world_, options_, rule, made.step.logits, made.step.next, keys, values)
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
    runner run_;
    kept_cache<T> cache_;
    ep::index filled_ = 0, capacity_ = 0;
    bool is_lost_ = false;                                       ///< a step failed, and the cache with it
    std::map<std::pair<ep::index, ep::index>, prepared> steps_;  ///< by tokens and capacity
    std::size_t bytes_grown_ = 0;
};

}  // namespace experiments
