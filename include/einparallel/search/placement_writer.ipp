#pragma once
// From partition vectors to placements: all placements of a vector, or those that suit the neighbours.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/search/factor_graph.ipp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes down states of a factor graph's vertices.
class placement_writer {
public:
    /// @param effort gets the states and factors that are looked at
    EINPARALLEL_INLINE placement_writer(factor_graph& factors, effort_count& effort)
        : factors_(factors), effort_(effort) {}

    std::size_t few = few_states;  ///< up to this many placements of a partition vector are all written down

    static constexpr std::size_t few_states = 48;

    /// The cost of a vertex in the state `tried`, with all moves to and from it. All others are in their states of
    /// `chosen`.
    EINPARALLEL_INLINE double cost_with(std::size_t variable, const state& tried, const std::vector<state>& chosen) {
        const auto state_of = [&](std::size_t of) -> const state& { return of == variable ? tried : chosen[of]; };
        const std::size_t compared = factors_.places().compared();
        const double sum = sum_in(factors_.touching(variable), tried.cost, [&](std::size_t number) {
            return factors_.moves().between_states(factors_.factors()[number], state_of, counting::estimated);
        });
        effort_.add(effort_count::of_move * (factors_.touching(variable).size() + 1) +
                    effort_count::of_pair * (factors_.places().compared() - compared));
        return sum;
    }

    /// Of `count` states those, at most `most`, that cost least beside the neighbours: each with its cost and position.
    template <class StateAt>
    std::vector<costed> best_beside(std::size_t variable, const std::vector<state>& chosen, std::size_t count,
                                    const StateAt& state_at, std::size_t most) {
        std::vector<costed> order;
        for (std::size_t position = 0; position < count; ++position) {
            order.emplace_back(cost_with(variable, state_at(position), chosen), position);
        }
        sort_range(order);
        order.resize(std::min(most, order.size()));
        return order;
    }

    /// A key that is equal for variables of one kind if their tensors, and those of their neighbours, have equal
    /// places.
    EINPARALLEL_INLINE std::vector<index> surroundings(std::size_t variable, const std::vector<state>& chosen) const {
        std::vector<index> key{index(factors_.kind_of(variable))};
        const auto add = [&](std::size_t of) {
            key.insert(key.end(), chosen[of].operands.begin(), chosen[of].operands.end());
            key.insert(key.end(), {chosen[of].output, -2});
        };
        add(variable);
        for (const std::size_t number : factors_.touching(variable)) {
            const factor& each = factors_.factors()[number];
            for (const tensor_user& user : each.users) {
                add(user.variable);
            }
        }
        return key;
    }

    /// Writes down the placements of a partition vector: all of them where they are few, otherwise those that suit the
    /// neighbours of a variable best. True where states are new.
    EINPARALLEL_INLINE bool write(std::size_t vector, std::size_t variable) {
        domain& of = factors_.states_of(variable);
        std::vector<state> made;
        const std::vector<mesh> like = rounded_.empty() ? std::vector<mesh>() : like_neighbours(variable);
        if (!placements_of(variable, of.vectors[vector].natural, few, like, made)) {
            return add_best(variable, made);
        }
        of.vectors[vector].is_whole = true;
        for (state& each : made) {
            of.add(std::move(each));
        }
        return true;
    }

    /// Makes a placement from the states that a model takes, or a better one from a placement. Forwards and then
    /// backwards through the graph, every vertex takes the state that suits its neighbours best. Vertices in equal
    /// surroundings are looked at once. A vertex without a state in `from` begins with its state in `best`. True where
    /// states are new. `further`: a vertex may take any partition vector that is written down.
    EINPARALLEL_INLINE bool round_off(std::vector<state> from, const std::vector<state>& best, bool further) {
        rounded_ = std::move(from);
        bool fresh = false;
        for (const bool forward : {true, false}) {
            numbering met;
            std::vector<state> known;
            for (std::size_t step = 0; step < factors_.size(); ++step) {
                const std::size_t variable = forward ? step : factors_.size() - 1 - step;
                if (rounded_[variable].operands.empty()) {
                    rounded_[variable] = best[variable];
                }
                const auto [position, unlike] = met.number_of(surroundings(variable, rounded_));
                if (unlike) {
                    fresh = fit(variable, further) || fresh;
                    known.push_back(rounded_[variable]);
                }
                rounded_[variable] = known[position];
            }
        }
        return fresh;
    }

    /// Makes a placement that grows from one vertex: its neighbours, then theirs, take the state that suits best what
    /// is placed already. This finds cuts that are good only where several vertices share them.
    EINPARALLEL_INLINE void grow_from(std::size_t variable, const state& seed) {
        rounded_.assign(factors_.size(), state());
        rounded_[variable] = seed;
        std::vector<std::size_t> order{variable};
        for (std::size_t position = 0; position < order.size(); ++position) {
            for (const std::size_t number : factors_.touching(order[position])) {
                for (const tensor_user& user : factors_.factors()[number].users) {
                    if (!found_in(user.variable, order)) {
                        order.push_back(user.variable);
                        fit(user.variable, true);
                    }
                }
            }
        }
        for (std::size_t apart = 0; apart < factors_.size(); ++apart) {
            if (!found_in(apart, order)) {
                fit(apart, true);
            }
        }
    }

    /// By variable: the placement that was made last.
    const std::vector<state>& rounded() const { return rounded_; }

private:
    /// How many placements are written down where there are too many to write all of them.
    static constexpr std::size_t beam = 8;

    /// Gives a vertex the state that suits its neighbours best. The choice is among its own partition vector, vectors
    /// that follow the neighbours' meshes and, with `further`, listed vectors that may be cheaper beside the
    /// neighbours. True where states are new.
    EINPARALLEL_INLINE bool fit(std::size_t variable, bool further) {
        const std::size_t most = further ? 30'000 / factors_.domains().size() : 0;  // that are looked at
        constexpr std::size_t others = 8;
        domain& of = factors_.states_of(variable);
        std::vector<state> made;
        const std::vector<mesh> like = like_neighbours(variable);
        if (!rounded_[variable].operands.empty()) {
            placements_of(variable, rounded_[variable], few_states, like, made);
        }
        const std::size_t before = of.vectors.size();
        bool fresh = false;
        for (const mesh& each : like) {
            fresh = of.follow(each) || fresh;
        }
        const auto natural = [&](std::size_t number) -> const state& { return of.vectors[number].natural; };
        for (const auto& [cost, number] : best_beside(variable, rounded_, std::min(before, most), natural, others)) {
            if (cost < forbidden_move) {
                placements_of(variable, natural(number), few_states, like, made);
            }
        }
        for (std::size_t number = before; number < of.vectors.size(); ++number) {
            placements_of(variable, natural(number), few_states, like, made);
        }
        if (made.empty() && of.vectors.empty()) {
            made = of.states;  // a master feeds workers: whole states, of no vector
        } else if (made.empty()) {
            placements_of(variable, natural(0), few_states, like, made);
        }
        return add_best(variable, made) || fresh;
    }

    /// Meshes that a vertex may follow: its own mesh in the rounded placement, which other pending sums may suit too,
    /// and the meshes of its neighbours, with the neighbours' labels renamed to the vertex's; to no_label where it
    /// lacks them.
    EINPARALLEL_INLINE std::vector<mesh> like_neighbours(std::size_t variable) const {
        std::vector<mesh> like{rounded_[variable].ranks};
        const auto labels_of = [&](const tensor_user& user) -> const std::vector<label_id>& {
            const einsum_form& form = factors_.vertex_at(user.variable).form;
            return user.operands.empty() ? form.output : form.operands[user.operands.front()];
        };
        const auto translate = [&](const tensor_user& from, const tensor_user& to) {
            const std::vector<label_id>& theirs = labels_of(from);
            const std::vector<label_id>& own = labels_of(to);
            mesh& made = like.emplace_back();
            for (const mesh_axis& axis : rounded_[from.variable].ranks.axes) {
                const auto position = std::size_t(find_in(theirs, axis.label) - theirs.begin());
                made.axes.push_back({position < own.size() ? own[position] : no_label, axis.parts});
            }
        };
        for (const std::size_t number : factors_.touching(variable)) {
            const tensor_user& maker = factors_.factors()[number].users.front();
            for (const tensor_user& user : factors_.factors()[number].users) {
                const bool is_between = maker.operands.empty() && !user.operands.empty();
                if (is_between && maker.variable == variable) {
                    translate(user, maker);
                } else if (is_between && user.variable == variable) {
                    translate(maker, user);
                }
            }
        }
        return like;
    }

    /// Appends placements with the partition vector of a state, see domain::placements_of.
    EINPARALLEL_INLINE bool placements_of(std::size_t variable, const state& of, std::size_t most,
                                          const std::vector<mesh>& like, std::vector<state>& into) {
        domain& from = factors_.states_of(variable);
        const std::size_t before = into.size();
        const std::size_t compared = from.costs_compared;
        const bool all = from.placements_of(of, most, like, into);
        effort_.add((into.size() - before) * from.weight() + effort_count::of_move * (from.costs_compared - compared));
        return all;
    }

    /// Adds the states of `made` that suit a variable's neighbours in the rounded placement best. The best one becomes
    /// the variable's state there.
    EINPARALLEL_INLINE bool add_best(std::size_t variable, std::vector<state>& made) {
        const auto made_at = [&](std::size_t position) -> const state& { return made[position]; };
        const std::vector<costed> best = best_beside(variable, rounded_, made.size(), made_at, beam);
        bool fresh = false;
        for (const auto& [cost, position] : best) {
            fresh = factors_.states_of(variable).add(made[position]) || fresh;
        }
        rounded_[variable] = std::move(made[best.front().second]);
        return fresh;
    }

    factor_graph& factors_;
    effort_count& effort_;
    std::vector<state> rounded_;  // by variable: the placement that was made last
};

}  // namespace einparallel::EINPARALLEL_DETAIL
