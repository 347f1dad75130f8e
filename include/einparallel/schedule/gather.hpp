#pragma once
// All-gather of an operand's pieces over the ranks that compute with the same block.

#include <einparallel/schedule/steps.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::detail {

/// Phases that gathering takes, the same on every rank: q-1 round the ring, ⌈log2 q⌉ along trees where some replicas
/// have no piece, none where nothing is replicated.
template <class Lazy = void>
std::size_t gather_phases(const distribution& resting) {
    const int replicas = resting.replication();
    return every_replica_has_a_piece(resting) ? static_cast<std::size_t>(replicas) - 1 : tree_rounds(replicas);
}

/// In phase t a rank hands the piece that it got last to the previous replica and receives the next one, straight into
/// its place in the block. Every piece but its own reaches a rank once: q-1 messages, (q-1)/q of the block.
template <class Lazy = void>
void gather_round_ring(step_collector<Lazy>& steps, const distribution& resting, int rank, buffer_id piece,
                       buffer_id block) {
    const std::vector<int> group = resting.replicas(rank);
    const int replicas = static_cast<int>(group.size());
    const int self = resting.replica_number(rank);
    const auto member = [&](int number) { return group[static_cast<std::size_t>(number % replicas)]; };
    copy(steps.at(0), block, piece, resting.held_by(rank));
    for (int hop = 0; hop + 1 < replicas; ++hop) {
        step& now = steps.at(static_cast<std::size_t>(hop));
        send(now, member(self + replicas - 1), hop == 0 ? piece : block, resting.held_by(member(self + hop)));
        receive(now, member(self + 1), block, resting.held_by(member(self + hop + 1)));
    }
}

/// Every piece goes down a binomial tree whose root is its owner.
template <class Lazy = void>
void gather_along_trees(step_collector<Lazy>& steps, const distribution& resting, int rank, buffer_id piece,
                        buffer_id block) {
    const std::vector<int> group = resting.replicas(rank);
    const int replicas = static_cast<int>(group.size());
    const int self = resting.replica_number(rank);
    copy(steps.at(0), block, piece, resting.held_by(rank));
    const std::size_t rounds = tree_rounds(replicas);
    for (int owner = 0; owner < replicas; ++owner) {
        const box region = resting.held_by(group[static_cast<std::size_t>(owner)]);
        const int below = (self - owner + replicas) % replicas;  // number in the tree; the owner is 0
        for (std::size_t round = 0; round < rounds && !region.empty(); ++round) {
            const int reach = 1 << (rounds - 1 - round);
            const auto member = [&](int number) {
                return group[static_cast<std::size_t>((number + owner) % replicas)];
            };
            if (below % (2 * reach) == 0 && below + reach < replicas) {
                send(steps.at(round), member(below + reach), below == 0 ? piece : block, region);
            } else if (below % (2 * reach) == reach) {
                receive(steps.at(round), member(below - reach), block, region);
            }
        }
    }
}

/// Appends the gathering of an operand of which this rank has `piece`, starting in phase 0 of `steps`, and returns the
/// buffer with the whole block: `piece` itself where nothing is replicated.
template <class Lazy = void>
buffer_id gather(step_collector<Lazy>& steps, const distribution& resting, int rank, std::size_t element_bytes,
                 buffer_id piece) {
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

}  // namespace einparallel::detail
