#pragma once
// The points of a batch, shared among the threads.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/box.hpp>

namespace einparallel::detail {

/// What is done at a point of a batch.
struct point_visitor {
    const void* context;
    void (*visit)(const void* context, const index* offsets);
};

/// Calls the visitor with the offsets of every point, shared among the threads. Compiled once for all visitors.
inline void visit_points(const loop_nest& nest, const odometer::loop_list& batch, int threads, point_visitor visitor) {
    const index count = odometer(nest, batch).size();
    on_threads(threads, [&](index part, index parts) {
        const even_part own(count, part, parts);
        odometer point(nest, batch);
        index at[3] = {0, 0, 0};
        point.go_to(own.begin, at);
        for (index number = own.begin; number < own.end; ++number) {
            visitor.visit(visitor.context, at);
            point.advance(at);
        }
    });
}

/// Calls visit(offsets) with the offsets of every point, one for each slot of the nest.
template <class Visit>
void for_each_point(const loop_nest& nest, const odometer::loop_list& batch, int threads, const Visit& visit) {
    visit_points(nest, batch, threads,
                 {&visit, [](const void* visitor, const index* at) { (*static_cast<const Visit*>(visitor))(at); }});
}

}  // namespace einparallel::detail
