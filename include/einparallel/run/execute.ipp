#pragma once

#include <einparallel/run/execute.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/binding.hpp>
#include <einparallel/run/block_cyclic.ipp>
#include <einparallel/run/collect.ipp>
#include <einparallel/run/memory_source.hpp>
#include <einparallel/run/plan_cache.ipp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One run, on one rank. Everything that can fail locally happens in prepare(), before the ranks agree to start.
EINPARALLEL_INLINE class plan_run {
public:
    plan_run(const plan& asked, context& world, std::span<const binding> bound, const memory_space& space, trace* seen,
             bool results_stay)
        : plan_(asked),
          world_(world.state()),
          bound_(bound),
          cache_(cache_of(*world_, space)),
          seen_(seen),
          results_stay_(results_stay) {}

    plan_run(const plan_run&) = delete;
    plan_run& operator=(const plan_run&) = delete;
    /// A run that fails keeps nothing half.
    ~plan_run() {
        if (ready_ != nullptr && !ready_->moves().is_kept()) {
            ready_->moves().forget();
        }
    }

    results carry_out() {
        const exclusive guard(*world_, "run");
        const communicator& control = world_->control;
        if (seen_ != nullptr) {
            seen_->forget();
        }
        std::string failure =
            failure_of([&] { return "run: rank " + std::to_string(control.rank()); }, [&] { prepare(); });
        const int per_node = plan_.asked().ranks_per_node;
        window_ = world_->known_window(per_node);
        const std::size_t shared = failure.empty() ? ready_->moves().shared_bytes() : 0;
        const bool is_kept = failure.empty() && ready_->moves().is_kept();
        const bool has_room = shared == 0 || (window_ != nullptr && window_->bytes() >= shared);
        if (window_ != nullptr && window_->bytes() > 0) {
            window_->begin();
        }
        const double ready = seen_ != nullptr ? MPI_Wtime() : 0;
        const std::uint64_t all_have =
            agree(control, failure,
                  {{plan_fingerprint_, "run: the plan is not the same on all ranks"},
                   {bound_fingerprint_.value(), "run: what is bound, or where it rests, is not the same on all ranks"},
                   {seen_ != nullptr, "run: a trace is asked for on some ranks only"}},
                  !has_room ? 0
                  : is_kept ? kept_too
                            : 1);
        if (all_have == 0) {
            window_ = world_->shared_window(per_node, shared);
            if (window_ == nullptr) {
                throw agreed_error(control,
                                   "run: the plan is made for options.ranks_per_node = " + std::to_string(per_node) +
                                       ", and ranks do not share memory, or too little; plan it on this context, or "
                                       "for 1");
            }
        }
        compare_inputs(control);
        settle();
        const run_watch watch{world_->progress ? &world_->progress : nullptr,
                              world_->vertices ? &world_->vertices : nullptr, seen_, world_->messages.get(),
                              cache_.rank};
        if (seen_ != nullptr) {
            seen_->start(all_have == kept_too, ready);
            failure = failure_of("run", [&] { cache_.space.watch(seen_); });
        }
        const std::size_t before = cache_.transfers.bytes_sent();
        const std::size_t read_before = cache_.transfers.bytes_read();
        std::size_t extra = 0;
        for (const dealt_value& each : dealt_) {
            extra += move_dealt(*world_, *each.part, *each.where, each.elements, false);
        }
        for (executable* moves : redistributions_) {
            moves->carry_out(cache_.space, cache_.transfers, watch, failure);
        }
        const std::size_t brought = cache_.transfers.bytes_sent() - before;
        extra += brought;
        ready_->moves().carry_out(cache_.space, cache_.transfers, watch, failure, all_have == kept_too);
        const std::size_t sent = cache_.transfers.bytes_sent() - before - brought;
        const std::size_t read = cache_.transfers.bytes_read() - read_before;
        std::vector<results::part> parts;
        std::vector<moved_result> moved;
        timed_span agreeing(seen_, activity::agree, 0);
        failure = failure.empty() ? failure_of("run", [&] { parts = collect(moved); }) : failure;
        if (seen_ != nullptr && failure.empty()) {
            failure = failure_of("run", [&] { cache_.space.watch(nullptr); });
        }
        for_each_program([](executable& moves) { moves.release(); });
        agree(control, failure);
        if (plan_.asked().runs > 1) {
            ready_->moves().keep();
        }
        agreeing.end();
        for (const moved_result& each : moved) {
            if (each.to->dealt != nullptr) {
                extra += move_dealt(*world_, *each.to->dealt, *each.from.where, each.from.elements, true);
            } else if (const strided_box& target = memory_for(*each.to); *each.from.where == *each.to->into->where) {
                copy_part(target, each.from.elements, target.held);
            } else {
                extra += fetch_to(*world_, each.from, "run", *each.to->into);
            }
        }
        if (seen_ != nullptr) {
            seen_->share(control);
        }
        return {std::move(parts), sent, extra, read};
    }

private:
    /// What a rank is ready for where it also has what earlier runs have kept.
    static constexpr std::uint64_t kept_too = 2;

    void prepare() {
        if (plan_.vertices().empty()) {
            throw error("run: the plan is empty, ep::decompose makes one");
        }
        if (plan_.processes() != world_->control.size()) {
            throw error("run: the plan is for " + std::to_string(plan_.processes()) + " ranks, the context has " +
                        std::to_string(world_->control.size()) + ": start the program on as many (mpiexec -n " +
                        std::to_string(plan_.processes()) +
                        "), or plan with ep::decompose(world, …), which counts them");
        }
        if (is_on_device() && plan_.asked().ranks_per_node > 1) {
            throw error(
                "run: the plan is made for options.ranks_per_node = " + std::to_string(plan_.asked().ranks_per_node) +
                ", but ranks do not share device memory: plan it for 1, or run it on the host");
        }
        ready_ = &cache_.prepared(plan_);
        plan_fingerprint_ = ready_->signature();
        try {
            find_sources(ready_->moves().sources());
            find_targets(ready_->moves().targets());
            if (is_on_device()) {
                ready_->moves().want_results_on_host(!results_stay_);
            }
            ready_->moves().lay_out(cache_.space);
            std::size_t scratch = 0;
            std::size_t spans = 2;  // agreements
            for_each_program([&](const executable& moves) {
                moves.reserve(cache_.transfers);
                scratch = std::max(scratch, moves.scratch_bytes());
                spans += moves.most_spans();
            });
            if (seen_ != nullptr) {
                seen_->prepare(plan_, cache_.rank, spans);
            }
            scratch_ = cache_.arena.at_least(scratch);
        } catch (const too_little_memory& missing) {
            const memory_need most = ready_->moves().need_in(cache_.space);
            throw error(std::string("run: ") + missing.what() + "; vertex '" + most.vertex + "' needs most: " +
                        std::to_string(most.of_vertex) + " bytes at once, with what is kept beside it");
        }
    }

    /// What brings bound values, and the plan.
    template <class F>
    void for_each_program(F&& f) const {
        for (executable* moves : redistributions_) {
            f(*moves);
        }
        f(ready_->moves());
    }

    /// One piece of scratch memory serves all programs of the run, which follow each other; the window is the plan's.
    void settle() {
        for_each_program([&](executable& moves) { moves.settle(scratch_, window_); });
        cache_.transfers.share(window_);
    }

    /// Whose elements each input has in this run.
    void find_sources(std::span<const source*> sources) {
        std::size_t used = 0;
        for (std::size_t number = 0; number < sources.size(); ++number) {
            const planned_vertex& input = plan_.vertices()[number];
            if (!input.is_input()) {
                continue;
            }
            sources[number] = input.origin->origin.get();
            if (sources[number] == nullptr) {
                throw error("run: input '" + input.name + "' has no source");
            }
            if (sources[number]->is_gone()) {
                throw error("run: the array of input '" + input.name +
                            "' is gone: ep::borrow refers to it; from_root without it keeps a copy");
            }
            refuse_other_memory(*sources[number]);
            if (sources[number]->kind() == source_kind::placeholder) {
                const vertex* const given = bound_[find_binding(input)].value.get();
                check_binding(input, given);
                ++used;
                const source_kind kind = given->origin->kind();
                bound_fingerprint_.add(static_cast<std::uint64_t>(number)).add(static_cast<int>(kind));
                if (plan_.asked().check_inputs && kind == source_kind::everywhere) {
                    if (given->origin->is_on_device()) {
                        throw error("run: the value bound to placeholder '" + input.name +
                                    "' is on a device: options.check_inputs compares values of the host");
                    }
                    checksums_.emplace_back(number, given->origin->checksum());
                }
                refuse_other_memory(*given->origin);
                sources[number] = kind == source_kind::everywhere ? given->origin.get() : bring(number, *given->origin);
            }
        }
        const auto is_for_output = [](const binding& each) { return each.is_output(); };
        if (used + static_cast<std::size_t>(std::ranges::count_if(bound_, is_for_output)) < bound_.size()) {
            const auto is_unknown = [&](const binding& each) {
                return !each.is_output() && std::ranges::none_of(plan_.vertices(), [&](const planned_vertex& input) {
                    return input.origin == each.placeholder && input.is_input() &&
                           input.origin->origin->kind() == source_kind::placeholder;
                });
            };
            throw error("run: a value is bound to " + name_of(*std::ranges::find_if(bound_, is_unknown)) +
                        ", which is no placeholder of this plan");
        }
    }

    /// What the host cannot read.
    void refuse_other_memory(const source& origin) const {
        if (!is_on_device() && origin.is_on_device()) {
            throw error("run: " + origin.description() + ": " + cache_.space.refuses(nullptr, true));
        }
    }

    /// Arrays that are bound on every rank must be equal. Collective.
    void compare_inputs(const communicator& control) const {
        if (checksums_.empty()) {
            return;
        }
        std::vector<std::pair<std::size_t, std::uint64_t>> on_root = checksums_;
        broadcast(control, on_root.data(), on_root.size() * sizeof on_root.front(), 0);
        std::string failure;
        for (std::size_t position = 0; position < on_root.size() && failure.empty(); ++position) {
            if (on_root[position] != checksums_[position]) {
                failure = "run: the array bound to placeholder '" + plan_.vertices()[checksums_[position].first].name +
                          "' is not the same on rank 0 and rank " + std::to_string(control.rank()) +
                          "; where one rank has the data, bind ep::from_root(array, rank)";
            }
        }
        agree(control, failure);
    }

    /// "double, 3 x 4"
    static std::string shape_text(element_type element, const std::vector<index>& bounds) {
        std::string text = name_of_element(element) + ",";
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            text += (dimension == 0 ? " " : " x ") + std::to_string(bounds[dimension]);
        }
        return text;
    }

    static std::string name_of(const binding& each) {
        const bool named = each.placeholder != nullptr && !each.placeholder->name.empty();
        return named ? "'" + each.placeholder->name + "'" : "a tensor";
    }

    std::size_t find_binding(const planned_vertex& input) const {
        std::size_t found = bound_.size();
        for (std::size_t position = 0; position < bound_.size(); ++position) {
            if (bound_[position].placeholder == input.origin && !bound_[position].is_output()) {
                if (found != bound_.size()) {
                    throw error("run: two values are bound to placeholder '" + input.name + "'");
                }
                found = position;
            }
        }
        if (found == bound_.size()) {
            throw error("run: no value is bound to placeholder '" + input.name + "'");
        }
        return found;
    }

    void check_binding(const planned_vertex& input, const vertex* given) const {
        const auto refuse = [&](const std::string& because) {
            throw error("run: the value bound to placeholder '" + input.name + "' " + because);
        };
        if (given == nullptr) {
            refuse("is a handle on nothing");
        }
        if (!given->failure.empty()) {
            throw error("run: placeholder '" + input.name + "': " + given->failure);
        }
        if (!given->is_input() || given->origin == nullptr || given->origin->kind() == source_kind::placeholder) {
            refuse("has no elements yet: bind what ep::evaluate makes of it, an array or an input");
        }
        const source& value = *given->origin;
        if (value.is_gone()) {
            refuse("is an array that is gone: bind refers to it until run returns, bind(X, std::move(array)) owns it");
        }
        if (given->element != input.element || given->bounds != input.bounds) {
            refuse("has other elements or extents: " + shape_text(given->element, given->bounds) +
                   ", the placeholder has " + shape_text(input.element, input.bounds));
        }
        const auto ranks = [&] { return ", the plan is for " + std::to_string(plan_.processes()) + " ranks"; };
        if (value.holders() > plan_.processes()) {
            refuse("has parts on " + std::to_string(value.holders()) + " ranks" + ranks());
        }
        if (value.kind() == source_kind::resting && !value.rests_here(cache_.rank)) {
            refuse(lies_elsewhere);
        }
        if (value.root() < 0 || value.root() >= plan_.processes()) {
            refuse("is on rank " + std::to_string(value.root()) + ranks());
        }
    }

    /// Lays out the way of a bound value that rests elsewhere than the plan reads it; what has its elements then.
    const source* bring(std::size_t number, const source& value) {
        const planned_vertex& input = plan_.vertices()[number];
        const auto* const memory = dynamic_cast<const memory_source*>(&value);
        if (memory == nullptr) {
            const dealt_part& matrix = dynamic_cast<const dealt_source&>(value).part();
            if (matrix.world.lock() != world_) {
                throw error("run: the value bound to placeholder '" + input.name +
                            "' is distributed over another context");
            }
            const std::size_t bytes =
                static_cast<std::size_t>(input.resting.held_by(cache_.rank).size()) * input.element.bytes;
            const auto block = std::make_shared<memory_block>(cache_.space.on_host(), bytes);
            dealt_.push_back({&matrix, &input.resting, elements_in(*block, input)});
            return arrived_.emplace_back(std::make_unique<memory_source>(dealt_.back().elements, block, std::nullopt))
                .get();
        }
        const bound_redistribution& way =
            ready_->way_from(memory->where() != nullptr
                                 ? memory->where()
                                 : std::make_shared<const distribution>(held_by_one(input.bounds, memory->root())),
                             number, cache_.rank);
        bound_fingerprint_.add(way.signature);
        if (way.moves == nullptr) {
            return &value;
        }
        way.moves->sources()[number] = &value;
        way.moves->lay_out(cache_.space);
        redistributions_.push_back(way.moves.get());
        strided_box elements = elements_in(*way.moves->result(0), input);
        elements.is_on_device = is_on_device();
        return arrived_.emplace_back(std::make_unique<memory_source>(std::move(elements), nullptr, std::nullopt)).get();
    }

    [[nodiscard]] bool is_on_device() const { return !cache_.space.is_host(); }

    /// This rank's part of a vertex, dense in a block of memory.
    strided_box elements_in(const memory_block& block, const planned_vertex& of) const {
        return dense_part(of.resting, cache_.rank, of.element, block.data());
    }

    /// This rank's memory for an output.
    static const strided_box& memory_for(const binding& output) {
        return output.dealt != nullptr ? output.dealt->elements : output.into->elements;
    }

    /// By output, the binding that says where its elements go, or null; nothing where no binding does.
    std::vector<const binding*> targets_of_outputs() const {
        std::vector<const binding*> found;
        for (const binding& each : bound_) {
            if (!each.is_output()) {
                continue;
            }
            found.resize(plan_.outputs().size(), nullptr);
            const std::string who = "run: the memory for output " + name_of(each) + " ";
            bool known = false;
            for (std::size_t position = 0; position < found.size(); ++position) {
                const planned_vertex& made = plan_.vertices()[plan_.outputs()[position]];
                if (made.origin == each.placeholder ||
                    std::find(made.twins.begin(), made.twins.end(), each.placeholder) != made.twins.end()) {
                    if (std::exchange(found[position], &each) != nullptr) {
                        throw error(who + "is given twice, or to equal outputs");
                    }
                    known = true;
                }
            }
            if (!known) {
                throw error(who + "is for no output of this plan");
            }
        }
        return found;
    }

    /// The application's memory that results are written to at once, by output; none where they are copied afterwards,
    /// or nobody asked.
    void find_targets(std::span<result_target> direct) {
        std::ranges::fill(direct, result_target{});
        targets_ = targets_of_outputs();
        for (std::size_t position = 0; position < targets_.size(); ++position) {
            if (targets_[position] == nullptr) {
                continue;
            }
            const binding& each = *targets_[position];
            const planned_vertex& made = plan_.vertices()[plan_.outputs()[position]];
            const std::string who = "run: the memory for output '" + made.name + "' ";
            if (each.into != nullptr && each.into->where == nullptr) {
                throw error(who + "is a handle on nothing");
            }
            const strided_box& target = memory_for(each);
            if (const std::string mistake =
                    target.held.empty() ? "" : cache_.space.refuses(target.data, target.is_on_device);
                !mistake.empty()) {
                throw error(who + "is refused: " + mistake);
            }
            if ((each.dealt != nullptr ? each.dealt->world : each.into->world).lock() != world_) {
                throw error(who + "is distributed over another context");
            }
            const std::vector<index> bounds =
                each.dealt != nullptr ? bounds_of(*each.dealt) : each.into->where->bounds();
            if (each.element != made.element || bounds != made.bounds) {
                throw error(who + "has other elements or extents: " + shape_text(each.element, bounds) + ", it makes " +
                            shape_text(made.element, made.bounds));
            }
            if (const std::string mistake = check_target(target); !mistake.empty()) {
                throw error(who + "is refused: " + mistake);
            }
            const auto [begin, end] = memory_of(target);
            for (std::size_t other = 0; other < position; ++other) {
                if (targets_[other] != nullptr && targets_[other] != &each &&
                    memory_for(*targets_[other]).lies_in(begin, end)) {
                    throw error(who + "is also that of '" + plan_.vertices()[plan_.outputs()[other]].name + "'");
                }
            }
            bound_fingerprint_.add(static_cast<std::uint64_t>(position));
            if (each.dealt != nullptr) {
                continue;
            }
            bound_fingerprint_.add(*each.into->where);
            const bool is_read =
                std::ranges::any_of(ready_->moves().sources(), [&, from = begin, to = end](const source* origin) {
                    return origin != nullptr && origin->lies_in(from, to);
                });
            const bool is_kept = made.lasts && plan_.asked().runs > 1;  // by the context, for later runs
            std::vector<index> strides;
            if (!is_read && !is_kept && target.is_on_device == is_on_device() && made.resting == *each.into->where &&
                target.borrow(target.held, strides) != nullptr &&
                ready_->moves().may_lie_elsewhere(position, !strides.empty())) {
                direct[position] = {target.data, std::move(strides)};
            }
        }
    }

    /// A result that goes to the application's memory when all is done.
    struct moved_result {
        distributed_part from;
        const binding* to;
    };

    std::vector<results::part> collect(std::vector<moved_result>& moved) const {
        std::vector<results::part> parts;
        parts.reserve(plan_.outputs().size());
        for (std::size_t position = 0; position < plan_.outputs().size(); ++position) {
            const planned_vertex& made = plan_.vertices()[plan_.outputs()[position]];
            const std::shared_ptr<memory_block>& block = ready_->moves().result(position);
            std::vector<std::weak_ptr<vertex>> made_by(made.twins.begin(), made.twins.end());
            made_by.emplace_back(made.origin);
            const binding* const target = targets_.empty() ? nullptr : targets_[position];
            if (ready_->moves().targets()[position].data == nullptr) {
                distributed_part here = ready_->part(position);
                here.keep = std::shared_ptr<void>(block, block->data());
                here.elements.data = block->data();
                here.world = world_;
                here.elements.is_on_device = is_on_device() && results_stay_;
                if (target != nullptr) {
                    const bool goes_there = target->dealt == nullptr && target->into->elements.is_on_device;
                    if (goes_there && *target->into->where == *here.where) {
                        copy_in(cache_.space, target->into->elements, here.elements);
                    } else {
                        moved.push_back({goes_there ? here : on_host(here), target});
                    }
                }
                if (target == nullptr || target->dealt != nullptr) {
                    parts.push_back({std::move(made_by), made.element, std::move(here)});
                    continue;
                }
            }
            parts.push_back({std::move(made_by), made.element, *target->into});
        }
        return parts;
    }

    const plan& plan_;
    std::shared_ptr<context_state> world_;
    std::span<const binding> bound_;
    plan_cache& cache_;
    trace* seen_;
    bool results_stay_;
    prepared_plan* ready_ = nullptr;
    std::byte* scratch_ = nullptr;
    node_window* window_ = nullptr;
    std::vector<executable*> redistributions_;
    std::vector<std::unique_ptr<memory_source>> arrived_;
    std::uint64_t plan_fingerprint_ = 0;
    fingerprint bound_fingerprint_;
    /// A value that lies block-cyclic, and this rank's part of it where the plan reads it.
    struct dealt_value {
        const dealt_part* part;
        const distribution* where;
        strided_box elements;
    };
    std::vector<dealt_value> dealt_;
    std::vector<const binding*> targets_;  ///< by output: where the application wants it, or null; or nothing
    std::vector<std::pair<std::size_t, std::uint64_t>> checksums_;  ///< by vertex, where options.check_inputs asks
};

EINPARALLEL_INLINE void release_kept(const plan& asked, context& world) {
    context_state& state = *world.state();
    const exclusive guard(state, "release");
    agree(state.control, {}, {{fingerprint_of(asked), "release: the plan is not the same on all ranks"}});
    for (const std::shared_ptr<plan_cache>& cache : state.caches) {
        if (prepared_plan* const known = cache->find(asked); known != nullptr) {
            known->moves().forget();
        }
    }
}

EINPARALLEL_INLINE results carry_out(const plan& asked, context& world, std::span<const binding> bound,
                                     const memory_space& space, trace* seen, bool results_stay) {
    return plan_run(asked, world, bound, space, seen, results_stay).carry_out();
}

EINPARALLEL_INLINE memory_need need_of(const plan& of, int rank, std::size_t staging,
                                       function_ref<std::size_t(const kernel&, const block_call&)> workspace) {
    return prepared_plan(of, rank, staging).moves().need(workspace);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
