#pragma once
// One rank's program with its memory: laid out before the ranks agree to start, then carried out without allocating.

#include <einparallel/graph/source.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/paced_polls.hpp>
#include <einparallel/run/prepared.ipp>
#include <einparallel/run/space.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/run/transport.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Scratch memory of a context: runs follow each other, so all plans share one, as large as the largest needs.
struct scratch_arena {
    const memory_space& space;
    memory_block memory{};

    /// @throws std::bad_alloc; then there is no memory, and the next call tries again
    EINPARALLEL_INLINE std::byte* at_least(std::size_t bytes) {
        if (memory.bytes() < bytes) {
            memory = {};
            memory = memory_block(space, bytes);
        }
        return memory.data();
    }
};

/// The memory of one result, from run to run: a block that the application has let go of is used again.
class result_pool {
public:
    /// A block that nobody else holds. Steady use (the last result kept until the next has been made) allocates twice.
    EINPARALLEL_INLINE std::shared_ptr<memory_block> take(const memory_space& space, std::size_t bytes) {
        const auto is_free = [](const std::shared_ptr<memory_block>& each) { return each.use_count() == 1; };
        const auto found = std::ranges::find_if(blocks_, is_free);
        if (found == blocks_.end()) {
            return blocks_.emplace_back(shared_block(space, bytes));
        }
        std::shared_ptr<memory_block> taken = *found;
        std::erase_if(blocks_, is_free);
        return taken;
    }

private:
    std::vector<std::shared_ptr<memory_block>> blocks_;
};

/// The application's memory for a result.
struct result_target {
    std::byte* data = nullptr;
    std::vector<index> strides{};  ///< in elements; none: dense and row-major
};

class executable {
public:
    /// `staging`: that of the memory space it runs in; `window`: what the rank shares with its neighbours. The forms of
    /// the vertices must outlive this object.
    EINPARALLEL_INLINE executable(program of_rank, std::vector<executed_vertex> vertices, std::size_t staging = 0,
                                  window_plan window = {})
        : staging_(staging),
          program_(std::move(of_rank)),
          vertices_(std::move(vertices)),
          window_(std::move(window)),
          steps_(prepare_steps(program_, window_, vertices_, staging_)),
          alive_(lifetimes_of(program_)),
          borrowed_(program_.buffers.size(), nullptr),
          starts_(program_.buffers.size(), nullptr),
          sources_(vertices_.size(), nullptr),
          targets_(program_.results.size()),
          result_blocks_(program_.results.size()),
          pools_(program_.results.size()),
          host_pools_(program_.results.size()) {
        for (const executed_vertex& vertex : vertices_) {
            einsums_ = std::max(einsums_, vertex.number);
        }
    }
    executable(const executable&) = delete;
    executable& operator=(const executable&) = delete;
    ~executable() = default;

    /// Makes room for the messages of any one step.
    EINPARALLEL_INLINE void reserve(transport& ranks) const {
        std::size_t most = 0;
        for (const prepared_step& each : steps_) {
            most = std::max(most, each.messages.receives.size() + each.messages.sends.size());
        }
        const auto [out, in] = staged_bytes();
        ranks.reserve(most, out, in);
    }

    /// Bytes on the host that the messages of any one step leave through, and arrive through.
    EINPARALLEL_INLINE [[nodiscard]] std::pair<std::size_t, std::size_t> staged_bytes() const {
        std::pair<std::size_t, std::size_t> most{0, 0};
        for (const prepared_step& each : steps_) {
            if (staging_ > 0) {
                most.first = std::max(most.first, staging_bytes(each.messages.sends));
                most.second = std::max(most.second, staging_bytes(each.messages.receives));
            }
        }
        return most;
    }

    /// The most bytes of workspace of a contraction, and the vertex in a step of which most bytes are held at once:
    /// those, and all tensors and buffers that are not the application's. `workspace`: the memory space's.
    EINPARALLEL_INLINE [[nodiscard]] memory_need need(
        function_ref<std::size_t(const kernel&, const block_call&)> workspace) {
        std::vector<std::size_t> bytes(program_.buffers.size(), 0);
        for (std::size_t number = 0; number < bytes.size(); ++number) {
            const buffer& each = program_.buffers[number];
            bytes[number] = borrowed_[number] != nullptr || each.lender != no_buffer ? 0 : each.bytes();
        }
        const std::vector<std::size_t> alive = bytes_alive(alive_, bytes, steps_.size());
        memory_need most;
        for (std::size_t position = 0; position < steps_.size(); ++position) {
            std::size_t of_step = 0;
            for (prepared_action& done : steps_[position].work) {
                if (auto* const call = std::get_if<prepared_contraction>(&done)) {
                    of_step = std::max(of_step, workspace(*vertices_[call->vertex].work, described(*call)));
                }
            }
            most.workspace = std::max(most.workspace, of_step);
            if (alive[position] + of_step > most.of_vertex) {
                most.of_vertex = alive[position] + of_step;
                most.vertex = vertices_[steps_[position].vertex].name;
            }
        }
        const auto [out, in] = staged_bytes();
        most.out = out;
        most.in = in;
        for (std::size_t position = 0; position < program_.results.size(); ++position) {
            const buffer& made = program_.buffers[static_cast<std::size_t>(program_.results[position])];
            most.results += first_like(position) == position ? made.bytes() : 0;
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
            spans += each.work.size() + 3;
        }
        return spans;
    }

    /// For the next run, by vertex: null for einsums; alive until the run is over.
    [[nodiscard]] std::span<const source*> sources() { return sources_; }
    /// For the next run, by result: memory of the application's that takes its place, or none.
    [[nodiscard]] std::span<result_target> targets() { return targets_; }

    /// Gives every buffer its place: in the application's memory, in a result or in scratch memory, which settle() then
    /// supplies. `places`: of the first buffers, in the application's memory. Local; may throw. Plans anew only where
    /// other buffers lie in the application's memory than before, or with other strides.
    EINPARALLEL_INLINE void lay_out(const memory_space& space, std::span<std::byte* const> places = {}) {
        const auto has_strides = [&](std::size_t number, std::vector<index>& strides) {
            if (strides != program_.buffers[number].strides) {
                std::swap(strides, program_.buffers[number].strides);
                steps_.clear();
            }
        };
        for (std::size_t position = 0; position < targets_.size(); ++position) {
            has_strides(static_cast<std::size_t>(program_.results[position]), targets_[position].strides);
        }
        for (std::size_t number = 0; number < alive_.size(); ++number) {
            // Elements of an input that nothing but their read writes may stay in the application's memory.
            if (!alive_[number].input || alive_[number].writers != 1 || program_.buffers[number].region.empty() ||
                window_.holds(static_cast<buffer_id>(number))) {
                continue;
            }
            strides_.clear();
            const void* const found =
                space.borrow(*sources_[*alive_[number].input], program_.buffers[number].region, strides_);
            laid_out_ = laid_out_ && (found == nullptr) == (borrowed_[number] == nullptr);
            borrowed_[number] = found;
            has_strides(number, strides_);
        }
        std::ranges::copy(places, borrowed_.begin());
        if (steps_.empty()) {
            steps_ = prepare_steps(program_, window_, vertices_, staging_);
            workspace_.reset();
        }
        if (!laid_out_) {
            arena_plan kept = plan_kept(program_, [&](buffer_id number) { return is_borrowed(number); });
            is_kept_ = is_kept_ && kept == kept_places_;
            kept_places_ = std::move(kept);
            places_ = plan_arena(program_, [&](buffer_id number) {
                return is_borrowed(number) || program_.is_result(number) || window_.holds(number) ||
                       kept_places_.holds(number);
            });
            laid_out_ = true;
        }
        if (!is_kept_) {
            forget();
            kept_memory_ = memory_block(space, kept_places_.bytes);
        }
        take_results(space);
        if (!space.is_host()) {
            workspace_ = workspace_.has_value() ? workspace_ : need_in(space).workspace;
            space.prepare(*workspace_);
        }
    }

    /// True where the runs before have left what the steps marked once write.
    [[nodiscard]] bool is_kept() const { return is_kept_; }
    /// What this run has brought stays for later ones.
    void keep() { is_kept_ = true; }
    /// Frees what is kept, or was to be.
    EINPARALLEL_INLINE void forget() {
        is_kept_ = false;
        kept_memory_ = {};
    }

    /// Bytes of scratch memory that the last lay_out() asks for.
    [[nodiscard]] std::size_t scratch_bytes() const { return places_.bytes; }

    /// Bytes of memory shared with each rank of the node; the same on all of them.
    [[nodiscard]] std::size_t shared_bytes() const { return window_.segment; }

    /// Says where the scratch memory is. Others may use it before and after this program runs, not meanwhile.
    /// @pre `window` has shared_bytes() for each rank, or the program shares nothing
    EINPARALLEL_INLINE void settle(std::byte* scratch, const node_window* window = nullptr) {
        for (std::size_t number = 0; number < starts_.size(); ++number) {
            if (borrowed_[number] != nullptr) {
                // Never written: nothing but their read fills them.
                starts_[number] = static_cast<std::byte*>(const_cast<void*>(borrowed_[number]));
            } else if (window_.holds(static_cast<buffer_id>(number))) {
                const buffer& each = program_.buffers[number];
                starts_[number] = (each.original == no_buffer ? window->segment() : window->segment(each.neighbour)) +
                                  window_.offsets[number];
            } else if (kept_places_.holds(static_cast<buffer_id>(number))) {
                starts_[number] = kept_memory_.data() + kept_places_.offsets[number];
            } else {
                const bool has_place = scratch != nullptr && places_.offsets[number] != not_in_arena;
                starts_[number] = has_place ? scratch + places_.offsets[number] : nullptr;
            }
        }
        for (std::size_t position = 0; position < program_.results.size(); ++position) {
            starts_[static_cast<std::size_t>(program_.results[position])] =
                targets_[position].data != nullptr ? targets_[position].data : result_blocks_[position]->data();
        }
    }

    /// True where result `position` may be written to the application's memory: its buffer is its own, and, for strided
    /// memory, not filled by a source, which writes densely.
    EINPARALLEL_INLINE [[nodiscard]] bool may_lie_elsewhere(std::size_t position, bool is_strided) const {
        const buffer_id place = program_.results[position];
        return std::ranges::count(program_.results, place) == 1 &&
               (!is_strided || !alive_[static_cast<std::size_t>(place)].input);
    }

    /// Says whether results are to lie where the host reads them, from the next lay_out() on.
    EINPARALLEL_INLINE void want_results_on_host(bool wanted) {
        host_blocks_.resize(wanted ? program_.results.size() : 0);
    }

    /// The memory of result `position` of the last lay_out().
    EINPARALLEL_INLINE [[nodiscard]] const std::shared_ptr<memory_block>& result(std::size_t position) const {
        const bool is_out = position < host_blocks_.size() && host_blocks_[position] != nullptr;
        return is_out ? host_blocks_[position] : result_blocks_[position];
    }

    /// Lets go of the results: the application holds those it wants.
    EINPARALLEL_INLINE void release() {
        for (std::shared_ptr<memory_block>& block : result_blocks_) {
            block.reset();
        }
        for (std::shared_ptr<memory_block>& block : host_blocks_) {
            block.reset();
        }
    }

    /// Carries the program out: the messages always, the work until something throws. The first failure is noted in
    /// `failure`, with this rank's number; where it is not empty at the start, no work is done. `again`: on all ranks
    /// what earlier runs have kept is there.
    EINPARALLEL_INLINE void carry_out(const memory_space& space, transport& ranks, const run_watch& watch,
                                      std::string& failure, bool again = false) {
        is_kept_ = is_kept_ && again;
        paced_polls polls(ranks, watch.progress);
        std::size_t current = local_move::no_vertex;
        work_token given = no_work;
        for (prepared_step& each : steps_) {
            if (again && each.once) {
                if (each.messages.has_neighbours()) {
                    ranks.enter_next(each.messages);
                }
                continue;
            }
            if (std::exchange(current, each.vertex) != each.vertex && watch.vertices != nullptr) {
                begin_vertex(watch, each.vertex, failure);
            }
            const bool moves = each.messages.waits() || each.messages.has_neighbours();
            trace* const seen = moves ? watch.seen : nullptr;
            if (each.messages.waits() && staging_ == 0) {
                attempt(watch, current, failure, [&] { space.finish(given); });
            }
            const bool is_timed = seen != nullptr && space.times(activity::transfer, each.vertex);
            if (!each.messages.clears.empty()) {
                const timed_span waiting(seen, activity::wait, each.vertex);
                ranks.await(each.messages.clears);
            }
            timed_span flight(seen, activity::transfer, each.vertex, seen == nullptr ? 0 : each.messages.bytes(),
                              seen == nullptr ? 0 : each.messages.bytes_received());
            if (each.messages.waits()) {
                ranks.start(each.messages, starts_, given);
            }
            communication_thread* const others =
                staging_ == 0 && each.messages.waits() && !each.work.empty() ? watch.messages : nullptr;
            polls.start_step(flight, others);
            progress_hook hook(polls);
            progress_hook* const reported =
                (each.messages.waits() && others == nullptr) || watch.progress != nullptr ? &hook : nullptr;
            for (prepared_action& done : each.work) {
                if (failure.empty()) {
                    const activity what = activity_of(done);
                    const bool is_there = watch.seen != nullptr && space.times(what, each.vertex);
                    const timed_span span(is_there ? nullptr : watch.seen, what, each.vertex);
                    perform(space, reported, done, watch, failure);
                }
                polls.poll();
            }
            polls.end_step();
            const timed_span waiting(is_timed ? nullptr : seen, activity::wait, each.vertex);
            attempt(watch, current, failure, [&] { ranks.complete(each.messages); });
            attempt(watch, current, failure, [&] { given = space.given(); });
            if (each.messages.has_neighbours()) {
                attempt(watch, current, failure, [&] { space.finish(given); });
                ranks.enter_next(each.messages);
            }
        }
        for (std::size_t position = 0; position < host_blocks_.size(); ++position) {
            if (host_blocks_[position] != nullptr && failure.empty()) {
                static_cast<void>(space.times(activity::copy_out, current < vertices_.size() ? current : 0));
                attempt(watch, local_move::no_vertex, failure, [&] { bring_out(space, position); });
            }
        }
        attempt(watch, current, failure, [&] { space.finish(space.given()); });
    }

private:
    [[nodiscard]] std::byte* start(buffer_id place) const { return starts_[static_cast<std::size_t>(place)]; }

    EINPARALLEL_INLINE [[nodiscard]] bool is_borrowed(buffer_id number) const {
        return borrowed_[static_cast<std::size_t>(number)] != nullptr;
    }

    /// The first result that shares memory with this one.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t first_like(std::size_t position) const {
        const auto first = std::ranges::find(program_.results, program_.results[position]);
        return static_cast<std::size_t>(first - program_.results.begin());
    }

    EINPARALLEL_INLINE void take_results(const memory_space& space) {
        for (std::size_t position = 0; position < program_.results.size(); ++position) {
            const std::size_t same = first_like(position);
            const auto place = static_cast<std::size_t>(program_.results[position]);
            const bool is_out = !host_blocks_.empty() && !space.is_host();
            if (same < position) {
                result_blocks_[position] = result_blocks_[same];
                if (is_out) {
                    host_blocks_[position] = host_blocks_[same];
                }
                continue;
            }
            result_blocks_[position].reset();
            if (targets_[position].data != nullptr) {
                continue;
            }
            result_blocks_[position] = pools_[position].take(space, program_.buffers[place].bytes());
            if (is_out) {
                host_blocks_[position].reset();
                host_blocks_[position] = host_pools_[position].take(space.on_host(), program_.buffers[place].bytes());
            }
        }
    }

    EINPARALLEL_INLINE void bring_out(const memory_space& space, std::size_t position) const {
        const memory_block& from = *result_blocks_[position];
        const std::array<index, 1> all{static_cast<index>(from.bytes())};
        constexpr std::array<index, 1> dense{1};
        if (from.bytes() > 0) {
            space.copy(all, host_blocks_[position]->data(), dense, from.data(), dense, 1);
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
        const std::string thrown = failure_of("", f);
        if (!thrown.empty() && failure.empty()) {
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
                if (borrowed_[static_cast<std::size_t>(read->into)] == nullptr) {
                    const buffer& place = program_.buffers[static_cast<std::size_t>(read->into)];
                    space.read(*sources_[vertex], place.region, start(read->into), place.element_bytes);
                }
            } else if (auto* call = std::get_if<prepared_contraction>(&done)) {
                space.contract(*vertices_[call->vertex].work, described(*call, hook));
            } else if (auto* moved = std::get_if<prepared_move>(&done)) {
                std::byte* const into = address(moved->into);
                const std::byte* const from = address(moved->from);
                if (vertex == local_move::no_vertex) {
                    space.copy(moved->extents, into, moved->into.strides, from, moved->from.strides,
                               moved->element_bytes);
                } else {
                    space.combine(*vertices_[vertex].work, moved->extents, into, moved->into.strides, from,
                                  moved->from.strides);
                }
            }
        });
    }

    /// A call on the blocks, wherever the buffers are now.
    EINPARALLEL_INLINE block_call described(prepared_contraction& each, progress_hook* hook = nullptr) const {
        const einsum_form& form = *vertices_[each.vertex].form;
        for (std::size_t operand = 0; operand < each.operands.size(); ++operand) {
            const prepared_block& block = each.operands[operand];
            each.call[operand] = {address(block), form.operands[operand], block.strides};
        }
        const output_block output{address(each.output), form.output, each.output.strides};
        return {each.extents, each.call, output, each.mode, hook};
    }

    /// Null for an empty buffer without memory, whose elements nobody touches.
    EINPARALLEL_INLINE [[nodiscard]] std::byte* address(const prepared_block& block) const {
        std::byte* const first = start(block.place);
        return first == nullptr ? nullptr : first + block.offset;
    }

    std::size_t staging_;
    program program_;
    std::vector<executed_vertex> vertices_;
    window_plan window_;
    std::vector<prepared_step> steps_;
    std::optional<std::size_t> workspace_;  ///< of the contractions of the steps, where that is known
    std::vector<lifetime> alive_;
    std::vector<const void*> borrowed_;  ///< by buffer: the application's memory, or null
    std::vector<std::byte*> starts_;     ///< by buffer
    std::size_t einsums_ = 0;
    arena_plan kept_places_;  ///< of what is kept over runs, but for inputs in the application's memory
    memory_block kept_memory_;
    bool is_kept_ = false;
    arena_plan places_;
    bool laid_out_ = false;
    std::vector<const source*> sources_;  ///< by vertex
    std::vector<result_target> targets_;  ///< by result
    std::vector<index> strides_;          ///< while buffers are laid out
    std::vector<std::shared_ptr<memory_block>> result_blocks_;
    std::vector<result_pool> pools_;
    std::vector<std::shared_ptr<memory_block>> host_blocks_;  ///< of the same, where they are wanted on the host
    std::vector<result_pool> host_pools_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
