#pragma once
// Messages of strided boxes, packed into extra buffers where that is cheaper than an MPI datatype.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel {

/// Which messages a rank packs itself. It packs a message that is not contiguous and has at least `least_bytes` bytes:
/// always in a step that computes while the message travels, in other steps only if contiguous runs of the message are
/// shorter than `shortest_run` bytes. Reasons, measured with MPICH 4.0: one poll moves 64 KiB of a datatype, so with
/// polls every 200 us a message of 1 MiB in two runs takes 3 ms, packed 0.55 ms. A rank that only polls exchanges 8 MB
/// in runs of 32 bytes in 16 ms, packed 8 ms; in runs of 256 bytes datatypes are as fast.
struct packing_rule {
    std::size_t shortest_run = 256;
    std::size_t least_bytes = std::size_t{64} << 10;
};

/// Gives each message that `rule` selects a packed buffer. An extra step before the message copies the elements to be
/// sent; an extra step after it copies the received elements. Messages keep their elements, so each rank may select
/// on its own. But every phase becomes three phases: call this for the programs of all ranks, or of none.
EINPARALLEL_INLINE void pack_strided(program& of_rank, const packing_rule& rule = {});

}  // namespace einparallel
