#pragma once
// The points of a batch, shared among the threads.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// What is done at some points of a batch, `count` of them from point `first` on of a stretch that begins at the
/// offsets.
struct point_visitor {
    const void* context;
    void (*visit)(const void* context, const index* offsets, index first, index count);
};

/// Calls the visitor for the stretches of `length` points at every point of the loops, all points shared among the
/// threads. Compiled once for all visitors. A visit is reported to the nest's hook as `work` points of the iteration
/// space for each of its own; 0: the visitor reports.
EINPARALLEL_INLINE void visit_points(const loop_nest& nest, const odometer::loop_list& loops, index length, index work,
                                     int threads, point_visitor visitor);

/// Calls visit(offsets) with the offsets of every point, one for each slot of the nest. The visitor reports to the
/// nest's hook.
template <class Visit>
void for_each_point(const loop_nest& nest, const odometer::loop_list& batch, int threads, const Visit& visit) {
    visit_points(nest, batch, 1, 0, threads, {&visit, [](const void* visitor, const index* at, index, index) {
                                                  (*static_cast<const Visit*>(visitor))(at);
                                              }});
}

/// Calls visit(offsets, first, count) for stretches along the last loop of the batch: `offsets` are those of its first
/// point. `work`: points of the iteration space at each.
template <class Visit>
void for_each_stretch(const loop_nest& nest, odometer::loop_list batch, index work, int threads, const Visit& visit) {
    index length = 1;
    if (!batch.empty()) {
        length = nest.extents[batch.back()];
        batch.resize(batch.size() - 1);
    }
    visit_points(nest, batch, length, work, threads,
                 {&visit, [](const void* visitor, const index* at, index first, index count) {
                      (*static_cast<const Visit*>(visitor))(at, first, count);
                  }});
}

}  // namespace einparallel::EINPARALLEL_DETAIL
