#pragma once

#include <einparallel/run/transport.hpp>

#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE prepared_messages::prepared_messages(const program& of_rank, std::size_t position,
                                                        const window_plan& window) {
    const step& each = of_rank.steps[position];
    const auto prepare = [&](const std::vector<message>& from, std::vector<prepared_message>& into) {
        into.reserve(from.size());
        for (const message& moved : from) {
            const buffer& place = of_rank.buffers[static_cast<std::size_t>(moved.place)];
            into.push_back(
                {moved.peer, moved.place,
                 type_of_box(place.region, moved.region, place.element_bytes, largest_count, place.strides)});
        }
    };
    prepare(each.receives, receives);
    prepare(each.sends, sends);
    if (window.segment == 0) {
        return;
    }
    clears = window.clears[position];
    for (const neighbour_read& read : each.reads) {
        reads.push_back({of_rank.buffers[static_cast<std::size_t>(read.place)].neighbour, read.ready});
        bytes_read += bytes_of(of_rank, read.place, read.region);
    }
    next_phase = position + 1 < of_rank.steps.size() ? of_rank.steps[position + 1].phase
                                                     : std::numeric_limits<std::size_t>::max();
}

EINPARALLEL_INLINE void transport::await(const std::vector<neighbour_phase>& neighbours) {
    for (const neighbour_phase& each : neighbours) {
        window_->await(each.rank, each.phase, [&] { flight_.poll(); });
    }
}

EINPARALLEL_INLINE void transport::start(const prepared_messages& of_step, std::span<std::byte* const> starts) {
    await(of_step.clears);
    for (const prepared_message& received : of_step.receives) {
        flight_.receive(starts[static_cast<std::size_t>(received.place)], received.elements, received.peer);
    }
    for (const prepared_message& sent : of_step.sends) {
        flight_.send(starts[static_cast<std::size_t>(sent.place)], sent.elements, sent.peer);
    }
}

EINPARALLEL_INLINE void transport::complete(const prepared_messages& of_step) {
    await(of_step.reads);
    bytes_read_ += of_step.bytes_read;
    flight_.wait();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
