#pragma once
// The k ring: the output's chunks travel while the arithmetic goes on (thesis §5.3, algorithm 4 as corrected in
// DESIGN §7).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/steps.ipp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The dimension along which a chunk is halved: its outermost, so that each half is contiguous in dense storage and a
/// message in one piece, which a poll advances further than a datatype's; but one that is short and odd would make
/// halves of unlike lengths, and gives way to the cut.
EINPARALLEL_INLINE std::size_t halved_dimension(const box& chunk, std::size_t cut) {
    for (std::size_t dimension = 0; dimension < cut; ++dimension) {
        if (const index size = chunk.sides[dimension].size(); size > 1) {
            return size % 2 == 0 || size > 16 ? dimension : cut;
        }
    }
    return cut;
}

/// True where boxes that are part of `chunk` along this dimension are contiguous in its dense storage.
EINPARALLEL_INLINE bool parts_are_contiguous(const box& chunk, std::size_t dimension) {
    return std::all_of(chunk.sides.begin(), chunk.sides.begin() + static_cast<std::ptrdiff_t>(dimension),
                       [](const interval& side) { return side.size() <= 1; });
}

/// The output's block is cut into q chunks, each in two halves. Replica i starts with the chunk of its next neighbour;
/// chunk c so starts at replica c-1 and ends, complete, at c. In phase s replica i computes half s mod 2 of chunk
/// i+1+⌊s/2⌋ on top of the partial that arrived in phase s-1 (the first two start afresh), sends the half that it
/// computed in phase s-1 to the previous replica and receives the half of phase s+1 from the next one: 2q phases and
/// contractions, 2(q-1) transfers. The last two halves are the rank's own and land in `output`.
/// Memory: three halves are alive at once (recv, comp, send). Two of them may lie in the output's own memory, as in the
/// thesis, wherever its halves are contiguous and large enough: their buffers say so (buffer::lender).
EINPARALLEL_INLINE void ring_k(step_collector& steps, const rank_share& share, buffer_id output) {
    const distribution& resting = share.work.output;
    const std::size_t bytes = share.work.output_bytes;
    const replica_ring ring = replica_ring::of(resting, share.rank);
    const std::size_t cut = *resting.cut();
    const int last = 2 * ring.size() - 1;

    const auto half_of = [&](int turn) {
        box half = ring.piece(1 + turn / 2);
        interval& side = half.sides[halved_dimension(half, cut)];
        side = block_of(side, 2, turn % 2);
        return half;
    };
    const box own_halves[2] = {half_of(last - 1), half_of(last)};
    const box own = ring.piece(0);
    const bool lends = parts_are_contiguous(own, halved_dimension(own, cut));
    // Roles rotate, so a half takes the place that the one three turns before has left: counted from the end, the
    // second half of the output, the first half, and the one extra place.
    const auto place_of = [&](int turn, const box& region) {
        if (turn >= last - 1) {
            return output;
        }
        const buffer_id place = steps.target().add_buffer(region, bytes);
        const int role = (last - turn) % 3;
        if (lends && role < 2 && region.size() <= own_halves[1 - role].size()) {
            buffer& made = steps.target().buffers.back();
            made.lender = output;
            made.lender_offset = role == 1 ? 0 : static_cast<std::size_t>(own_halves[0].size()) * bytes;
        }
        return place;
    };

    box computed;
    buffer_id computed_in = no_buffer;
    box arrived = half_of(0);
    buffer_id arrived_in = place_of(0, arrived);
    for (int turn = 0; turn <= last; ++turn) {
        step& now = steps.at(compute_phase + static_cast<std::size_t>(turn));
        std::vector<interval> ranges = share.ranges;
        for (std::size_t dimension = 0; dimension < arrived.rank(); ++dimension) {
            if (const label_id label = share.work.form.output[dimension]; label != no_label) {
                ranges[static_cast<std::size_t>(label)] = arrived.sides[dimension];
            }
        }
        share.contract(now, share.operands, arrived_in, std::move(ranges),
                       turn < 2 ? write_mode::overwrite : write_mode::combine);
        if (turn >= 1 && turn < last) {
            now.send(ring.at(-1), computed_in, computed);
        }
        computed = std::move(arrived);
        computed_in = arrived_in;
        if (turn < last) {
            arrived = half_of(turn + 1);
            arrived_in = place_of(turn + 1, arrived);
            if (turn >= 1) {
                now.receive(ring.at(1), arrived_in, arrived);
            }
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
