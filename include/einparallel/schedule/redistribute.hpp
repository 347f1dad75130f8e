#pragma once
// From any distribution of a tensor to any other, in one phase.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel {

/// Appends to `of_rank` what `rank` does, in phase `first_phase`, to bring a tensor from one distribution to another.
/// `resting` holds its box of `from`; returns the buffer with its box of `to`, which is `resting` itself, without a
/// copy, where the box is the same on this rank. Messages go straight from who has to who wants, one per pair of ranks
/// whose boxes meet: no element is sent that is not wanted. What stays is copied locally. A scatter from a root is the
/// same thing, from held_by_one().
EINPARALLEL_INLINE buffer_id schedule_redistribution(program& of_rank, const distribution& from, const distribution& to,
                                                     int rank, buffer_id resting, std::size_t first_phase);

/// The same for what a rank reads at functions of labels, boxes that may overlap. What it has stays where it is; what
/// it lacks, the halo, arrives in buffers beside that. Returns a buffer that joins these, or the only one.
EINPARALLEL_INLINE buffer_id schedule_halo(program& of_rank, const distribution& from, const distribution& to, int rank,
                                           buffer_id resting, std::size_t first_phase);

}  // namespace einparallel
