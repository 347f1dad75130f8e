#pragma once
// A program made ready for one rank of a communicator: datatypes built, strides and offsets known, so that carrying it
// out allocates nothing.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/run/transport.hpp>
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
    std::vector<index> strides;
};

struct prepared_contraction {
    std::size_t vertex = 0;
    write_mode mode = write_mode::overwrite;
    std::vector<index> extents;
    std::vector<prepared_block> operands;
    prepared_block output;
    std::vector<operand_block> call;  ///< filled at each call; its room is reserved here
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

EINPARALLEL_INLINE std::vector<prepared_step> prepare_steps(const program& of_rank, const window_plan& window,
                                                            std::span<const executed_vertex> vertices,
                                                            std::size_t staging) {
    const auto block = [&](const buffer_part& part) {
        const buffer& place = of_rank.buffers[static_cast<std::size_t>(part.place)];
        prepared_block ready{part.place, 0, strides_of(place)};
        if (!place.region.empty()) {
            ready.offset =
                offset_of(part.region, place.region, ready.strides) * static_cast<index>(place.element_bytes);
        }
        return ready;
    };
    const auto prepare = [&](const action& done, std::vector<prepared_action>& work) {
        const auto* call = std::get_if<contraction>(&done);
        const einsum_form* const form = call == nullptr ? nullptr : vertices[call->vertex].form;
        const auto [reads, writes] = accesses_of(of_rank, done, form);
        const buffer_part& into = writes.front();
        if (call != nullptr) {
            prepared_contraction ready{call->vertex, call->mode, {}, {}, block(into), {}};
            for (const interval& range : call->ranges) {
                ready.extents.push_back(range.size());
            }
            for (std::size_t operand = 0; operand < reads.size(); ++operand) {
                ready.operands.push_back(block(reads[operand]));
            }
            ready.call.resize(reads.size());
            work.emplace_back(std::move(ready));
        } else if (const auto* read = std::get_if<read_source>(&done)) {
            work.emplace_back(*read);
        } else if (!into.region.empty()) {
            work.emplace_back(prepared_move{std::get<local_move>(done).vertex, extents_of(into.region), block(into),
                                            block(reads.front()),
                                            of_rank.buffers[static_cast<std::size_t>(into.place)].element_bytes});
        }
    };
    std::vector<prepared_step> made;
    made.reserve(of_rank.steps.size());
    for (const step& each : of_rank.steps) {
        prepared_step ready{prepared_messages(of_rank, made.size(), window, staging), {}, each.vertex, each.once};
        for (const action& done : each.work) {
            prepare(done, ready.work);
        }
        made.push_back(std::move(ready));
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
