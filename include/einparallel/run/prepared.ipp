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
    const einsum_form* form = nullptr;  ///< einsums; needed while preparing only
    std::size_t number = 0;             ///< among the einsums of the plan, from 1; 0 for an input
};

/// An action allocates to describe itself once, when it is prepared; its spans point into itself. Never copied.
struct prepared_once {
    prepared_once() = default;
    prepared_once(const prepared_once&) = delete;
    prepared_once& operator=(const prepared_once&) = delete;
    prepared_once(prepared_once&&) noexcept = default;
    prepared_once& operator=(prepared_once&&) noexcept = default;
    ~prepared_once() = default;
};

struct prepared_read {
    std::size_t vertex = 0;
    buffer_id into = no_buffer;
};

/// A block of a buffer, strides in elements; of an operand or of the output, its labels too.
struct prepared_block : prepared_once {
    buffer_id place = no_buffer;
    std::ptrdiff_t offset = 0;  ///< bytes from the buffer's start to the first element
    std::vector<label_id> labels;
    std::vector<index> strides;
};

struct prepared_contraction : prepared_once {
    std::size_t vertex = 0;
    write_mode mode = write_mode::overwrite;
    std::vector<index> extents;
    std::vector<prepared_block> operands;
    prepared_block output;
    std::vector<operand_block> call;  ///< filled at each call; its room is reserved here
};

/// Copies, and sums two partial results.
struct prepared_move {
    static constexpr std::size_t no_vertex = static_cast<std::size_t>(-1);

    std::size_t vertex = no_vertex;  ///< whose ⊕; none for a copy
    std::vector<index> extents;
    prepared_block into;
    prepared_block from;
    std::size_t element_bytes = 0;
};

using prepared_action = std::variant<prepared_read, prepared_contraction, prepared_move>;

struct prepared_step {
    prepared_messages messages;
    std::vector<prepared_action> work;
    std::size_t vertex = 0;
};

/// Writes prepared steps.
class preparation {
public:
    preparation(const program& of_rank, const window_plan& window, std::span<const executed_vertex> vertices)
        : program_(of_rank), window_(window), vertices_(vertices) {}

    [[nodiscard]] std::vector<prepared_step> steps() const {
        std::vector<prepared_step> made;
        made.reserve(program_.steps.size());
        for (const step& each : program_.steps) {
            prepared_step ready{prepared_messages(program_, made.size(), window_), {}, each.vertex};
            for (const action& done : each.work) {
                prepare(done, ready.work);
            }
            made.push_back(std::move(ready));
        }
        return made;
    }

private:
    [[nodiscard]] const buffer& at(buffer_id place) const { return program_.buffers[static_cast<std::size_t>(place)]; }

    void prepare(const action& done, std::vector<prepared_action>& work) const {
        const auto* call = std::get_if<contraction>(&done);
        const accesses touched = accesses_of(program_, done, call == nullptr ? nullptr : vertices_[call->vertex].form);
        if (call != nullptr) {
            work.emplace_back(prepare(*call, touched));
        } else if (const auto* read = std::get_if<read_source>(&done)) {
            work.emplace_back(prepared_read{read->vertex, read->into});
        } else if (!touched.writes.front().region.empty()) {
            const auto* sum = std::get_if<combination>(&done);
            work.emplace_back(prepared_move{
                sum == nullptr ? prepared_move::no_vertex : sum->vertex, extents_of(touched.writes.front().region),
                prepare_block(touched.writes.front(), {}), prepare_block(touched.reads.front(), {}),
                at(touched.writes.front().place).element_bytes});
        }
    }

    [[nodiscard]] prepared_block prepare_block(const buffer_part& part, const std::vector<label_id>& labels) const {
        const buffer& place = at(part.place);
        prepared_block ready;
        ready.place = part.place;
        ready.labels = labels;
        ready.strides = dense_strides(place.region);
        if (!place.region.empty()) {
            ready.offset =
                offset_of(part.region, place.region, ready.strides) * static_cast<index>(place.element_bytes);
        }
        return ready;
    }

    [[nodiscard]] prepared_contraction prepare(const contraction& each, const accesses& touched) const {
        const executed_vertex& vertex = vertices_[each.vertex];
        prepared_contraction ready;
        ready.vertex = each.vertex;
        ready.mode = each.mode;
        for (const interval& range : each.ranges) {
            ready.extents.push_back(range.size());
        }
        for (std::size_t operand = 0; operand < each.operands.size(); ++operand) {
            ready.operands.push_back(prepare_block(touched.reads[operand], vertex.form->operands[operand]));
        }
        ready.output = prepare_block(touched.writes.front(), vertex.form->output);
        ready.call.resize(ready.operands.size());
        return ready;
    }

    const program& program_;
    const window_plan& window_;
    std::span<const executed_vertex> vertices_;
};

/// Buffers that are the elements of an input and nothing else: they may lie in the application's memory, for nothing
/// ever writes to them but the read itself. By buffer, the vertex whose read fills it, or -1.
EINPARALLEL_INLINE std::vector<std::ptrdiff_t> inputs_read_only(const program& of_rank) {
    std::vector<std::ptrdiff_t> vertex_of(of_rank.buffers.size(), -1);
    std::vector<int> writers(of_rank.buffers.size(), 0);
    const auto write = [&](const auto& parts) {
        for (const auto& part : parts) {
            ++writers[static_cast<std::size_t>(part.place)];
        }
    };
    for (const step& each : of_rank.steps) {
        write(each.receives);
        for (const action& done : each.work) {
            write(accesses_of(of_rank, done).writes);
            if (const auto* read = std::get_if<read_source>(&done)) {
                vertex_of[static_cast<std::size_t>(read->into)] = static_cast<std::ptrdiff_t>(read->vertex);
            }
        }
    }
    for (const buffer_id result : of_rank.results) {
        ++writers[static_cast<std::size_t>(result)];  // belongs to the application afterwards
    }
    for (std::size_t number = 0; number < vertex_of.size(); ++number) {
        if (writers[number] != 1) {
            vertex_of[number] = -1;
        }
    }
    return vertex_of;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
