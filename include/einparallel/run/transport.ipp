#pragma once

#include <einparallel/run/transport.hpp>

#include <einparallel/run/slabs.hpp>

#include <limits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// On a cache line.
constexpr std::size_t staged(std::size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

EINPARALLEL_INLINE std::size_t staging_bytes(const std::vector<prepared_message>& messages) {
    std::size_t sum = 0;
    for (const prepared_message& each : messages) {
        sum += staged(each.elements.bytes);
    }
    return sum;
}

EINPARALLEL_INLINE prepared_messages::prepared_messages(const program& of_rank, std::size_t position,
                                                        const window_plan& window, std::size_t staging) {
    const step& each = of_rank.steps[position];
    const auto prepare = [&](const std::vector<message>& from, std::vector<prepared_message>& into) {
        into.reserve(from.size());
        for (const message& moved : from) {
            const buffer& place = of_rank.buffers[static_cast<std::size_t>(moved.place)];
            if (staging == 0) {
                into.push_back(
                    {moved.peer, moved.place,
                     type_of_box(place.region, moved.region, place.element_bytes, largest_count, place.strides)});
                continue;
            }
            for_each_slab(moved.region, place.element_bytes, staging, [&](const box& slab) {
                std::vector<index> strides = strides_of(place);
                const index offset = offset_of(slab, place.region, strides) * static_cast<index>(place.element_bytes);
                into.push_back(
                    {moved.peer,
                     moved.place,
                     type_of_box(slab, slab, place.element_bytes),
                     {extents_of(slab), offset, std::move(strides), dense_strides(slab), place.element_bytes}});
            });
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

EINPARALLEL_INLINE void transport::start(const prepared_messages& of_step, std::span<std::byte* const> starts,
                                         work_token given) {
    if (space_.staging() == 0) {
        for (const prepared_message& received : of_step.receives) {
            flight_.receive(starts[static_cast<std::size_t>(received.place)], received.elements, received.peer);
        }
        for (const prepared_message& sent : of_step.sends) {
            flight_.send(starts[static_cast<std::size_t>(sent.place)], sent.elements, sent.peer);
        }
        return;
    }
    step_ = &of_step;
    starts_ = starts;
    given_ = given;
    side_ = 1 - side_;
    if (std::exchange(was_used_[side_], !of_step.receives.empty())) {
        attempt([&] { space_.finish(copied_in_[side_]); });
    }
    std::byte* at = in_[side_].data();
    for (const prepared_message& received : of_step.receives) {
        arrivals_.receive(at, received.elements, received.peer);
        at += staged(received.elements.bytes);
    }
    at = out_.data();
    for (const prepared_message& sent : of_step.sends) {
        leaving_.push_back({&sent, at, given});
        attempt([&] {
            const staged_box& box = sent.staged;
            leaving_.back().copied =
                space_.bring_out(box.extents, at, box.dense, starts[static_cast<std::size_t>(sent.place)] + box.offset,
                                 box.strides, box.element_bytes);
        });
        at += staged(sent.elements.bytes);
    }
}

EINPARALLEL_INLINE void transport::send_next() {
    const leaving_message& next = leaving_[sent_++];
    flight_.send(next.out, next.what->elements, next.what->peer);
}

EINPARALLEL_INLINE void transport::bring_in_next() {
    const prepared_message& next = step_->receives[brought_in_++];
    attempt([&] {
        const staged_box& box = next.staged;
        copied_in_[side_] =
            space_.bring_in(box.extents, starts_[static_cast<std::size_t>(next.place)] + box.offset, box.strides,
                            in_[side_].data() + bytes_in_, box.dense, box.element_bytes, given_);
    });
    bytes_in_ += staged(next.elements.bytes);
}

EINPARALLEL_INLINE bool transport::poll() noexcept {
    bool is_out = true;
    while (sent_ < leaving_.size() && is_out) {
        attempt([&] { is_out = space_.is_done(leaving_[sent_].copied); });
        if (is_out) {
            send_next();
        }
    }
    arrivals_.poll();
    while (brought_in_ < arrivals_.arrived()) {
        bring_in_next();
    }
    return flight_.poll() && sent_ == leaving_.size() && (step_ == nullptr || brought_in_ == step_->receives.size());
}

EINPARALLEL_INLINE void transport::complete(const prepared_messages& of_step) {
    await(of_step.reads);
    bytes_read_ += of_step.bytes_read;
    while (sent_ < leaving_.size()) {
        attempt([&] { space_.finish(leaving_[sent_].copied); });
        send_next();
    }
    while (step_ != nullptr && brought_in_ < step_->receives.size()) {
        arrivals_.wait_next();
        bring_in_next();
    }
    leaving_.clear();
    sent_ = brought_in_ = bytes_in_ = 0;
    step_ = nullptr;
    attempt([&] { arrivals_.wait(); });
    attempt([&] { flight_.wait(); });
    if (failure_ != nullptr) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
