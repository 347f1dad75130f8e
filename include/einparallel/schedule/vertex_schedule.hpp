#pragma once
// The schedule of one vertex: gather what does not travel, contract while something travels, reduce what is still
// partial (DESIGN §7).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel {

/// Phases from the first one of a vertex or a gathering to the first one of what follows it: nobody counts how many lie
/// between.
inline constexpr std::size_t phases_apart = std::size_t{1} << 34;

namespace EINPARALLEL_DETAIL {

/// Where the parts of a vertex's schedule begin, the first of them, gathering, in phase 0.
inline constexpr std::size_t compute_phase = phases_apart / 4;
inline constexpr std::size_t reduce_phase = 2 * compute_phase;

/// True where the output's chunks really go round: they are asked to, and there are enough of them.
EINPARALLEL_INLINE bool runs_k_ring(const task& work);

/// Output pieces that a k ring takes of a rank's memory: the piece and three halves, two of which lie in it where they
/// are contiguous there.
EINPARALLEL_INLINE double pieces_of_k_ring(const task& work);

/// The operands that could go round together: at least two that several ranks share, cut along one label with a slice
/// for every sharer; none where there are no two.
EINPARALLEL_INLINE std::vector<std::size_t> double_ring_operands(const task& work);

/// The operands that go round: none, one in a ring, or several in a double ring.
EINPARALLEL_INLINE std::vector<std::size_t> travelling_operands(const task& work);

/// Rounds of a binomial tree over `ranks` ranks: ⌈log2 ranks⌉.
EINPARALLEL_INLINE std::size_t tree_rounds(int ranks);

/// True where every replica of a block has a piece of it that may hold something. Otherwise (rank 0, fewer slices than
/// replicas) the few pieces go along trees instead of from neighbour to neighbour: fewer phases, the same bytes.
/// Decided by the largest block, hence alike on every rank.
EINPARALLEL_INLINE bool every_replica_has_a_piece(const distribution& resting);

}  // namespace EINPARALLEL_DETAIL

/// Appends to `of_rank` the gathering of a tensor of which the rank has `piece`, from first_phase on; returns the
/// buffer with its whole block, which task::held means.
EINPARALLEL_INLINE buffer_id schedule_gathering(program& of_rank, const distribution& resting, int rank,
                                                buffer_id piece, std::size_t first_phase);

/// Appends to `of_rank` what `rank` does for a task, from first_phase on.
/// `operands[r]` is the buffer that holds the rank's resting piece of operand r, in work.operands[r], or its whole
/// block where the task holds it; it is read only. Returns the buffer that holds the rank's resting piece of the output
/// when these phases are done. Ranks beyond the mesh do nothing and get an empty buffer. Messages: operands that do not
/// travel are all-gathered at the same time; then a piece of each travelling tensor per phase; then, where the output
/// is Partial and did not travel, the reduce-scatter. A tensor whose block q ranks share costs each of them (q-1)/q of
/// the block whichever way it moves.
EINPARALLEL_INLINE buffer_id schedule_vertex(program& of_rank, std::size_t vertex, const task& work, int rank,
                                             std::span<const buffer_id> operands, std::size_t first_phase);

}  // namespace einparallel
