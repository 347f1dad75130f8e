#pragma once

#include <einparallel/schedule/redistribute.hpp>

#include <utility>

namespace einparallel {

EINPARALLEL_INLINE buffer_id schedule_redistribution(program& of_rank, const distribution& from, const distribution& to,
                                                     int rank, buffer_id resting, std::size_t first_phase) {
    const box had = from.held_by(rank);
    const box wanted = to.held_by(rank);
    const bool is_there = had == wanted || (had.empty() && wanted.empty());  // others may want it, too
    const buffer_id arriving = is_there ? resting : of_rank.add_buffer(wanted, of_rank[resting].element_bytes);
    step moving{.phase = first_phase};
    for (const int owner : from.ranks_meeting(wanted)) {
        const box common = intersect(from.held_by(owner), wanted);
        if (owner != rank) {
            moving.receive(owner, arriving, common);
        } else if (!is_there) {
            moving.move(arriving, resting, common);
        }
    }
    for (const int reader : to.ranks_meeting(had)) {
        if (reader != rank) {
            moving.send(reader, resting, intersect(had, to.held_by(reader)));
        }
    }
    of_rank.append(std::move(moving));
    return arriving;
}

EINPARALLEL_INLINE buffer_id schedule_halo(program& of_rank, const distribution& from, const distribution& to, int rank,
                                           buffer_id resting, std::size_t first_phase) {
    const auto halo_of = [&](int reader) { return difference(to.boxes_of(reader), from.held_by(reader)); };
    const box had = from.held_by(rank);
    const std::vector<int> readers = to.ranks_meeting(had);
    step moving{.phase = first_phase};
    std::vector<buffer_id> joined(detail::found_in(rank, readers) ? 1 : 0, resting);
    for (const box& each : halo_of(rank)) {
        joined.push_back(of_rank.add_buffer(each, of_rank[resting].element_bytes));
        for (const int owner : from.ranks_meeting(each)) {
            moving.receive(owner, joined.back(), intersect(from.held_by(owner), each));
        }
    }
    for (const int reader : readers) {
        for (const box& each : reader == rank ? std::vector<box>() : halo_of(reader)) {
            moving.send(reader, resting, intersect(had, each));
        }
    }
    of_rank.append(std::move(moving));
    if (joined.size() == 1) {
        return joined.front();
    }
    const buffer_id read = of_rank.add_buffer(no_box(had.rank()), of_rank[resting].element_bytes);
    of_rank[read].joins = std::move(joined);
    return read;
}

}  // namespace einparallel
