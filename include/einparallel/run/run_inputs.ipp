#pragma once
// The inputs of one run: whose elements each has, and how bound values come to where the plan reads them.

#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/block_cyclic.ipp>
#include <einparallel/run/memory_source.hpp>
#include <einparallel/run/plan_cache.ipp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

class run_inputs {
public:
    explicit run_inputs(plan_call& call) : call_(call) {}

    /// Notes whose elements each input has in this run. Local; throws.
    EINPARALLEL_INLINE void find() {
        const std::span<const source*> sources = call_.moves().sources();
        std::size_t used = 0;
        for (std::size_t number = 0; number < sources.size(); ++number) {
            const planned_vertex& input = call_.asked.vertices()[number];
            if (!input.is_input()) {
                continue;
            }
            const source* const origin = input.origin->origin.get();
            if (origin == nullptr) {
                throw error("run: input '" + input.name + "' has no source");
            }
            if (origin->is_gone()) {
                throw error("run: the array of input '" + input.name + "' is gone: " +
                            (origin->kind() == source_kind::resting
                                 ? "ep::distributed refers to it, but for one that is moved in"
                                 : "ep::borrow refers to it; from_root without it keeps a copy"));
            }
            refuse_other_memory(*origin);
            const bool is_bound = origin->kind() == source_kind::placeholder;
            sources[number] = is_bound ? bound_source(number) : origin;
            used += is_bound ? 1 : 0;
        }
        const auto outputs = std::ranges::count_if(call_.bound, &binding::is_output);
        if (used + static_cast<std::size_t>(outputs) < call_.bound.size()) {
            const auto is_unknown = [&](const binding& each) {
                return !each.is_output() && std::ranges::none_of(call_.asked.vertices(), [&](const auto& input) {
                    return input.origin == each.placeholder && input.is_input() &&
                           input.origin->origin->kind() == source_kind::placeholder;
                });
            };
            throw error("run: a value is bound to " + name_of(*std::ranges::find_if(call_.bound, is_unknown)) +
                        ", which is no placeholder of this plan");
        }
    }

    /// Arrays that are bound on every rank must be equal, where options.check_inputs asks. Collective.
    EINPARALLEL_INLINE void compare() const {
        if (checksums_.empty()) {
            return;
        }
        const communicator& control = call_.world->control;
        std::vector<std::pair<std::size_t, std::uint64_t>> on_root = checksums_;
        broadcast(control, on_root.data(), on_root.size() * sizeof on_root.front(), 0);
        const auto [here, there] = std::ranges::mismatch(checksums_, on_root);
        agree(control, here == checksums_.end()
                           ? std::string()
                           : "run: the array bound to placeholder '" + call_.asked.vertices()[here->first].name +
                                 "' is not the same on rank 0 and rank " + std::to_string(control.rank()) +
                                 "; where one rank has the data, bind ep::from_root(array, rank)");
    }

    /// The programs that bring bound values, before that of the plan.
    [[nodiscard]] std::span<executable* const> programs() const { return programs_; }

    /// Brings values that lie block-cyclic. Collective. Returns the bytes that this rank sent.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t bring_dealt() const {
        std::size_t sent = 0;
        for (const dealt_value& each : dealt_) {
            sent += move_dealt(*call_.world, *each.part, *each.where, each.elements, false);
        }
        return sent;
    }

private:
    /// A value that lies block-cyclic, and this rank's part of it where the plan reads it.
    struct dealt_value {
        const distributed_part* part;
        const distribution* where;
        strided_box elements;
    };

    /// What the host cannot read.
    EINPARALLEL_INLINE void refuse_other_memory(const source& origin) const {
        if (!call_.is_on_device() && origin.is_on_device()) {
            throw error("run: " + origin.description() + ": " + call_.cache.space.refuses(nullptr, true));
        }
    }

    EINPARALLEL_INLINE [[nodiscard]] const vertex* value_for(const planned_vertex& input) const {
        const binding* found = nullptr;
        for (const binding& each : call_.bound) {
            if (each.placeholder == input.origin && !each.is_output() && std::exchange(found, &each) != nullptr) {
                throw error("run: two values are bound to placeholder '" + input.name + "'");
            }
        }
        if (found == nullptr) {
            throw error("run: no value is bound to placeholder '" + input.name + "'");
        }
        return found->value.get();
    }

    EINPARALLEL_INLINE void check(const planned_vertex& input, const vertex* given) const {
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
        const int processes = call_.asked.processes();
        const auto ranks = [&] { return ", the plan is for " + std::to_string(processes) + " ranks"; };
        if (value.holders() > processes) {
            refuse("has parts on " + std::to_string(value.holders()) + " ranks" + ranks());
        }
        if (value.kind() == source_kind::resting && !value.rests_here(call_.cache.rank)) {
            refuse(lies_elsewhere);
        }
        if (value.root() < 0 || value.root() >= processes) {
            refuse("is on rank " + std::to_string(value.root()) + ranks());
        }
    }

    /// What has the elements of a placeholder when all programs before the plan's have been carried out.
    EINPARALLEL_INLINE const source* bound_source(std::size_t number) {
        const planned_vertex& input = call_.asked.vertices()[number];
        const vertex* const given = value_for(input);
        check(input, given);
        const source& value = *given->origin;
        call_.bound_signature.add(static_cast<std::uint64_t>(number)).add(static_cast<int>(value.kind()));
        if (call_.asked.asked().check_inputs && value.kind() == source_kind::everywhere) {
            if (value.is_on_device()) {
                throw error("run: the value bound to placeholder '" + input.name +
                            "' is on a device: options.check_inputs compares values of the host");
            }
            checksums_.emplace_back(number, value.checksum());
        }
        refuse_other_memory(value);
        return value.kind() == source_kind::everywhere ? &value : bring(number, value);
    }

    /// Lays out the way of a value that rests elsewhere than the plan reads it.
    EINPARALLEL_INLINE const source* bring(std::size_t number, const source& value) {
        const planned_vertex& input = call_.asked.vertices()[number];
        const int rank = call_.cache.rank;
        const auto arrive = [&](strided_box elements, std::shared_ptr<const void> keep) {
            auto made = std::make_unique<memory_source>(std::move(elements), std::move(keep), std::nullopt);
            return arrived_.emplace_back(std::move(made)).get();
        };
        const distributed_part& part = dynamic_cast<const memory_source&>(value).part();
        strided_box elements = dense_part(input.resting, rank, input.element);
        if (part.dealt != nullptr) {
            if (part.world.lock() != call_.world) {
                throw error("run: the value bound to placeholder '" + input.name +
                            "' is distributed over another context");
            }
            const std::size_t bytes = static_cast<std::size_t>(elements.held.size()) * input.element.bytes;
            const auto block = std::make_shared<memory_block>(call_.cache.space.on_host(), bytes);
            elements.data = block->data();
            dealt_.push_back({&part, &input.resting, elements});
            return arrive(std::move(elements), block);
        }
        const bound_redistribution& way = call_.ready->way_from(
            part.where != nullptr ? part.where
                                  : std::make_shared<const distribution>(held_by_one(input.bounds, value.root())),
            number, rank);
        call_.bound_signature.add(way.signature);
        if (way.moves == nullptr) {
            return &value;
        }
        way.moves->sources()[number] = &value;
        way.moves->lay_out(call_.cache.space);
        programs_.push_back(way.moves.get());
        elements.data = way.moves->result(0)->data();
        elements.is_on_device = call_.is_on_device();
        return arrive(std::move(elements), nullptr);
    }

    plan_call& call_;
    std::vector<executable*> programs_;
    std::vector<dealt_value> dealt_;
    std::vector<std::unique_ptr<memory_source>> arrived_;
    std::vector<std::pair<std::size_t, std::uint64_t>> checksums_;  ///< by vertex
};

}  // namespace einparallel::EINPARALLEL_DETAIL
