#pragma once
// A program made ready for one rank of a communicator: datatypes built, strides and offsets known, so that carrying it
// out allocates nothing.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What the executor needs of the vertex that an action names.
struct executed_vertex {
    std::string name;
    const kernel* work = nullptr;       ///< einsums
    const einsum_form* form = nullptr;  ///< einsums
    std::size_t number = 0;             ///< among the einsums of the plan, from 1; 0 for an input
};

/// A block of a buffer, strides in elements.
struct prepared_block {
    buffer_id place = no_buffer;
    std::ptrdiff_t offset = 0;  ///< bytes from the buffer's start to the first element
    std::vector<index> strides{};

    /// The first element, `starts` being where each buffer begins; null in an empty buffer without memory, whose
    /// elements nobody touches.
    [[nodiscard]] std::byte* address(std::span<std::byte* const> starts) const {
        std::byte* const first = starts[static_cast<std::size_t>(place)];
        return first == nullptr ? nullptr : first + offset;
    }
};

EINPARALLEL_INLINE prepared_block prepare_block(const program& of_rank, buffer_id number, const box& region) {
    const buffer& place = of_rank[number];
    prepared_block ready{number, 0, strides_of(place)};
    if (!place.region.empty()) {
        ready.offset = offset_of(region, place.region, ready.strides) * static_cast<index>(place.element_bytes);
    }
    return ready;
}

/// A message made ready: contiguous elements, or those that a derived datatype describes. Where messages travel through
/// the host `elements` are those there, a dense box that is copied to or from the block.
struct prepared_message {
    int peer = 0;
    prepared_block block;
    box_type elements;
    std::vector<index> extents{};  ///< through the host, as all below
    std::vector<index> dense{};
    std::size_t element_bytes = 0;
};

/// What a message takes on the host, on cache lines.
constexpr std::size_t staged(std::size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/// What one step exchanges with other ranks.
struct prepared_messages {
    std::vector<prepared_message> receives;
    std::vector<prepared_message> sends;

    /// A step of a program; `staging`: the memory space's.
    EINPARALLEL_INLINE prepared_messages(const program& of_rank, const step& each, std::size_t staging = 0) {
        const auto prepare = [&](const std::vector<message>& from, std::vector<prepared_message>& into) {
            into.reserve(from.size());
            for (const message& moved : from) {
                const buffer& place = of_rank[moved.place];
                const std::size_t bytes = place.element_bytes;
                if (staging == 0) {
                    prepared_message& ready = into.emplace_back();
                    ready.peer = moved.peer;
                    ready.block.place = moved.place;
                    ready.elements = type_of_box(place.region, moved.region, bytes, largest_count, place.strides);
                    continue;
                }
                for_each_slab(moved.region, bytes, staging, [&](const box& slab) {
                    into.push_back({moved.peer, prepare_block(of_rank, moved.place, slab),
                                    type_of_box(slab, slab, bytes), extents_of(slab), dense_strides(slab), bytes});
                });
            }
        };
        prepare(each.receives, receives);
        prepare(each.sends, sends);
    }

    /// True where something has to happen before the work begins.
    [[nodiscard]] bool waits() const { return !receives.empty() || !sends.empty(); }
    [[nodiscard]] std::size_t bytes_sent() const { return sum(sends); }
    [[nodiscard]] std::size_t bytes_received() const { return sum(receives); }
    /// Of messages; `taken(bytes)`: what each counts.
    [[nodiscard]] static std::size_t sum(
        const std::vector<prepared_message>& messages,
        std::size_t (*taken)(std::size_t) = [](std::size_t bytes) { return bytes; }) {
        std::size_t bytes = 0;
        for (const prepared_message& each : messages) {
            bytes += taken(each.elements.bytes);
        }
        return bytes;
    }
};

/// Room for the messages of any one step.
struct message_room {
    std::size_t messages = 0;
    std::size_t out = 0;  ///< bytes on the host that they leave through
    std::size_t in = 0;   ///< …, and arrive through

    EINPARALLEL_INLINE void add(const prepared_messages& each, bool through_host) {
        messages = std::max(messages, each.receives.size() + each.sends.size());
        if (through_host) {
            out = std::max(out, prepared_messages::sum(each.sends, staged));
            in = std::max(in, prepared_messages::sum(each.receives, staged));
        }
    }
};

struct prepared_contraction {
    std::size_t vertex = 0;
    write_mode mode = write_mode::overwrite;
    std::vector<index> extents{};
    std::vector<prepared_block> operands{};
    prepared_block output{};
    softmax_call softmax{};
    std::vector<operand_block> call{};  ///< filled at each call; its room is reserved here
};

struct prepared_move {
    std::size_t vertex = local_move::no_vertex;
    std::vector<index> extents;
    prepared_block into;
    prepared_block from;
    std::size_t element_bytes = 0;
};

using prepared_action = std::variant<read_source, prepared_contraction, prepared_move>;

struct prepared_step {
    prepared_messages messages;
    std::vector<prepared_action> work;
    std::size_t vertex = 0;
    bool once = false;
};

EINPARALLEL_INLINE std::vector<prepared_step> prepare_steps(const program& of_rank,
                                                            std::span<const executed_vertex> vertices,
                                                            std::size_t staging) {
    const auto block = [&](const buffer_part& part) { return prepare_block(of_rank, part.place, part.region); };
    const auto prepare = [&](const action& done, std::vector<prepared_action>& work) {
        const auto* call = std::get_if<contraction>(&done);
        const auto [reads, writes] =
            accesses_of(of_rank, done, call == nullptr ? nullptr : vertices[call->vertex].form);
        const buffer_part& into = writes.front();
        if (call != nullptr) {
            prepared_contraction ready{
                .vertex = call->vertex, .mode = call->mode, .output = block(into), .softmax = call->softmax};
            std::ranges::transform(call->ranges, std::back_inserter(ready.extents), &interval::size);
            std::ranges::transform(reads, std::back_inserter(ready.operands), block);
            ready.call.resize(reads.size());
            work.emplace_back(std::move(ready));
        } else if (const auto* read = std::get_if<read_source>(&done)) {
            work.emplace_back(*read);
        } else if (!into.region.empty()) {
            work.emplace_back(prepared_move{std::get<local_move>(done).vertex, extents_of(into.region), block(into),
                                            block(reads.front()), of_rank[into.place].element_bytes});
        }
    };
    std::vector<prepared_step> made;
    made.reserve(of_rank.steps.size());
    for (const step& each : of_rank.steps) {
        prepared_step ready{prepared_messages(of_rank, each, staging), {}, each.vertex, each.once};
        for (const action& done : each.work) {
            prepare(done, ready.work);
        }
        made.push_back(std::move(ready));
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
