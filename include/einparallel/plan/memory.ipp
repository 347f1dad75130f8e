#pragma once
// How much memory a rank needs for a plan: the bytes that its program holds at one time.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/search/pins.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// The bytes that a rank holds: results, tensors kept over runs, and one arena for all other buffers
/// (schedule/arena.hpp). An input that is used in place in the application's memory counts as if it were copied.
struct plan_memory {
    std::size_t peak = 0;                  ///< the most bytes at one time in a run
    std::vector<std::size_t> by_vertex{};  ///< the most bytes at one time during each vertex; 0 for inputs
    std::vector<std::size_t> paged{};      ///< bytes moved to and from files during each vertex
};

/// The bytes that a rank holds with this program of a plan.
EINPARALLEL_SELDOM plan_memory memory_of(const program& mine) {
    const program_room room = room_of(mine);
    plan_memory made{room.peak(), std::vector<std::size_t>(mine.vertices.size()),
                     std::vector<std::size_t>(mine.vertices.size())};
    for (std::size_t position = 0; position < mine.steps.size(); ++position) {
        made.paged[mine.steps[position].vertex] += bytes_paged(mine, mine.steps[position]);
        std::size_t& most = made.by_vertex[mine.steps[position].vertex];
        most = std::max(most, room.by_step[position]);
    }
    return made;
}

/// The bytes that a rank holds. The rank's program is written for it.
EINPARALLEL_SELDOM plan_memory memory_of(const plan& shown, int rank) {
    return memory_of(shown.program_of(rank));
}

/// Raises the most bytes that ranks hold during each vertex to those of one more rank.
EINPARALLEL_SELDOM void take_most(std::vector<std::size_t>& most, plan_memory held) {
    // Tensors that lie in contiguous memory leave gaps.
    *std::max_element(held.by_vertex.begin(), held.by_vertex.end()) = held.peak;
    std::transform(most.begin(), most.end(), held.by_vertex.begin(), most.begin(),
                   [](std::size_t a, std::size_t b) { return std::max(a, b); });
}

/// The ranks whose memory is looked at. Of up to 64 ranks these are all. Of more ranks they are those that hold an
/// input or are the root of one, and 64 or fewer spread over all: the blocks of ranks differ by an element along each
/// dimension, so that buffers pack differently in contiguous memory.
EINPARALLEL_SELDOM std::vector<int> heaviest_ranks(const einsum_graph& graph, int processes) {
    constexpr int looked_at = 64;
    std::vector<int> ranks;
    for (int rank = 0; rank < processes; ++rank) {
        const bool holds = any_in(graph.vertices, [&](const std::shared_ptr<vertex>& each) {
            return kind_of(*each) == source_kind::resting
                       ? rank < each->origin->holders()
                       : kind_of(*each) == source_kind::root && rank == each->origin->root();
        });
        if (holds || rank % ((processes + looked_at - 1) / looked_at) == 0) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

/// The most bytes that any of `ranks` holds during each vertex.
EINPARALLEL_SELDOM std::vector<std::size_t> most_held(const plan& made, const std::vector<int>& ranks) {
    std::vector<std::size_t> most(made.vertices().size());
    for_each_in(ranks, [&](int rank) { take_most(most, memory_of(made, rank)); });
    return most;
}

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_SELDOM std::size_t plan::peak_bytes(int rank) const {
    return detail::memory_of(*this, rank).peak;
}

}  // namespace einparallel
