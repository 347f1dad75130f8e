#pragma once
// One rank's program, carried out step by step.

#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/memory_need.hpp>
#include <einparallel/run/message_progress.ipp>
#include <einparallel/run/prepared.ipp>
#include <einparallel/run/program_memory.ipp>
#include <einparallel/run/trace.hpp>
#include <einparallel/run/transport.ipp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A program, its memory and its steps: laid out before the ranks agree to start, then carried out without allocating.
class executable : public program_memory {
public:
    /// `staging`: that of the memory space it runs in. The forms of the vertices must outlive this object.
    EINPARALLEL_INLINE executable(program of_rank, std::vector<executed_vertex> vertices, std::size_t staging = 0)
        : program_memory(std::move(of_rank), vertices.size()),
          staging_(staging),
          vertices_(std::move(vertices)),
          steps_(prepare_steps(program_, vertices_, staging_)) {
        for (const executed_vertex& vertex : vertices_) {
            einsums_ = std::max(einsums_, vertex.number);
        }
    }

    /// What the messages of any one step take.
    EINPARALLEL_INLINE [[nodiscard]] message_room room() const {
        message_room most;
        for (const prepared_step& each : steps_) {
            most.add(each.messages, staging_ > 0);
        }
        return most;
    }

    /// The most bytes of workspace of a contraction, and the vertex in a step of which most bytes are held at once:
    /// those, and all tensors and buffers that are not the application's. `workspace`: the memory space's.
    EINPARALLEL_INLINE [[nodiscard]] memory_need need(
        function_ref<std::size_t(const kernel&, const block_call&)> workspace) {
        const std::vector<std::size_t> held = bytes_held(
            program_, [&](buffer_id number) { return lies_elsewhere(number); },
            [&](buffer_id number) { return is_borrowed(number); });
        memory_need most;
        for (std::size_t position = 0; position < steps_.size(); ++position) {
            std::size_t of_step = 0;
            for (prepared_action& done : steps_[position].work) {
                if (auto* const call = std::get_if<prepared_contraction>(&done);
                    call != nullptr && call->softmax.along == no_label) {
                    of_step = std::max(of_step, workspace(*vertices_[call->vertex].work, described(*call)));
                }
            }
            most.workspace = std::max(most.workspace, of_step);
            if (held[position] + of_step > most.of_vertex) {
                most.of_vertex = held[position] + of_step;
                most.vertex = vertices_[steps_[position].vertex].name;
            }
        }
        const message_room messages = room();
        most.out = messages.out;
        most.in = messages.in;
        for (std::size_t position = 0; position < results_.size(); ++position) {
            const result_memory& each = results_[position];
            most.results += each.first == position ? program_[each.place].bytes() : 0;
        }
        return most;
    }

    EINPARALLEL_INLINE [[nodiscard]] memory_need need_in(const memory_space& space) {
        return need([&](const kernel& work, const block_call& call) { return space.workspace(work, call); });
    }

    /// The most spans that a trace of it has.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t most_spans() const {
        std::size_t spans = 0;
        for (const prepared_step& each : steps_) {
            spans += each.work.size() + 2;
        }
        return spans;
    }

    /// Gives every buffer its place (program_memory::place_buffers). Prepares steps and contractions anew only where
    /// strides are other ones than before.
    EINPARALLEL_INLINE void lay_out(const memory_space& space, std::span<std::byte* const> places = {}) {
        place_buffers(space, places);
        if (has_other_strides_) {
            steps_ = prepare_steps(program_, vertices_, staging_);
            workspace_.reset();
            has_other_strides_ = false;
        }
        if (!space.is_host()) {
            workspace_ = workspace_.has_value() ? workspace_ : need_in(space).workspace;
            space.prepare(*workspace_);
        }
    }

    /// Carries the program out: the messages always, the work until something throws. The first failure is noted in
    /// `failure`, with this rank's number; where it is not empty at the start, no work is done. `again`: on all ranks
    /// what earlier runs have kept is there.
    EINPARALLEL_INLINE void carry_out(const memory_space& space, transport& ranks, const run_watch& watch,
                                      std::string& failure, bool again = false) {
        keep(again && is_kept());
        paced_polls polls(ranks, watch.progress);
        std::size_t current = local_move::no_vertex;
        work_token given = no_work;
        for (prepared_step& each : steps_) {
            if (again && each.once) {
                continue;
            }
            if (std::exchange(current, each.vertex) != each.vertex && watch.vertices != nullptr) {
                begin_vertex(watch, each.vertex, failure);
            }
            trace* const seen = each.messages.waits() ? watch.seen : nullptr;
            if (each.messages.waits() && staging_ == 0) {
                attempt(watch, current, failure, [&] { space.finish(given); });
            }
            const bool is_timed = seen != nullptr && space.times(activity::transfer, each.vertex);
            timed_span flight(seen, activity::transfer, each.vertex, seen == nullptr ? 0 : each.messages.bytes_sent(),
                              seen == nullptr ? 0 : each.messages.bytes_received());
            if (each.messages.waits()) {
                ranks.start(each.messages, starts_, given);
            }
            polls.start_step(flight);
            progress_hook hook(polls);
            progress_hook* const reported = each.messages.waits() || watch.progress != nullptr ? &hook : nullptr;
            for (prepared_action& done : each.work) {
                if (failure.empty()) {
                    const activity what = activity_of(done);
                    const bool is_there = watch.seen != nullptr && space.times(what, each.vertex);
                    const timed_span span(is_there ? nullptr : watch.seen, what, each.vertex);
                    perform(space, reported, done, watch, failure);
                }
                polls.poll();
            }
            const timed_span waiting(is_timed ? nullptr : seen, activity::wait, each.vertex);
            attempt(watch, current, failure, [&] { ranks.complete(); });
            attempt(watch, current, failure, [&] { given = space.given(); });
        }
        for (const result_memory& each : results_) {
            if (each.on_host != nullptr && failure.empty()) {
                static_cast<void>(space.times(activity::copy_out, current < vertices_.size() ? current : 0));
                attempt(watch, local_move::no_vertex, failure, [&] { bring_out(space, each); });
            }
        }
        attempt(watch, current, failure, [&] { space.finish(space.given()); });
    }

private:
    EINPARALLEL_INLINE static void bring_out(const memory_space& space, const result_memory& made) {
        const std::array<index, 1> all{static_cast<index>(made.block->bytes())};
        constexpr std::array<index, 1> dense{1};
        if (made.block->bytes() > 0) {
            space.copy({all, made.on_host->data(), dense, made.block->data(), dense, 1});
        }
    }

    EINPARALLEL_INLINE static activity activity_of(const prepared_action& done) {
        const auto* moved = std::get_if<prepared_move>(&done);
        return moved == nullptr ? (std::holds_alternative<read_source>(done) ? activity::read : activity::contract)
               : moved->vertex == local_move::no_vertex ? activity::copy
                                                        : activity::combine;
    }

    EINPARALLEL_INLINE void begin_vertex(const run_watch& watch, std::size_t vertex, std::string& failure) const {
        const executed_vertex& begun = vertices_[vertex];
        if (begun.number > 0 && failure.empty()) {
            attempt(watch, vertex, failure, [&] { (*watch.vertices)(begun.number, einsums_, begun.name); });
        }
    }

    /// f(); what it throws is this rank's failure at a vertex, where it is the first.
    template <class F>
    void attempt(const run_watch& watch, std::size_t vertex, std::string& failure, F&& f) const {
        try {
            f();
        } catch (...) {
            note(watch, vertex, failure);
        }
    }
    /// The exception that is being handled.
    EINPARALLEL_INLINE void note(const run_watch& watch, std::size_t vertex, std::string& failure) const {
        const std::string thrown = failure_of("", [] { throw; });
        if (failure.empty()) {
            const std::string where = vertex < vertices_.size() ? "vertex '" + vertices_[vertex].name + "', " : "";
            failure = watch.call + (": " + where) + "rank " + std::to_string(watch.rank) +
                      (thrown.starts_with(": ") ? "" : ": ") + thrown;
        }
    }

    EINPARALLEL_INLINE void perform(const memory_space& space, progress_hook* hook, prepared_action& done,
                                    const run_watch& watch, std::string& failure) {
        const std::size_t vertex = std::visit([](const auto& each) { return each.vertex; }, done);
        attempt(watch, vertex, failure, [&] {
            if (auto* read = std::get_if<read_source>(&done)) {
                if (!is_borrowed(read->into)) {
                    const buffer& place = program_[read->into];
                    bring(space, *sources_[vertex], place.region, starts_[static_cast<std::size_t>(read->into)],
                          place.element_bytes);
                }
            } else if (auto* call = std::get_if<prepared_contraction>(&done)) {
                const kernel& work = *vertices_[call->vertex].work;
                const block_call blocks = described(*call, hook);
                call->softmax.along == no_label ? space.contract(work, blocks)
                                                : space.softmax(work.program().type(), blocks, call->softmax.along);
            } else if (auto* moved = std::get_if<prepared_move>(&done)) {
                const box_pair boxes{moved->extents,      moved->into.address(starts_),
                                     moved->into.strides, moved->from.address(starts_),
                                     moved->from.strides, moved->element_bytes};
                vertex == local_move::no_vertex ? space.copy(boxes) : space.combine(*vertices_[vertex].work, boxes);
            }
        });
    }

    /// A call on the blocks, wherever the buffers are now.
    EINPARALLEL_INLINE block_call described(prepared_contraction& each, progress_hook* hook = nullptr) const {
        const einsum_form& form = *vertices_[each.vertex].form;
        for (std::size_t operand = 0; operand < each.operands.size(); ++operand) {
            const prepared_block& block = each.operands[operand];
            each.call[operand] = {block.address(starts_), each.softmax.operand_labels(form, operand), block.strides};
        }
        const output_block output{each.output.address(starts_), form.output, each.output.strides};
        return {each.extents, each.call, output, each.mode, hook};
    }

    std::size_t staging_;
    std::vector<executed_vertex> vertices_;
    std::vector<prepared_step> steps_;
    std::optional<std::size_t> workspace_;  ///< of the contractions of the steps, where that is known
    std::size_t einsums_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
