#pragma once

#include <einparallel/kernel/product/product_loops.hpp>

#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::size_t reduced_size(const loop_nest& nest, std::size_t slot) {
    index size = 1;
    bool one_sided = false;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const bool summed = is_one_sided(nest, loop, slot);
        one_sided = one_sided || summed;
        size *= nest.of(loop)[slot] != 0 && !summed ? nest.extents[loop] : 1;
    }
    return one_sided ? std::size_t(size) : 0;
}

EINPARALLEL_INLINE loop_nest take_one_sided(loop_nest& nest, std::size_t slot) {
    loop_nest reduction(2);
    reduction.hook = nest.hook;
    nest.sort_by(slot);
    index size = 1;
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        index* const moves = nest.of(loop);
        if (moves[slot] == 0) {
            continue;
        }
        index* const added = reduction.add(nest.extents[loop]);
        added[1] = moves[slot];
        if (!is_one_sided(nest, loop, slot)) {
            added[0] = size;
            moves[slot] = size;
            size *= nest.extents[loop];
        }
    }
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        if (is_one_sided(nest, loop, slot)) {
            nest.remove(loop);
        }
    }
    reduction.fuse();
    reduction.sort_by(0);
    return reduction;
}

EINPARALLEL_INLINE odometer::loop_list sort_axes(const loop_nest& nest, std::size_t a_slot, std::size_t b_slot,
                                                 gemm_axes& axes) {
    odometer::loop_list batch;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const index* const moves = nest.of(loop);
        const index extent = nest.extents[loop];
        if (moves[z_slot] == 0) {
            axes.k.add(extent, moves[a_slot], moves[b_slot]);
        } else if (moves[a_slot] != 0 && moves[b_slot] == 0) {
            axes.m.add(extent, moves[a_slot], moves[z_slot]);
        } else if (moves[b_slot] != 0 && moves[a_slot] == 0) {
            axes.n.add(extent, moves[b_slot], moves[z_slot]);
        } else {
            batch.push_back(loop);
        }
    }
    const auto is_contiguous_in = [&](index gemm_axis::loop::*side) {
        return any_in(axes.k.loops, [&](const gemm_axis::loop& each) { return each.*side == 1; });
    };
    const bool is_as_b = is_contiguous_in(&gemm_axis::loop::second) && !is_contiguous_in(&gemm_axis::loop::first);
    sort_range(axes.k.loops, [&](const gemm_axis::loop& one, const gemm_axis::loop& other) {
        const index first = std::abs(one.first) - std::abs(other.first);
        const index second = std::abs(one.second) - std::abs(other.second);
        return is_as_b ? (second != 0 ? second : first) > 0 : (first != 0 ? first : second) > 0;
    });
    axes.m.move_contiguous(false);
    axes.n.move_contiguous(true);
    return batch;
}

EINPARALLEL_INLINE bool move_rows_inside(const loop_nest& nest, odometer::loop_list& points) {
    auto fewest = points.end();
    bool has_rows[2] = {false, false};
    for (auto loop = points.begin(); loop != points.end(); ++loop) {
        const index* const moves = nest.of(*loop);
        if ((moves[x_slot] == 0) != (moves[y_slot] == 0)) {
            has_rows[moves[x_slot] == 0 ? 1 : 0] = true;
            fewest = fewest == points.end() || nest.extents[*loop] < nest.extents[*fewest] ? loop : fewest;
        }
    }
    if (has_rows[0] && has_rows[1]) {
        std::rotate(fewest, fewest + 1, points.end());
    }
    return has_rows[0] && has_rows[1];
}

EINPARALLEL_INLINE void visit_points(const loop_nest& nest, const odometer::loop_list& loops, index length, index work,
                                     int threads, function_ref<void(const index*, index, index)> visit) {
    const index count = odometer(nest, loops).size() * length;
    const index most = work == 0 ? length : units_between_reports(work);
    on_threads(threads, [&](index share, index shares) {
        const even_share own(count, share, shares);
        odometer point(nest, loops);
        index at[3] = {0, 0, 0};
        point.go_to(own.begin / length, at);
        index first = own.begin % length;
        for (index left = own.end - own.begin; left > 0;) {
            const index together = std::min({length - first, left, most});
            visit(at, first, together);
            report(nest.hook, work * together);
            left -= together;
            first += together;
            if (first == length) {
                first = 0;
                point.advance(at);
            }
        }
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
