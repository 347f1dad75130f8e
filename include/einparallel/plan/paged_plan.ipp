#pragma once
// Plans whose tensors may wait in storage: what they hold, and what their pages cost.

#include <einparallel/cost/memory.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/text.hpp>
#include <einparallel/io/text.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/best_order.ipp>
#include <einparallel/plan/memory.ipp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/plan.ipp>
#include <einparallel/plan/program.ipp>
#include <einparallel/schedule/paging/paging.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes of all inputs that lie in files.
EINPARALLEL_SELDOM double bytes_of_files(const einsum_graph& graph) {
    return sum_in(graph.vertices, 0.0, [](const std::shared_ptr<vertex>& each) {
        return each->origin == nullptr || !each->origin->is_in_file()
                   ? 0
                   : double(whole_box(each->bounds).size()) * double(each->element.bytes);
    });
}

/// A plan whose tensors may wait in storage, with the bytes that it then holds during each vertex, and its cost.
/// `known`: ranks of the same plan that have been looked at (limited_plan::ranks).
EINPARALLEL_SELDOM limited_plan paged(plan made, plan_paging found, const std::vector<int>& ranks,
                                      std::map<std::vector<std::size_t>, rank_pages> known = {}) {
    plan_builder::page(made, found);
    limited_plan best{std::move(made)};
    best.held.assign(best.made.vertices().size(), 0);
    best.paged = best.held;
    best.ranks = std::move(known);
    const machine& on = best.made.asked().machine;
    double bytes = 0;
    for (const int rank : ranks) {
        program mine = program_without_pages(best.made, rank);
        const auto [alike, is_new] = best.ranks.try_emplace(shape_of(mine));
        rank_pages& pages = alike->second;
        if (is_new) {
            add_pages(mine, best.made, rank);
            pages = {memory_of(mine), bytes_paged_again(mine),
                     exposed_seconds(mine, on.seconds_per_flop, on.seconds_per_stored_byte)};
        }
        bytes += double(pages.again);
        found.seconds = std::max(found.seconds, pages.exposed);
        std::transform(best.paged.begin(), best.paged.end(), pages.memory.paged.begin(), best.paged.begin(),
                       [](std::size_t a, std::size_t b) { return std::max(a, b); });
        take_most(best.held, pages.memory);
    }
    found.bytes = std::size_t(std::llround(bytes * best.made.processes() / double(ranks.size())));
    plan_builder::page(best.made, found);
    const std::size_t limit = best.made.asked().memory_limit;
    best.excess = std::max(best.most(), limit) - limit;
    return best;
}

/// What counts as a small operand, beside the memory limit: the smaller share is tried first.
inline constexpr std::array<double, 2> small_shares{1. / 32, 1. / 8};

/// Makes ranks gather small operands before the arithmetic, where these went round rings in a plan: calls on large
/// tensors are then not cut at the steps of rings, and chains of them may run in strips. False where no operand takes
/// less than a share `small` of the memory limit.
EINPARALLEL_SELDOM bool gather_small_operands(std::vector<vertex_cuts>& may_be, const plan& made, double small) {
    bool any = false;
    for (std::size_t number = 0; number < may_be.size(); ++number) {
        task work = made.vertices()[number].work;
        if (work.travelling < 0 || may_be[number].wanted != algorithm::automatic) {
            continue;
        }
        const double in_a_ring = task_memory(work);
        work.travelling = nothing_travels;
        if (task_memory(work) <= in_a_ring + small * double(made.asked().memory_limit)) {
            may_be[number].wanted = algorithm::c;
            any = true;
        }
    }
    return any;
}

/// What a plan moves to and from files, and how much of that the arithmetic does not hide.
EINPARALLEL_SELDOM std::string paging_text(const plan& shown) {
    if (shown.paging().which == paged_tensors::none) {
        return {};
    }
    constexpr std::size_t most_named = 8;
    const program first = shown.program_of(0);
    std::vector<std::string> waiting;
    std::size_t room = 0;
    for (const stored_tensor& each : first.stored) {
        if (each.is_scratch()) {
            room += each.bytes();
            waiting.push_back(each.tensor < shown.vertices().size() ? printable(shown.vertices()[each.tensor].name)
                                                                    : std::string("sums"));
        }
    }
    sort_unique(waiting);
    if (waiting.size() > most_named) {
        waiting[most_named] = std::to_string(waiting.size() - most_named) + " more";
        waiting.resize(most_named + 1);
    }
    std::string moved;
    for (int rank = 0; rank < std::min(shown.processes(), int(most_named)); ++rank) {
        moved += (rank == 0 ? "" : ", ") + counted(double(shown.bytes_paged(rank)));
    }
    moved += shown.processes() > int(most_named) ? ", …" : "";
    const bool reads = any_in(first.stored, &stored_tensor::is_in_file);
    const std::string what = !waiting.empty() ? sentence({"in storage of rank 0, of ", counted(double(room)),
                                                          " bytes, wait ", joined(waiting, ", ", std::identity())})
                             : reads          ? "inputs are read ahead, in parts or again"
                                              : "inputs are made in parts or again";
    return sentence({"note: for options.memory_limit ", what, "; bytes to and from storage by rank: ", moved, "; ",
                     duration_text(shown.paging().seconds), " longer than with all in memory, by the time model\n"});
}

}  // namespace einparallel::EINPARALLEL_DETAIL
