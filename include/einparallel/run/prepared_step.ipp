#pragma once
// The steps of a program made ready for one rank of a communicator: datatypes, strides and offsets are known, so that
// carrying them out allocates nothing.

#include <einparallel/kernel/work/work.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/run/kept_memory.ipp>
#include <einparallel/run/trace.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The vertex that an action names.
struct executed_vertex {
    std::string name;
    const kernel* work = nullptr;  ///< einsums
    einsum_form form{};            ///< einsums
    std::size_t number = 0;        ///< among the einsums of the plan, from 1; 0 for an input
    kept_tensor made{};            ///< what it makes, for plans that keep it alike
};

/// A block of a buffer, strides in elements.
struct prepared_block {
    buffer_id place = no_buffer;
    std::ptrdiff_t offset = 0;  ///< bytes from the buffer's start to the first element
    std::vector<index> strides{};

    /// The first element, `starts` being where each buffer begins; null in an empty buffer without memory, whose
    /// elements are never touched.
    std::byte* address(const std::vector<std::byte*>& starts) const {
        std::byte* const first = starts[std::size_t(place)];
        return first == nullptr ? nullptr : first + offset;
    }
};

/// Contiguous elements, or those that a derived datatype describes. Where messages travel through the host `elements`
/// are those there, a dense box that is copied to or from the block.
struct prepared_message {
    int peer = 0;
    bool is_sent = false;
    prepared_block block;
    box_type elements;
    std::vector<index> extents{};  ///< through the host, as all below
    std::vector<index> dense{};
    std::size_t element_bytes = 0;
    std::size_t at = 0;  ///< bytes from the start of the host's memory for messages out, or in
};

/// An action: into `output`, from `operands`.
struct prepared_call {
    activity what = activity::contract;  ///< or combine, copy, read
    std::size_t vertex = 0;              ///< whose kernel or source it is; of a copy the step's
    std::vector<index> extents{};        ///< of the iteration space, or of the box that is combined or copied
    std::vector<index> first{};          ///< where a contraction's iteration space begins
    std::vector<prepared_block> operands{};
    std::vector<label_span> labels{};  ///< of a contraction's operands
    prepared_block output{};
    std::size_t element_bytes = 0;
    write_mode mode = write_mode::overwrite;
    row_read rows{};
    std::vector<strided_block> blocks{};  ///< of a contraction, filled at each call; its room is reserved here
};

struct prepared_step {
    std::vector<prepared_message> messages{};  ///< receives, then sends
    std::vector<prepared_call> work{};
    std::size_t vertex = 0;
    bool once = false;
};

/// Bytes that a step sends, or receives.
EINPARALLEL_SELDOM std::size_t bytes_of(const prepared_step& of, bool sent) {
    return sum_in(of.messages, std::size_t{0},
                  [&](const prepared_message& each) { return each.is_sent == sent ? each.elements.bytes : 0; });
}

/// Room for the messages of any one step.
struct message_room {
    std::size_t messages = 0;
    std::size_t out = 0;  ///< bytes on the host that they leave through
    std::size_t in = 0;   ///< …, and arrive through

    EINPARALLEL_SELDOM void add(const prepared_step& step) {
        messages = std::max(messages, step.messages.size());
        for (const prepared_message& each : step.messages) {
            std::size_t& most = each.is_sent ? out : in;
            most = std::max(most, each.element_bytes > 0 ? each.at + each.elements.bytes : 0);
        }
    }
};

EINPARALLEL_SELDOM prepared_block prepare_block(const program& of_rank, const buffer_part& part) {
    const buffer& place = of_rank[part.place];
    prepared_block ready{part.place, 0, strides_of(place)};
    if (!place.region.empty()) {
        ready.offset = offset_of(part.region, place.region, ready.strides) * index(place.element_bytes);
    }
    return ready;
}

/// What a kernel reads of a buffer, with a stride for each label.
EINPARALLEL_SELDOM prepared_block prepare_read(const program& of_rank, const buffer_part& part,
                                               const operand_read& read, const std::vector<interval>& ranges) {
    if (read.at.is_plain()) {
        return prepare_block(of_rank, part);
    }
    const buffer& place = of_rank[part.place];
    prepared_block ready{part.place, 0, std::vector<index>(read.labels.size())};
    index first = read.at.strides_along(read.labels, place.region, strides_of(place), ready.strides);
    for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
        first += ranges[std::size_t(read.labels[dimension])].begin * ready.strides[dimension];
    }
    ready.offset = place.region.empty() ? 0 : first * index(place.element_bytes);
    return ready;
}

/// `staging`: bytes of the slabs in which messages pass through the host; 0: they do not.
EINPARALLEL_SELDOM void prepare_messages(const program& of_rank, const std::vector<message>& from, bool are_sent,
                                         std::size_t staging, std::vector<prepared_message>& into) {
    std::size_t at = 0;
    for (const message& moved : from) {
        const buffer& place = of_rank[moved.place];
        const std::size_t bytes = place.element_bytes;
        if (staging == 0) {
            box_type elements = type_of_box(place.region, moved.region, bytes, largest_count, place.strides);
            into.push_back({moved.peer, are_sent, {moved.place}, std::move(elements)});
            continue;
        }
        for_each_slab(moved.region, bytes, staging, [&](const box& slab) {
            into.push_back({moved.peer, are_sent, prepare_block(of_rank, {moved.place, slab}),
                            type_of_box(slab, slab, bytes), extents_of(slab), dense_strides(slab), bytes, at});
            at += (into.back().elements.bytes + 63) / 64 * 64;  // on cache lines
        });
    }
}

EINPARALLEL_SELDOM prepared_call prepare_call(const program& of_rank, const action& done, std::size_t of_step,
                                              const std::vector<executed_vertex>& vertices) {
    const auto* const call = std::get_if<contraction>(&done);
    const accesses touched = accesses_of(of_rank, done, call == nullptr ? nullptr : &vertices[call->vertex].form);
    const buffer_part& into = touched.writes.front();
    prepared_call ready{
        .vertex = of_step, .output = prepare_block(of_rank, into), .element_bytes = of_rank[into.place].element_bytes};
    ready.operands = list_of(touched.reads, [&](const buffer_part& part) { return prepare_block(of_rank, part); });
    if (call != nullptr) {
        ready.vertex = call->vertex;
        ready.mode = call->mode;
        ready.rows = call->rows;
        ready.extents = list_of(call->ranges, &interval::size);
        ready.first = list_of(call->ranges, &interval::begin);
        const einsum_form& form = vertices[call->vertex].form;
        for (std::size_t operand = 0; operand < ready.operands.size(); ++operand) {
            ready.labels.push_back(call->labels_of(form, operand));
            if (const operand_read* const read = call->read_of(form, operand); read != nullptr) {
                ready.operands[operand] = prepare_read(of_rank, touched.reads[operand], *read, call->ranges);
            }
        }
        ready.blocks.resize(ready.operands.size());
    } else if (const auto* read = std::get_if<read_source>(&done)) {
        ready.what = activity::read;
        ready.vertex = read->vertex;
    } else {
        const std::size_t of_sum = std::get<local_move>(done).vertex;
        ready.what = of_sum == local_move::no_vertex ? activity::copy : activity::combine;
        ready.vertex = of_sum == local_move::no_vertex ? of_step : of_sum;
        ready.extents = extents_of(into.region);
    }
    return ready;
}

EINPARALLEL_SELDOM prepared_step prepare_step(const program& of_rank, const step& each, std::size_t staging,
                                              const std::vector<executed_vertex>& vertices = {}) {
    prepared_step ready{.vertex = each.vertex, .once = each.once};
    ready.messages.reserve(each.receives.size() + each.sends.size());
    prepare_messages(of_rank, each.receives, false, staging, ready.messages);
    prepare_messages(of_rank, each.sends, true, staging, ready.messages);
    for (const action& done : each.work) {
        const auto* const moved = std::get_if<local_move>(&done);
        if (moved == nullptr || !moved->region.empty()) {
            ready.work.push_back(prepare_call(of_rank, done, each.vertex, vertices));
        }
    }
    return ready;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
