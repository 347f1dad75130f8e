#pragma once
// States that no minimum needs: whatever the neighbours do, another state is at least as cheap. Leaving them out first
// is what keeps the tables of the elimination small.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/pairwise.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A model with fewer states per variable, and which states of the original they are.
struct reduced_model {
    pairwise_model model;  ///< wide terms only
    std::vector<std::shared_ptr<const std::vector<int>>> kept;

    /// States of the original model.
    [[nodiscard]] std::vector<int> original(const std::vector<int>& states) const {
        std::vector<int> all;
        for (std::size_t variable = 0; variable < states.size(); ++variable) {
            all.push_back((*kept[variable])[static_cast<std::size_t>(states[variable])]);
        }
        return all;
    }
};

/// Drops dominated states. State a dominates b where its own cost is smaller by at least what its neighbours can lose:
/// the sum over the terms of the largest difference, each over all states that the others have left. Variables with
/// equal tables around them are looked at once, so a loop of a thousand layers costs what one layer costs.
EINPARALLEL_INLINE class dominance {
public:
    explicit dominance(const pairwise_model& model) : variables_(model.variables), terms_(model.wide) {
        for (const pairwise_term& term : model.terms) {
            terms_.push_back({{term.producer, term.consumer}, {term.of_producer, term.of_consumer}, term.cost});
        }
        touching_.resize(variables_.size());
        for (std::size_t term = 0; term < terms_.size(); ++term) {
            for (std::size_t place = 0; place < terms_[term].scope.size(); ++place) {
                touching_[terms_[term].scope[place]].push_back({term, place});
            }
        }
        std::vector<std::shared_ptr<const std::vector<int>>> by_size;
        for (const auto& cost : variables_) {
            by_size.resize(std::max(by_size.size(), cost->size() + 1));
            std::shared_ptr<const std::vector<int>>& all = by_size[cost->size()];
            if (all == nullptr) {
                std::vector<int> states(cost->size());
                for (std::size_t state = 0; state < states.size(); ++state) {
                    states[state] = static_cast<int>(state);
                }
                all = std::make_shared<const std::vector<int>>(std::move(states));
            }
            alive_.push_back(all);
        }
    }

    reduced_model run() {
        for (int round = 0; round < rounds && one_round(); ++round) {
        }
        return reduced();
    }

private:
    static constexpr int rounds = 2;
    /// A state is compared with so many of the cheapest that stay: they are the ones that dominate.
    static constexpr std::ptrdiff_t most_compared = 64;

    /// A term that depends on a variable, and where that stands in its scope.
    struct touch {
        std::size_t term = 0;
        std::size_t place = 0;
    };

    /// What is known of the differences between classes of one place of a term.
    struct differences {
        std::size_t stride = 1;                ///< from one class of the place to the next
        std::vector<std::size_t> others;       ///< offsets of what the other variables can do
        std::vector<std::size_t> easiest;      ///< by class: the offset at which it costs least
        std::array<std::size_t, 4> decided{};  ///< offsets by which the last comparisons failed

        /// True where a costs more than b by more than `most`, whatever the others do. Most pairs fail where the last
        /// ones did.
        bool exceeds(const wide_term& term, std::size_t a, std::size_t b, double most) {
            const double* const with_a = term.cost->data() + a * stride;
            const double* const with_b = term.cost->data() + b * stride;
            for (const std::size_t offset : decided) {
                if (with_a[offset] - with_b[offset] > most) {
                    return true;
                }
            }
            for (const std::size_t offset : others) {
                if (with_a[offset] - with_b[offset] > most) {
                    std::copy_backward(decided.begin(), decided.end() - 1, decided.end());
                    decided.front() = offset;
                    return true;
                }
            }
            return false;
        }

        /// The most that a costs more than b, whatever the others do.
        [[nodiscard]] double largest(const wide_term& term, std::size_t a, std::size_t b) const {
            const double* const with_a = term.cost->data() + a * stride;
            const double* const with_b = term.cost->data() + b * stride;
            double most = -std::numeric_limits<double>::infinity();
            for (const std::size_t offset : others) {
                most = std::max(most, with_a[offset] - with_b[offset]);
            }
            return most;
        }

        /// What a costs more than b where b is at its best: at least that is the largest difference.
        [[nodiscard]] double likely(const wide_term& term, std::size_t a, std::size_t b) const {
            const double* const cost = term.cost->data() + easiest[b];
            return cost[a * stride] - cost[b * stride];
        }
    };

    static index address(const void* of) { return reinterpret_cast<index>(of); }

    /// Classes that the states left of the variable at a place of a term have.
    [[nodiscard]] std::vector<std::size_t> classes_left(const wide_term& term, std::size_t place) const {
        const state_classes& classes = *term.classes[place];
        std::vector<bool> met(classes.count, false);
        for (const int state : *alive_[term.scope[place]]) {
            met[static_cast<std::size_t>(classes.of_state[static_cast<std::size_t>(state)])] = true;
        }
        std::vector<std::size_t> left;
        for (std::size_t position = 0; position < met.size(); ++position) {
            if (met[position]) {
                left.push_back(position);
            }
        }
        return left;
    }

    [[nodiscard]] differences around(const touch& seen) const {
        const wide_term& term = terms_[seen.term];
        differences made;
        made.others.push_back(0);
        std::size_t count = 0;
        std::size_t stride = 1;
        for (std::size_t place = term.scope.size(); place-- > 0;) {
            if (place == seen.place) {
                made.stride = stride;
                count = term.classes[place]->count;
            } else {
                std::vector<std::size_t> further;
                for (const std::size_t position : classes_left(term, place)) {
                    for (const std::size_t offset : made.others) {
                        further.push_back(offset + position * stride);
                    }
                }
                made.others = std::move(further);
            }
            stride *= term.classes[place]->count;
        }
        for (std::size_t position = 0; position < count; ++position) {
            const double* const row = term.cost->data() + position * made.stride;
            made.easiest.push_back(*std::min_element(made.others.begin(), made.others.end(),
                                                     [&](std::size_t a, std::size_t b) { return row[a] < row[b]; }));
        }
        made.decided.fill(made.others.front());
        return made;
    }

    /// True where some variable lost states.
    bool one_round() {
        numbering kinds;
        std::vector<std::shared_ptr<const std::vector<int>>> left;  // by kind
        std::vector<std::shared_ptr<const std::vector<int>>> fewer;
        bool changed = false;
        for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
            std::vector<index> key{address(variables_[variable].get()), address(alive_[variable].get())};
            for (const touch& seen : touching_[variable]) {
                const wide_term& term = terms_[seen.term];
                key.push_back(address(term.cost.get()));
                key.push_back(static_cast<index>(seen.place));
                for (std::size_t place = 0; place < term.scope.size(); ++place) {
                    key.push_back(address(term.classes[place].get()));
                    key.push_back(address(alive_[term.scope[place]].get()));
                }
            }
            const auto [kind, fresh] = kinds.number_of(std::move(key));
            if (fresh) {
                left.push_back(survivors(variable));
            }
            fewer.push_back(left[kind]);
            changed = changed || fewer.back()->size() < alive_[variable]->size();
        }
        // All at once: a state may only give way to one that stays while the neighbours have what they were asked for.
        alive_ = std::move(fewer);
        return changed;
    }

    [[nodiscard]] std::shared_ptr<const std::vector<int>> survivors(std::size_t variable) const {
        const std::vector<double>& cost = *variables_[variable];
        const std::vector<touch>& terms = touching_[variable];
        // Of states that look alike to all terms, the cheapest.
        numbering looks;
        std::vector<int> candidates;
        for (const int state : *alive_[variable]) {
            std::vector<index> look;
            for (const touch& seen : terms) {
                look.push_back(terms_[seen.term].classes[seen.place]->of_state[static_cast<std::size_t>(state)]);
            }
            const auto [number, fresh] = looks.number_of(std::move(look));
            if (fresh) {
                candidates.push_back(state);
            } else if (better(cost[static_cast<std::size_t>(state)],
                              cost[static_cast<std::size_t>(candidates[number])])) {
                candidates[number] = state;
            }
        }
        std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
            return cost[static_cast<std::size_t>(a)] < cost[static_cast<std::size_t>(b)];
        });
        std::vector<differences> known;
        for (const touch& seen : terms) {
            known.push_back(around(seen));
        }
        std::vector<double> likely(terms.size(), 0);
        const auto gives_way = [&](int state, int other) {
            double room = cost[static_cast<std::size_t>(state)] - cost[static_cast<std::size_t>(other)];
            const auto classes = [&](std::size_t position) {
                const std::vector<int>& of_state =
                    terms_[terms[position].term].classes[terms[position].place]->of_state;
                return std::pair(static_cast<std::size_t>(of_state[static_cast<std::size_t>(other)]),
                                 static_cast<std::size_t>(of_state[static_cast<std::size_t>(state)]));
            };
            for (std::size_t position = 0; position < terms.size(); ++position) {
                const auto [a, b] = classes(position);
                likely[position] = a == b ? 0 : known[position].likely(terms_[terms[position].term], a, b);
                room -= likely[position];
            }
            for (std::size_t position = 0; position < terms.size() && room >= 0; ++position) {
                const auto [a, b] = classes(position);
                const wide_term& term = terms_[terms[position].term];
                if (a == b) {
                    continue;
                }
                if (known[position].exceeds(term, a, b, likely[position] + room)) {
                    return false;
                }
                room -= known[position].largest(term, a, b) - likely[position];
            }
            return room >= 0;
        };
        std::vector<int> kept;
        for (const int state : candidates) {
            if (std::none_of(kept.begin(), kept.begin() + std::min(most_compared, std::ssize(kept)),
                             [&](int other) { return gives_way(state, other); })) {
                kept.push_back(state);
            }
        }
        sort_range(kept);
        return std::make_shared<const std::vector<int>>(std::move(kept));
    }

    /// The model of the states that are left, its tables without rows that nobody has any more.
    [[nodiscard]] reduced_model reduced() const {
        reduced_model made;
        made.kept = alive_;
        numbering costs;
        std::vector<std::shared_ptr<const std::vector<double>>> of_cost;
        for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
            const auto [number, fresh] =
                costs.number_of({address(variables_[variable].get()), address(alive_[variable].get())});
            if (fresh) {
                std::vector<double> fewer;
                for (const int state : *alive_[variable]) {
                    fewer.push_back((*variables_[variable])[static_cast<std::size_t>(state)]);
                }
                of_cost.push_back(std::make_shared<const std::vector<double>>(std::move(fewer)));
            }
            made.model.variables.push_back(of_cost[number]);
        }
        numbering classes;
        std::vector<std::shared_ptr<const state_classes>> of_classes;
        numbering tables;
        std::vector<std::shared_ptr<const std::vector<double>>> of_tables;
        for (const wide_term& term : terms_) {
            wide_term fewer{term.scope, {}, nullptr};
            std::vector<index> key{address(term.cost.get())};
            for (std::size_t place = 0; place < term.scope.size(); ++place) {
                const std::vector<int>& alive = *alive_[term.scope[place]];
                std::vector<index> of{address(term.classes[place].get()), address(&alive)};
                key.insert(key.end(), of.begin(), of.end());
                const auto [number, fresh] = classes.number_of(std::move(of));
                if (fresh) {
                    of_classes.push_back(renumbered(*term.classes[place], alive, classes_left(term, place)));
                }
                fewer.classes.push_back(of_classes[number]);
            }
            const auto [number, fresh] = tables.number_of(std::move(key));
            if (fresh) {
                of_tables.push_back(std::make_shared<const std::vector<double>>(rows_left(term)));
            }
            fewer.cost = of_tables[number];
            made.model.wide.push_back(std::move(fewer));
        }
        return made;
    }

    static std::shared_ptr<const state_classes> renumbered(const state_classes& classes, std::span<const int> alive,
                                                           const std::vector<std::size_t>& left) {
        auto made = std::make_shared<state_classes>();
        made->count = left.size();
        for (const int state : alive) {
            const auto of = static_cast<std::size_t>(classes.of_state[static_cast<std::size_t>(state)]);
            made->of_state.push_back(static_cast<int>(std::lower_bound(left.begin(), left.end(), of) - left.begin()));
        }
        return made;
    }

    [[nodiscard]] std::vector<double> rows_left(const wide_term& term) const {
        std::vector<std::size_t> offsets{0};
        std::size_t stride = 1;
        for (const std::shared_ptr<const state_classes>& all : term.classes) {
            stride *= all->count;
        }
        for (std::size_t place = 0; place < term.scope.size(); ++place) {
            stride /= term.classes[place]->count;
            std::vector<std::size_t> further;
            for (const std::size_t offset : offsets) {
                for (const std::size_t position : classes_left(term, place)) {
                    further.push_back(offset + position * stride);
                }
            }
            offsets = std::move(further);
        }
        std::vector<double> rows;
        rows.reserve(offsets.size());
        for (const std::size_t offset : offsets) {
            rows.push_back((*term.cost)[offset]);
        }
        return rows;
    }

    std::vector<std::shared_ptr<const std::vector<double>>> variables_;
    std::vector<wide_term> terms_;
    std::vector<std::vector<touch>> touching_;                    // by variable
    std::vector<std::shared_ptr<const std::vector<int>>> alive_;  // by variable, ascending
};

}  // namespace einparallel::EINPARALLEL_DETAIL
