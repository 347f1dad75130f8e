#pragma once
// The k ring: the output's chunks travel while the arithmetic goes on (thesis §5.3, algorithm 4, corrected).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/sink.hpp>
#include <einparallel/schedule/task.hpp>

#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes the k ring. The output's block is cut into q chunks of two halves each. Replica i starts with the chunk of
/// its next neighbour; so chunk c starts at replica c-1 and ends, complete, at replica c. In phase s replica i adds its
/// terms to half s mod 2 of chunk i+1+⌊s/2⌋, which arrived in phase s-1 (the first two halves start empty). It sends
/// the half that it computed in phase s-1 to the previous replica, and receives the half for phase s+1 from the next
/// one. This takes 2q phases and contractions and 2(q-1) transfers. The last two halves are the rank's own and are
/// computed in `output`. Memory: three halves are alive at once, one each to receive, compute and send. Each half
/// reuses the memory of the half three turns before. Counted from the end, these are the second half of the output, its
/// first half, and one extra buffer (recorder::add_half).
void ring_k(auto& sink, const task& work, buffer_id output) {
    const auto ring = sink.ring(work.output, work.output_bytes);
    const int last = 2 * ring.size() - 1;
    const auto half_of = [&](int turn) { return ring.half(1 + turn / 2, turn % 2); };
    const auto buffer_of = [&](int turn, const auto& half) {
        return turn >= last - 1 ? output : sink.add_half(ring, (last - turn) % 3, half, output);
    };
    sink.calls_along(work.form.output[*work.output.cut()], last + 1);
    auto computed = half_of(0);
    buffer_id computed_in = no_buffer;
    auto arrived = half_of(0);
    buffer_id arrived_in = buffer_of(0, arrived);
    const auto turn_round = [&](auto& now, int turn) {
        sink.contract(now, work.form.output, arrived, arrived_in,
                      turn < 2 ? write_mode::overwrite : write_mode::combine);
        if (turn >= 1 && turn < last) {
            now.send(ring.at(-1), computed_in, computed);
        }
        computed = std::move(arrived);
        computed_in = arrived_in;
        if (turn < last) {
            arrived = half_of(turn + 1);
            arrived_in = buffer_of(turn + 1, arrived);
        }
        if (turn >= 1 && turn < last) {
            now.receive(ring.at(1), arrived_in, arrived);
        }
    };
    sink.repeat(compute_phase, 0, 1, turn_round);
    sink.repeat(compute_phase, 1, last, turn_round);
    sink.repeat(compute_phase, last, last + 1, turn_round);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
