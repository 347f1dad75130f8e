#pragma once
// The sink to which a schedule is written. Each algorithm is written once, as a template over a sink: a recorder
// (recorder.ipp) turns it into a rank's program, a counter (cost/traffic.ipp) into the seconds of the rank with the
// largest share.
//
//     ring(distribution, bytes)          the sharers of a block, seen from one of them: size(), at(distance), piece(
//                                        distance), half(distance, number), block(), is_flat()
//     go_round(phase, ring, way, body)   body(step, hop) for every hop with which all pieces go round, stage by stage
//     add(region, bytes), add_half(…)    a buffer for a region
//     block(operand)                     the buffer in which calls find an operand
//     calls_along(label, calls)          tells that the vertex is computed in `calls` calls along a label
//     repeat(phase, first, end, body)    body(step, turn) for every turn, in phase + turn. Turns are alike: a counter
//                                        looks at the first one and multiplies, so that a ring of 65,536 ranks takes no
//                                        longer to count than one of two
//     contract(step, labels, region, output, mode)   a call on those of the rank's ranges that have this region of a
//                                        tensor with these labels
//     behind(step)                       the step of the phase behind
//     rounds(ring), for_each_tree_edge(…), for_each_worker(…)      by their names
//     last_row(ring, distance), share(), take_last(…), add_terms(…)    of running sums: the last row of a block of the
//                                        output, all of it, and calls that copy the one and add it to others
//
// Steps have send(), receive() and move(). A recorder's regions are boxes, a counter's are numbers of elements.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel {

/// Distance from the first phase of a vertex or a gathering to the first phase of the next one. It is larger than any
/// number of phases that one of them takes, so nobody has to count these.
inline constexpr std::size_t phases_apart = std::size_t{1} << 34;

namespace EINPARALLEL_DETAIL {

/// The phases of a vertex's schedule in which computing and reducing begin. Gathering begins in phase 0.
inline constexpr std::size_t compute_phase = phases_apart / 4;
inline constexpr std::size_t reduce_phase = 2 * compute_phase;

/// Rounds of a binomial tree over `ranks` ranks: ⌈log2 ranks⌉.
EINPARALLEL_INLINE std::size_t tree_rounds(int ranks);

/// The ways in which pieces go round a ring: from their owners to all ranks, or as sums from all ranks to their owners.
enum class ring_way : std::uint8_t { gathers, reduces };

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
