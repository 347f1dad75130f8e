#pragma once

#include <einparallel/kernel/tuning.hpp>

#include <einparallel/kernel/threads.hpp>

#include <algorithm>
#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE int threads_for(index points) {
    constexpr index worth = index{1} << 20;
    return points < worth ? 1 : static_cast<int>(std::min<index>(available_threads(), points / (worth / 2)));
}

EINPARALLEL_INLINE std::pair<int, int> threads_for_batch(index points, index batch) {
    const int inside = batch < available_threads() ? threads_for(points) : 1;
    return {inside > 1 ? 1 : static_cast<int>(std::min<index>(threads_for(points * batch), batch)), inside};
}

EINPARALLEL_INLINE thread_grid thread_grid::of(index threads, index m, index row_tile, index n, index column_tile,
                                               index most_pieces) {
    const auto share = [](index size, index tile, index parts) {
        const index tiles = (size + tile - 1) / tile;
        return static_cast<double>((tiles + parts - 1) / parts * tile);
    };
    thread_grid best;
    double least = std::numeric_limits<double>::infinity();
    for (index pieces = 1; pieces <= threads; ++pieces) {
        if (threads % pieces != 0 || pieces > most_pieces) {
            continue;
        }
        const double steps = share(most_pieces, 1, pieces) / static_cast<double>(most_pieces);
        for (index rows = 1; rows <= threads / pieces; ++rows) {
            if (threads / pieces % rows != 0) {
                continue;
            }
            const index columns = threads / pieces / rows;
            const double high = share(m, row_tile, rows);
            const double wide = share(n, column_tile, columns);
            if (const double work = steps * (high * wide + static_cast<double>(packing_cost) * (high + wide));
                work < least) {
                least = work;
                best = {rows, columns, pieces};
            }
        }
    }
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
