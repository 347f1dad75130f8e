#pragma once
// One rank's program, prepared once and then run any number of times.

#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/extra_memory.hpp>
#include <einparallel/run/page_mover.ipp>
#include <einparallel/run/program_buffers.ipp>
#include <einparallel/run/trace.hpp>
#include <einparallel/run/transport.ipp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A program and its memory. It is laid out before the ranks agree to start, and then runs without allocations and
/// without further decisions.
class program_replay : public program_memory {
public:
    /// `staging`: memory_space::staging() of the space it runs in. `tensors`: the tensors that vertices compute, so
    /// that plans can share kept ones.
    EINPARALLEL_SELDOM explicit program_replay(program moves, std::size_t staging = 0,
                                               std::vector<kept_tensor> tensors = {})
        : program_memory(std::move(moves), std::move(tensors)),
          staging_(staging),
          pages_(of_rank()),
          most_spans_(sum_in(of_rank().steps, std::size_t{0},
                             [](const step& each) { return each.work.size() + each.pages.size() + 3; })),
          einsums_(count_in_order(of_rank().vertices.size())) {}

    /// The moves to and from storage.
    page_mover& pages() { return pages_; }

    /// The descriptions of all messages, after lay_out().
    const message_table& messages() const { return messages_; }

    /// The largest number of spans that this program adds to a trace.
    std::size_t most_spans() const { return most_spans_; }

    /// The memory that a run needs: the largest workspace of a contraction, and the vertex whose step holds most bytes,
    /// in its workspace and in all tensors and buffers that are not the application's. `workspace`: gives the bytes of
    /// workspace of a call in the memory space.
    EINPARALLEL_SELDOM memory_need need(function_ref<std::size_t(const kernel&, const block_call&)> workspace) {
        prepare();
        const program_room room = room_of(of_rank(), [&](buffer_id number) { return is_borrowed(number); });
        memory_need most{.out = messages_.out(), .in = messages_.in(), .results = room.results};
        for (const stored_tensor& each : of_rank().stored) {
            most.waiting += each.is_scratch() ? each.bytes() : 0;
        }
        for (std::size_t position = 0; position < of_rank().steps.size(); ++position) {
            const step& each = of_rank().steps[position];
            std::size_t of_step = 0;
            for (const action& done : each.work) {
                const auto* const call = std::get_if<contraction>(&done);
                if (call != nullptr && call->rows.along == no_label) {
                    of_step = std::max(of_step, workspace(*of_rank().vertex_of(*call).work, call->laid->call));
                }
            }
            most.workspace = std::max(most.workspace, of_step);
            if (room.by_step[position] + of_step > most.of_vertex) {
                most.of_vertex = room.by_step[position] + of_step;
                most.vertex = of_rank().vertices[each.vertex].name;
            }
        }
        return most;
    }

    /// Gives every buffer its memory. If strides have changed, works out again where blocks lie and how calls are
    /// computed; if host_limits have changed, only how calls are computed. `others`: tensors that other programs keep.
    /// Local; may throw.
    EINPARALLEL_SELDOM void lay_out(const memory_space& space, bool results_stay = true,
                                    const std::vector<kept_tensor>& others = {}) {
        is_prepared_ = !assign(space, results_stay, others) && is_prepared_;
        prepare();
        if (const host_limits now; decided_for_ != now) {
            decide(space);
            decided_for_ = now;
        }
        space.prepare(workspace_);
    }

    /// Runs the program. All messages are sent even if work fails, but after a failure no more work is done. `failure`
    /// gets the sentence of the first failure, with this rank's number; if it is not empty at the start, no work is
    /// done. `again`: on all ranks, earlier runs have filled the kept buffers. `scratch`: memory of scratch_bytes()
    /// bytes, which others may use before and after the run.
    EINPARALLEL_SELDOM void replay(const memory_space& space, transport& ranks, std::byte* scratch,
                                   const run_watch& watch, std::string& failure, bool again = false) {
        const auto attempt = [&](std::size_t vertex, function_ref<void()> f) {
            if (const std::string thrown = failure_of("", f); !thrown.empty() && failure.empty()) {
                const bool has_name = vertex < of_rank().vertices.size();
                const std::string where = has_name ? "vertex '" + of_rank().vertices[vertex].name + "', " : "";
                const char* const colon = thrown.starts_with(": ") ? "" : ": ";
                failure = sentence({watch.call, ": ", where, "rank ", watch.rank, colon, thrown});
            }
        };
        keep(again && is_kept());
        settle(scratch);
        ranks.begin(watch, messages_, starts());
        pages_.watch(watch.seen);
        std::size_t current = no_vertex;
        std::size_t position = std::size_t(-1);
        for (step& each : of_rank().steps) {
            ++position;
            if (each.once && (again || !kept().needs(each.vertex))) {
                continue;
            }
            if (std::exchange(current, each.vertex) != each.vertex && failure.empty() && watch.vertices != nullptr &&
                of_rank().vertices[current].work != nullptr) {
                const std::string& name = of_rank().vertices[current].name;
                attempt(current, [&] { (*watch.vertices)(count_in_order(current + 1), einsums_, name); });
            }
            if (failure.empty() && !each.pages.empty()) {
                attempt(each.vertex, [&] {
                    pages_.begin(of_rank(), each, space, starts(), sources(),
                                 [&](buffer_id number) { return is_borrowed(number); });
                });
            }
            ranks.start(each);
            for (action& done : each.work) {
                if (failure.empty()) {
                    const auto [what, vertex] = activity_of(done, each.vertex);
                    const bool is_timed = space.times(what, each.vertex);
                    const timed_span span(is_timed ? nullptr : watch.seen, what, each.vertex);
                    attempt(vertex, [&] { perform(space, done, ranks.hook()); });
                }
                ranks.poll();
            }
            attempt(current, [&] { ranks.complete(); });
            if (failure.empty() && pages_.must_wait(position)) {
                const timed_span waiting(watch.seen, activity::wait_storage, each.vertex);
                attempt(each.vertex, [&] { pages_.end(position); });
            }
        }
        pages_.close();
        if (failure.empty()) {
            static_cast<void>(space.times(activity::copy_out, current == no_vertex ? 0 : current));
            attempt(no_vertex, [&] { copy_results_out(space); });
        }
        attempt(current, [&] { space.finish(space.given()); });
    }

private:
    static constexpr std::size_t no_vertex = local_move::no_vertex;

    EINPARALLEL_SELDOM void prepare() {
        if (!is_prepared_) {
            decided_for_.reset();
            detail::prepare(of_rank());
            messages_ = message_table(of_rank(), staging_);
            is_prepared_ = true;
        }
    }

    EINPARALLEL_SELDOM void decide(const memory_space& space) {
        workspace_ = 0;
        std::vector<const contraction*> known;  // the turns of a ring, and products of layers, are alike
        for (step& each : of_rank().steps) {
            for (action& done : each.work) {
                auto* const call = std::get_if<contraction>(&done);
                if (call == nullptr || call->rows.along != no_label) {
                    continue;
                }
                const auto alike =
                    find_if_in(known, [&](const contraction* other) { return are_alike(*call, *other); });
                std::shared_ptr<prepared_call>& how = call->laid->how;
                how = alike != known.end() ? (*alike)->laid->how
                                           : space.decide(*of_rank().vertex_of(*call).work, call->laid->call);
                workspace_ = std::max(workspace_, how == nullptr ? 0 : how->workspace);
                constexpr std::size_t most = 8;
                if (alike == known.end()) {
                    known.insert(known.begin(), call);
                    known.resize(std::min(known.size(), most));
                }
            }
        }
    }

    /// True where one decision serves both calls: they have the same kernel, or product kernels with equal types and
    /// factors, and they have equal labels, extents and strides.
    EINPARALLEL_SELDOM bool are_alike(const contraction& a, const contraction& b) const {
        const kernel& work = *of_rank().vertex_of(a).work;
        const kernel& other = *of_rank().vertex_of(b).work;
        const auto lie_alike = [](const strided_block& x, const strided_block& y) {
            return equal_in(x.labels, y.labels) && equal_in(x.steps(), y.steps());
        };
        const bool is_same =
            &work == &other || (work.as<product_work>() != nullptr && other.as<product_work>() != nullptr &&
                                work.program() == other.program());
        return is_same && a.mode == b.mode && a.rows.labels == b.rows.labels && a.outside == b.outside &&
               a.laid->extents == b.laid->extents && lie_alike(a.laid->call.output, b.laid->call.output) &&
               equal_in(a.laid->blocks, b.laid->blocks, lie_alike);
    }

    /// The number of einsums among the first `vertices` vertices.
    EINPARALLEL_SELDOM std::size_t count_in_order(std::size_t vertices) const {
        const std::vector<called_vertex>& all = of_rank().vertices;
        return std::size_t(std::count_if(all.begin(), all.begin() + index(vertices),
                                         [](const called_vertex& each) { return each.work != nullptr; }));
    }

    /// The activity of an action, and the vertex whose kernel or source it uses; a copy belongs to vertex `of_step`.
    static std::pair<activity, std::size_t> activity_of(const action& done, std::size_t of_step) {
        if (const auto* const call = std::get_if<contraction>(&done)) {
            return {activity::contract, call->vertex};
        }
        if (const auto* const read = std::get_if<read_source>(&done)) {
            return {activity::read, read->vertex};
        }
        const std::size_t of_sum = std::get<local_move>(done).vertex;
        return of_sum == no_vertex ? std::pair(activity::copy, of_step) : std::pair(activity::combine, of_sum);
    }

    EINPARALLEL_SELDOM void perform(const memory_space& space, action& done, progress_hook* hook) {
        if (auto* const call = std::get_if<contraction>(&done)) {
            const kernel& work = *of_rank().vertex_of(*call).work;
            laid_call& laid = *call->laid;
            for (std::size_t operand = 0; operand < call->operands.size(); ++operand) {
                laid.blocks[operand].data = laid.operands[operand].in(start_of(call->operands[operand]));
            }
            laid.call.output.data = laid.output.in(start_of(call->output));
            laid.call.hook = hook;
            call->rows.along != no_label ? space.softmax(work.program().type(), laid.call, call->rows.along)
            : laid.how != nullptr        ? laid.how->run(laid.call)
                                         : space.contract(work, laid.call);
        } else if (const auto* const read = std::get_if<read_source>(&done)) {
            const buffer& into = of_rank()[read->into];
            if (!is_borrowed(read->into)) {
                copy_source(space, *sources()[read->vertex], into.region, start_of(read->into), into.element_bytes);
            }
        } else if (const auto& moved = std::get<local_move>(done); !moved.region.empty()) {
            const box_pair boxes{moved.extents,         moved.laid.in(start_of(moved.into)),
                                 moved.laid.strides,    moved.laid_in.in(start_of(moved.from)),
                                 moved.laid_in.strides, of_rank()[moved.into].element_bytes};
            moved.vertex == no_vertex ? space.copy(boxes)
                                      : space.combine(*of_rank().vertices[moved.vertex].work, boxes);
        }
    }

    std::byte* start_of(buffer_id number) const { return starts()[std::size_t(number)]; }

    std::size_t staging_;
    page_mover pages_;
    message_table messages_;
    std::size_t most_spans_;
    bool is_prepared_ = false;
    std::optional<host_limits> decided_for_{};  ///< empty: nothing is decided yet
    std::size_t workspace_ = 0;                 ///< bytes that the calls need
    std::size_t einsums_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
