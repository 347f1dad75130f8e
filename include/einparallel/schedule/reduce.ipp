#pragma once
// Reduce-scatter of a block that every replica has computed a summand of: the accumulate variant of the k algorithm
// (thesis §5.3, last remark), and what follows an m/n ring whose output is Partial as well.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/steps.ipp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Phases that the reduction takes, the same on every rank: q pairwise (q-1 transfers, the last ⊕ after them),
/// 2⌈log2 q⌉ along trees (transfer and ⊕ take turns), none where the output is not Partial.
EINPARALLEL_INLINE std::size_t reduce_phases(const distribution& resting) {
    const int replicas = resting.replication();
    if (replicas == 1) {
        return 0;
    }
    return every_replica_has_a_piece(resting) ? static_cast<std::size_t>(replicas) : 2 * tree_rounds(replicas);
}

/// In phase t replica i sends the chunk of replica i-1-t straight to it and receives its own from replica i+1+t, while
/// it adds the one that came before: q-1 messages, (q-1)/q of the block, two chunks beside block and output. Summands
/// are combined in replica order beginning with the owner's, so the result is the same in every run.
EINPARALLEL_INLINE void reduce_pairwise(step_collector& steps, const rank_share& share, std::size_t first,
                                        buffer_id block, buffer_id output) {
    const replica_ring ring = replica_ring::of(share.work.output, share.rank);
    const box own = ring.piece(0);
    copy(steps.at(first), output, block, own);
    for (int turn = 1; turn < ring.size(); ++turn) {
        step& now = steps.at(first + static_cast<std::size_t>(turn) - 1);
        send(now, ring.at(-turn), block, ring.piece(-turn));
        const buffer_id summand = steps.target().add_buffer(own, share.work.output_bytes);
        receive(now, ring.at(turn), summand, own);
        combine(steps.at(first + static_cast<std::size_t>(turn)), share.vertex, output, summand, own);
    }
}

/// Every chunk comes up a binomial tree to its owner; ranks on the way combine in their block.
EINPARALLEL_INLINE void reduce_along_trees(step_collector& steps, const rank_share& share, std::size_t first,
                                           buffer_id block, buffer_id output) {
    const replica_ring ring = replica_ring::of(share.work.output, share.rank);
    copy(steps.at(first), output, block, ring.piece(0));
    for_each_tree_edge(ring, [&](const box& region, bool own, std::size_t level, int peer, bool below) {
        const std::size_t phase = first + 2 * level;
        if (below) {
            const buffer_id summand = steps.target().add_buffer(region, share.work.output_bytes);
            receive(steps.at(phase), peer, summand, region);
            combine(steps.at(phase + 1), share.vertex, own ? output : block, summand, region);
        } else {
            send(steps.at(phase), peer, block, region);
        }
    });
}

/// Appends the reduction of `block`, complete before phase `first`, into the rank's own piece `output`.
EINPARALLEL_INLINE void reduce(step_collector& steps, const rank_share& share, std::size_t first, buffer_id block,
                               buffer_id output) {
    if (every_replica_has_a_piece(share.work.output)) {
        reduce_pairwise(steps, share, first, block, output);
    } else {
        reduce_along_trees(steps, share, first, block, output);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
