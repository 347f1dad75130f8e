#pragma once
// One rank's program, prepared once and then replayed.

#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/extra_memory.hpp>
#include <einparallel/run/prepared_step.ipp>
#include <einparallel/run/program_buffers.ipp>
#include <einparallel/run/trace.hpp>
#include <einparallel/run/transport.ipp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A program, its memory and its steps: laid out before the ranks agree to start, then replayed without allocating.
class prepared_program : public program_memory {
public:
    /// `staging`: that of the memory space it runs in.
    EINPARALLEL_SELDOM explicit prepared_program(program moves, std::vector<executed_vertex> vertices = {},
                                                 std::size_t staging = 0)
        : program_memory(std::move(moves)),
          staging_(staging),
          vertices_(std::move(vertices)),
          sources_(vertices_.size(), nullptr) {
        for (const executed_vertex& vertex : vertices_) {
            einsums_ = std::max(einsums_, vertex.number);
            tensors_.push_back(vertex.made);
        }
        for (const step& each : of_rank().steps) {
            for (const action& done : each.work) {
                const auto* const call = std::get_if<contraction>(&done);
                for (std::size_t operand = 0; call != nullptr && operand < call->operands.size(); ++operand) {
                    const operand_read* const read = call->read_of(vertices_[call->vertex].form, operand);
                    if (read != nullptr && read->at.is_reshaped()) {
                        keep_rows(call->operands[operand]);
                    }
                }
            }
        }
        prepare_steps();
    }

    /// For the next run, by vertex: null for einsums; alive until the run is over.
    std::vector<const source*>& sources() { return sources_; }

    /// program_memory::offer
    EINPARALLEL_SELDOM bool offer(std::size_t vertex, const std::byte* data) {
        return program_memory::offer(
            vertex, data, [&](std::size_t number) -> const einsum_form& { return vertices_[number].form; },
            [&](std::size_t number) { return vertices_[number].work->replaces(); });
    }

    /// What the messages of any one step take.
    const message_room& room() const { return room_; }

    /// The most spans that a trace of it has.
    std::size_t most_spans() const { return most_spans_; }

    /// The most bytes of workspace of a contraction, and the vertex in a step of which most bytes are held at once:
    /// those, and all tensors and buffers that are not the application's. `workspace`: the memory space's.
    EINPARALLEL_SELDOM memory_need need(function_ref<std::size_t(const kernel&, const block_call&)> workspace) {
        const std::vector<std::size_t> alive = bytes_held(
            of_rank(), [&](buffer_id number) { return lies_elsewhere(number); },
            [&](buffer_id number) { return is_borrowed(number); });
        memory_need most{.out = room_.out, .in = room_.in, .results = bytes_of_results()};
        for (std::size_t position = 0; position < steps_.size(); ++position) {
            std::size_t of_step = 0;
            for (prepared_call& done : steps_[position].work) {
                if (done.what == activity::contract && done.rows.along == no_label) {
                    of_step = std::max(of_step, workspace(*vertices_[done.vertex].work, described(done)));
                }
            }
            most.workspace = std::max(most.workspace, of_step);
            if (alive[position] + of_step > most.of_vertex) {
                most.of_vertex = alive[position] + of_step;
                most.vertex = vertices_[steps_[position].vertex].name;
            }
        }
        return most;
    }
    EINPARALLEL_SELDOM memory_need need_in(const memory_space& space) {
        return need([&](const kernel& work, const block_call& call) { return space.workspace(work, call); });
    }

    /// Gives every buffer its place; prepares steps anew only where strides are other ones than before. `others`: what
    /// other programs keep. Local; may throw.
    EINPARALLEL_SELDOM void lay_out(const memory_space& space, bool results_stay = true,
                                    const std::vector<kept_tensor>& others = {}) {
        place(space, sources_, results_stay, tensors_, others);
        if (has_other_strides()) {
            prepare_steps();
        }
        if (!space.is_host()) {
            workspace_ = workspace_.has_value() ? workspace_ : need_in(space).workspace;
            space.prepare(*workspace_);
        }
    }

    /// Carries the program out: the messages always, the work until something throws. The first failure is noted in
    /// `failure`, with this rank's number; where it is not empty at the start, no work is done. `again`: on all ranks
    /// what earlier runs have kept is there. `scratch`: scratch_bytes(), of which others may use what is there before
    /// and after.
    EINPARALLEL_SELDOM void replay(const memory_space& space, transport& ranks, std::byte* scratch,
                                   const run_watch& watch, std::string& failure, bool again = false) {
        const auto attempt = [&](std::size_t vertex, function_ref<void()> f) {
            if (const std::string thrown = failure_of("", f); !thrown.empty() && failure.empty()) {
                failure = described_failure(watch, vertex, thrown);
            }
        };
        keep(again && is_kept());
        settle(scratch);
        ranks.begin(watch);
        std::size_t current = no_vertex;
        for (prepared_step& each : steps_) {
            if (each.once && (again || !needs_once(each.vertex))) {
                continue;
            }
            if (std::exchange(current, each.vertex) != each.vertex && failure.empty()) {
                attempt(current, [&] { announce(watch, current); });
            }
            ranks.start(each, starts());
            for (prepared_call& done : each.work) {
                if (failure.empty()) {
                    const bool is_timed = space.times(done.what, each.vertex);
                    const timed_span span(is_timed ? nullptr : watch.seen, done.what, each.vertex);
                    attempt(done.vertex, [&] { perform(space, done, ranks.hook()); });
                }
                ranks.poll();
            }
            attempt(current, [&] { ranks.complete(); });
        }
        if (failure.empty()) {
            static_cast<void>(space.times(activity::copy_out, current == no_vertex ? 0 : current));
            attempt(no_vertex, [&] { bring_out(space); });
        }
        attempt(current, [&] { space.finish(space.given()); });
    }

private:
    static constexpr std::size_t no_vertex = local_move::no_vertex;

    EINPARALLEL_SELDOM void prepare_steps() {
        steps_.clear();
        steps_.reserve(of_rank().steps.size());
        most_spans_ = 0;
        for (const step& each : of_rank().steps) {
            steps_.push_back(prepare_step(of_rank(), each, staging_, vertices_));
            room_.add(steps_.back());
            most_spans_ += steps_.back().work.size() + 2;
        }
        workspace_.reset();
    }

    EINPARALLEL_SELDOM void announce(const run_watch& watch, std::size_t vertex) const {
        if (watch.vertices != nullptr && vertices_[vertex].number > 0) {
            (*watch.vertices)(vertices_[vertex].number, einsums_, vertices_[vertex].name);
        }
    }

    EINPARALLEL_SELDOM std::string described_failure(const run_watch& watch, std::size_t vertex,
                                                     const std::string& thrown) const {
        const std::string where = vertex < vertices_.size() ? "vertex '" + vertices_[vertex].name + "', " : "";
        return sentence({watch.call, ": ", where, "rank ", watch.rank, thrown.starts_with(": ") ? "" : ": ", thrown});
    }

    EINPARALLEL_SELDOM void perform(const memory_space& space, prepared_call& done, progress_hook* hook) const {
        const kernel* const work = vertices_.empty() ? nullptr : vertices_[done.vertex].work;
        std::byte* const into = done.output.address(starts());
        if (done.what == activity::contract) {
            const block_call call = described(done, hook);
            done.rows.along == no_label ? space.contract(*work, call)
                                        : space.softmax(work->program().type(), call, done.rows.along);
        } else if (done.what != activity::read) {
            const prepared_block& from = done.operands.front();
            const box_pair boxes{done.extents,           into,         done.output.strides,
                                 from.address(starts()), from.strides, done.element_bytes};
            done.what == activity::copy ? space.copy(boxes) : space.combine(*work, boxes);
        } else if (!is_borrowed(done.output.place)) {
            bring(space, *sources_[done.vertex], of_rank()[done.output.place].region, into, done.element_bytes);
        }
    }

    /// A call on the blocks, wherever the buffers are now.
    EINPARALLEL_SELDOM block_call described(prepared_call& each, progress_hook* hook = nullptr) const {
        const einsum_form& form = vertices_[each.vertex].form;
        const kernel& work = *vertices_[each.vertex].work;
        for (std::size_t operand = 0; operand < each.operands.size(); ++operand) {
            const prepared_block& block = each.operands[operand];
            each.blocks[operand] = {block.address(starts()), work.operand_type(operand), each.labels[operand],
                                    block.strides};
        }
        const strided_block output{each.output.address(starts()), work.element(), form.output, each.output.strides};
        return {each.extents, each.blocks, output, each.mode, hook, each.first};
    }

    std::size_t staging_;
    std::vector<executed_vertex> vertices_;
    std::vector<const source*> sources_;  ///< by vertex
    std::vector<kept_tensor> tensors_;    ///< by vertex
    std::vector<prepared_step> steps_;
    message_room room_;
    std::size_t most_spans_ = 0;
    std::optional<std::size_t> workspace_;  ///< of the contractions of the steps, where that is known
    std::size_t einsums_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
