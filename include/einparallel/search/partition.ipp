#pragma once

#include <einparallel/search/partition.hpp>

#include <einparallel/cost/traffic.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/search.hpp>
#include <einparallel/search/state.ipp>

#include <algorithm>
#include <cmath>
#include <functional>
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

/// The ways to place numbers of parts on labels, one label after the other, none cut finer than its extent.
class partition_choices {
public:
    EINPARALLEL_INLINE explicit partition_choices(std::span<const index> extents)
        : extents_(extents.begin(), extents.end()) {}

    /// Parts of a label with which the product `left` can be placed on it and the labels behind it, ascending; none
    /// where it cannot. Behind the last label: 1 where nothing is left.
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

/// A partition vector whose labels before `label` are decided, and what a vertex that is cut so costs at least.
struct partition_candidate {
    double least = 0;
    double block = 0;  ///< points of the largest block at least: of equals, the more even vector comes first
    std::vector<int> parts;
    std::size_t family = 0;
    std::size_t product = 0;  ///< its place among those of the family
    std::size_t label = 0;
    int left = 1;  ///< of the product, to place on the other labels

    /// The costs; then as they would be listed, those with more parts of a label first.
    friend bool operator>(const partition_candidate& a, const partition_candidate& b) {
        const auto rank = [](const partition_candidate& each) {
            return std::tie(each.least, each.block, each.family, each.product);
        };
        return rank(a) != rank(b) ? rank(a) > rank(b) : a.parts < b.parts;
    }
};

/// The vectors of all families of a vertex one after the other, cheapest first by what its own work costs at least: a
/// best-first search over vectors in which the first labels are decided. Any number of labels and ranks will do.
class cheapest_partitions {
public:
    EINPARALLEL_INLINE cheapest_partitions(const vertex& einsum, const std::vector<partition_family>& families,
                                           const options& asked, const lasting_work& lasting)
        : families_(families),
          asked_(&asked),
          lasting_(lasting),
          operations_(einsum.work->operations_per_point()),
          element_bytes_(operand_bytes_of(einsum)) {
        element_bytes_.push_back(einsum.element.bytes);
        for (std::size_t number = 0; number < families.size(); ++number) {
            const partition_family& each = families[number];
            choices_.emplace_back(each.free);
            for (std::size_t place = 0; place < each.products.size(); ++place) {
                if (!choices_[number].at(0, each.products[place]).empty()) {
                    push({0, 0, each.fixed, number, place, 0, each.products[place]});
                }
            }
        }
        settle();
    }

    /// The next one; nothing where there is none, or where too many would have to be looked at.
    EINPARALLEL_INLINE std::optional<partition_candidate> next() {
        if (open_.empty() || open_.size() > most_open) {
            return std::nullopt;
        }
        partition_candidate first = pop();
        settle();
        return first;
    }

    /// What every vector that did not come yet costs at least; infinity where there is none.
    double rest() const { return open_.empty() ? std::numeric_limits<double>::infinity() : open_.front().least; }

private:
    static constexpr std::size_t most_open = 200'000;

    bool is_whole(const partition_candidate& each) const { return each.label == families_[each.family].free.size(); }

    EINPARALLEL_INLINE void push(partition_candidate next) {
        next.least = cost(next) * (is_whole(next) ? 1 : 1 - 1e-12);
        open_.push_back(std::move(next));
        std::push_heap(open_.begin(), open_.end(), std::greater<>());
    }

    EINPARALLEL_INLINE partition_candidate pop() {
        std::pop_heap(open_.begin(), open_.end(), std::greater<>());
        partition_candidate first = std::move(open_.back());
        open_.pop_back();
        return first;
    }

    /// Decides labels until a whole vector comes first.
    EINPARALLEL_INLINE void settle() {
        while (!open_.empty() && open_.size() <= most_open && !is_whole(open_.front())) {
            const partition_candidate first = pop();
            for (const int parts : choices_[first.family].at(first.label, first.left)) {
                partition_candidate next = first;
                next.parts[next.label++] *= parts;
                next.left /= parts;
                push(std::move(next));
            }
        }
    }

    /// What a whole vector costs (with cut points at least: even blocks cost least), or what all costs at least that
    /// has these parts and a product `left` of others: replication only grows. Under time one tensor's transfer may
    /// hide all arithmetic or be hidden by it; every transfer brings all but a rank's own share of its largest block.
    /// An operand that may be held is gathered apart, or goes round a ring in every run, which hides all but a share of
    /// it.
    /// The paper counts numbers, and also a rank's own share of what it reads.
    EINPARALLEL_INLINE double cost(partition_candidate& of) const {
        const partition_family& family = families_[of.family];
        const machine& constants = asked_->machine;
        const bool in_time = asked_->objective == objective::time;
        const bool is_paper = asked_->objective == objective::paper;
        const auto side = [&](std::size_t label) {  // of the largest block
            const index extent = family.extents[label];
            return label < of.label ? double(block_of(extent, of.parts[label], 0).size())
                                    : double(extent) / of.parts[label];
        };
        double ranks = 1;
        of.block = 1.0 / of.left;
        for (std::size_t label = 0; label < of.parts.size(); ++label) {
            ranks *= of.parts[label];
            of.block *= side(label);
        }
        double sum = 0;
        double longest = 0;
        double apart = 0;  // in all runs
        for (std::size_t tensor = 0; tensor < family.tensors.size(); ++tensor) {
            const bool is_output = tensor + 1 == family.tensors.size();
            if (is_output && family.sums.output) {
                continue;
            }
            double replication = ranks;
            double elements = in_time ? 1.0 / of.left : 1;  // of all blocks; under time of one
            for (std::size_t label = 0; label < of.parts.size(); ++label) {
                const std::vector<label_id>& labels = family.tensors[tensor];
                const auto times = std::count(labels.begin(), labels.end(), label_id(label));
                if (times == 0) {
                    continue;
                }
                replication /= of.parts[label];
                const auto extent = double(family.extents[label]);
                const double block = in_time ? side(label) : extent / of.parts[label];
                elements *= times > 1 && label >= of.label
                                ? 0
                                : (in_time ? block : extent) * std::pow(block, double(times - 1));
            }
            double moved = (replication - (is_paper && !is_output ? 0 : 1)) * elements;
            moved *= is_paper ? 1 : double(element_bytes_[tensor]);
            double held = lasting_.may_hold(tensor) ? lasting_.held[tensor] : 0;
            const auto rounds = std::bit_width(unsigned(replication) - 1U);
            if (in_time) {
                moved = rounds * constants.seconds_per_message + moved / replication * constants.seconds_per_byte;
                held = std::min(held, lasting_.runs * std::min(1.0, constants.exposed));
            }
            if (lasting_.may_hold(tensor)) {
                apart += held * moved;
            } else {
                sum += moved + (in_time ? rounds * messages_per_step * constants.seconds_per_message : 0);
                longest = std::max(longest, moved);
            }
        }
        const double arithmetic = of.block * operations_ * constants.seconds_per_flop;
        return lasting_.runs * (in_time ? sum - longest + std::max(longest, arithmetic) : sum) + apart;
    }

    const std::vector<partition_family>& families_;
    const options* asked_;
    lasting_work lasting_;
    double operations_;
    std::vector<std::size_t> element_bytes_;
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
