#pragma once
// The m/n ring: an operand's pieces travel while the arithmetic goes on (thesis §5.2, algorithm 2).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/steps.ipp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Phases of the ring: one per replica of the travelling operand.
EINPARALLEL_INLINE std::size_t ring_mn_phases(const distribution& resting) {
    return static_cast<std::size_t>(resting.replication());
}

/// In phase t replica i contracts piece (i+t) mod q while it sends that same piece to the previous replica and receives
/// the next one: q contractions and q-1 transfers of one piece. What it holds at rest is read only; of the pieces
/// received two are alive at once.
/// Cut along an output label, every piece writes its own slice of `output`; cut along a contracted one, the first piece
/// that holds a term overwrites and the others add to it. Where no piece holds one (the contracted extent is 0) a call
/// over nothing writes the identity.
EINPARALLEL_INLINE void ring_mn(step_collector& steps, const rank_share& share, std::size_t first,
                                std::size_t travelling, buffer_id output) {
    const distribution& resting = share.work.operands[travelling];
    const replica_ring ring = replica_ring::of(resting, share.rank);
    const std::optional<std::size_t> cut = resting.cut();
    const label_id label = cut ? share.work.form.operands[travelling][*cut] : no_label;
    const bool own_slice = label != no_label && share.work.form.in_output(label);

    bool written = false;
    std::vector<buffer_id> blocks = share.operands;
    for (int turn = 0; turn < ring.size(); ++turn) {
        step& now = steps.at(first + static_cast<std::size_t>(turn));
        const buffer_id held = blocks[travelling];
        const box piece = ring.piece(turn);
        const bool whole_turn = cut ? !piece.sides[*cut].empty() : !piece.nothing;
        if (whole_turn) {
            std::vector<interval> ranges = share.ranges;
            if (label != no_label) {
                ranges[static_cast<std::size_t>(label)] = piece.sides[*cut];
            }
            share.contract(now, blocks, output, std::move(ranges),
                           own_slice || !written ? write_mode::overwrite : write_mode::combine);
            written = true;
        }
        if (turn + 1 < ring.size()) {
            const box next = ring.piece(turn + 1);
            send(now, ring.at(-1), held, piece);
            blocks[travelling] = steps.target().add_buffer(next, share.work.operand_bytes[travelling]);
            receive(now, ring.at(1), blocks[travelling], next);
        }
    }
    if (!written) {
        blocks[travelling] = share.operands[travelling];
        share.contract(steps.at(first), std::move(blocks), output, share.ranges, write_mode::overwrite);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
