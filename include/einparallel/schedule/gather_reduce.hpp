#pragma once
// All-gather of an operand's pieces over the ranks that compute with the same block. Reduce-scatter of a block of which
// each replica has computed a summand: the accumulate variant of the k algorithm (thesis §5.3, last remark), also used
// after an m/n ring whose output is Partial. Exchange of running sums between ranks.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/sink.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes the all-gather of an operand, from phase 0 on; `piece` is the rank's own piece. Returns the buffer with the
/// whole block, which is `piece` itself where the block is not replicated. Each of the q replicas receives every other
/// piece once: (q-1)/q of the block.
/// - Where every replica has a piece: a ring of q-1 phases. In phase t a rank sends the piece that it got last to the
///   previous replica and receives the next piece directly into its place in the block. Over several levels of the
///   machine a piece enters each group once and goes round inside (sink.hpp, go_round).
/// - Otherwise every piece goes down a binomial tree whose root is its owner: ⌈log2 q⌉ phases, or as many for each
/// level
///   with its own number of groups.
buffer_id gather(auto& sink, const distribution& resting, std::size_t element_bytes, buffer_id piece) {
    if (resting.replication() == 1) {
        return piece;
    }
    const auto ring = sink.ring(resting, element_bytes);
    const buffer_id block = sink.add(ring.block(), element_bytes);
    sink.repeat(0, 0, 1, [&](auto& now, int) { now.move(block, piece, ring.piece(0)); });
    if (fills_ring(resting, 1)) {
        sink.go_round(0, ring, ring_way::gathers, [&](auto& now, const auto& hop) {
            now.send(hop.before, hop.is_own ? piece : block, hop.passed);
            now.receive(hop.behind, block, hop.next);
        });
        return block;
    }
    const std::size_t last_round = sink.rounds(ring) - 1;
    const auto phase_of = [&](std::size_t round) { return last_round - round; };
    sink.for_each_tree_edge(ring, phase_of, [&](auto& now, const auto& region, bool own, auto peer, bool below) {
        if (below) {
            now.send(peer, own ? piece : block, region);
        } else {
            now.receive(peer, block, region);
        }
    });
    return block;
}

/// Writes the reduce-scatter of `block`, the rank's summand, into `output`, the rank's own piece. It starts when all of
/// the block is computed.
/// - Where every replica has a piece and all are equally far from each other: q phases. In phase t replica i sends the
///   piece of replica i-1-t directly to its owner, receives a summand of its own piece from replica i+1+t, and adds the
///   summand that came in the phase before. This takes q-1 messages, (q-1)/q of the block in all, and two pieces of
///   memory besides block and output. Summands are combined in replica order, the owner's first, so the result is the
///   same in every run.
/// - Where every replica has a piece, over several levels of the machine: the messages of the gather, backwards. A rank
///   adds the sum that it receives to its own summand, in the next phase, and passes it on. So one sum of each piece
///   leaves each group.
/// - Otherwise every piece goes up a binomial tree to its owner. Ranks on the way combine summands in their block.
///   Phases that transfer and phases that combine alternate.
void reduce(auto& sink, const task& work, buffer_id block, buffer_id output) {
    const auto ring = sink.ring(work.output, work.output_bytes);
    sink.repeat(reduce_phase, 0, 1, [&](auto& now, int) { now.move(output, block, ring.piece(0)); });
    // Receives the summand that `peer` has of a region; the next phase adds it to buffer `to`.
    const auto add_from = [&](auto& now, auto peer, const auto& region, buffer_id to) {
        const buffer_id summand = sink.add(region, work.output_bytes);
        now.receive(peer, summand, region);
        sink.behind(now).move(to, summand, region, sink.vertex());
    };
    if (fills_ring(work.output, 1) && ring.is_flat()) {
        sink.repeat(reduce_phase, 0, ring.size() - 1, [&](auto& now, int turn) {
            now.send(ring.at(-1 - turn), block, ring.piece(-1 - turn));
            add_from(now, ring.at(1 + turn), ring.piece(0), output);
        });
        return;
    }
    if (fills_ring(work.output, 1)) {
        sink.go_round(reduce_phase, ring, ring_way::reduces, [&](auto& now, const auto& hop) {
            now.send(hop.behind, block, hop.next);
            add_from(now, hop.before, hop.passed, hop.is_own ? output : block);
        });
        return;
    }
    const auto phase_of = [](std::size_t round) { return reduce_phase + 2 * round; };
    sink.for_each_tree_edge(ring, phase_of, [&](auto& now, const auto& region, bool own, auto peer, bool below) {
        if (below) {
            add_from(now, peer, region, own ? output : block);
        } else {
            now.send(peer, block, region);
        }
    });
}

/// Distribution of one row of the output (extent 1 along the label of the running sums). All ranks along that label
/// share the row, in the order of their blocks.
EINPARALLEL_INLINE distribution row_of_sums(const task& work);

/// Writes the exchange of running sums between q ranks. Before it, `block` has the sums over the rank's own terms;
/// after it, over the terms of all earlier ranks as well. In round r a rank sends the sum over the last 2^r blocks, up
/// to its own, to the rank 2^r positions further, and adds the sum that it receives: ⌈log2 q⌉ rounds, each with a
/// message of one row of the block.
void hand_on(auto& sink, const task& work, buffer_id block) {
    const distribution shared = row_of_sums(work);
    const auto ranks = sink.row_of_ranks(shared, work.output_bytes);
    if (ranks.size() == 1) {
        return;
    }
    const auto row = [&](int distance) { return sink.last_row(ranks, distance); };
    const buffer_id total = sink.add(row(0), work.output_bytes);
    sink.repeat(reduce_phase, 0, 1, [&](auto& now, int) { sink.take_last(now, total, block); });
    buffer_id before = no_buffer;
    std::size_t phase = reduce_phase + 1;
    for (int reach = 1; reach < ranks.size(); reach *= 2, phase += 2) {
        sink.repeat(phase, 0, 1, [&](auto& now, int) {
            if (ranks.has(reach)) {
                now.send(ranks.at(reach), total, row(0));
            }
            if (ranks.has(-reach)) {
                const buffer_id summand = sink.add(row(-reach), work.output_bytes);
                now.receive(ranks.at(-reach), summand, row(-reach));
                auto& next = sink.behind(now);
                sink.add_terms(next, summand, total, row(0));
                if (reach == 1) {
                    before = summand;
                } else {
                    sink.add_terms(next, summand, before, row(-1));
                }
            }
        });
    }
    sink.repeat(phase, 0, 1, [&](auto& now, int) {
        if (ranks.has(-1)) {
            sink.add_terms(now, before, block, sink.share());
        }
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
