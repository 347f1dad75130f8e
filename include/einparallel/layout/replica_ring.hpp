#pragma once
// A ring as one of its ranks sees it: who is before and behind it, and which pieces they have.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/levels.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The dimension along which a chunk is halved: the outermost one longer than 1, so that each half is contiguous in
/// dense storage and goes as a contiguous message, which MPI moves faster per poll than a datatype. If that dimension
/// is odd and short, its halves would have unequal lengths; the chunk is then halved along `cut`.
EINPARALLEL_INLINE std::size_t halved_dimension(const box& chunk, std::size_t cut) {
    for (std::size_t dimension = 0; dimension < cut; ++dimension) {
        if (const index size = chunk.sides[dimension].size(); size > 1) {
            return size % 2 == 0 || size > 16 ? dimension : cut;
        }
    }
    return cut;
}

/// True where the halves of `chunk` are contiguous in its dense storage.
EINPARALLEL_INLINE bool halves_are_contiguous(const box& chunk, std::size_t cut) {
    const auto halved = std::ptrdiff_t(halved_dimension(chunk, cut));
    return std::all_of(chunk.sides.begin(), chunk.sides.begin() + halved,
                       [](const interval& side) { return side.size() <= 1; });
}

/// The ranks that share a block, as a ring seen from one of them: the rank itself is at distance 0, the next replica at
/// 1, the previous one at -1.
struct replica_ring {
    const distribution& resting;
    std::vector<int> group;  ///< these ranks, in the order of the ring
    ring_shape shape;
    int self = 0;  ///< position of the rank itself in `group`

    int size() const { return int(group.size()); }
    bool is_flat() const { return shape.is_flat(); }
    int at(int distance) const { return group[std::size_t((self + distance + size()) % size())]; }
    bool has(int distance) const { return self + distance >= 0 && self + distance < size(); }
    EINPARALLEL_INLINE box block() const { return resting.block_of_rank(at(0)); }
    EINPARALLEL_INLINE box piece(int distance) const { return resting.held_by(at(distance)); }
    EINPARALLEL_INLINE box half(int distance, int number) const {
        box made = piece(distance);
        interval& side = made.sides[halved_dimension(made, *resting.cut())];
        side = block_of(side, 2, number);
        return made;
    }

    /// Ranks that one step of a stage passes.
    int unit(std::size_t stage) const { return stage == 0 ? 1 : shape.stages[stage - 1].together; }
    /// Number of steps of a stage.
    int steps(std::size_t stage) const { return shape.stages[stage].together / unit(stage); }
    /// The rank that is `steps` of a stage further.
    int beside(std::size_t stage, int distance) const {
        const int digit = self / unit(stage) % steps(stage);
        const int there = (digit + distance + steps(stage)) % steps(stage);
        return group[std::size_t(self + (there - digit) * unit(stage))];
    }
    /// The rank that is further by the steps of every stage that are the digits of a number.
    EINPARALLEL_INLINE int further(int number) const {
        int position = 0;
        for (std::size_t stage = 0; stage < shape.count; ++stage) {
            position += (self / unit(stage) + number / unit(stage)) % steps(stage) * unit(stage);
        }
        return group[std::size_t(position)];
    }
};

/// A message of a ring and its answer: a rank sends `passed` to the rank before it, and receives `next` from the rank
/// behind it.
struct ring_hop {
    int before = 0;
    int behind = 0;
    box passed;
    box next;
    bool is_own = false;  ///< the piece passed is the rank's own
};

}  // namespace einparallel::EINPARALLEL_DETAIL
