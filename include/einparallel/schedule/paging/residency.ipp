#pragma once

#include <einparallel/schedule/paging/residency.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Chooses the gaps that values pass in storage.
EINPARALLEL_INLINE class residency_search {
public:
    explicit residency_search(const residency_problem& of) : of_(of) {
        std::size_t values = 0;
        for (const residency_gap& each : of.gaps) {
            values = std::max(values, each.value + 1);
        }
        times_left_.assign(values, 0);
    }

    residency best(bool quick) {
        residency best;
        best.cost = best.excess = infinity;
        for (int rule = 0; rule < rules; ++rule) {
            residency found = swept(rule);
            take_back(found);
            settle(found);
            if (std::pair(found.excess, found.cost) < std::pair(best.excess, best.cost)) {
                best = std::move(found);
            }
            if (best.cost == 0) {
                return best;
            }
        }
        if (!quick) {
            compare_all(best);
        }
        return best;
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr int rules = 5;

    const residency_gap& gap(std::size_t number) const { return of_.gaps[number]; }
    double cost_of(std::size_t number) const {
        return gap(number).reads + (times_left_[gap(number).value] > 0 ? 0 : gap(number).writes);
    }

    /// How much a rule wants a value to leave in step `now`.
    double wish(int rule, std::size_t number, std::size_t now) const {
        const residency_gap& one = gap(number);
        const auto steps = double(one.last - now + 1);
        const double cost = std::max(cost_of(number), 1e-300);
        switch (rule) {
            case 0:
                return steps;
            case 1:
                return one.bytes * steps / cost;
            case 2:
                return one.bytes / cost;
            case 3:
                return one.bytes;
            default:
                return -cost;
        }
    }

    /// Steps in order: where too much is held, values leave in the order of a rule.
    residency swept(int rule) {
        std::fill(times_left_.begin(), times_left_.end(), 0);
        residency made{std::vector<bool>(of_.gaps.size(), false)};
        std::vector<std::size_t> waiting;
        std::size_t next = 0;
        double held = 0;
        for (std::size_t now = 0; now < of_.taken.size(); ++now) {
            for (; next < of_.gaps.size() && gap(next).first <= now; ++next) {
                waiting.push_back(next);
                held += gap(next).bytes;
            }
            std::erase_if(waiting, [&](std::size_t number) {
                const bool is_over = gap(number).last < now;
                held -= is_over ? gap(number).bytes : 0;
                return is_over;
            });
            while (held + of_.taken[now] > of_.limit && !waiting.empty()) {
                const auto leaving = std::max_element(waiting.begin(), waiting.end(), [&](auto a, auto b) {
                    return std::pair(wish(rule, a, now), b) < std::pair(wish(rule, b, now), a);
                });
                made.leaves[*leaving] = true;
                ++times_left_[gap(*leaving).value];
                held -= gap(*leaving).bytes;
                waiting.erase(leaving);
            }
        }
        return made;
    }

    /// Bytes held by step where these gaps are left.
    std::vector<double> held_with(const residency& with) const {
        std::vector<double> held(of_.taken.size() + 1, 0);
        for (std::size_t number = 0; number < of_.gaps.size(); ++number) {
            if (!with.leaves[number]) {
                held[gap(number).first] += gap(number).bytes;
                held[gap(number).last + 1] -= gap(number).bytes;
            }
        }
        std::partial_sum(held.begin(), held.end(), held.begin());
        for (std::size_t now = 0; now < of_.taken.size(); ++now) {
            held[now] += of_.taken[now];
        }
        return held;
    }

    /// Keeps what need not leave, the dearest first.
    void take_back(residency& with) const {
        std::vector<double> held = held_with(with);
        std::vector<std::size_t> left;
        for (std::size_t number = 0; number < of_.gaps.size(); ++number) {
            if (with.leaves[number]) {
                left.push_back(number);
            }
        }
        sort_range(left, [&](std::size_t a, std::size_t b) {
            const auto cost = [&](std::size_t number) { return gap(number).reads + gap(number).writes; };
            return std::pair(-cost(a), a) < std::pair(-cost(b), b);
        });
        for (const std::size_t number : left) {
            const residency_gap& one = gap(number);
            const auto first = held.begin() + std::ptrdiff_t(one.first);
            const auto last = held.begin() + std::ptrdiff_t(one.last) + 1;
            if (*std::max_element(first, last) + one.bytes <= of_.limit) {
                std::for_each(first, last, [&](double& each) { each += one.bytes; });
                with.leaves[number] = false;
            }
        }
    }

    void settle(residency& with) {
        std::fill(times_left_.begin(), times_left_.end(), 0);
        with.cost = with.excess = 0;
        for (std::size_t number = 0; number < of_.gaps.size(); ++number) {
            if (with.leaves[number]) {
                with.cost += cost_of(number);
                ++times_left_[gap(number).value];
            }
        }
        const std::vector<double> held = held_with(with);
        for (std::size_t now = 0; now < of_.taken.size(); ++now) {
            with.excess += std::max(0.0, held[now] - of_.limit);
        }
    }

    /// Compares all choices, by branch and bound, where few gaps are in dispute: those that pass a step in which not
    /// everything can be held.
    void compare_all(residency& best) {
        constexpr std::size_t few = 22;
        residency all{std::vector<bool>(of_.gaps.size(), false)};
        held_ = held_with(all);
        std::vector<std::size_t> beyond(held_.size() + 1, 0);
        for (std::size_t now = 0; now < of_.taken.size(); ++now) {
            beyond[now + 1] = beyond[now] + (held_[now] > of_.limit ? 1 : 0);
        }
        disputed_.clear();
        for (std::size_t number = 0; number < of_.gaps.size(); ++number) {
            if (beyond[gap(number).last + 1] > beyond[gap(number).first]) {
                disputed_.push_back(number);
            }
        }
        if (best.excess > 0 || disputed_.size() > few) {
            return;
        }
        std::fill(times_left_.begin(), times_left_.end(), 0);
        nodes_ = 0;
        branch(0, 0, all, best);
    }

    void branch(std::size_t position, double cost, residency& now, residency& best) {
        constexpr std::size_t most_nodes = 40'000;
        if (cost >= best.cost || ++nodes_ > most_nodes) {
            return;
        }
        // Disputed gaps are in order of their first steps: steps before that of the next one are settled.
        const std::size_t settled = position < disputed_.size() ? gap(disputed_[position]).first : of_.taken.size();
        for (std::size_t step = position == 0 ? 0 : gap(disputed_[position - 1]).first; step < settled; ++step) {
            if (held_[step] > of_.limit) {
                return;
            }
        }
        if (position == disputed_.size()) {
            best.leaves = now.leaves;
            best.cost = cost;
            return;
        }
        const std::size_t number = disputed_[position];
        const residency_gap& one = gap(number);
        branch(position + 1, cost, now, best);
        const double more = cost_of(number);
        for (std::size_t step = one.first; step <= one.last; ++step) {
            held_[step] -= one.bytes;
        }
        now.leaves[number] = true;
        ++times_left_[one.value];
        branch(position + 1, cost + more, now, best);
        --times_left_[one.value];
        now.leaves[number] = false;
        for (std::size_t step = one.first; step <= one.last; ++step) {
            held_[step] += one.bytes;
        }
    }

    const residency_problem& of_;
    std::vector<int> times_left_;  ///< by value
    std::vector<double> held_{};   ///< by step, in branch()
    std::vector<std::size_t> disputed_{};
    std::size_t nodes_ = 0;
};

EINPARALLEL_INLINE residency best_residency(const residency_problem& of, bool quick) {
    return residency_search(of).best(quick);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
