#pragma once

#include <einparallel/kernel/visit_points.hpp>

#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/threads.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void visit_points(const loop_nest& nest, const odometer::loop_list& loops, index length, index work,
                                     int threads, point_visitor visitor) {
    const index count = odometer(nest, loops).size() * length;
    const index most = work == 0 ? length : units_between_reports(work);
    on_threads(threads, [&](index part, index parts) {
        const even_part own(count, part, parts);
        odometer point(nest, loops);
        index at[3] = {0, 0, 0};
        point.go_to(own.begin / length, at);
        index first = own.begin % length;
        for (index left = own.end - own.begin; left > 0;) {
            const index together = std::min({length - first, left, most});
            visitor.visit(visitor.context, at, first, together);
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
