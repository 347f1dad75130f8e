#pragma once
// The outputs of one run: computed in memory of the application's, or moved there when the work is done.

#include <einparallel/data/local_tensor.ipp>
#include <einparallel/data/results.hpp>
#include <einparallel/data/run_inputs.ipp>
#include <einparallel/data/transfer.ipp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

class run_outputs {
public:
    explicit run_outputs(plan_call& call) : call_(call) {}

    /// Finds the application's memory for results, and binds the results that can be computed in it. Local; may throw.
    EINPARALLEL_SELDOM void find() {
        targets_.assign(call_.asked.outputs().size(), nullptr);
        for_each_in(call_.bound, [&](const binding& each) { match(each); });
        for (std::size_t position = 0; position < targets_.size(); ++position) {
            call_.moves().withdraw(position);
            if (targets_[position] != nullptr) {
                check(position);
                call_.bound_signature.add(std::uint64_t(position)).add(*targets_[position]->where);
                aim(position);
            }
        }
        for_each_in(call_.bound, [&](const binding& each) { offer(each); });
    }

    /// Throws where the application's memory for an output rests otherwise on other ranks. Collective.
    EINPARALLEL_SELDOM void agree_on_memory() const {
        for (std::size_t position = 0; position < targets_.size(); ++position) {
            const local_tensor* const into = targets_[position];
            call_.agree_on("the memory for output", call_.output(position),
                           into == nullptr ? 0 : fingerprint().add(*into->where).value());
        }
    }

    /// Called when the ranks have begun. Elements that were given now belong to the run, which keeps them to its end.
    EINPARALLEL_SELDOM void begin() {
        for (const binding& each : call_.bound) {
            if (each.gives != nullptr) {
                each.gives->is_begun = true;
            }
        }
        overwritten_ = list_of(given_, [](donation* each) { return std::exchange(each->value, nullptr); });
    }

    /// Returns the results of the run, and notes which of them deliver() must move. Local; may throw.
    EINPARALLEL_SELDOM std::vector<results::part> collect() {
        std::vector<results::part> outputs(targets_.size());
        for (std::size_t position = 0; position < targets_.size(); ++position) {
            const planned_vertex& made = call_.output(position);
            auto& [made_by, here] = outputs[position];
            made_by.assign(made.twins.begin(), made.twins.end());
            made_by.emplace_back(made.origin);
            const local_tensor* const into = targets_[position];
            if (call_.moves().is_aimed(position)) {
                here = *into;
                continue;
            }
            const std::shared_ptr<memory_block>& block = call_.moves().result(position);
            here.where = call_.ready->resting(position);
            here.elements = dense_block(*here.where, call_.cache.rank, made.element, block->data());
            here.elements.is_on_device = call_.is_on_device() && call_.results_stay;
            here.keep = std::shared_ptr<const void>(block, block->data());
            here.world = call_.world;
            if (into != nullptr && into->elements.is_on_device && *into->where == *here.where) {
                copy_in(call_.cache.space, into->elements, here.elements);
            } else if (into != nullptr) {
                moved_.emplace_back(into->elements.is_on_device ? here : on_host(here), into);
            }
            if (into != nullptr && !into->cyclic) {
                here = *into;
            }
        }
        return outputs;
    }

    /// Moves the noted results to the application's memory, after all work is done. Collective. Returns the bytes that
    /// this rank sent.
    EINPARALLEL_SELDOM std::size_t deliver() const {
        std::size_t sent = 0;
        for (const auto& [from, to] : moved_) {
            if (*from.where == *to->where) {
                copy_in(the_host, to->elements, from.elements);
            } else {
                sent += transfer_now(*call_.world, "run", {}, from, [into = to] { return *into; });
            }
        }
        return sent;
    }

private:
    /// If `given` is for an output, notes the memory for it.
    EINPARALLEL_SELDOM void match(const binding& given) {
        if (!given.is_output()) {
            return;
        }
        const std::string who = "run: the memory for output " + name_of(given);
        bool known = false;
        for (std::size_t position = 0; position < targets_.size(); ++position) {
            const planned_vertex& made = call_.output(position);
            if (made.origin == given.placeholder || count_in(made.twins, given.placeholder) > 0) {
                require(std::exchange(targets_[position], given.into.get()) == nullptr,
                        {who, " is given twice, or to equal outputs"});
                known = true;
            }
        }
        require(known, {who, " is for no output of this plan"});
    }

    EINPARALLEL_SELDOM void check(std::size_t position) const {
        const local_tensor& into = *targets_[position];
        const planned_vertex& made = call_.output(position);
        const std::initializer_list<word> who{"run: the memory for output '", made.name, "' "};
        require(into.where != nullptr, who, {"is an empty handle"});
        require(!into.is_gone(), who, {"is an array that is gone"});
        const strided_box& target = into.elements;
        std::string mistake = target.held.empty() ? "" : call_.cache.space.refuses(target.data, target.is_on_device);
        require(mistake.empty(), who, {"is refused: ", mistake});
        require(into.world.lock() == call_.world, who, {"is distributed over another context"});
        const std::vector<index>& bounds = bounds_of(into);
        if (target.element != made.element || bounds != made.bounds) {
            require(false, who,
                    {"does not fit: it is ", shape_text(target.element, bounds), "; the output is ",
                     shape_text(made.element, made.bounds)});
        }
        mistake = check_target(target);
        require(mistake.empty(), who, {"is refused: ", mistake});
        for (std::size_t other = 0; other < position; ++other) {
            const bool is_apart = targets_[other] == nullptr || targets_[other] == targets_[position] ||
                                  !meet(target, targets_[other]->elements);
            require(is_apart, who, {"is also that of '", call_.output(other).name, "'"});
        }
    }

    /// Binds an output to the application's memory if it can be computed there. The memory must have the blocks in
    /// which the plan leaves the output and no negative stride, and no input may read it.
    EINPARALLEL_SELDOM void aim(std::size_t position) {
        const planned_vertex& made = call_.output(position);
        const local_tensor& into = *targets_[position];
        const strided_box& target = into.elements;
        const bool is_read = is_in_use(target, nullptr);
        const bool is_kept = made.lasts && call_.asked.asked().runs > 1;  // by the context, for later runs
        std::vector<index> strides;
        if (!is_read && !is_kept && target.is_on_device == call_.is_on_device() && made.resting == *into.where &&
            target.borrow(target.held, strides) != nullptr &&
            call_.moves().may_lie_elsewhere(position, !strides.empty())) {
            call_.moves().aim(position, target.data, strides);
        }
    }

    /// True where a source other than `but` has elements in this memory.
    EINPARALLEL_SELDOM bool is_in_use(const strided_box& memory, const source* but) const {
        return any_in(call_.moves().sources(), [&](const source* origin) {
            const local_tensor* const read = origin == nullptr ? nullptr : origin->local();
            return origin != but && read != nullptr && meet(read->elements, memory);
        });
    }

    /// If a result can be written over the elements given for an input, which are read in place, lets the run do that.
    EINPARALLEL_SELDOM void offer(const binding& given) {
        if (given.gives == nullptr || given.gives->value == nullptr) {
            return;
        }
        const source* const read = given.gives->value->origin.get();
        const std::vector<const source*>& sources = call_.moves().sources();
        const auto input = find_in(sources, read);
        const strided_box& elements = read->local()->elements;
        if (input != sources.end() && !is_in_use(elements, read) &&
            call_.moves().offer(std::size_t(input - sources.begin()), elements.data)) {
            given_.push_back(given.gives.get());
        }
    }

    plan_call& call_;
    std::vector<donation*> given_;                      ///< elements that results will be written over
    std::vector<std::shared_ptr<vertex>> overwritten_;  ///< inputs with such elements, after begin()
    std::vector<const local_tensor*> targets_;          ///< by output: the application's memory for it, or null
    std::vector<std::pair<local_tensor, const local_tensor*>> moved_;  ///< from the first to the second, by deliver()
};

}  // namespace einparallel::EINPARALLEL_DETAIL
