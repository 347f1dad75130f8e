#pragma once

#include <einparallel/search/partition.hpp>

#include <einparallel/cost/traffic.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/search/least_cost.ipp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Divisors of a number, ascending.
EINPARALLEL_INLINE std::vector<int> divisors_of(int number) {
    std::vector<int> divisors;
    for (int divisor = 1; divisor <= number / divisor; ++divisor) {
        if (number % divisor == 0) {
            divisors.insert(divisors.end(), {divisor, number / divisor});
        }
    }
    sort_unique(divisors);
    return divisors;
}

/// The largest number up to `most` without a prime factor above 7. It has many partition vectors, and is at most a
/// tenth smaller than `most`.
EINPARALLEL_INLINE int handy_number(int most) {
    const auto is_handy = [](int number) {
        for (const int prime : {2, 3, 5, 7}) {
            while (number % prime == 0) {
                number /= prime;
            }
        }
        return number == 1;
    };
    while (!is_handy(most)) {
        --most;
    }
    return most;
}

/// The ways to write a product as numbers of parts, one per label. No label has more parts than its extent.
class partition_choices {
public:
    EINPARALLEL_INLINE explicit partition_choices(std::span<const index> extents)
        : extents_(extents.begin(), extents.end()) {}

    /// The numbers of parts, ascending, that a label may have so that it and the labels after it can have the product
    /// `left`. After the last label: 1 where `left` is 1, otherwise none.
    EINPARALLEL_INLINE const std::vector<int>& at(std::size_t label, int left) {
        const auto [known, fresh] = known_.try_emplace({label, left});
        std::vector<int>& made = known->second;
        if (fresh && label == extents_.size()) {
            made.assign(left == 1 ? 1 : 0, 1);
        } else if (fresh) {
            made = divisors_of(left);
            std::erase_if(made, [&](int parts) {
                return (parts > 1 && parts > extents_[label]) || at(label + 1, left / parts).empty();
            });
        }
        return made;
    }

private:
    std::vector<index> extents_;
    std::map<std::pair<std::size_t, int>, std::vector<int>> known_;
};

/// Lists the vectors of all families of a vertex, ordered by the least that the vertex's own work costs. It is a
/// best-first search over vectors in which the first labels are decided, for any number of labels and ranks.
class cheapest_partitions {
public:
    /// @param ranges lists vectors for every number of ranks, of families where every number competes; the parts of a
    /// label are then an interval, which is halved. Otherwise lists vectors for the numbers in the families' `products`
    EINPARALLEL_INLINE cheapest_partitions(const vertex& einsum, const std::vector<partition_family>& families,
                                           const options& asked, const wired_machine& on, const lasting_work& lasting,
                                           bool ranges = false)
        : families_(families), cost_(einsum, asked, on, lasting), most_open_(ranges ? 30'000 : 200'000) {
        for (std::size_t number = 0; number < families.size(); ++number) {
            const partition_family& each = families[number];
            choices_.emplace_back(each.free);
            if (ranges && each.any_from > 0) {
                enter({0, 0, each.fixed, number, 0, 0, each.products.front()}, each.any_from);
            }
            for (std::size_t position = 0; position < each.products.size() && !ranges; ++position) {
                if (!choices_[number].at(0, each.products[position]).empty()) {
                    push({0, 0, each.fixed, number, position, 0, each.products[position]});
                }
            }
        }
        settle();
    }

    EINPARALLEL_INLINE double least_of(partition_candidate whole) const {
        whole.label = whole.parts.size();
        return cost_.of(whole, families_[whole.family]);
    }

    /// The next vector; nothing where there is none. When too many candidates are open, some good vectors come in any
    /// order, and then nothing.
    EINPARALLEL_INLINE std::optional<partition_candidate> next() {
        if (open_.empty()) {
            return std::nullopt;
        }
        if (open_.size() > most_open_) {
            std::optional<partition_candidate> climbed = climb();
            return climbed ? climbed : dive();
        }
        partition_candidate first = pop();
        settle();
        return first;
    }

    /// Lower bound of the cost of every vector that has not come yet; infinity where there is none.
    double rest() const { return open_.empty() ? std::numeric_limits<double>::infinity() : open_.front().least; }

private:
    bool is_whole(const partition_candidate& each) const { return each.label == families_[each.family].free.size(); }

    EINPARALLEL_INLINE void push(partition_candidate next) {
        next.least = cost_.of(next, families_[next.family]) * (is_whole(next) ? 1 : 1 - 1e-12);
        open_.push_back(std::move(next));
        std::push_heap(open_.begin(), open_.end(), std::greater<>());
    }

    EINPARALLEL_INLINE partition_candidate pop() {
        std::pop_heap(open_.begin(), open_.end(), std::greater<>());
        partition_candidate first = std::move(open_.back());
        open_.pop_back();
        return first;
    }

    /// Divides candidates until the first one is a whole vector, or too many are open.
    EINPARALLEL_INLINE void settle() {
        while (!open_.empty() && open_.size() <= most_open_ && !is_whole(open_.front())) {
            divide(pop());
        }
    }

    /// Divides a candidate into others: every vector of the candidate belongs to one of them.
    EINPARALLEL_INLINE void divide(const partition_candidate& all) {
        if (all.last > 0) {
            halve(all);
            return;
        }
        for (const int parts : choices_[all.family].at(all.label, all.left)) {
            partition_candidate next = all;
            next.parts[next.label++] *= parts;
            next.left /= parts;
            push(std::move(next));
        }
    }

    /// A whole vector, found depth first: divides the cheapest candidate, then the cheapest of the candidates that this
    /// gives, and so on.
    EINPARALLEL_INLINE std::optional<partition_candidate> dive() {
        std::vector<partition_candidate> others;
        while (dives_ > 0 && !open_.empty()) {
            --dives_;
            others.swap(open_);
            std::pop_heap(others.begin(), others.end(), std::greater<>());
            open_.assign(1, std::move(others.back()));
            others.pop_back();
            std::optional<partition_candidate> found;
            while (!found && !open_.empty()) {
                partition_candidate first = pop();
                for (partition_candidate& each : open_) {
                    others.push_back(std::move(each));
                    std::push_heap(others.begin(), others.end(), std::greater<>());
                }
                open_.clear();
                is_whole(first) ? static_cast<void>(found = std::move(first)) : divide(first);
            }
            open_.swap(others);
            if (found) {
                return found;
            }
        }
        return std::nullopt;
    }

    /// The largest product of parts that the labels from `from` on can have.
    EINPARALLEL_INLINE static double capacity(const partition_family& family, std::size_t from) {
        double parts = 1;
        for (std::size_t label = from; label < family.free.size(); ++label) {
            parts *= double(std::max<index>(family.free[label], 1));
        }
        return parts;
    }

    /// Adds a candidate for all parts that the next label of a range may have. `least`: the smallest product for the
    /// labels that are left.
    EINPARALLEL_INLINE void enter(partition_candidate next, int least) {
        const partition_family& family = families_[next.family];
        if (is_whole(next)) {
            next.left = next.last = 1;
            push(std::move(next));
            return;
        }
        const int first = std::max(1, int(std::ceil(least / capacity(family, next.label + 1))));
        next.last = int(std::min<index>(next.left, std::max<index>(family.free[next.label], 1)));
        if (first <= next.last) {
            next.parts[next.label] = family.fixed[next.label] * first;
            push(std::move(next));
        }
    }

    /// Begins with about equal parts on some labels and 1 on the others, and steps until no step makes the vector
    /// cheaper. Each call tries the next labels or number of ranks (all, half, a quarter), then the next family.
    EINPARALLEL_INLINE std::optional<partition_candidate> climb() {
        for (; climbing_ < families_.size(); ++climbing_, cut_labels_ = 0) {
            const partition_family& family = families_[climbing_];
            const std::size_t labels = family.free.size();
            if (family.any_from > 0 && labels <= 6 && ++cut_labels_ < 3U << labels) {
                std::vector<int> parts(labels, 1);
                int left = std::max(family.products.front() >> (cut_labels_ >> labels), family.any_from);
                int rest = std::popcount(cut_labels_ & ((1U << labels) - 1));
                for (std::size_t label = 0; label < labels; ++label) {
                    if ((cut_labels_ >> label & 1U) != 0) {
                        parts[label] = most_parts(family, label, int(std::pow(left, 1.0 / rest--) + 1e-9));
                        left /= parts[label];
                    }
                }
                partition_candidate best = with_parts(parts);
                while (step(parts, best)) {
                }
                if (best.least < std::numeric_limits<double>::infinity()) {
                    return best;
                }
                return climb();
            }
        }
        return std::nullopt;
    }

    EINPARALLEL_INLINE static int most_parts(const partition_family& family, std::size_t label, int wanted) {
        return int(std::clamp<index>(wanted, 1, std::max<index>(family.free[label], 1)));
    }

    /// The vector with these parts. Its cost is infinity where it does not belong to the family.
    EINPARALLEL_INLINE partition_candidate with_parts(const std::vector<int>& parts) const {
        const partition_family& family = families_[climbing_];
        partition_candidate made{0, 0, family.fixed, climbing_, 0, parts.size(), 1, 1};
        double product = 1;
        for (std::size_t label = 0; label < parts.size(); ++label) {
            made.parts[label] *= parts[label];
            product *= parts[label];
        }
        made.least = product > family.products.front() || product < family.any_from
                         ? std::numeric_limits<double>::infinity()
                         : cost_.of(made, family);
        return made;
    }

    /// Goes to the cheapest vector with more or fewer parts of one label, or of two; false where none is cheaper.
    EINPARALLEL_INLINE bool step(std::vector<int>& parts, partition_candidate& best) const {
        const partition_family& family = families_[climbing_];
        const std::vector<int> from = parts;
        bool found = false;
        const auto consider = [&](const std::vector<int>& tried) {
            if (partition_candidate made = with_parts(tried); made.least < best.least) {
                best = std::move(made);
                parts = tried;
                found = true;
            }
        };
        for (std::size_t one = 0; one < from.size(); ++one) {
            for (const int by : {-from[one] / 2, -from[one] / 8 - 1, -1, 1, from[one] / 8 + 1, from[one]}) {
                std::vector<int> tried = from;
                tried[one] = most_parts(family, one, from[one] + by);
                consider(tried);
                for (std::size_t other = 0; other < from.size(); ++other) {  // as many ranks
                    if (other != one) {
                        std::vector<int> both = tried;
                        const auto ranks = double(from[other]) * from[one] / tried[one];
                        both[other] = most_parts(family, other, int(ranks + 1e-9));
                        consider(both);
                    }
                }
            }
        }
        return found;
    }

    /// Halves the interval of a label's parts at its geometric mean. Decides the label where one number is left.
    EINPARALLEL_INLINE void halve(const partition_candidate& range) {
        const partition_family& family = families_[range.family];
        const int fixed = family.fixed[range.label];
        const int first = range.parts[range.label] / fixed;
        partition_candidate next = range;
        if (first == range.last) {
            int chosen = 1;
            for (std::size_t label = 0; label <= range.label; ++label) {
                chosen *= range.parts[label] / family.fixed[label];
            }
            ++next.label;
            next.left /= first;
            enter(std::move(next), (family.any_from + chosen - 1) / chosen);
            return;
        }
        const int middle = std::clamp(int(std::sqrt(double(first) * range.last)), first, range.last - 1);
        next.last = middle;
        push(next);
        next.last = range.last;
        next.parts[next.label] = fixed * (middle + 1);
        push(std::move(next));
    }

    const std::vector<partition_family>& families_;
    least_cost cost_;
    std::size_t most_open_;  // with more open candidates the order is not exact
    int dives_ = 256;
    std::size_t climbing_ = 0;  // family
    unsigned cut_labels_ = 0;   // labels that the last climb cut, by bit; above them, how often ranks were halved
    std::vector<partition_choices> choices_;  // by family
    std::vector<partition_candidate> open_;   // a heap
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE int largest_product(std::span<const index> extents, int processes, bool powers_of_two) {
    int product = planned_processes(processes, powers_of_two);
    index capacity = 1;
    for (const index extent : extents) {
        capacity = std::min<index>(capacity * std::clamp<index>(extent, 1, product), product);
    }
    product = powers_of_two ? product : int(capacity);
    detail::partition_choices tree(extents);
    while (product > 1 && tree.at(0, product).empty()) {
        product = powers_of_two ? product / 2 : product - 1;
    }
    return product;
}

}  // namespace einparallel
