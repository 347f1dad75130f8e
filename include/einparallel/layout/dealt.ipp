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
    const index end = own_before((side.end - 1) / block + 1);
    for (index cycle = own_before(side.begin / block); cycle < end; ++cycle) {
        const index begin = (turn + cycle * processes) * block;
        const interval part = intersect(side, {begin, begin + block});
        if (!runs.empty() && runs.back().length == block && part.size() == block) {
            ++runs.back().cycles;
        } else {
            runs.push_back({1, part.size(), part.begin, cycle * block + part.begin - begin});
        }
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
