#pragma once
// Bytes that programs send between groups of ranks, message by message.

#include <einparallel/layout/levels.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::testing {

/// Bytes that a rank sends to ranks in other groups of a level.
inline std::size_t counted_beyond(const program& of_rank, int rank, const rank_groups& groups, std::size_t level) {
    std::size_t bytes = 0;
    for (const step& each : of_rank.steps) {
        for (const message& sent : each.sends) {
            bytes += groups.group(level, rank) != groups.group(level, sent.peer)
                         ? static_cast<std::size_t>(sent.region.size()) *
                               of_rank.buffers[static_cast<std::size_t>(sent.buffer)].element_bytes
                         : 0;
        }
    }
    return bytes;
}

/// Bytes that all ranks together send to ranks in other groups of a level.
inline std::size_t counted_beyond(const std::vector<program>& programs, const rank_groups& groups, std::size_t level) {
    std::size_t bytes = 0;
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
        bytes += counted_beyond(programs[rank], static_cast<int>(rank), groups, level);
    }
    return bytes;
}

/// Bytes that a plan's ranks send to ranks in other groups of a level.
inline std::size_t counted_beyond(const plan& of, const rank_groups& groups, std::size_t level) {
    std::size_t bytes = 0;
    for (int rank = 0; rank < of.processes(); ++rank) {
        bytes += counted_beyond(of.program_of(rank), rank, groups, level);
    }
    return bytes;
}

}  // namespace einparallel::testing
