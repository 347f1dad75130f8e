#pragma once
// A schedule as a value: what one rank contracts, sends and receives, step by step. `plan` sums it, prepare() says how
// its blocks lie, `run` replays it, tests play all ranks of it in one process. Free of MPI and of memory spaces.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace einparallel {

/// Number of a buffer in a program.
using buffer_id = int;
inline constexpr buffer_id no_buffer = -1;

/// Memory of one rank for one box of one tensor, dense and row-major over `region` unless it has strides.
struct buffer {
    box region;
    std::size_t element_bytes = 0;
    /// A hint for whoever lays buffers out, free to be ignored: these elements may lie in the memory of buffer
    /// `lender`, an earlier one, from byte `lender_offset` on, which has no use for those bytes while they live:
    /// two half-chunks of a k ring, strips of a tensor (schedule/fused.hpp), and what is computed in place of an
    /// operand (schedule/in_place.hpp).
    buffer_id lender = no_buffer;
    std::size_t lender_offset = 0;
    std::vector<index> strides{};    ///< in elements, of memory that is not dense; the executor's to say
    std::vector<buffer_id> joins{};  ///< of what has no memory of its own: the buffers that it lies in
    /// The vertex of the plan whose elements it has; none: sums that are not complete, copies.
    std::size_t tensor = std::size_t(-1);

    [[nodiscard]] std::size_t bytes() const { return std::size_t(region.size()) * element_bytes; }
};

class kernel;
struct program;

namespace EINPARALLEL_DETAIL {

/// How elements of a buffer lie in it: prepare() says so of what is to run.
struct laid_block {
    std::ptrdiff_t offset = 0;  ///< bytes from the buffer's start to the first element
    std::vector<index> strides{};

    /// The first element; null in an empty buffer without memory, whose elements are never touched.
    [[nodiscard]] std::byte* in(std::byte* start) const { return start == nullptr ? nullptr : start + offset; }
};

/// A call as it runs; `call` refers to the rest.
struct laid_call : private not_copied {
    std::vector<index> extents{};  ///< of the ranges
    std::vector<index> first{};    ///< where they begin
    laid_block output{};
    std::vector<laid_block> operands{};
    std::vector<strided_block> blocks{};  ///< of the operands
    block_call call{};
    std::shared_ptr<prepared_call> how{};  ///< decided for the memory that it runs in; null: that is no question
};

/// The box that ranges by label cut out of a tensor with these labels.
EINPARALLEL_INLINE box region_of(const std::vector<label_id>& labels, const std::vector<interval>& ranges);

/// The box of an operand that a call on these ranges reads, outside of its bounds, too.
EINPARALLEL_INLINE box region_read(const operand_read& read, const std::vector<interval>& ranges);

/// Strides of a buffer's elements.
EINPARALLEL_INLINE std::vector<index> strides_of(const buffer& holder);

}  // namespace EINPARALLEL_DETAIL

/// A transfer: the elements of `region`, which lies inside the region of `buffer`, to or from `peer`, in the row-major
/// order of `region`. Messages between two ranks match in the order in which their programs list them. Never empty,
/// never to oneself.
struct message {
    int peer = 0;
    buffer_id buffer = no_buffer;
    box region;
    std::size_t elements = 0;  ///< number of the description of its elements, in a table of who carries it
};

/// Reads a box of an input from its source into the whole of a buffer.
struct read_source {
    std::size_t vertex = 0;  ///< number of the input in the plan
    buffer_id into = no_buffer;
};

/// The labels of a call's only operand where they are not those of its vertex's form: the rows of a softmax, which is
/// called instead of a vertex that divides by their sums (schedule/fused.hpp), and a row of running sums that
/// ranks hand on, which has the output's order.
struct row_read {
    std::vector<label_id> labels{};  ///< none: those of the form
    label_id along = no_label;       ///< of a softmax; none: the kernel reads them
};

/// One call of a vertex's kernel on the sub-box of its iteration space given by `ranges` (by label, global indices).
/// Operand and output regions follow from the ranges and lie inside the buffers' regions.
struct contraction {
    std::size_t vertex = 0;
    std::vector<buffer_id> operands;
    buffer_id output = no_buffer;
    std::vector<interval> ranges;
    write_mode mode = write_mode::overwrite;
    row_read rows{};                     ///< of the only operand, where they are its own
    std::vector<std::size_t> outside{};  ///< by operand of the kernel: which of what is read outside its bounds, from
                                         ///< 1 on, or 0: itself; none: that everywhere

    std::shared_ptr<detail::laid_call> laid{};  ///< of a program that is to run

    /// Where operand `number` of the kernel, or of the softmax, is read, and the labels that it has; null: at these.
    ///@{
    [[nodiscard]] const operand_read* read_of(const einsum_form& form, std::size_t number) const {
        const bool is_plain = form.is_plain() || !rows.labels.empty();
        const operand_read* const inside = is_plain ? nullptr : &form.reads[number];
        return is_plain || outside.empty() || outside[number] == 0 ? inside : &inside->elsewhere[outside[number] - 1];
    }
    [[nodiscard]] const std::vector<label_id>& labels_of(const einsum_form& form, std::size_t number) const {
        const operand_read* const read = read_of(form, number);
        return read != nullptr ? read->labels : rows.labels.empty() ? form.operands[number] : rows.labels;
    }
    ///@}
};

/// into[region] = from[region], or into[region] = into[region] ⊕ from[region] with the ⊕ of a vertex.
struct local_move {
    static constexpr std::size_t no_vertex = std::size_t(-1);

    buffer_id into = no_buffer;
    buffer_id from = no_buffer;
    box region;
    std::size_t vertex = no_vertex;  ///< whose ⊕; none: a copy

    // Of a program that is to run:
    std::vector<index> extents{};  ///< of the region
    detail::laid_block laid{};     ///< in `into`
    detail::laid_block laid_in{};  ///< in `from`
};

using action = std::variant<read_source, contraction, local_move>;

/// One step: all receives and sends are started, the work is done while they fly, then all of them are completed. Work
/// never touches what the step receives, and never writes what it sends.
/// All ranks count the same phases; a rank with nothing to do in a phase has no step for it. The send and the receive
/// of a message stand in the same phase, so that running every program in order cannot deadlock.
struct step {
    std::size_t phase = 0;
    std::vector<message> receives{};
    std::vector<message> sends{};
    std::vector<action> work{};
    std::size_t vertex = 0;  ///< that it serves: computes it, or brings its operands
    bool once = false;       ///< left out by later runs, which read what it wrote: the same in all steps of a phase

    /// True where there is nothing to do.
    [[nodiscard]] bool is_idle() const { return receives.empty() && sends.empty() && work.empty(); }

    /// Adds messages, and moves of this rank's own elements, where the region is not empty.
    EINPARALLEL_INLINE void send(int peer, buffer_id buffer, const box& region) {
        if (!region.empty()) {
            sends.push_back({peer, buffer, region});
        }
    }
    EINPARALLEL_INLINE void receive(int peer, buffer_id buffer, const box& region) {
        if (!region.empty()) {
            receives.push_back({peer, buffer, region});
        }
    }
    EINPARALLEL_INLINE void move(buffer_id into, buffer_id from, const box& region,
                                 std::size_t of_sum = local_move::no_vertex) {
        if (!region.empty()) {
            work.emplace_back(local_move{into, from, region, of_sum});
        }
    }
};

/// A vertex as a program calls it.
struct called_vertex {
    std::string name;
    const kernel* work = nullptr;  ///< of an einsum
    einsum_form form{};            ///< of an einsum
};

/// All that one rank does for a plan. A buffer lives from the first step that names it to the last one; buffers in
/// `results` live on to the end.
struct program {
    std::vector<buffer> buffers;
    std::vector<step> steps;
    std::vector<buffer_id> results;         ///< per output of the plan: this rank's block of it
    std::vector<called_vertex> vertices{};  ///< by number in the plan; with names where it is to run

    [[nodiscard]] const buffer& operator[](buffer_id number) const { return buffers[std::size_t(number)]; }
    [[nodiscard]] buffer& operator[](buffer_id number) { return buffers[std::size_t(number)]; }

    /// What a call computes.
    [[nodiscard]] const called_vertex& vertex_of(const contraction& call) const { return vertices[call.vertex]; }

    /// Adds a buffer and returns its number.
    EINPARALLEL_INLINE buffer_id add_buffer(box region, std::size_t element_bytes) {
        buffers.push_back({std::move(region), element_bytes});
        return buffer_id(buffers.size()) - 1;
    }

    /// Adds a step behind the others, where it has something to do.
    void append(step&& last) {
        if (!last.is_idle()) {
            steps.push_back(std::move(last));
        }
    }

    EINPARALLEL_INLINE [[nodiscard]] bool is_result(buffer_id number) const {
        return detail::found_in(number, results);
    }
};

namespace EINPARALLEL_DETAIL {

/// A region of a buffer.
struct buffer_region {
    buffer_id buffer = no_buffer;
    box region;
};

struct accesses {
    std::vector<buffer_region> reads;  ///< of a contraction: its operands, in their order
    std::vector<buffer_region> writes;
};

/// How a box of a buffer lies.
EINPARALLEL_INLINE laid_block lay_out(const buffer& holder, const box& region);

/// Says of all actions how their blocks lie and what their kernels read, for as long as buffers keep their strides and
/// the program is not copied. @pre it has its vertices
EINPARALLEL_INLINE void prepare(program& of_rank);

/// What an action reads and writes. `form`: the einsum of a contraction, which gives the regions.
EINPARALLEL_INLINE accesses accesses_of(const program& of_rank, const action& done, const einsum_form* form);

/// visit(buffer, whether it is written) for all that a step names.
void for_each_access(const step& each, const auto& visit) {
    for_each_in(each.receives, [&](const message& moved) { visit(moved.buffer, true); });
    for_each_in(each.sends, [&](const message& moved) { visit(moved.buffer, false); });
    for (const action& done : each.work) {
        if (const auto* const call = std::get_if<contraction>(&done)) {
            for_each_in(call->operands, [&](buffer_id operand) { visit(operand, false); });
            visit(call->output, true);
        } else if (const auto* const moved = std::get_if<local_move>(&done)) {
            visit(moved->from, false);
            visit(moved->into, true);
        } else {
            visit(std::get<read_source>(done).into, true);
        }
    }
}

}  // namespace EINPARALLEL_DETAIL

/// Element bytes that the rank hands to others, in the first run or in each later one.
EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_sent(const program& of_rank, bool again = false);

}  // namespace einparallel
