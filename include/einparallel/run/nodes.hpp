#pragma once
// Where the ranks of a context are: which of them share a node, and a socket of it.

#include <einparallel/cost/machine.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>

#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// By rank: the number of its node, in the order of the nodes' first ranks. Collective.
EINPARALLEL_INLINE std::vector<int> nodes_of(const communicator& ranks);

/// By rank: the number of its socket among all sockets, in the order of nodes and of the sockets' first ranks; equal to
/// its node where the processors on which the ranks of some node may run lie in several sockets, or are not known.
/// Collective.
EINPARALLEL_INLINE std::vector<int> sockets_of(const communicator& ranks, std::span<const int> nodes);

/// Sets the groups of levels: from the numbers of the group of every rank, innermost level first, of which each has
/// several ranks in some group, and a level for all ranks. Sets node_of_rank where ranks do not fill the groups in the
/// order of their numbers. False, and nothing set, where sizes of groups differ in more places than a level lists.
EINPARALLEL_INLINE bool set_groups(machine& of, const std::vector<std::vector<int>>& groups);

/// Sets node_of_rank of a machine with levels for ranks on these nodes, if some level has groups like these nodes and
/// ranks do not fill them in the order of their numbers.
EINPARALLEL_INLINE void find_ranks(machine& of, const std::vector<int>& nodes);

/// True where some level of a machine has the ranks of each node, and of no other node, in a group.
EINPARALLEL_INLINE bool has_nodes(const machine& on, const std::vector<int>& nodes);

/// The rank with which rank `mine` of `ranks` exchanges messages of a level, when the level is measured: of the
/// neighbouring group inside the same group of the level, the one at the same position; on level 0 the neighbour in the
/// group. -1: none. @param all  not only the first rank of each group
EINPARALLEL_INLINE int partner_of(const rank_groups& at, std::size_t level, int mine, int ranks, bool all);

}  // namespace einparallel::EINPARALLEL_DETAIL
