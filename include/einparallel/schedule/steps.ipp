#pragma once
// The steps of one rank for one vertex while they are being written, by phase; and the rank's share of the vertex.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/task.ipp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <bit>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Several parts of a schedule write into the same phase (two operands gathered at once), so steps are collected by
/// phase first and appended to the program in order; phases in which the rank has nothing to do leave no step.
class step_collector {
public:
    step_collector(program& of_rank, std::size_t first_phase) : program_(of_rank), first_phase_(first_phase) {}

    step& at(std::size_t phase) { return steps_[phase]; }

    program& target() { return program_; }

    EINPARALLEL_INLINE void append() {
        for (auto& [phase, each] : steps_) {
            if (!each.receives.empty() || !each.sends.empty() || !each.work.empty()) {
                each.phase = first_phase_ + phase;
                program_.steps.push_back(std::move(each));
            }
        }
    }

private:
    program& program_;
    std::size_t first_phase_;
    std::map<std::size_t, step> steps_;
};

EINPARALLEL_INLINE std::size_t tree_rounds(int ranks) {
    return static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

EINPARALLEL_INLINE bool every_replica_has_a_piece(const distribution& resting) {
    return fills_ring(resting, 1);
}

/// The ranks that share a block with one of them, as a ring: that rank itself is 0, the next replica 1, the previous
/// -1.
struct replica_ring {
    const distribution& resting;
    std::vector<int> group;  ///< in the order of their pieces
    int self = 0;            ///< position of the rank in it

    EINPARALLEL_INLINE [[nodiscard]] static replica_ring of(const distribution& resting, int rank) {
        return {resting, resting.replicas(rank), resting.replica_number(rank)};
    }

    [[nodiscard]] int size() const { return static_cast<int>(group.size()); }
    [[nodiscard]] int at(int distance) const {
        return group[static_cast<std::size_t>((self + distance + size()) % size())];
    }
    EINPARALLEL_INLINE [[nodiscard]] box piece(int distance) const { return resting.held_by(at(distance)); }
};

/// Every piece has a binomial tree over the ring, whose root is its owner. Calls
/// visit(piece, whether this rank owns it, level, peer, whether that is the lower end) for each edge that ends here;
/// the edges of level l span 2^l replicas.
template <class Visit>
void for_each_tree_edge(const replica_ring& ring, Visit visit) {
    for (int owner = 0; owner < ring.size(); ++owner) {
        const int number = (ring.self - owner + ring.size()) % ring.size();  // in the tree; the owner is 0
        const box region = ring.piece(-number);
        for (std::size_t level = 0; level < tree_rounds(ring.size()) && !region.empty(); ++level) {
            const int reach = 1 << level;
            if (number % (2 * reach) == 0 && number + reach < ring.size()) {
                visit(region, number == 0, level, ring.at(reach), true);
            } else if (number % (2 * reach) == reach) {
                visit(region, false, level, ring.at(-reach), false);
            }
        }
    }
}

/// What one rank computes of a vertex.
struct rank_share {
    const task& work;
    std::size_t vertex = 0;
    int rank = 0;
    std::vector<interval> ranges;     ///< by label: the rank's part of the iteration space
    std::vector<buffer_id> operands;  ///< blocks, or for the travelling operand its resting piece

    /// Adds the call on `ranges` (a sub-box of the rank's own). Calls that would change nothing are left out: no output
    /// element, or a contribution of no term to what is there already.
    EINPARALLEL_INLINE void contract(step& in, std::vector<buffer_id> blocks, buffer_id output,
                                     std::vector<interval> part, write_mode mode) const {
        const bool no_output = any_in(work.form.output, [&](label_id label) {
            return label != no_label && part[static_cast<std::size_t>(label)].empty();
        });
        const bool no_term = any_in(part, [](interval range) { return range.empty(); });
        if (no_output || (no_term && mode == write_mode::combine)) {
            return;
        }
        in.work.emplace_back(contraction{vertex, std::move(blocks), output, std::move(part), mode});
    }
};

/// The calls of a ring of operands, slice by slice along a label (or no_label: all in one). Along a label of the output
/// every slice is written once; along another one the first that holds a term overwrites and the others add to it.
struct slice_writer {
    const rank_share& share;
    label_id label = no_label;
    buffer_id output = no_buffer;
    bool written = false;

    EINPARALLEL_INLINE void contract(step& in, const std::vector<buffer_id>& blocks, interval slice) {
        if (slice.empty()) {
            return;
        }
        std::vector<interval> ranges = share.ranges;
        if (label != no_label) {
            ranges[static_cast<std::size_t>(label)] = slice;
        }
        const bool own_slice = label != no_label && share.work.form.in_output(label);
        share.contract(in, blocks, output, std::move(ranges),
                       own_slice || !written ? write_mode::overwrite : write_mode::combine);
        written = true;
    }

    /// Where no slice holds a term (the contracted extent is 0) a call over nothing writes the identity.
    EINPARALLEL_INLINE void finish(step& in, const std::vector<buffer_id>& resting) {
        if (!written) {
            share.contract(in, resting, output, share.ranges, write_mode::overwrite);
        }
    }
};

/// The part of the iteration space of `rank`, by label.
EINPARALLEL_INLINE std::vector<interval> ranges_of(const task& work, int rank) {
    std::vector<interval> ranges = whole_box(work.extents).sides;
    const std::vector<int> coordinate = work.ranks.coordinates(rank);
    for (std::size_t axis = 0; axis < coordinate.size(); ++axis) {
        const mesh_axis& cut = work.ranks.axes[axis];
        interval& range = ranges[static_cast<std::size_t>(cut.label)];
        range = cut.points.empty() ? block_of(range, cut.parts, coordinate[axis]) : cut.block(0, coordinate[axis]);
    }
    if (work.pending != no_label) {
        ranges[static_cast<std::size_t>(work.pending)] = work.output.block_of_rank(rank).sides.front();
    }
    return ranges;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
