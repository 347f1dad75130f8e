#pragma once
// The prepared plans that a context keeps, so that a plan can run again without being prepared again.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/replay.ipp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Adds to a hash how a vertex is computed.
EINPARALLEL_SELDOM void add_task(fingerprint& made, const task& work) {
    made.add(work.form.text()).add(work.travelling).add(work.held);
    made.add(work.feed.master).add(work.feed.label).add(work.feed.slices);
    for_each_in(work.ranks.axes, [&](const mesh_axis& axis) { made.add(axis.label).add(axis.parts); });
    made.add(work.operands);
}

/// A hash of a plan: it differs where the programs of two plans for the same vertices differ.
EINPARALLEL_SELDOM fingerprint contents_of(const plan& of) {
    fingerprint made;
    const bool packs = of.asked().memory_limit == 0;
    const paged_tensors pages = of.paging().which;
    if (pages != paged_tensors::none) {
        made.add(int(pages)).add(of.asked().memory_limit);
        made.add(std::bit_cast<std::uint64_t>(of.asked().machine.seconds_per_flop));
        made.add(std::bit_cast<std::uint64_t>(of.asked().machine.seconds_per_stored_byte));
    }
    made.add(of.processes()).add(of.asked().runs).add(packs).add(of.asked().check_inputs).add(of.outputs());
    for (const planned_vertex& each : of.vertices()) {
        made.add(each.element.kind).add(each.element.bytes).add(each.bounds).add(each.inputs).add(each.lasts);
        add_task(made, each.work);
        made.add(each.resting);
        const bool has_source = each.origin != nullptr && each.origin->origin != nullptr;
        made.add(has_source ? int(each.origin->origin->kind()) : -1);
    }
    return made;
}

/// A hash that must be equal on all ranks, so that their programs of the plan fit together. Names do not count.
EINPARALLEL_SELDOM std::uint64_t fingerprint_of(const plan& of) {
    return contents_of(of).add(of.number()).value();
}

/// The tensors that vertices compute, by vertex, for kept_memory.
EINPARALLEL_SELDOM std::vector<kept_tensor> kept_tensors(const plan& of) {
    std::vector<std::uint64_t> cuts;  // an input's elements are the same however it is cut
    return list_of(of.vertices(), [&](const planned_vertex& each) {
        fingerprint made;
        if (!each.is_input()) {
            add_task(made, each.work);
            for_each_in(each.inputs, [&](std::size_t operand) { made.add(cuts[operand]); });
        }
        cuts.push_back(made.value());
        return kept_tensor{each.origin, made.value()};
    });
}

#if defined(NDEBUG)
inline constexpr bool asserts = false;
#else
inline constexpr bool asserts = true;
#endif

struct kept_transfer;  // data/run_inputs.ipp

/// A plan that is ready to run. It keeps neither the user's plan nor the graph alive.
class prepared_plan {
public:
    EINPARALLEL_SELDOM prepared_plan(const plan& of, int rank, std::size_t staging)
        : asked_(of.asked()),
          contents_(contents_of(of)),
          origins_(list_of(of.vertices(), [](const auto& each) { return std::weak_ptr<vertex>(each.origin); })),
          moves_(of.program_of(rank), staging, kept_tensors(of)),
          peak_bytes_(asserts ? of.peak_bytes(rank) : 0),
          ways_(of.vertices().size()),
          resting_(list_of(of.outputs(), [&](std::size_t output) {
              return std::make_shared<const distribution>(of.vertices()[output].resting);
          })) {
        for (std::size_t number = 0; number < ways_.size(); ++number) {
            moves_.of_rank().vertices[number].name = full_name(of, of.vertices()[number]);
        }
    }

    /// True where `asked` is a plan, or a copy of a plan, that was passed to note().
    EINPARALLEL_SELDOM bool is_of(const plan& asked) const {
        return any_in(plans_, [&](const auto& known) { return known.lock() == asked.identity(); });
    }

    /// True where `asked` is an equal plan for the same vertices.
    EINPARALLEL_SELDOM bool is_for(const plan& asked) const {
        const auto is_same = [](const auto& mine, const auto& theirs) { return mine.lock() == theirs.origin; };
        return equal_in(origins_, asked.vertices(), is_same) && asked_ == asked.asked() &&
               contents_.value() == contents_of(asked).value();
    }

    /// True where some vertex no longer exists: nobody can run this plan any more.
    EINPARALLEL_SELDOM bool is_stale() const {
        return any_in(origins_, [](const std::weak_ptr<vertex>& each) { return each.expired(); });
    }

    /// The value of fingerprint_of(asked), for a plan that uses this.
    std::uint64_t signature(const plan& asked) const { return fingerprint(contents_).add(asked.number()).value(); }
    program_replay& moves() { return moves_; }
    /// The planned peak bytes of this rank, for assertions; 0 where NDEBUG is defined.
    std::size_t peak_bytes() const { return peak_bytes_; }

    /// Notes that `asked` uses this. The memory that runs keep stays until no copy of a noted plan exists any more.
    void note(const plan& asked) { plans_.push_back(asked.identity()); }
    /// Frees the kept memory once no copy of a noted plan exists any more.
    EINPARALLEL_SELDOM void forget_if_alone() {
        if (std::erase_if(plans_, [](const std::weak_ptr<const void>& each) { return each.expired(); }) > 0 &&
            plans_.empty()) {
            moves_.forget();
        }
    }

    /// The transfer that brought the last value bound to input `vertex`, or null.
    std::shared_ptr<kept_transfer>& way(std::size_t vertex) { return ways_[vertex]; }

    /// The distribution in which the plan leaves output `position`.
    const std::shared_ptr<const distribution>& resting(std::size_t position) const { return resting_[position]; }

private:
    options asked_;
    fingerprint contents_;
    std::vector<std::weak_ptr<vertex>> origins_;
    program_replay moves_;
    std::size_t peak_bytes_;
    std::vector<std::shared_ptr<kept_transfer>> ways_;          ///< by vertex
    std::vector<std::shared_ptr<const distribution>> resting_;  ///< by output
    std::vector<std::weak_ptr<const void>> plans_;              ///< identities of equal plans that run here
};

/// All that a context keeps for one memory space.
struct plan_cache {
    plan_cache(context_state& ranks, const memory_space& of)
        : rank(ranks.payload.rank()), space(of), transfers(ranks.payload, of) {}

    int rank;
    const std::string doing = "run: rank " + std::to_string(rank);
    const memory_space& space;
    memory_block scratch;  ///< shared by all plans, because only one runs at a time
    transport transfers;
    std::vector<std::unique_ptr<prepared_plan>> plans;
    std::vector<kept_tensor> kept;  ///< tensors that plans which ran here keep

    /// The prepared plan for `asked`, from an earlier run or prepared now. Local; may throw.
    EINPARALLEL_SELDOM prepared_plan& prepared(const plan& asked) {
        std::erase_if(plans, [](const auto& each) { return each->is_stale(); });
        prepared_plan* found = find(asked);
        if (found == nullptr) {
            found = plans.emplace_back(std::make_unique<prepared_plan>(asked, rank, space.staging())).get();
        }
        if (!found->is_of(asked)) {
            found->note(asked);
        }
        for_each_in(plans, [](const auto& each) { each->forget_if_alone(); });
        return *found;
    }

    /// The prepared plan for `asked`, or null.
    EINPARALLEL_SELDOM prepared_plan* find(const plan& asked) const {
        auto known = find_if_in(plans, [&](const auto& each) { return each->is_of(asked); });
        if (known == plans.end()) {
            known = find_if_in(plans, [&](const auto& each) { return each->is_for(asked); });
        }
        return known == plans.end() ? nullptr : known->get();
    }
};

/// The cache of the context for this memory space; the first call makes it.
EINPARALLEL_SELDOM plan_cache& cache_of(context_state& world, const memory_space& space) {
    const auto known = find_in(world.caches, &space, [](const auto& each) { return &each->space; });
    return known != world.caches.end() ? **known
                                       : *world.caches.emplace_back(std::make_shared<plan_cache>(world, space));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
