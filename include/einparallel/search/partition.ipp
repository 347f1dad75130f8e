#pragma once

#include <einparallel/search/partition.hpp>

#include <einparallel/cost/traffic.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/search.hpp>

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

    /// Parts of a label with which the product `left` can be placed on it and the labels behind it, ascending.
    const std::vector<int>& choices(std::size_t label, int left) { return at(label, left).parts; }
    /// Ways to place it; they stop at the largest std::size_t.
    std::size_t count(std::size_t label, int left) { return at(label, left).count; }

private:
    struct choice_set {
        std::vector<int> parts;
        std::size_t count = 0;
    };

    EINPARALLEL_INLINE const choice_set& at(std::size_t label, int left) {
        const auto [known, fresh] = known_.try_emplace({label, left});
        choice_set& made = known->second;
        if (label == extents_.size()) {
            made.count = left == 1 ? 1 : 0;
        }
        for (const int parts : fresh&& label < extents_.size() ? divisors_of(left) : std::vector<int>{}) {
            const std::size_t more = parts == 1 || parts <= extents_[label] ? count(label + 1, left / parts) : 0;
            made.count += std::min(more, std::numeric_limits<std::size_t>::max() - made.count);
            if (more > 0) {
                made.parts.push_back(parts);
            }
        }
        return made;
    }

    std::vector<index> extents_;
    std::map<std::pair<std::size_t, int>, choice_set> known_;
};

/// A partition vector, and what a vertex that is cut so costs at least.
struct partition_candidate {
    double least = 0;
    double block = 0;  ///< points of the largest block: of equals, the more even vector comes first
    std::vector<int> parts;
    std::size_t family = 0;
};

/// The vectors of all families of a vertex one after the other, cheapest first by what its own work costs at least: a
/// best-first search over vectors in which the first labels are decided. Any number of labels and ranks will do.
class cheapest_partitions {
public:
    EINPARALLEL_INLINE cheapest_partitions(const vertex& einsum, const std::vector<partition_family>& families,
                                           const options& asked, const lasting_work& lasting)
        : families_(families), asked_(&asked), lasting_(lasting), operations_(einsum.work->operations_per_point()) {
        for (const std::shared_ptr<vertex>& operand : einsum.operands) {
            element_bytes_.push_back(static_cast<double>(operand->element.bytes));
        }
        element_bytes_.push_back(static_cast<double>(einsum.element.bytes));
        for (std::size_t number = 0; number < families.size(); ++number) {
            const partition_family& each = families[number];
            choices_.emplace_back(each.free);
            for (std::size_t place = 0; place < each.products.size(); ++place) {
                if (choices_[number].count(0, each.products[place]) > 0) {
                    push({{0, 0, each.fixed, number}, place, 0, each.products[place]});
                }
            }
        }
        settle();
    }

    /// The next one; nothing where there is none, or where too many would have to be looked at.
    EINPARALLEL_INLINE std::optional<partition_candidate> next() {
        if (open_.empty() || gave_up_) {
            return std::nullopt;
        }
        partition_candidate first = pop().made;
        settle();
        return first;
    }

    /// What every vector that did not come yet costs at least; infinity where there is none.
    [[nodiscard]] double rest() const {
        return open_.empty() ? std::numeric_limits<double>::infinity() : open_.front().made.least;
    }

private:
    /// Vectors whose labels before `label` are decided, with a product `left` to place on the others.
    struct node {
        partition_candidate made;
        std::size_t product = 0;  ///< its place among those of the family
        std::size_t label = 0;
        int left = 1;

        /// The costs; then as they would be listed, those with more parts of a label first.
        friend bool operator>(const node& a, const node& b) {
            const auto rank = [](const node& each) {
                return std::tie(each.made.least, each.made.block, each.made.family, each.product);
            };
            return rank(a) != rank(b) ? rank(a) > rank(b) : a.made.parts < b.made.parts;
        }
    };

    static constexpr std::size_t most_nodes = 200'000;

    EINPARALLEL_INLINE void push(node next) {
        const bool whole = next.label == families_[next.made.family].free.size();
        next.made.least = cost(next.made, whole, next.left) * (whole ? 1 : 1 - 1e-12);
        open_.push_back(std::move(next));
        std::push_heap(open_.begin(), open_.end(), std::greater<>());
    }

    EINPARALLEL_INLINE node pop() {
        std::pop_heap(open_.begin(), open_.end(), std::greater<>());
        node first = std::move(open_.back());
        open_.pop_back();
        return first;
    }

    /// Decides labels until a whole vector comes first.
    EINPARALLEL_INLINE void settle() {
        while (!open_.empty() && !gave_up_ && open_.front().label < families_[open_.front().made.family].free.size()) {
            const node first = pop();
            for (const int parts : choices_[first.made.family].choices(first.label, first.left)) {
                node next = first;
                next.made.parts[next.label++] *= parts;
                next.left /= parts;
                push(std::move(next));
            }
            gave_up_ = open_.size() > most_nodes;
        }
    }

    /// What a whole vector costs (with cut points at least: even blocks cost least), or what all costs at least that
    /// has these parts and a product `left` of others: replication only grows. Under time one tensor's transfer may
    /// hide all arithmetic or be hidden by it; every transfer brings all but a rank's own share of its largest block.
    /// An operand that lasts is brought once, or goes round a ring in every run, which hides all but a share of it.
    EINPARALLEL_INLINE double cost(partition_candidate& of, bool whole, int left) const {
        const partition_family& family = families_[of.family];
        const auto block = [&](std::size_t label) {
            return static_cast<double>(block_of(family.extents[label], of.parts[label], 0).size());
        };
        double ranks = 1;
        double points = 1;  // of one rank, or of the largest block
        for (std::size_t label = 0; label < of.parts.size(); ++label) {
            ranks *= of.parts[label];
            points *= whole ? block(label) : static_cast<double>(family.extents[label]);
        }
        points /= whole ? 1 : ranks * left;
        of.block = whole ? points : 0;
        double sum = 0;
        double longest = 0;
        double steps = 0;  // what each of them costs besides
        double once = 0;   // in all runs
        for (std::size_t tensor = 0; tensor < family.tensors.size(); ++tensor) {
            const bool is_output = tensor + 1 == family.tensors.size();
            double replication = ranks;
            double elements = 1;  // that move per replica; under time those of a block
            const std::vector<label_id>& labels = family.tensors[tensor];
            for (std::size_t label = 0; label < of.parts.size(); ++label) {
                const auto times = std::count(labels.begin(), labels.end(), static_cast<label_id>(label));
                const auto extent = static_cast<double>(family.extents[label]);
                const int parts = of.parts[label];
                if (times == 0) {
                    continue;
                }
                replication /= parts;
                if (times > 1 && !whole) {
                    elements = 0;
                } else if (asked_->objective == objective::time) {
                    elements *= whole ? std::pow(block(label), static_cast<double>(times)) : extent;
                } else if (asked_->objective == objective::bytes) {
                    elements *= diagonal_elements(family.extents[label], parts, times);
                } else {
                    elements *= extent * std::pow(extent / parts, static_cast<double>(times - 1));
                }
            }
            const bool lasts = lasting_.lasts(tensor);
            if (asked_->objective == objective::paper) {
                (lasts ? once : sum) += (replication - (is_output ? 1 : 0)) * elements;
            } else if (replication == 1 || (is_output && family.sums.output)) {
                continue;
            } else if (asked_->objective == objective::bytes) {
                const double bytes = (replication - 1) * elements * element_bytes_[tensor];
                (lasts ? once : sum) += lasts ? lasting_.once[tensor] * bytes : bytes;
            } else {
                const machine& constants = asked_->machine;
                elements *= whole ? 1 : replication / (ranks * left);
                const auto rounds = std::bit_width(static_cast<unsigned>(replication) - 1U);
                const double transfer = rounds * constants.seconds_per_message + (replication - 1) / replication *
                                                                                     elements * element_bytes_[tensor] *
                                                                                     constants.seconds_per_byte;
                if (lasts) {
                    once +=
                        std::min(lasting_.once[tensor], lasting_.runs * std::min(1.0, constants.exposed)) * transfer;
                    continue;
                }
                sum += transfer;
                steps += rounds * messages_per_step * constants.seconds_per_message;
                longest = std::max(longest, transfer);
            }
        }
        const double arithmetic = points * operations_ * asked_->machine.seconds_per_flop;
        const double each =
            asked_->objective != objective::time ? sum : sum - longest + std::max(longest, arithmetic) + steps;
        return lasting_.runs * each + once;
    }

    const std::vector<partition_family>& families_;
    const options* asked_;
    lasting_work lasting_;
    double operations_;
    std::vector<double> element_bytes_;
    std::vector<partition_choices> choices_;  // by family
    std::vector<node> open_;                  // a heap
    bool gave_up_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE int largest_product(std::span<const index> extents, int processes, bool powers_of_two) {
    index capacity = 1;
    for (const index extent : extents) {
        capacity = std::min<index>(capacity * std::clamp<index>(extent, 1, index{1} << 30), index{1} << 30);
    }
    int product = planned_processes(processes, powers_of_two);
    product = powers_of_two ? product : static_cast<int>(std::min<index>(product, capacity));
    detail::partition_choices tree(extents);
    while (product > 1 && tree.count(0, product) == 0) {
        product = powers_of_two ? product / 2 : product - 1;
    }
    return product;
}

}  // namespace einparallel
