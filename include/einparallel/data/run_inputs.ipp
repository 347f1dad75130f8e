#pragma once
// The inputs of one run: the source of each, and the transfer of bound values to the distribution that the plan reads.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/data/memory_source.hpp>
#include <einparallel/data/own_layout.hpp>
#include <einparallel/data/transfer.ipp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/text.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/plan_cache.ipp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One call of run: what its inputs and its outputs share.
struct plan_call {
    const plan& asked;
    std::shared_ptr<context_state> world;
    std::span<const binding> bound;
    plan_cache& cache;
    trace* seen;                     ///< a trace to fill, or null
    bool results_stay;               ///< in the memory space of the cache
    std::size_t host_limit;          ///< bytes of memory of the host in which tensors of a device may wait
    prepared_plan* ready = nullptr;  ///< null until the plan is prepared
    fingerprint bound_signature{};   ///< of the values bound, and their distributions

    /// Throws where what is bound to a vertex is not the same on all ranks. Collective.
    EINPARALLEL_SELDOM void agree_on(std::string_view what, const planned_vertex& of, std::uint64_t number) const {
        agree(
            world->control, "",
            {{number, sentence({"run: ", what, " '", of.name, "', or where it rests, is not the same on all ranks"})}});
    }

    /// A run that failed keeps nothing for later runs.
    ~plan_call() {
        if (ready != nullptr) {
            moves().pages().close();
        }
        if (ready != nullptr && !moves().is_kept()) {
            moves().forget();
        }
    }
    bool is_on_device() const { return !cache.space.is_host(); }
    program_replay& moves() const { return ready->moves(); }
    const planned_vertex& output(std::size_t position) const { return asked.vertices()[asked.outputs()[position]]; }
};

/// Element type and extents as text: "double, 3 x 4".
EINPARALLEL_SELDOM std::string shape_text(element_type element, const std::vector<index>& bounds) {
    return written_element(element) + "," + (bounds.empty() ? "" : " ") + numbers_text(bounds, " x ");
}

EINPARALLEL_SELDOM std::string name_of(const binding& each) {
    const bool named = each.placeholder != nullptr && !each.placeholder->name.empty();
    return named ? "'" + each.placeholder->name + "'" : "a tensor";
}

/// The transfer of a bound value to the distribution that a plan reads. It is kept for later values with the same
/// distribution.
struct kept_transfer {
    EINPARALLEL_SELDOM kept_transfer(const local_tensor& value, const planned_vertex& input, std::size_t number,
                                     plan_cache& runs)
        : home(&runs), where(value.where), signature(fingerprint().add(*where).value()) {
        local_tensor to;
        to.where = std::make_shared<const distribution>(input.resting);
        to.elements = dense_block(input.resting, home->rank, input.element);
        const box had = where->held_by(home->rank);
        const box& wanted = to.elements.held;
        if (!value.cyclic && (had == wanted || (had.empty() && wanted.empty()))) {
            return;
        }
        block = memory_block(home->space, to.elements.bytes());
        to.elements.data = block.data();
        to.elements.is_on_device = value.elements.is_on_device;
        std::vector<called_vertex> names(number + 1);
        names[number].name = input.name;
        moves.emplace(value, to, home->rank, home->space.staging(), std::move(names));
        to.where.reset();
        arrived.emplace(std::move(to));
    }

    plan_cache* home;  ///< the cache of the memory space in which it runs
    std::shared_ptr<const distribution> where;
    std::uint64_t signature;
    memory_block block;
    std::optional<transfer> moves;         ///< none where this rank's elements need not move
    std::optional<memory_source> arrived;  ///< the elements in `block`
};

class run_inputs {
public:
    explicit run_inputs(plan_call& call) : call_(call) {}

    /// Finds the source of each input. Local; may throw.
    EINPARALLEL_SELDOM void find() {
        std::vector<const source*>& sources = call_.moves().sources();
        is_used_.assign(call_.bound.size(), false);
        for (std::size_t number = 0; number < sources.size(); ++number) {
            const planned_vertex& input = call_.asked.vertices()[number];
            if (!input.is_input()) {
                continue;
            }
            const source* const origin = input.origin->origin.get();
            require(!origin->is_gone(),
                    {"run: the array of input '", input.name, "' is gone: ",
                     origin->kind() == source_kind::resting
                         ? "ep::distributed only refers to it, unless it is moved in"
                         : "ep::borrow only refers to it; from_root without ep::borrow keeps a copy"});
            sources[number] = origin->kind() == source_kind::placeholder ? bound_source(number) : origin;
        }
        for (std::size_t number = 0; number < call_.bound.size(); ++number) {
            require(
                is_used_[number] || call_.bound[number].is_output() || !call_.bound[number].folder.empty(),
                {"run: a value is bound to ", name_of(call_.bound[number]), ", which is no placeholder of this plan"});
        }
    }

    /// Throws where the values of a placeholder rest otherwise on other ranks. Collective.
    EINPARALLEL_SELDOM void agree_on_values() {
        for (std::size_t number = 0; number < call_.asked.vertices().size(); ++number) {
            const planned_vertex& input = call_.asked.vertices()[number];
            if (input.is_input() && input.origin->origin->kind() == source_kind::placeholder) {
                const bool is_everywhere = value_for(input)->origin->kind() == source_kind::everywhere;
                call_.agree_on("what is bound to placeholder", input,
                               is_everywhere ? 0 : call_.ready->way(number)->signature);
            }
        }
    }

    /// With options.check_inputs, throws where an array bound on every rank is not equal on all of them. Collective.
    EINPARALLEL_SELDOM void compare() const {
        if (checksums_.empty()) {
            return;
        }
        const communicator& control = call_.world->control;
        std::vector<std::pair<std::size_t, std::uint64_t>> on_root = checksums_;
        broadcast(control, on_root.data(), on_root.size() * sizeof on_root.front(), 0);
        const auto here = std::mismatch(checksums_.begin(), checksums_.end(), on_root.begin()).first;
        agree(control,
              here == checksums_.end()
                  ? std::string()
                  : sentence({"run: the array bound to placeholder '", call_.asked.vertices()[here->first].name,
                              "' is not the same on rank 0 and rank ", control.rank(),
                              "; where one rank has the data, bind ep::from_root(array, rank)"}));
    }

    /// The most spans that carry_out() adds to a trace.
    std::size_t most_spans() const { return spans_; }

    /// Moves bound values to the distributions that the plan reads. Returns the bytes that this rank sent.
    EINPARALLEL_SELDOM std::size_t carry_out(const run_watch& watch, std::string& failure) const {
        std::size_t sent = 0;
        for (const auto& [way, keep] : brought_) {
            plan_cache& home = *way->home;
            const std::size_t before = home.transfers.bytes_sent();
            way->moves->moves().replay(home.space, home.transfers, home.scratch.data(), watch, failure);
            sent += home.transfers.bytes_sent() - before;
        }
        return sent;
    }

private:
    EINPARALLEL_SELDOM const vertex* value_for(const planned_vertex& input) {
        const binding* found = nullptr;
        for (std::size_t number = 0; number < call_.bound.size(); ++number) {
            const binding& each = call_.bound[number];
            if (each.placeholder == input.origin && !each.is_output()) {
                is_used_[number] = true;
                require(std::exchange(found, &each) == nullptr,
                        {"run: two values are bound to placeholder '", input.name, "'"});
            }
        }
        require(found != nullptr, {"run: no value is bound to placeholder '", input.name, "'"});
        require(found->gives == nullptr || found->gives->value != nullptr || !found->gives->is_begun,
                {"run: the value bound to placeholder '", input.name,
                 "' was given to an earlier run, which has written over it: bind the result of that run"});
        return found->gives != nullptr ? found->gives->value.get() : found->value.get();
    }

    EINPARALLEL_SELDOM void check(const planned_vertex& input, const vertex* given) const {
        const std::initializer_list<word> who{"run: the value bound to placeholder '", input.name, "' "};
        require(given != nullptr, who, {"is an empty handle"});
        require(given->failure.empty(), {"run: placeholder '", input.name, "': ", given->failure});
        require(given->is_input() && given->origin->kind() != source_kind::placeholder, who,
                {"has no elements yet: bind the result of ep::evaluate, an array or an input"});
        const source& value = *given->origin;
        require(!value.is_gone(), who,
                {"is an array that is gone: bind refers to it until run returns, bind(X, std::move(array)) owns it"});
        if (given->element != input.element || given->bounds != input.bounds) {
            require(false, who,
                    {"does not fit: the value is ", shape_text(given->element, given->bounds), "; the placeholder is ",
                     shape_text(input.element, input.bounds)});
        }
        const int processes = call_.asked.processes();
        require(value.holders() <= processes, who,
                {"has parts on ", value.holders(), " ranks, the plan is for ", processes, " ranks"});
        require(value.kind() != source_kind::resting || value.rests_here(call_.cache.rank), who, {lies_elsewhere});
        require(value.root() >= 0 && value.root() < processes, who,
                {"is on rank ", value.root(), ", the plan is for ", processes, " ranks"});
    }

    /// The source of a placeholder's elements. It may have them only after carry_out().
    EINPARALLEL_SELDOM const source* bound_source(std::size_t number) {
        const planned_vertex& input = call_.asked.vertices()[number];
        const vertex* const given = value_for(input);
        check(input, given);
        const source& value = *given->origin;
        const bool is_everywhere = value.kind() == source_kind::everywhere;
        call_.bound_signature.add(std::uint64_t(number)).add(is_everywhere);
        if (call_.asked.asked().check_inputs && is_everywhere) {
            require(!value.is_on_device(),
                    {"run: the value bound to placeholder '", input.name,
                     "' is on a device, but options.check_inputs can compare values on the host only"});
            checksums_.emplace_back(number, value.checksum());
        }
        return is_everywhere ? &value : bring(number, value);
    }

    /// Prepares the transfer of a value to the distribution that the plan reads, if it has another one. Returns the
    /// source of the elements after that.
    EINPARALLEL_SELDOM const source* bring(std::size_t number, const source& value) {
        const planned_vertex& input = call_.asked.vertices()[number];
        local_tensor from = *value.local();
        if (from.elements.is_on_device && !call_.is_on_device()) {
            refuse({"run: ", value.description(), ": ", call_.cache.space.refuses(nullptr, true)});
        }
        if (from.where == nullptr) {
            from.where = std::make_shared<const distribution>(held_by_one(input.bounds, value.root()));
        }
        const box held = from.cyclic ? from.elements.held : from.where->held_by(call_.cache.rank);
        require(from.elements.data != nullptr || held.empty(),
                {value.description(), ": the elements are at a null pointer"});
        require(!from.cyclic || from.world.lock() == call_.world,
                {"run: the value bound to placeholder '", input.name, "' is distributed over another context"});
        if (!held.empty() && is_backwards(from.elements)) {
            from = on_host(from);
        }
        plan_cache& home =
            from.elements.is_on_device ? call_.cache : cache_of(*call_.world, call_.cache.space.on_host());
        std::shared_ptr<kept_transfer>& way = call_.ready->way(number);
        if (way == nullptr || way->home != &home || (way->where != from.where && *way->where != *from.where)) {
            way = std::make_shared<kept_transfer>(from, input, number, home);
        }
        call_.bound_signature.add(way->signature);
        if (!way->moves) {
            return &value;
        }
        way->moves->lay_out(home.space, from, *way->arrived->local());
        home.scratch.grow(home.space, way->moves->moves().scratch_bytes());
        home.transfers.reserve(way->moves->moves().messages());
        spans_ += way->moves->moves().most_spans();
        brought_.emplace_back(way.get(), std::move(from.keep));
        return &*way->arrived;
    }

    plan_call& call_;
    std::vector<std::pair<kept_transfer*, std::shared_ptr<const void>>> brought_;  ///< with the owners of the values
    std::vector<bool> is_used_;                                                    ///< by binding
    std::size_t spans_ = 0;
    std::vector<std::pair<std::size_t, std::uint64_t>> checksums_;  ///< by vertex
};

}  // namespace einparallel::EINPARALLEL_DETAIL
