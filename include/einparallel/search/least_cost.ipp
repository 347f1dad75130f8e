#pragma once
// A lower bound of the cost of a vertex's own work, by its partition vector alone, or by those of its labels that are
// decided. The search lists partition vectors in the order of this bound.

#include <einparallel/cost/lasting.hpp>
#include <einparallel/cost/machine.hpp>
#include <einparallel/cost/objective.hpp>
#include <einparallel/cost/traffic.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/search.hpp>
#include <einparallel/search/state.ipp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A partition vector, decided for the labels before `label`, and a lower bound of what a vertex costs that is cut so.
struct partition_candidate {
    double least = 0;
    double block = 0;  ///< lower bound of the points of the largest block; of equal costs the smaller block comes first
    std::vector<int> parts;
    std::size_t family = 0;
    std::size_t product = 0;  ///< position of its number of ranks in the family's `products`
    std::size_t label = 0;
    int left = 1;  ///< what the labels not yet decided have to take of the product; of a range: of the largest product
    int last = 0;  ///< of a range: the most parts that label `label` may have, parts[label] being the fewest; 0: no
                   ///< range, the product is met exactly

    /// Compares by cost and block, then by family and product. Of equals, the one with more parts of the first labels
    /// comes first.
    friend bool operator>(const partition_candidate& a, const partition_candidate& b) {
        const auto rank = [](const partition_candidate& each) {
            return std::tie(each.least, each.block, each.family, each.product);
        };
        return rank(a) != rank(b) ? rank(a) > rank(b) : a.parts < b.parts;
    }
};

/// Lower bounds of the cost of one vertex.
class least_cost {
public:
    EINPARALLEL_INLINE least_cost(const vertex& einsum, const options& asked, const wired_machine& on,
                                  const lasting_work& lasting)
        : asked_(&asked),
          on_(&on),
          lasting_(lasting),
          operations_(einsum.work->operations_per_point()),
          element_bytes_(operand_bytes_of(einsum)) {
        element_bytes_.push_back(einsum.element.bytes);
        for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
            is_viewed_.push_back(einsum.form.is_viewed(operand));
        }
        is_viewed_.push_back(false);
    }

    /// The cost of a whole vector; otherwise a lower bound for all vectors that have at least these parts and put a
    /// product `left` on the other labels, because more parts only mean more replication. With cut points it is a lower
    /// bound too, because even blocks cost least. The paper counts numbers, and a rank's own share of what it reads as
    /// well. Sets candidate.block.
    EINPARALLEL_INLINE double of(partition_candidate& candidate, const partition_family& family) const {
        const parts_of_labels parts(candidate, family);
        const bool in_time = asked_->objective == objective::time;
        const bool is_paper = asked_->objective == objective::paper;
        candidate.block = parts.largest_block();
        const double arithmetic = candidate.block * operations_ * on_->seconds_per_flop();
        double sum = in_time ? arithmetic : 0;
        double saves = 0;  // seconds that are saved where one tensor travels while ranks compute
        double apart = 0;  // cost in all runs together, of operands that may be held
        shared_node together(candidate.parts.size(), in_time || is_paper ? -1 : asked_->level, *on_);
        for (std::size_t tensor = 0; tensor < family.tensors.size(); ++tensor) {
            const bool is_output = tensor + 1 == family.tensors.size();
            if ((is_output && family.sums.output) || (is_viewed_[tensor] && !is_paper)) {
                continue;  // summands stay where they are; boxes are brought before the work begins
            }
            const bool may_hold = lasting_.may_hold(tensor);
            const double held = may_hold ? lasting_.held[tensor] : 0;
            const shared_blocks blocks = parts.blocks_of(family.tensors[tensor], in_time);
            if (!in_time) {
                const double copies =
                    is_paper && !is_output ? blocks.sharers : on_->groups_of(blocks.sharers, asked_->level) - 1;
                const double moved = copies * blocks.elements * (is_paper ? 1 : double(element_bytes_[tensor]));
                (may_hold ? apart : sum) += (may_hold ? held : 1) * moved;
                if (!may_hold) {
                    together.add(family.tensors[tensor], blocks.sharers,
                                 blocks.elements * double(element_bytes_[tensor]));
                }
            } else if (may_hold) {
                // The tensor is gathered apart, or goes round a ring in every run, which hides all but a share of it.
                apart += std::min(held, lasting_.runs * std::min(1.0, on_->exposed())) *
                         transfer(blocks, element_bytes_[tensor]);
            } else if (blocks.sharers > 1) {
                const double before = seconds_apart(blocks, element_bytes_[tensor], is_output);
                sum += before;
                saves = std::max(saves, before + arithmetic -
                                            seconds_travelling(blocks, element_bytes_[tensor], is_output, arithmetic));
            }
        }
        return lasting_.runs * (std::max(sum, together.least()) - saves) + apart;
    }

private:
    /// The largest block of a tensor, and how many ranks share it.
    struct shared_blocks {
        double elements = 1;   ///< of the largest block; under bytes and paper of all blocks together
        double sharers = 1;    ///< lower bound of the ranks that share a block
        double side = 0;       ///< longest side of the block
        bool is_exact = true;  ///< all labels are decided, and blocks are even
    };

    /// Lower bound of the bytes that leave groups of a level together, for tensors of which each alone might stay
    /// within them. A group has few points of the mesh, and touches few blocks of every tensor only if these points
    /// have few coordinates along every label: by Shearer's inequality the product of the numbers of blocks is at least
    /// a power of the number of points, and the sum of the bytes at least a multiple of the root of the product.
    class shared_node {
    public:
        EINPARALLEL_INLINE shared_node(std::size_t labels, int level, const wired_machine& on)
            : lacking_(labels, 0),
              points_(level >= 0 && std::size_t(level) < on.groups().levels() ? on.groups().largest(std::size_t(level))
                                                                              : 0) {}

        EINPARALLEL_INLINE void add(const std::vector<label_id>& labels, double sharers, double bytes) {
            for (std::size_t label = 0; label < lacking_.size(); ++label) {
                lacking_[label] += found_in(label_id(label), labels) ? 0 : 1;
            }
            ++tensors_;
            logarithms_ += std::log(std::max(sharers * bytes, 1e-300));
            bytes_ += bytes;
        }
        EINPARALLEL_INLINE double least() const {
            if (points_ == 0 || tensors_ == 0 || lacking_.empty()) {
                return 0;
            }
            const int most = *std::max_element(lacking_.begin(), lacking_.end());
            return tensors_ * std::exp((logarithms_ - most * std::log(points_)) / tensors_) - bytes_;
        }

    private:
        std::vector<int> lacking_;  // by label: tensors without it
        double points_;
        double tensors_ = 0;
        double logarithms_ = 0;
        double bytes_ = 0;
    };

    /// For each label the number of parts that it has at least, and the number that it may have at most.
    class parts_of_labels {
    public:
        EINPARALLEL_INLINE parts_of_labels(const partition_candidate& of, const partition_family& family)
            : of_(of),
              family_(family),
              is_range_(of.last > 0 && of.label < of.parts.size()),
              begun_(is_range_ ? of.parts[of.label] / family.fixed[of.label] : 1) {}

        /// Lower bound of the points in the largest block of the iteration space.
        EINPARALLEL_INLINE double largest_block() const {
            double points = 1;
            double all = 1;
            for (std::size_t label = 0; label < of_.parts.size(); ++label) {
                points *= side(label);
                all *= may_have(label);
            }
            return points / left(all, true);
        }

        EINPARALLEL_INLINE shared_blocks blocks_of(const std::vector<label_id>& labels, bool of_a_rank) const {
            shared_blocks made;
            double own = 1;  // parts that its labels may have
            bool has_begun = false;
            for (std::size_t label = 0; label < of_.parts.size(); ++label) {
                const auto times = std::count(labels.begin(), labels.end(), label_id(label));
                if (times == 0) {
                    made.sharers *= of_.parts[label];
                    continue;
                }
                own *= may_have(label);
                has_begun = has_begun || label == of_.label;
                const auto extent = double(family_.extents[label]);
                const double block = of_a_rank ? side(label) : extent / of_.parts[label];
                made.side = std::max(made.side, block);
                made.elements *= of_a_rank ? block : extent;
                if (times > 1) {
                    made.elements *= label >= of_.label ? 0 : std::pow(block, double(times - 1));
                }
            }
            made.elements /= of_a_rank ? left(own, has_begun) : 1;
            made.is_exact =
                of_.label == of_.parts.size() && all_in(family_.points, [](const auto& each) { return each.empty(); });
            return made;
        }

    private:
        /// The extent of the largest block along a label.
        EINPARALLEL_INLINE double side(std::size_t label) const {
            const index extent = family_.extents[label];
            return label < of_.label ? double(block_of(extent, of_.parts[label], 0).size())
                                     : double(extent) / of_.parts[label];
        }
        EINPARALLEL_INLINE double may_have(std::size_t label) const {
            return label < of_.label                 ? 1
                   : is_range_ && label == of_.label ? double(of_.last)
                                                     : double(std::max<index>(family_.free[label], 1));
        }
        /// The most parts that some labels can still get together, beyond the parts that they have. `own`: the parts
        /// that they may have by themselves. `has_begun`: the label of the range is among them.
        EINPARALLEL_INLINE double left(double own, bool has_begun) const {
            return has_begun ? std::min(double(of_.left), own) / begun_ : std::min(double(of_.left) / begun_, own);
        }

        const partition_candidate& of_;
        const partition_family& family_;
        bool is_range_;
        int begun_;
    };

    /// Lower bound of the seconds of a transfer. It moves all of a rank's largest block but the rank's own share, in at
    /// least ⌈log2(sharers)⌉ messages.
    EINPARALLEL_INLINE double transfer(const shared_blocks& of, std::size_t bytes) const {
        const double rounds = std::bit_width(unsigned(of.sharers) - 1U);
        const link over = on_->least_for(of.sharers);
        return rounds * over.seconds_per_message +
               (of.sharers - 1) / of.sharers * of.elements * double(bytes) * over.seconds_per_byte;
    }

    /// Seconds to gather or reduce blocks while no rank computes: round a ring where every sharer has a slice,
    /// otherwise along trees (schedule/gather_reduce.hpp).
    EINPARALLEL_INLINE double seconds_apart(const shared_blocks& of, std::size_t bytes, bool is_output) const {
        const link over = on_->least_for(of.sharers);
        const auto steps = [&](double count, double elements) {
            return count * ((1 + messages_per_step) * over.seconds_per_message +
                            elements * double(bytes) * over.seconds_per_byte);
        };
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const bool is_ring = of.side >= of.sharers;
        const double ring = is_ring || !of.is_exact ? steps(of.sharers - 1, of.elements / of.sharers) : infinity;
        const double trees =
            is_ring && of.is_exact ? infinity : steps(std::bit_width(unsigned(of.sharers) - 1U), of.elements);
        const double added = is_output ? on_->touch_seconds(of.elements) : 0;
        return std::min(ring, trees) + added;
    }

    /// Seconds in which a rank does all its arithmetic while the pieces of a tensor go round a ring
    /// (schedule/ring_mn.hpp, schedule/ring_k.hpp).
    EINPARALLEL_INLINE double seconds_travelling(const shared_blocks& of, std::size_t bytes, bool is_output,
                                                 double arithmetic) const {
        const link over = on_->least_for(of.sharers);
        const int each = is_output ? 2 : 1;  // halves of a chunk
        if (of.is_exact && of.side < each * of.sharers) {
            return std::numeric_limits<double>::infinity();
        }
        const double turns = each * of.sharers;
        const double hops = turns - each;
        const double computes = arithmetic / turns;
        const double moves = over.seconds_per_message + of.elements / turns * double(bytes) * over.seconds_per_byte;
        return hops * (std::max(computes, moves) + on_->exposed() * std::min(computes, moves) +
                       messages_per_step * over.seconds_per_message) +
               each * computes;
    }

    const options* asked_;
    const wired_machine* on_;
    lasting_work lasting_;
    double operations_;
    std::vector<std::size_t> element_bytes_;  // by operand, then of the output
    std::vector<bool> is_viewed_;             // also by operand, then of the output: read at functions of labels
};

}  // namespace einparallel::EINPARALLEL_DETAIL
