#pragma once
// What a context keeps of the plans that ran on it, so that a plan runs again without being prepared again.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/executable.ipp>
#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/redistribute.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void add_distribution(fingerprint& into, const distribution& where) {
    into.add(where.holders());
    for (int rank = 0; rank < where.holders(); ++rank) {
        into.add(where.held_by(rank));
    }
}

/// A number that differs where two plans would make ranks do things that do not fit together. Names do not count.
EINPARALLEL_INLINE std::uint64_t fingerprint_of(const plan& of) {
    fingerprint made;
    made.add(of.processes())
        .add(of.number())
        .add(of.asked().ranks_per_node)
        .add(static_cast<std::uint64_t>(of.asked().runs));
    for (const std::size_t output : of.outputs()) {
        made.add(static_cast<std::uint64_t>(output));
    }
    for (const planned_vertex& each : of.vertices()) {
        made.add(std::string_view(&each.element.kind, 1)).add(static_cast<std::uint64_t>(each.element.bytes));
        for (const index bound : each.bounds) {
            made.add(bound);
        }
        for (const std::size_t input : each.inputs) {
            made.add(static_cast<std::uint64_t>(input));
        }
        made.add(each.work.form.text()).add(each.work.travelling).add(each.work.held).add(each.lasts ? 1 : 0);
        made.add(each.work.feed.master).add(static_cast<index>(each.work.feed.label)).add(each.work.feed.slices);
        for (const mesh_axis& axis : each.work.ranks.axes) {
            made.add(static_cast<index>(axis.label)).add(axis.parts);
        }
        for (const distribution& operand : each.work.operands) {
            add_distribution(made, operand);
        }
        add_distribution(made, each.resting);
        const bool has_source = each.origin != nullptr && each.origin->origin != nullptr;
        made.add(has_source ? static_cast<int>(each.origin->origin->kind()) : -1);
    }
    return made.value();
}

/// The program that brings a bound value from where it rests to where a plan reads it.
struct bound_redistribution {
    std::size_t vertex = 0;
    distribution from;
    std::unique_ptr<executable> moves;  ///< null where the part of this rank stays as it is
};

/// One plan, ready to run. It keeps neither the user's plan nor the graph alive.
class prepared_plan {
public:
    prepared_plan(const plan& of, int rank)
        : processes_(of.processes()),
          asked_(of.asked()),
          outputs_(of.outputs()),
          vertices_(of.vertices()),
          fingerprint_(fingerprint_of(of)),
          moves_(executable_of(of, vertices_, rank)) {
        for (planned_vertex& each : vertices_) {
            origins_.push_back(each.origin);
            each.origin.reset();
            each.twins.clear();
        }
    }
    prepared_plan(const prepared_plan&) = delete;
    prepared_plan& operator=(const prepared_plan&) = delete;
    ~prepared_plan() = default;

    /// True where this is the plan, for the same vertices.
    [[nodiscard]] bool is_for(const plan& asked) const {
        if (asked.vertices().size() != origins_.size()) {
            return false;
        }
        for (std::size_t number = 0; number < origins_.size(); ++number) {
            if (origins_[number].lock() != asked.vertices()[number].origin) {
                return false;
            }
        }
        return asked.processes() == processes_ && asked.outputs() == outputs_ && asked.asked() == asked_ &&
               asked.vertices() == vertices_;
    }

    /// True where some vertex is gone: nobody can ask for this plan any more.
    [[nodiscard]] bool is_stale() const {
        return std::ranges::any_of(origins_, [](const std::weak_ptr<vertex>& each) { return each.expired(); });
    }

    [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }
    [[nodiscard]] executable& moves() { return moves_; }

    /// Keeps what runs leave for as long as this copy of the plan, or another one that was noted, lives.
    void note(const plan& asked) {
        const auto same = [&](const std::weak_ptr<const void>& known) { return known.lock() == asked.identity(); };
        if (asked.identity() != nullptr && std::ranges::none_of(plans_, same)) {
            plans_.push_back(asked.identity());
        }
    }
    /// Frees what is kept where no copy of the plan is left.
    void forget_if_alone() {
        if (std::erase_if(plans_, [](const std::weak_ptr<const void>& each) { return each.expired(); }) > 0 &&
            plans_.empty()) {
            moves_.forget();
        }
    }

    /// The way from `from` to where the plan reads `vertex`; null where it is read there already. The last way is kept.
    bound_redistribution* redistribution(std::size_t vertex, const distribution& from, int rank) {
        const planned_vertex& input = vertices_[vertex];
        if (from == input.resting) {
            return nullptr;
        }
        for (bound_redistribution& known : redistributions_) {
            if (known.vertex == vertex && known.from == from) {
                return &known;
            }
        }
        bound_redistribution made{vertex, from, nullptr};
        program moves;
        const buffer_id had = moves.add_buffer(from.held_by(rank), input.element.bytes);
        if (!moves.buffers.front().region.empty()) {
            moves.steps.push_back({0, {}, {}, {read_source{vertex, had}}});
        }
        const buffer_id wanted = schedule_redistribution(moves, from, input.resting, rank, had, 1);
        pack_short_runs(moves);
        for (step& each : moves.steps) {
            each.vertex = vertex;
        }
        if (wanted != had) {
            moves.results.push_back(wanted);
            std::vector<executed_vertex> names(vertices_.size());
            names[vertex].name = input.name;
            made.moves = std::make_unique<executable>(std::move(moves), std::move(names));
        }
        std::erase_if(redistributions_, [&](const bound_redistribution& old) { return old.vertex == vertex; });
        redistributions_.push_back(std::move(made));
        return &redistributions_.back();
    }

    /// Room for all of them, so that pointers to them stay good while one run collects its own.
    void expect_redistributions(std::size_t count) { redistributions_.reserve(count); }

private:
    /// @param kept the plan's vertices, which stay
    static executable executable_of(const plan& of, const std::vector<planned_vertex>& kept, int rank) {
        std::vector<executed_vertex> named;
        std::size_t einsums = 0;
        for (const planned_vertex& each : of.vertices()) {
            named.push_back(
                {each.name, each.origin->work.get(), &kept[named.size()].work.form, each.is_input() ? 0 : ++einsums});
        }
        const int first = of.first_of_node(rank);
        std::vector<program> node = of.programs_of_node(rank);
        window_plan window = plan_window(node, first, rank);
        return executable(std::move(node[static_cast<std::size_t>(rank - first)]), std::move(named), std::move(window));
    }

    int processes_;
    options asked_;
    std::vector<std::size_t> outputs_;
    std::vector<planned_vertex> vertices_;  ///< without their origins
    std::vector<std::weak_ptr<vertex>> origins_;
    std::uint64_t fingerprint_;
    executable moves_;
    std::vector<bound_redistribution> redistributions_;
    std::vector<std::weak_ptr<const void>> plans_;  ///< identities of equal plans that run here
};

/// All that a context keeps for one memory space.
struct plan_cache final : context_extension {
    plan_cache(context_state& ranks, const memory_space& of)
        : rank(ranks.payload.rank()), space(of), arena{of}, transfers(ranks.payload) {}

    int rank;
    const memory_space& space;
    scratch_arena arena;
    transport transfers;
    std::vector<std::unique_ptr<prepared_plan>> plans;

    /// The plan as prepared at an earlier run, or now. Local; may throw.
    prepared_plan& prepared(const plan& asked) {
        std::erase_if(plans, [](const std::unique_ptr<prepared_plan>& each) { return each->is_stale(); });
        prepared_plan* found = find(asked);
        if (found == nullptr) {
            plans.push_back(std::make_unique<prepared_plan>(asked, rank));
            found = plans.back().get();
        }
        found->note(asked);
        for (const std::unique_ptr<prepared_plan>& each : plans) {
            each->forget_if_alone();
        }
        return *found;
    }

    /// The plan where it is prepared, or null.
    [[nodiscard]] prepared_plan* find(const plan& asked) const {
        for (const std::unique_ptr<prepared_plan>& known : plans) {
            if (known->is_for(asked)) {
                return known.get();
            }
        }
        return nullptr;
    }
};

/// What the context keeps for this memory space, made at the first call.
EINPARALLEL_INLINE plan_cache& cache_of(context_state& world, const memory_space& space) {
    for (const std::unique_ptr<context_extension>& each : world.extensions) {
        auto* const found = dynamic_cast<plan_cache*>(each.get());
        if (found != nullptr && &found->space == &space) {
            return *found;
        }
    }
    auto made = std::make_unique<plan_cache>(world, space);
    plan_cache& reference = *made;
    world.extensions.push_back(std::move(made));
    return reference;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
