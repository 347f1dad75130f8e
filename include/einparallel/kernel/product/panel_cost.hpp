#pragma once
// What products cut into panels cost, in nanoseconds on one thread, without what every way reads and writes once.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/panel_plan.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

inline constexpr double last_cache_bytes = 24e6;  ///< bytes of the last cache that a thread can count on

/// What all panels of a plan wait for cache lines: those fetched for a part of their elements, and again.
EINPARALLEL_INLINE double line_nanoseconds(const loop_nest& nest, const panel_plan& plan, element_type type,
                                           const element_type (&operands)[2]);

/// All of it: lines, copies and products. From `most` on, the result may be too low. The constants are fitted to
/// measured plans, 1719 of drawn products; the error of the logarithm is .34.
EINPARALLEL_INLINE double panel_nanoseconds(const loop_nest& nest, const panel_plan& plan, element_type type,
                                            const element_type (&operands)[2], double most);

/// Nanoseconds of vector_tile: for a tile, for each of its steps, and for a multiply-add of a vector in a step.
struct tile_nanoseconds {
    double tile = 2.4;
    double step = 0.36;
    double multiply_add;

    explicit tile_nanoseconds(element_type type)
        : multiply_add(0.27 * (type.kind == 'f' || type.kind == 'c' ? 1
                               : type.bytes == 4                    ? 1.2
                                                                    : 3)) {}
};

}  // namespace einparallel::EINPARALLEL_DETAIL
