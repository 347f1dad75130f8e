#pragma once

// Rings as a counter of schedules sees them: all pieces are alike, and peers are what a message to them takes.

#include <einparallel/cost/machine.hpp>
#include <einparallel/layout/levels.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

/// A region of a tensor, by its size.
struct counted_region {
    double elements = 0;
    std::size_t element_bytes = 0;
};

inline ring_shape one_stage(int ranks) {
    ring_shape made;
    made.stages[0].together = ranks;
    return made;
}

/// The ranks that share the largest block of a tensor, as a ring in which every piece counts as the largest one. Peers
/// are links: what a message to them takes.
struct counted_ring {
    ring_shape shape;
    counted_region whole;
    counted_region largest;
    const wired_machine& on;

    int size() const { return shape.size(); }
    bool is_flat() const { return shape.is_flat(); }
    /// The slowest link between ranks at a distance.
    EINPARALLEL_INLINE link at(int distance) const {
        if (on.is_flat()) {
            return on.at(0, {});
        }
        std::array<double, most_levels> leaving = shape.leaving;
        for (std::size_t level = 0; level < on.groups().levels(); ++level) {
            leaving[level] = std::min(leaving[level] * std::abs(distance), double(on.groups().largest(level)));
        }
        link made;
        for (std::size_t level = 0, stage = 0; level <= shape.level(); ++level) {
            stage += shape.stages[stage].level < level ? 1 : 0;
            if (shape.is_mixed || shape.stages[stage].level == level) {
                const link one = on.at(level, leaving);
                made = {level, std::max(made.seconds_per_message, one.seconds_per_message),
                        std::max(made.seconds_per_byte, one.seconds_per_byte)};
            }
        }
        return made;
    }
    /// The link of a stage's neighbours.
    EINPARALLEL_INLINE link beside(std::size_t stage) const {
        return shape.is_mixed ? at(1) : on.at(shape.stages[stage].level, shape.leaving);
    }
    int steps(std::size_t stage) const {
        return shape.stages[stage].together / (stage == 0 ? 1 : shape.stages[stage - 1].together);
    }
    static bool has(int /*distance*/) { return true; }
    counted_region block() const { return whole; }
    counted_region piece(int /*distance*/) const { return largest; }
    counted_region half(int /*distance*/, int /*number*/) const {
        return {largest.elements / 2, largest.element_bytes};
    }
};

/// A hop of a counted ring: all pieces count alike.
struct counted_hop {
    link before;
    link behind;
    counted_region passed;
    counted_region next;
    bool is_own = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
