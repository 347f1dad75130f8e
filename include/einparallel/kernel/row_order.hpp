#pragma once
// The order in which the loops of a nest are walked row by row.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a nest in the order in which they are walked.
struct row_order {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    std::size_t inner = none;  ///< the row itself; none where the nest has no loop
    std::size_t tiled = none;  ///< a loop of the row's kind walked inside a chunk of the row, for the cache
    small_vector<std::size_t, 12> outer_output;      ///< outermost first
    small_vector<std::size_t, 12> outer_contracted;  ///< outermost first, inside the output's
};

/// @pre the loops of the nest are sorted by the output's stride
EINPARALLEL_INLINE row_order order_rows(const loop_nest& nest);

}  // namespace einparallel::EINPARALLEL_DETAIL
