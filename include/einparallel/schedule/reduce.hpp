#pragma once
// Reduce-scatter of a block that every replica has computed a summand of: the accumulate variant of the k algorithm
// (thesis §5.3, last remark), and what follows an m/n ring whose output is Partial as well.

#include <einparallel/schedule/steps.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::detail {

/// Phases that the reduction takes, the same on every rank: q pairwise (q-1 transfers, the last ⊕ after them),
/// 2⌈log2 q⌉ along trees (transfer and ⊕ take turns), none where the output is not Partial.
template <class Lazy = void>
std::size_t reduce_phases(const distribution& resting) {
    const int replicas = resting.replication();
    if (replicas == 1) {
        return 0;
    }
    return every_replica_has_a_piece(resting) ? static_cast<std::size_t>(replicas) : 2 * tree_rounds(replicas);
}

/// In phase t replica i sends the chunk of replica i-1-t straight to it and receives its own from replica i+1+t, while
/// it adds the one that came before: q-1 messages, (q-1)/q of the block, two chunks beside block and output. Summands
/// are combined in replica order beginning with the owner's, so the result is the same in every run.
template <class Lazy = void>
void reduce_pairwise(step_collector<Lazy>& steps, const rank_share<Lazy>& share, std::size_t first, buffer_id block,
                     buffer_id output) {
    const distribution& resting = share.work.output;
    const std::vector<int> group = resting.replicas(share.rank);
    const int replicas = static_cast<int>(group.size());
    const int self = resting.replica_number(share.rank);
    const auto member = [&](int number) { return group[static_cast<std::size_t>(number % replicas)]; };
    const box own = resting.held_by(share.rank);
    copy(steps.at(first), output, block, own);
    for (int turn = 1; turn < replicas; ++turn) {
        step& now = steps.at(first + static_cast<std::size_t>(turn) - 1);
        const int owner = member(self + replicas - turn);
        send(now, owner, block, resting.held_by(owner));
        const buffer_id summand = steps.target().add_buffer(own, share.work.output_bytes);
        receive(now, member(self + turn), summand, own);
        combine(steps.at(first + static_cast<std::size_t>(turn)), share.vertex, output, summand, own);
    }
}

/// Every chunk comes up a binomial tree to its owner; ranks on the way combine in their block.
template <class Lazy = void>
void reduce_along_trees(step_collector<Lazy>& steps, const rank_share<Lazy>& share, std::size_t first, buffer_id block,
                        buffer_id output) {
    const distribution& resting = share.work.output;
    const std::vector<int> group = resting.replicas(share.rank);
    const int replicas = static_cast<int>(group.size());
    const int self = resting.replica_number(share.rank);
    for (int owner = 0; owner < replicas; ++owner) {
        const box region = resting.held_by(group[static_cast<std::size_t>(owner)]);
        const int above = (self - owner + replicas) % replicas;  // number in the tree; the owner is 0
        const auto member = [&](int number) { return group[static_cast<std::size_t>((number + owner) % replicas)]; };
        const buffer_id sum = above == 0 ? output : block;
        if (above == 0) {
            copy(steps.at(first), output, block, region);
        }
        for (std::size_t round = 0; round < tree_rounds(replicas) && !region.empty(); ++round) {
            const int reach = 1 << round;
            const std::size_t phase = first + 2 * round;
            if (above % (2 * reach) == 0 && above + reach < replicas) {
                const buffer_id summand = steps.target().add_buffer(region, share.work.output_bytes);
                receive(steps.at(phase), member(above + reach), summand, region);
                combine(steps.at(phase + 1), share.vertex, sum, summand, region);
            } else if (above % (2 * reach) == reach) {
                send(steps.at(phase), member(above - reach), block, region);
            }
        }
    }
}

/// Appends the reduction of `block`, complete before phase `first`, into the rank's own piece `output`.
template <class Lazy = void>
void reduce(step_collector<Lazy>& steps, const rank_share<Lazy>& share, std::size_t first, buffer_id block,
            buffer_id output) {
    if (every_replica_has_a_piece(share.work.output)) {
        reduce_pairwise(steps, share, first, block, output);
    } else {
        reduce_along_trees(steps, share, first, block, output);
    }
}

}  // namespace einparallel::detail
