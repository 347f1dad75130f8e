#pragma once
// A schedule as a value: what one rank contracts, sends and receives, step by step. `plan` adds up its costs, prepare()
// fills in where its blocks lie, `run` executes it, and tests execute the programs of all ranks in one process. It
// depends neither on MPI nor on memory spaces.

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
    /// A hint, which the memory planner may ignore: this buffer may lie in the memory of an earlier buffer, `lender`,
    /// from byte `lender_offset` on. The lender does not need those bytes while this buffer is alive. Used for two
    /// half-chunks of a k ring, strips of a tensor (schedule/fused/fused.hpp), and outputs computed in place of an
    /// operand (schedule/in_place.hpp).
    buffer_id lender = no_buffer;
    std::size_t lender_offset = 0;
    std::vector<index> strides{};    ///< in elements, where memory is not dense; the executor sets them
    std::vector<buffer_id> joins{};  ///< for a buffer without memory: the buffers that hold its elements
    /// The vertex of the plan whose elements the buffer holds; -1 for incomplete sums and for copies.
    std::size_t tensor = std::size_t(-1);
    bool counts = false;  ///< its elements are indices: source::counts()

    [[nodiscard]] std::size_t bytes() const { return std::size_t(region.size()) * element_bytes; }
};

class kernel;
struct program;

namespace EINPARALLEL_DETAIL {

/// Where a block of a buffer lies in its memory. prepare() fills this in for a program that is to run.
struct laid_block {
    std::ptrdiff_t offset = 0;  ///< bytes from the buffer's start to the first element
    std::vector<index> strides{};

    /// The first element; null in an empty buffer without memory, whose elements are never touched.
    [[nodiscard]] std::byte* in(std::byte* start) const { return start == nullptr ? nullptr : start + offset; }
};

/// A call prepared to run; `call` refers to the other fields.
struct laid_call : private not_copied {
    std::vector<index> extents{};  ///< lengths of the call's ranges
    std::vector<index> first{};    ///< begins of the call's ranges
    laid_block output{};
    std::vector<laid_block> operands{};
    std::vector<strided_block> blocks{};  ///< of the operands
    block_call call{};
    std::shared_ptr<prepared_call> how{};  ///< the memory space's way to compute it; null where there is no choice
};

/// The box of a tensor with these labels that `ranges`, given by label, select.
EINPARALLEL_INLINE box region_of(const std::vector<label_id>& labels, const std::vector<interval>& ranges);

/// The box of an operand that a call on these ranges reads. It may reach outside of the operand's bounds.
EINPARALLEL_INLINE box region_read(const operand_read& read, const std::vector<interval>& ranges);

/// Strides of a buffer in elements: its own, or those of dense row-major memory.
EINPARALLEL_INLINE std::vector<index> strides_of(const buffer& holder);

}  // namespace EINPARALLEL_DETAIL

/// A transfer to or from rank `peer`: the elements of `region`, in its row-major order. `region` lies inside the region
/// of `buffer`. Messages between two ranks match in the order in which their programs list them. A message is never
/// empty, and a rank never sends to itself.
struct message {
    int peer = 0;
    buffer_id buffer = no_buffer;
    box region;
    std::size_t elements = 0;  ///< position of its datatype in the transport's table (message_table)
};

/// Reads the box of an input that a buffer holds from the input's source into that buffer.
struct read_source {
    std::size_t vertex = 0;  ///< number of the input in the plan
    buffer_id into = no_buffer;
};

/// A tensor of one rank, or a part of one, that rests in storage, dense and row-major. An input stays with its source.
/// Other tensors lie in a file of the run, or behind a device in memory of the host.
struct stored_tensor {
    static constexpr std::size_t no_vertex = std::size_t(-1);

    box region{};
    std::size_t element_bytes = 0;
    std::size_t input = no_vertex;   ///< the input that its source reads, which nothing is written to; else no_vertex
    std::size_t output = no_vertex;  ///< the output of the plan whose file it is; else no_vertex
    bool is_in_file = true;          ///< false for an input that its source makes, or finds in memory
    std::size_t tensor = no_vertex;  ///< the vertex whose elements they are (buffer::tensor)

    /// True where it lies in a file of the run.
    [[nodiscard]] bool is_scratch() const { return input == no_vertex && output == no_vertex; }

    [[nodiscard]] std::size_t bytes() const { return std::size_t(region.size()) * element_bytes; }
};

/// Loads the elements of a buffer from storage, or evicts them to it. It begins with its step, after all moves of
/// earlier steps and those before it in the list, and is complete at the end of the step `until` positions later.
/// Until then no work touches the buffer.
struct page_move {
    buffer_id buffer = no_buffer;
    std::size_t stored = 0;  ///< position in program::stored
    bool evicts = false;
    std::size_t until = 0;
};

/// The labels of a call's only operand where they differ from those of its vertex's form. There are two cases: the rows
/// of a softmax, which replaces the division by the rows' sums (schedule/fused/fused.hpp), and a row of running sums
/// that a rank sends to another, which has the output's order of labels.
struct row_read {
    std::vector<label_id> labels{};  ///< empty: the form's labels
    label_id along = no_label;       ///< label along the rows of a softmax; no_label where the call is no softmax
};

/// One call of a vertex's kernel on the sub-box of its iteration space given by `ranges` (by label, global indices).
/// Operand and output regions follow from the ranges and lie inside the buffers' regions.
struct contraction {
    std::size_t vertex = 0;
    std::vector<buffer_id> operands;
    buffer_id output = no_buffer;
    std::vector<interval> ranges;
    write_mode mode = write_mode::overwrite;
    row_read rows{};  ///< labels of the only operand, where they differ from the form's
    /// By operand of the kernel: 0 where the operand itself is read, i where elsewhere[i - 1] is read instead
    /// (operand_read::elsewhere). Empty: 0 for all.
    std::vector<std::size_t> outside{};

    std::shared_ptr<detail::laid_call> laid{};  ///< set by prepare() in a program that is to run

    /// Where operand `number` of the kernel, or of the softmax, is read, and its labels. A null operand_read means that
    /// it is read at its labels.
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

/// A copy, into[region] = from[region], or a reduction, into[region] = into[region] ⊕ from[region], with the ⊕ of
/// `vertex`.
struct local_move {
    static constexpr std::size_t no_vertex = std::size_t(-1);

    buffer_id into = no_buffer;
    buffer_id from = no_buffer;
    box region;
    std::size_t vertex = no_vertex;  ///< the vertex whose ⊕ is used; no_vertex: a copy

    // Set by prepare() in a program that is to run:
    std::vector<index> extents{};  ///< extents of the region
    detail::laid_block laid{};     ///< where the region lies in `into`
    detail::laid_block laid_in{};  ///< where the region lies in `from`
};

using action = std::variant<read_source, contraction, local_move>;

/// One step: all receives and sends are started, the work runs while they are in flight, then all of them are
/// completed. The work never touches the elements that the step receives, and never writes those that it sends. Phases
/// are numbered alike on all ranks; a rank with nothing to do in a phase has no step for it. One step of a phase has
/// messages; more steps of it may work, or move elements to and from storage. The send and the receive
/// of a message belong to the same phase, so ranks that run their programs in order cannot deadlock.
struct step {
    std::size_t phase = 0;
    std::vector<message> receives{};
    std::vector<message> sends{};
    std::vector<action> work{};
    std::vector<page_move> pages{};  ///< to and from storage
    std::size_t vertex = 0;          ///< the vertex that the step computes, or whose operands it brings
    bool once = false;               ///< later runs leave it out and reuse what it wrote; equal in all steps of a phase

    /// True where the step has nothing to do.
    [[nodiscard]] bool is_idle() const { return receives.empty() && sends.empty() && work.empty() && pages.empty(); }

    /// Add a message, or a move within this rank, unless the region is empty.
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

/// The facts about a vertex that a program needs to call it.
struct called_vertex {
    std::string name;
    const kernel* work = nullptr;  ///< null where the vertex is no einsum
    einsum_form form{};            ///< for an einsum
    bool is_in_file = false;       ///< for an input: its source reads a file
    bool is_turned = false;        ///< for an input in a file: its first index is the fastest there
};

/// All that one rank does for a plan. A buffer lives from the first step that names it to the last one; buffers in
/// `results` live on to the end.
struct program {
    std::vector<buffer> buffers;
    std::vector<step> steps;
    std::vector<buffer_id> results;         ///< for each output of the plan: the buffer of this rank's block
    std::vector<called_vertex> vertices{};  ///< by number in the plan; named where the program is to run
    std::vector<stored_tensor> stored{};    ///< what rests in storage while the program runs

    [[nodiscard]] const buffer& operator[](buffer_id number) const { return buffers[std::size_t(number)]; }
    [[nodiscard]] buffer& operator[](buffer_id number) { return buffers[std::size_t(number)]; }

    /// The vertex that a call computes.
    [[nodiscard]] const called_vertex& vertex_of(const contraction& call) const { return vertices[call.vertex]; }

    /// Adds a buffer and returns its number.
    EINPARALLEL_INLINE buffer_id add_buffer(box region, std::size_t element_bytes) {
        buffers.push_back({std::move(region), element_bytes});
        return buffer_id(buffers.size()) - 1;
    }

    /// Adds a step after the others, unless it has nothing to do.
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

/// Where a box of a buffer lies: the offset of its first element, and its strides.
EINPARALLEL_INLINE laid_block lay_out(const buffer& holder, const box& region);

/// Fills in where the blocks of all actions lie and what their kernels read. This stays valid as long as buffers keep
/// their strides and the program is not copied. @pre program::vertices is filled
EINPARALLEL_INLINE void prepare(program& of_rank);

/// The regions that an action reads and writes. `form`: the einsum of a contraction; other actions do not use it.
EINPARALLEL_INLINE accesses accesses_of(const program& of_rank, const action& done, const einsum_form* form);

/// Calls visit(buffer, is_written) for each read and each write of a buffer in a step.
void for_each_access(const step& each, const auto& visit) {
    for_each_in(each.pages, [&](const page_move& moved) { visit(moved.buffer, !moved.evicts); });
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

/// Bytes that the rank sends to others in the first run; with `again`, in each later run.
EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_sent(const program& of_rank, bool again = false);

/// Bytes that the rank moves between memory and files in a run, both ways.
EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_paged(const program& of_rank);
/// The same for one step.
EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_paged(const program& of_rank, const step& each);

}  // namespace einparallel
