#pragma once
// The m/n ring: the pieces of an operand travel while the arithmetic goes on (thesis §5.2, algorithm 2).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/sink.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes the m/n ring. In phase t replica i contracts piece (i+t) mod q while it sends that same piece to the previous
/// rank of the ring and receives the next one: q phases, q contractions and q-1 transfers of one piece. The rank's
/// resting piece is only read; two received pieces are alive at once. Where the pieces are cut along a label of the
/// output, each gives a slice of the output. Otherwise the first one overwrites the output (with the neutral element,
/// if the piece is empty) and the others are combined with it.
void ring_mn(auto& sink, const task& work, std::size_t travelling, buffer_id output) {
    const distribution& resting = work.operands[travelling];
    const auto ring = sink.ring(resting, work.operand_bytes[travelling]);
    const std::vector<label_id>& labels = work.form.operands[travelling];
    const label_id label = labels[*resting.cut()];
    const bool own_slices = work.form.in_output(label);
    sink.calls_along(label, ring.size());
    const auto turn_round = [&](auto& now, int turn) {
        const buffer_id held = sink.block(travelling);
        sink.contract(now, labels, ring.piece(turn), output,
                      own_slices || turn == 0 ? write_mode::overwrite : write_mode::combine);
        if (turn + 1 < ring.size()) {
            const buffer_id next = sink.add(ring.piece(turn + 1), work.operand_bytes[travelling]);
            now.send(ring.at(-1), held, ring.piece(turn));
            now.receive(ring.at(1), next, ring.piece(turn + 1));
            sink.block(travelling) = next;
        }
    };
    sink.repeat(compute_phase, 0, ring.size() - 1, turn_round);
    sink.repeat(compute_phase, ring.size() - 1, ring.size(), turn_round);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
