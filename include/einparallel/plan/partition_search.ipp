#pragma once
// The partition vectors of one einsum up to any cost: by what its own work costs at least, whatever the rest of the
// placement. Vectors that cost more than what is asked for are never written down, so any number of labels and ranks
// will do.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/cost.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition.ipp>
#include <einparallel/plan/traffic.ipp>
#include <einparallel/schedule/pending.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The vectors that compete for a vertex which takes and leaves its sums in one way.
struct partition_family {
    pending_sums sums;
    std::vector<std::vector<label_id>> tensors;  ///< labels of the operands, then of the output
    std::vector<index> extents;                  ///< by label; the label of carried summands stands behind the others
    std::vector<int> fixed;                      ///< by label: parts that are not to choose
    std::vector<index> free;                     ///< by label: 1 where nothing is to choose, its extent elsewhere
    std::vector<int> products;                   ///< of the parts to choose: the numbers of ranks that compete
};

/// A partition vector, and what a vertex that is cut so costs at least.
struct partition_candidate {
    double least = 0;
    double block = 0;  ///< points of the largest block: of equals, the more even vector comes first
    std::vector<int> parts;
    std::size_t family = 0;

    friend bool operator<(const partition_candidate& a, const partition_candidate& b) {
        return a.least != b.least ? a.least < b.least : a.block < b.block;
    }
};

/// Numbers of ranks up to which every smaller one competes where a vertex may leave ranks idle.
inline constexpr int every_number_limit = 16;

/// The numbers of ranks that compete for a vertex with these extents: the largest alone, or under `every` also smaller
/// ones: all of few ranks; of many, divisors of the largest and of p, and powers of two. Descending.
EINPARALLEL_INLINE std::vector<int> competing_products(std::span<const index> extents, int processes, bool every,
                                                       bool powers_of_two) {
    const int largest = largest_product(extents, processes, powers_of_two);
    std::vector<int> products;
    for (int product = largest; product >= (every ? 1 : largest); --product) {
        const bool is_power = (product & (product - 1)) == 0;
        if (product == largest || is_power ||
            (!powers_of_two && (largest <= every_number_limit || largest % product == 0 || processes % product == 0))) {
            products.push_back(product);
        }
    }
    return products;
}

/// Enumerates the vectors of a family.
class partition_search {
public:
    EINPARALLEL_INLINE partition_search(const vertex& einsum, partition_family family, std::size_t number,
                                        const options& asked)
        : family_(std::move(family)), number_(number), asked_(asked), operations_(einsum.work->operations_per_point()) {
        for (std::size_t tensor = 0; tensor < family_.tensors.size(); ++tensor) {
            const bool is_output = tensor == einsum.operands.size();
            const std::vector<label_id>& labels = family_.tensors[tensor];
            term made;
            made.element_bytes =
                static_cast<double>(is_output ? einsum.element.bytes : einsum.operands[tensor]->element.bytes);
            made.counts = !is_output || !family_.sums.output;
            made.has.assign(family_.extents.size(), 0);
            for (const label_id label : labels) {
                if (label != no_label) {
                    const auto place = static_cast<std::size_t>(label);
                    made.repeats = made.repeats || made.has[place] > 0;
                    ++made.has[place];
                    made.elements *= static_cast<double>(family_.extents[place]);
                }
            }
            terms_.push_back(std::move(made));
        }
        for (const index extent : family_.extents) {
            points_ *= static_cast<double>(extent);
        }
        if (family_.sums.operands != 0) {
            points_ /= family_.sums.summands;  // a kernel sees one summand
        }
    }

    /// All vectors that cost more than `above` and at most `limit`; nothing where there are more than `most`.
    /// `is_all` says whether none costs more.
    EINPARALLEL_INLINE bool list(double above, double limit, std::size_t most, std::vector<partition_candidate>& into,
                                 bool& is_all) {
        above_ = above;
        limit_ = limit;
        most_ = into.size() + most;
        into_ = &into;
        is_all_ = true;
        start();
        is_all = is_all && is_all_;
        return into.size() <= most_;
    }

    /// The smallest cost of all; infinity where there is no vector.
    EINPARALLEL_INLINE double least() {
        above_ = -1;
        limit_ = std::numeric_limits<double>::infinity();
        into_ = nullptr;
        start();
        return limit_;
    }

    /// A step by which costs may sensibly differ.
    EINPARALLEL_INLINE [[nodiscard]] double unit() const {
        double smallest = std::numeric_limits<double>::infinity();
        for (const term& each : terms_) {
            smallest = std::min(smallest, std::max(each.elements, 1.0) * each.element_bytes);
        }
        if (asked_.objective == objective::time) {
            const int ranks = family_.products.empty() ? 1 : family_.products.front();
            return points_ * operations_ * asked_.machine.seconds_per_flop / ranks / 64 +
                   smallest * asked_.machine.seconds_per_byte / ranks + asked_.machine.seconds_per_message / 64;
        }
        return smallest;
    }

private:
    /// A tensor of the einsum.
    struct term {
        std::vector<int> has;  ///< by label: how many of its dimensions carry it
        double elements = 1;
        double element_bytes = 0;
        double replication = 1;  ///< by the parts that are placed so far
        bool repeats = false;    ///< some label stands twice
        bool counts = true;      ///< not a sum that is left pending
    };

    EINPARALLEL_INLINE void start() {
        for (const int product : family_.products) {
            counts_.emplace(family_.free, product);
            if (counts_->total() == 0) {
                continue;
            }
            ranks_ = product;
            parts_ = family_.fixed;
            for (term& each : terms_) {
                each.replication = 1;
            }
            for (std::size_t label = 0; label < parts_.size(); ++label) {
                ranks_ *= parts_[label];
                place(label, parts_[label], 1);
            }
            descend(0, product);
        }
    }

    /// Counts parts of a label in, or with `undo` out of, the replication of the tensors that lack it.
    EINPARALLEL_INLINE void place(std::size_t label, int parts, int undo) {
        for (term& each : terms_) {
            if (each.has[label] == 0) {
                each.replication = each.replication * parts / undo;
            }
        }
    }

    EINPARALLEL_INLINE void descend(std::size_t label, int left) {
        if (at_least() * (1 - 1e-12) > limit_ || (into_ != nullptr && into_->size() > most_)) {
            is_all_ = false;
            return;
        }
        if (label == parts_.size()) {
            note();
            return;
        }
        for (std::size_t place_of = counts_->divisors.size(); place_of-- > 0;) {
            const int parts = counts_->divisors[place_of];
            if (left % parts != 0 || (parts > 1 && parts > family_.free[label]) ||
                counts_->ways[label + 1][counts_->position_of(left / parts)] == 0) {
                continue;
            }
            parts_[label] *= parts;
            place(label, parts, 1);
            descend(label + 1, left / parts);
            place(label, 1, parts);
            parts_[label] /= parts;
        }
    }

    EINPARALLEL_INLINE void note() {
        const double cost = cost_of();
        if (cost <= above_) {
            return;
        }
        if (cost > limit_) {
            is_all_ = false;
        } else if (into_ == nullptr) {
            limit_ = cost;
        } else {
            into_->push_back({cost, largest_block(), parts_, number_});
        }
    }

    EINPARALLEL_INLINE [[nodiscard]] double largest_block() const {
        double points = 1;
        for (std::size_t label = 0; label < parts_.size(); ++label) {
            points *= static_cast<double>(block_of(family_.extents[label], parts_[label], 0).size());
        }
        return points;
    }

    /// Numbers that moving a tensor to whoever computes with it, or aggregating it, takes: all ranks together.
    EINPARALLEL_INLINE [[nodiscard]] double moved(const term& each, double elements) const {
        return each.counts ? (each.replication - 1) * elements : 0;
    }

    EINPARALLEL_INLINE [[nodiscard]] double seconds(double arithmetic, const auto& elements_of) const {
        double sum = 0;
        double longest = 0;
        double steps = 0;  // what each of them costs besides
        for (const term& each : terms_) {
            if (each.counts && each.replication > 1) {
                const auto rounds = std::bit_width(static_cast<unsigned>(each.replication) - 1U);
                const double transfer = rounds * asked_.machine.seconds_per_message +
                                        (each.replication - 1) / each.replication * elements_of(each) *
                                            each.element_bytes * asked_.machine.seconds_per_byte;
                sum += transfer;
                steps += rounds * messages_per_step * asked_.machine.seconds_per_message;
                longest = std::max(longest, transfer);
            }
        }
        return sum - longest + std::max(longest, arithmetic) + steps;
    }

    /// What all vectors cost at least that have the parts placed so far: replication only grows.
    EINPARALLEL_INLINE [[nodiscard]] double at_least() const {
        if (asked_.objective == objective::time) {
            return seconds(points_ / ranks_ * operations_ * asked_.machine.seconds_per_flop, [&](const term& each) {
                return each.repeats ? 0 : each.elements * each.replication / ranks_;
            });
        }
        double sum = 0;
        for (std::size_t tensor = 0; tensor < terms_.size(); ++tensor) {
            const term& each = terms_[tensor];
            if (asked_.objective == objective::paper) {
                const bool is_output = tensor + 1 == terms_.size();
                sum += each.repeats ? 0 : (each.replication - (is_output ? 1 : 0)) * each.elements;
            } else {
                sum += each.repeats ? 0 : moved(each, each.elements) * each.element_bytes;
            }
        }
        return sum;
    }

    /// Of a whole vector. Under time one tensor's transfer may hide all arithmetic or be hidden by it; every transfer
    /// brings all but a rank's own share of its largest block.
    EINPARALLEL_INLINE [[nodiscard]] double cost_of() const {
        if (asked_.objective == objective::paper) {
            const std::span<const std::vector<label_id>> tensors(family_.tensors);
            double numbers = 0;
            for (const std::vector<label_id>& labels : tensors.first(tensors.size() - 1)) {
                numbers += cost::block_elements(labels, family_.extents, parts_);
            }
            return cost::kernel_calls(parts_) * numbers + cost::aggregate(tensors.back(), family_.extents, parts_);
        }
        if (asked_.objective == objective::bytes) {
            double bytes = 0;
            for (const term& each : terms_) {
                bytes += moved(each, each.repeats ? covered(each) : each.elements) * each.element_bytes;
            }
            return bytes;
        }
        const double points = largest_block();
        return seconds(points * operations_ * asked_.machine.seconds_per_flop, [&](const term& each) {
            double elements = 1;
            for (std::size_t label = 0; label < parts_.size(); ++label) {
                for (int time = 0; time < each.has[label]; ++time) {
                    elements *= static_cast<double>(block_of(family_.extents[label], parts_[label], 0).size());
                }
            }
            return elements;
        });
    }

    /// Elements of the blocks that are looked at where a label stands twice: those on a diagonal.
    EINPARALLEL_INLINE [[nodiscard]] double covered(const term& each) const {
        double elements = 1;
        for (std::size_t label = 0; label < parts_.size(); ++label) {
            elements *=
                each.has[label] > 0 ? diagonal_elements(family_.extents[label], parts_[label], each.has[label]) : 1;
        }
        return elements;
    }

    partition_family family_;
    std::size_t number_;
    const options& asked_;
    double operations_;
    std::vector<term> terms_;
    double points_ = 1;
    double above_ = 0;
    double limit_ = 0;
    std::size_t most_ = 0;
    std::vector<partition_candidate>* into_ = nullptr;
    bool is_all_ = true;
    std::optional<placement_counts> counts_;
    int ranks_ = 1;
    std::vector<int> parts_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
