#pragma once

#include <einparallel/cost/numbering.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/machine_text.hpp>
#include <einparallel/run/node_threads.hpp>
#include <einparallel/run/nodes.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// Equal values get equal numbers, in the order in which they come.
EINPARALLEL_SELDOM std::vector<int> numbered(const std::vector<std::int64_t>& values) {
    numbering met;
    return list_of(values, [&](std::int64_t value) { return int(met.number_of(std::array<index, 1>{value}).first); });
}

/// One number of every rank, on every rank.
EINPARALLEL_SELDOM std::vector<std::int64_t> gathered_numbers(const communicator& ranks, std::int64_t mine) {
    std::vector<std::int64_t> all(std::size_t(ranks.size()));
    const std::array<std::int64_t, 1> own{mine};
    allgather(ranks, own, all);
    return all;
}

EINPARALLEL_SELDOM std::vector<int> nodes_of(const communicator& ranks) {
    std::int64_t first = ranks.rank();
    {
        const communicator node = communicator::of_node(ranks);
        broadcast(node, &first, sizeof first, 0);
    }
    return numbered(gathered_numbers(ranks, first));
}

/// The socket in which all processors lie on which this process may run; -1 where there are several, or none is known.
EINPARALLEL_SELDOM std::int64_t own_socket() {
    std::int64_t socket = -1;
    const processor_set mine = own_processors();
    for (std::size_t processor = 0; processor < 64 * mine.size(); ++processor) {
        if ((std::uint64_t(mine[processor / 64]) >> (processor % 64) & 1U) == 0) {
            continue;
        }
        const std::string path =
            "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/physical_package_id";
        int number = -1;
        if (std::FILE* const file = std::fopen(path.c_str(), "r"); file != nullptr) {
            number = std::fscanf(file, "%d", &number) == 1 ? number : -1;
            std::fclose(file);
        }
        if (number < 0 || (socket >= 0 && socket != number)) {
            return -1;
        }
        socket = number;
    }
    return socket;
}

EINPARALLEL_SELDOM std::vector<int> sockets_of(const communicator& ranks, std::span<const int> nodes) {
    const std::vector<std::int64_t> sockets = gathered_numbers(ranks, own_socket());
    std::vector<std::int64_t> both;
    for (std::size_t rank = 0; rank < sockets.size(); ++rank) {
        both.push_back(std::int64_t{nodes[rank]} << 32U | (sockets[rank] & 0xffff));
    }
    return found_in(std::int64_t{-1}, sockets) ? std::vector<int>(nodes.begin(), nodes.end()) : numbered(both);
}

/// The sizes of groups in the order of their numbers, as runs of equal ones.
EINPARALLEL_SELDOM std::vector<group_run> runs_of(const std::vector<int>& group_of_rank) {
    std::vector<int> sizes;
    for (const int group : group_of_rank) {
        sizes.resize(std::max(sizes.size(), std::size_t(group) + 1), 0);
        ++sizes[std::size_t(group)];
    }
    std::vector<group_run> runs;
    for (const int size : sizes) {
        if (runs.empty() || runs.back().ranks != size) {
            runs.push_back({0, size});
        }
        ++runs.back().count;
    }
    return runs;
}

EINPARALLEL_SELDOM bool set_groups(machine& of, const std::vector<std::vector<int>>& groups) {
    machine made = of;
    made.levels = {};
    std::size_t level = 0;
    for (const std::vector<int>& group_of_rank : groups) {
        const std::vector<group_run> runs = runs_of(group_of_rank);
        if (runs.size() > made.levels[level].uneven.size()) {
            return false;
        }
        made.levels[level] = {runs.front().ranks, of.seconds_per_message, of.seconds_per_byte, 1, {}};
        if (runs.size() > 1) {
            std::copy(runs.begin(), runs.end(), made.levels[level].uneven.begin());
        }
        ++level;
    }
    made.levels[level] = {0, of.seconds_per_message, of.seconds_per_byte, 1, {}};
    const std::vector<int>& finest = groups.front();
    made.node_of_rank = std::is_sorted(finest.begin(), finest.end()) ? std::vector<int>() : finest;
    of = made;
    return true;
}

EINPARALLEL_SELDOM void find_ranks(machine& of, const std::vector<int>& nodes) {
    if (!of.levels.front().is_given() || !of.node_of_rank.empty() || std::is_sorted(nodes.begin(), nodes.end())) {
        return;
    }
    machine tried = of;
    tried.node_of_rank = nodes;
    try {
        check_levels(tried, int(nodes.size()), "");
        of.node_of_rank = nodes;
    } catch (const error&) {
        // The machine is not the one on which the ranks are.
    }
}

EINPARALLEL_SELDOM bool has_nodes(const machine& on, const std::vector<int>& nodes) {
    const rank_groups groups = groups_of(on);
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        std::vector<std::int64_t> numbers;
        for (int rank = 0; rank < int(nodes.size()); ++rank) {
            numbers.push_back(groups.group(level, rank));
        }
        if (numbered(numbers) == nodes) {
            return true;
        }
    }
    return false;
}

EINPARALLEL_SELDOM int partner_of(const rank_groups& at, std::size_t level, int mine, int ranks, bool all) {
    const auto group_of = [&](std::size_t of, int rank) { return of < at.levels() ? at.group(of, rank) : 0; };
    std::vector<int> in_order(std::size_t(ranks), 0);  // group by group
    for (int rank = 0; rank < ranks; ++rank) {
        in_order[std::size_t(at.slot(rank))] = rank;
    }
    // By group inside: its ranks, within the group of the level.
    std::vector<std::vector<int>> inside;
    for (const int rank : in_order) {
        if (group_of(level, rank) != group_of(level, mine)) {
            continue;
        }
        const int before = inside.empty() ? -1 : inside.back().front();
        if (before < 0 || level == 0 || group_of(level - 1, before) != group_of(level - 1, rank)) {
            inside.emplace_back();
        }
        inside.back().push_back(rank);
    }
    for (std::size_t number = 0; number < inside.size(); ++number) {
        const auto own = find_in(inside[number], mine);
        const auto position = std::size_t(own - inside[number].begin());
        const std::size_t other = number ^ 1U;
        if (own != inside[number].end() && other < inside.size() && position < inside[other].size() &&
            (all || position == 0)) {
            return inside[other][position];
        }
    }
    return -1;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
