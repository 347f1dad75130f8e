#pragma once
// From any distribution of a tensor to any other, in one phase.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel {

/// Appends to `of_rank` the step of `rank`, in phase `first_phase`, that brings a tensor from one distribution to
/// another. `resting` holds the rank's box of `from`. Returns the buffer with its box of `to`; this is `resting`
/// itself, without a copy, where both boxes are equal. One message goes directly from owner to reader for each pair of
/// ranks whose boxes meet, and it has only elements that the reader needs. Elements that stay on the rank are copied
/// locally. A scatter from a root is a redistribution from held_by_one().
EINPARALLEL_INLINE buffer_id schedule_redistribution(program& of_rank, const distribution& from, const distribution& to,
                                                     int rank, buffer_id resting, std::size_t first_phase);

/// Like schedule_redistribution(), for a tensor that ranks read at functions of labels, in boxes that may overlap.
/// Elements that the rank has stay in `resting`; the halo, which it lacks, is received into extra buffers. Returns a
/// buffer that joins all these buffers, or the only one of them.
EINPARALLEL_INLINE buffer_id schedule_halo(program& of_rank, const distribution& from, const distribution& to, int rank,
                                           buffer_id resting, std::size_t first_phase);

}  // namespace einparallel
