#pragma once

#include <einparallel/run/transport.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE prepared_messages::prepared_messages(const program& of_rank, const step& each) {
    const auto prepare = [&](const std::vector<message>& from, std::vector<prepared_message>& into) {
        into.reserve(from.size());
        for (const message& moved : from) {
            const buffer& place = of_rank.buffers[static_cast<std::size_t>(moved.place)];
            into.push_back({moved.peer, moved.place, type_of_box(place.region, moved.region, place.element_bytes)});
        }
    };
    prepare(each.receives, receives);
    prepare(each.sends, sends);
}

EINPARALLEL_INLINE void transport::start(const prepared_messages& of_step, std::span<std::byte* const> starts) {
    for (const prepared_message& received : of_step.receives) {
        flight_.receive(starts[static_cast<std::size_t>(received.place)], received.elements, received.peer);
    }
    for (const prepared_message& sent : of_step.sends) {
        flight_.send(starts[static_cast<std::size_t>(sent.place)], sent.elements, sent.peer);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
