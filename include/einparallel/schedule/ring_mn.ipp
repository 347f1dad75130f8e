#pragma once
// The m/n ring: an operand's pieces travel while the arithmetic goes on (thesis §5.2, algorithm 2).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/steps.ipp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// In phase t replica i contracts piece (i+t) mod q while it sends that same piece to the previous replica and receives
/// the next one: q phases, q contractions and q-1 transfers of one piece. What it holds at rest is read only; of the
/// pieces received two are alive at once.
EINPARALLEL_INLINE void ring_mn(step_collector& steps, const rank_share& share, std::size_t travelling,
                                buffer_id output) {
    const distribution& resting = share.work.operands[travelling];
    const replica_ring ring = replica_ring::of(resting, share.rank);
    const std::optional<std::size_t> cut = resting.cut();
    slice_writer writer{share, cut ? share.work.form.operands[travelling][*cut] : no_label, output};
    std::vector<buffer_id> blocks = share.operands;
    for (int turn = 0; turn < ring.size(); ++turn) {
        step& now = steps.at(compute_phase + static_cast<std::size_t>(turn));
        const buffer_id held = blocks[travelling];
        const box piece = ring.piece(turn);
        writer.contract(now, blocks, cut ? piece.sides[*cut] : interval{0, piece.nothing ? 0 : 1});
        if (turn + 1 < ring.size()) {
            const box next = ring.piece(turn + 1);
            now.send(ring.at(-1), held, piece);
            blocks[travelling] = steps.target().add_buffer(next, share.work.operand_bytes[travelling]);
            now.receive(ring.at(1), blocks[travelling], next);
        }
    }
    writer.finish(steps.at(compute_phase), share.operands);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
