#pragma once

#include <einparallel/schedule/redistribute.hpp>

#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE step redistribution_step(const distribution& from, const distribution& to, int rank,
                                            buffer_id resting, buffer_id arriving) {
    const box had = from.held_by(rank);
    const box wanted = to.held_by(rank);
    step made;
    for (const int owner : from.ranks_meeting(wanted)) {
        const box common = intersect(from.held_by(owner), wanted);
        if (owner != rank) {
            made.receive(owner, arriving, common);
        } else if (arriving != resting) {
            made.move(arriving, resting, common);
        }
    }
    for (const int reader : to.ranks_meeting(had)) {
        if (reader != rank) {
            made.send(reader, resting, intersect(had, to.held_by(reader)));
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE buffer_id schedule_redistribution(program& of_rank, const distribution& from, const distribution& to,
                                                     int rank, buffer_id resting, std::size_t first_phase) {
    const box had = from.held_by(rank);
    const box wanted = to.held_by(rank);
    const bool stays = had == wanted || (had.empty() && wanted.empty());
    if (stays && (had.empty() || to.is_regular())) {
        return resting;
    }
    const std::size_t element_bytes = of_rank[resting].element_bytes;
    const buffer_id arriving = stays ? resting : of_rank.add_buffer(wanted, element_bytes);
    step moving = detail::redistribution_step(from, to, rank, resting, arriving);
    if (!moving.is_idle()) {
        moving.phase = first_phase;
        of_rank.steps.push_back(std::move(moving));
    }
    return arriving;
}

}  // namespace einparallel
