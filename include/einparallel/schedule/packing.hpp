#pragma once
// Messages of strided boxes, packed into buffers of their own where that is cheaper than a datatype.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel {

/// Which messages a rank packs itself: those of `least_bytes` at least that are not contiguous, where the rank computes
/// while they travel; elsewhere those in runs shorter than `shortest_run` bytes. MPICH 4.0 moves 64 KiB of a datatype
/// in one poll, so that 1 MiB in two runs takes 3 ms of polls every 200 us, and .55 packed; where nothing but polling
/// is done it moves 8 MB in runs of 32 bytes both ways in 16 ms, packed 8, and in runs of 256 bytes its datatypes are
/// as fast.
struct packing_rule {
    std::size_t shortest_run = 256;
    std::size_t least_bytes = std::size_t{64} << 10;
};

/// Gives the messages of a program that the rule names buffers of their own: a step before copies what is sent, one
/// behind what has arrived. Which messages these are is each rank's own affair, their elements and bytes stay the same;
/// but phases are counted anew, three for one, so all ranks' programs are treated or none.
EINPARALLEL_INLINE void pack_strided(program& of_rank, const packing_rule& rule = {});

}  // namespace einparallel
