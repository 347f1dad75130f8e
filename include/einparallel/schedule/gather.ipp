#pragma once
// All-gather of an operand's pieces over the ranks that compute with the same block; reduce-scatter of a block that
// each of its replicas has computed a summand of: the accumulate variant of the k algorithm (thesis §5.3, last remark),
// and what follows an m/n ring whose output is Partial as well.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/steps.ipp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Appends the gathering of an operand of which this rank has `piece`, starting in phase 0 of `steps`, and returns the
/// buffer with the whole block: `piece` itself where nothing is replicated. Every piece but its own reaches a rank
/// once: (q-1)/q of the block.
/// - Where every replica has a piece: q-1 phases. In phase t a rank hands the piece that it got last to the previous
///   replica and receives the next one, straight into its place in the block.
/// - Else every piece goes down a binomial tree whose root is its owner: ⌈log2 q⌉ phases.
EINPARALLEL_INLINE buffer_id gather(step_collector& steps, const distribution& resting, int rank,
                                    std::size_t element_bytes, buffer_id piece) {
    if (resting.replication() == 1) {
        return piece;
    }
    const buffer_id block = steps.target().add_buffer(resting.block_of_rank(rank), element_bytes);
    const replica_ring ring = replica_ring::of(resting, rank);
    steps.at(0).move(block, piece, ring.piece(0));
    if (every_replica_has_a_piece(resting)) {
        for (int hop = 0; hop + 1 < ring.size(); ++hop) {
            step& now = steps.at(static_cast<std::size_t>(hop));
            now.send(ring.at(-1), hop == 0 ? piece : block, ring.piece(hop));
            now.receive(ring.at(1), block, ring.piece(hop + 1));
        }
        return block;
    }
    for_each_tree_edge(ring, [&](const box& region, bool own, std::size_t level, int peer, bool below) {
        step& now = steps.at(tree_rounds(ring.size()) - 1 - level);
        if (below) {
            now.send(peer, own ? piece : block, region);
        } else {
            now.receive(peer, block, region);
        }
    });
    return block;
}

/// Appends the reduction of `block`, complete when all is computed, into the rank's own piece `output`.
/// - Where every replica has a piece: q phases, q-1 transfers, the last ⊕ after them. In phase t replica i sends the
///   chunk of replica i-1-t straight to it and receives its own from replica i+1+t, while it adds the one that came
///   before: q-1 messages, (q-1)/q of the block, two chunks beside block and output. Summands are combined in replica
///   order beginning with the owner's, so the result is the same in every run.
/// - Else every chunk comes up a binomial tree to its owner; ranks on the way combine in their block. Transfer and ⊕
///   take turns.
EINPARALLEL_INLINE void reduce(step_collector& steps, const rank_share& share, buffer_id block, buffer_id output) {
    const replica_ring ring = replica_ring::of(share.work.output, share.rank);
    const box own = ring.piece(0);
    steps.at(reduce_phase).move(output, block, own);
    // What `peer` has of a region is added to this rank's in the phase behind.
    const auto add_from = [&](int peer, const box& region, std::size_t phase, buffer_id to) {
        const buffer_id summand = steps.target().add_buffer(region, share.work.output_bytes);
        steps.at(phase).receive(peer, summand, region);
        steps.at(phase + 1).move(to, summand, region, share.vertex);
    };
    if (every_replica_has_a_piece(share.work.output)) {
        for (int turn = 1; turn < ring.size(); ++turn) {
            const std::size_t phase = reduce_phase + static_cast<std::size_t>(turn) - 1;
            steps.at(phase).send(ring.at(-turn), block, ring.piece(-turn));
            add_from(ring.at(turn), own, phase, output);
        }
        return;
    }
    for_each_tree_edge(ring, [&](const box& region, bool is_own, std::size_t level, int peer, bool below) {
        const std::size_t phase = reduce_phase + 2 * level;
        if (below) {
            add_from(peer, region, phase, is_own ? output : block);
        } else {
            steps.at(phase).send(peer, block, region);
        }
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
