#pragma once
// All-gather of an operand's pieces over the ranks that compute with the same block.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/steps.ipp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Phases that gathering takes, the same on every rank: q-1 round the ring, ⌈log2 q⌉ along trees where some replicas
/// have no piece, none where nothing is replicated.
EINPARALLEL_INLINE std::size_t gather_phases(const distribution& resting) {
    const int replicas = resting.replication();
    return every_replica_has_a_piece(resting) ? static_cast<std::size_t>(replicas) - 1 : tree_rounds(replicas);
}

/// In phase t a rank hands the piece that it got last to the previous replica and receives the next one, straight into
/// its place in the block. Every piece but its own reaches a rank once: q-1 messages, (q-1)/q of the block.
EINPARALLEL_INLINE void gather_round_ring(step_collector& steps, const distribution& resting, int rank, buffer_id piece,
                                          buffer_id block) {
    const replica_ring ring = replica_ring::of(resting, rank);
    copy(steps.at(0), block, piece, ring.piece(0));
    for (int hop = 0; hop + 1 < ring.size(); ++hop) {
        step& now = steps.at(static_cast<std::size_t>(hop));
        send(now, ring.at(-1), hop == 0 ? piece : block, ring.piece(hop));
        receive(now, ring.at(1), block, ring.piece(hop + 1));
    }
}

/// Every piece goes down a binomial tree whose root is its owner.
EINPARALLEL_INLINE void gather_along_trees(step_collector& steps, const distribution& resting, int rank,
                                           buffer_id piece, buffer_id block) {
    const replica_ring ring = replica_ring::of(resting, rank);
    copy(steps.at(0), block, piece, ring.piece(0));
    for_each_tree_edge(ring, [&](const box& region, bool own, std::size_t level, int peer, bool below) {
        step& now = steps.at(tree_rounds(ring.size()) - 1 - level);
        if (below) {
            send(now, peer, own ? piece : block, region);
        } else {
            receive(now, peer, block, region);
        }
    });
}

/// Appends the gathering of an operand of which this rank has `piece`, starting in phase 0 of `steps`, and returns the
/// buffer with the whole block: `piece` itself where nothing is replicated.
EINPARALLEL_INLINE buffer_id gather(step_collector& steps, const distribution& resting, int rank,
                                    std::size_t element_bytes, buffer_id piece) {
    if (resting.replication() == 1) {
        return piece;
    }
    const buffer_id block = steps.target().add_buffer(resting.block_of_rank(rank), element_bytes);
    if (every_replica_has_a_piece(resting)) {
        gather_round_ring(steps, resting, rank, piece, block);
    } else {
        gather_along_trees(steps, resting, rank, piece, block);
    }
    return block;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
