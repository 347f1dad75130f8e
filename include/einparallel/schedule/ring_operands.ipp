#pragma once
// Rings of operands: pieces travel while the arithmetic goes on, of one operand (the m/n ring; thesis §5.2, algorithm
// 2) or of several that are cut along one label (the double ring; Cannon 1969, for any two numbers of sharers).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/steps.ipp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
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

/// The label's range has as many pieces as the most shared operand has sharers; a slice is half a piece. In phase t a
/// rank contracts slice s+t of every travelling operand while slice s+t+1 comes, each part of it from the rank where it
/// rests; s differs between the sharers of every operand, so that each of them reads and sends a slice of its own: 2q
/// contractions, (q-1)/q of the block of an operand with q sharers. Nothing is sent on, so two slices are alive beside
/// what rests. The first slices come while other operands are gathered; one that lies in pieces of several ranks is put
/// together.
EINPARALLEL_INLINE void ring_double(step_collector& steps, const rank_share& share,
                                    std::span<const std::size_t> travelling, buffer_id output) {
    const task& work = share.work;
    const auto dimension_of = [&](std::size_t operand) { return *work.operands[operand].cut(); };
    const label_id label = work.form.operands[travelling.front()][dimension_of(travelling.front())];
    const interval whole = share.ranges[static_cast<std::size_t>(label)];
    int turns = 2;  // phases: two per piece
    for (const std::size_t operand : travelling) {
        turns = std::max(turns, 2 * work.operands[operand].replication());
    }
    const auto slice_of = [&](int rank, int turn) {
        int number = turn;
        for (const std::size_t operand : travelling) {
            const distribution& resting = work.operands[operand];
            number += 2 * resting.replica_number(rank) * (turns / 2 / resting.replication());
        }
        return block_of(block_of(whole, turns / 2, number % turns / 2), 2, number % 2);
    };
    // The messages of one operand for a turn; returns the buffer that holds the rank's slice then.
    const auto bring = [&](step& now, const replica_ring& ring, std::size_t operand, int turn) {
        const buffer_id resting = share.operands[operand];
        const auto region_of = [&](interval side) {
            box region = ring.resting.block_of_rank(share.rank);
            region.sides[dimension_of(operand)] = side;
            return region;
        };
        const auto piece = [&](int number) { return block_of(whole, ring.size(), number); };
        const interval own = piece(ring.self);
        const interval slice = slice_of(share.rank, turn);
        const bool rests = slice.empty() || intersect(own, slice) == slice;
        const buffer_id held =
            rests ? resting : steps.target().add_buffer(region_of(slice), work.operand_bytes[operand]);
        for (int number = 0; number < ring.size(); ++number) {
            const int peer = ring.group[static_cast<std::size_t>(number)];
            const interval given = intersect(own, slice_of(peer, turn));
            const interval taken = intersect(piece(number), slice);
            if (number == ring.self) {
                now.move(held, resting, rests ? no_box(0) : region_of(taken));
                continue;
            }
            now.send(peer, resting, region_of(given));
            now.receive(peer, held, region_of(taken));
        }
        return held;
    };
    std::vector<replica_ring> rings;
    for (const std::size_t operand : travelling) {
        rings.push_back(replica_ring::of(work.operands[operand], share.rank));
    }
    slice_writer writer{share, label, output};
    std::vector<buffer_id> blocks = share.operands;
    for (int turn = -1; turn < turns; ++turn) {
        step& now = steps.at(turn < 0 ? 0 : compute_phase + static_cast<std::size_t>(turn));
        if (turn >= 0) {
            writer.contract(now, blocks, slice_of(share.rank, turn));
        }
        for (std::size_t position = 0; position < travelling.size() && turn + 1 < turns; ++position) {
            blocks[travelling[position]] = bring(now, rings[position], travelling[position], turn + 1);
        }
    }
    writer.finish(steps.at(compute_phase), share.operands);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
