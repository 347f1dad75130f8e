#pragma once
// From any distribution of a tensor to any other, in one phase.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/schedule/steps.hpp>

#include <cstddef>

namespace einparallel {

/// Phases that a redistribution takes, the same number on every rank: none where the boxes are the same everywhere.
template <class Lazy = void>
std::size_t redistribution_phases(const distribution& from, const distribution& to) {
    return from == to ? 0 : 1;
}

/// Appends to `of_rank` what `rank` does, in phase `first_phase`, to bring a tensor from one distribution to another.
/// `resting` holds its box of `from`; returns the buffer with its box of `to`, which is `resting` itself, without a
/// copy, where the box is the same on this rank (boxes are disjoint, so nobody else wants any of it then).
/// Messages go straight from who has to who wants, one per pair of ranks whose boxes meet: no element is sent that is
/// not wanted, none twice. What stays is copied locally. A scatter from a root is the same thing, from held_by_one().
template <class Lazy = void>
buffer_id schedule_redistribution(program& of_rank, const distribution& from, const distribution& to, int rank,
                                  buffer_id resting, std::size_t first_phase) {
    const box had = from.held_by(rank);
    const box wanted = to.held_by(rank);
    if (had == wanted || (had.empty() && wanted.empty())) {
        return resting;
    }
    const std::size_t element_bytes = of_rank.buffers[static_cast<std::size_t>(resting)].element_bytes;
    const buffer_id arriving = of_rank.add_buffer(wanted, element_bytes);
    detail::step_collector<Lazy> steps(of_rank, first_phase, 1);
    step& only = steps.at(0);
    for (const int owner : from.ranks_meeting(wanted)) {
        const box common = intersect(from.held_by(owner), wanted);
        if (owner == rank) {
            detail::copy(only, arriving, resting, common);
        } else {
            detail::receive(only, owner, arriving, common);
        }
    }
    for (const int reader : to.ranks_meeting(had)) {
        if (reader != rank) {
            detail::send(only, reader, resting, intersect(had, to.held_by(reader)));
        }
    }
    steps.append();
    return arriving;
}

}  // namespace einparallel
