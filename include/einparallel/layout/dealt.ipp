#pragma once

#include <einparallel/layout/dealt.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE index dealt_dimension::count_of(int process) const {
    const index turn = (process - first + processes) % processes;  // of the process, counted from the first
    const index blocks = extent / block;                           // whole ones
    const index rest = blocks % processes;
    return blocks / processes * block + (turn < rest ? block : turn == rest ? extent % block : 0);
}

EINPARALLEL_INLINE std::vector<dealt_run> dealt_dimension::runs_in(interval side, int process) const {
    std::vector<dealt_run> runs;
    side = intersect(side, {0, extent});
    if (side.empty()) {
        return runs;
    }
    const index turn = (process - first + processes) % processes;
    // The process's own blocks that meet the side: number c of them is block turn + c · processes.
    const auto own_before = [&](index blocks) { return blocks > turn ? (blocks - turn - 1) / processes + 1 : 0; };
    index from = own_before(side.begin / block);
    index to = own_before((side.end - 1) / block + 1);
    const auto part_of = [&](index cycle) {
        const index begin = (turn + cycle * processes) * block;
        return intersect(side, {begin, begin + block});
    };
    const auto add = [&](index cycle, index cycles) {
        const interval part = part_of(cycle);
        const index begin = (turn + cycle * processes) * block;
        runs.push_back({cycles, part.size(), part.begin, cycle * block + part.begin - begin});
    };
    const auto is_whole = [&](index cycle) { return part_of(cycle).size() == block; };
    if (from < to && !is_whole(from)) {
        add(from++, 1);
    }
    const bool ends_inside = from < to && !is_whole(to - 1);
    to -= ends_inside ? 1 : 0;
    if (from < to) {
        add(from, to - from);
    }
    if (ends_inside) {
        add(to, 1);
    }
    return runs;
}

EINPARALLEL_INLINE std::array<int, 2> dealt_matrix::place_of(int rank) const {
    const int rows = dimensions[0].processes;
    const int columns = dimensions[1].processes;
    return order == grid_order::row_major ? std::array{rank / columns, rank % columns}
                                          : std::array{rank % rows, rank / rows};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
