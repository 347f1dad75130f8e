#pragma once
// Master–worker: one rank has all tensors and feeds the others, slice by slice, while it computes (thesis §4, for any
// number of workers, any label of the output and slices that are not even).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.ipp>
#include <einparallel/schedule/steps.ipp>

#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Piece `turn` of a rank's part: of as many as there are slices, or, of the master's, phases. Its part is larger by
/// two slices, so that the pieces are alike: ranks wait for each other in every phase.
EINPARALLEL_INLINE std::vector<interval> fed_piece(const task& work, std::vector<interval> ranges, int pieces,
                                                   int turn) {
    interval& side = ranges[static_cast<std::size_t>(work.feed.label)];
    side = block_of(side, pieces, turn);
    return ranges;
}

/// What a worker with these ranges is sent of an operand in phase `turn`: a slice, or all at once of an operand that
/// lacks the label; nothing where the slice makes no element.
EINPARALLEL_INLINE box fed_operand(const task& work, const std::vector<interval>& ranges, std::size_t operand,
                                   int turn) {
    const std::vector<label_id>& labels = work.form.operands[operand];
    const bool whole = !work.form.in_operand(operand, work.feed.label);
    const std::vector<interval> slice = fed_piece(work, ranges, work.feed.slices, turn);
    return turn >= work.feed.slices || (whole && turn > 0) ||
                   region_of(work.form.output, whole ? ranges : slice).empty()
               ? no_box(labels.size())
               : region_of(labels, whole ? ranges : slice);
}

/// What comes back of the output in phase `turn`.
EINPARALLEL_INLINE box fed_output(const task& work, const std::vector<interval>& ranges, int turn) {
    return turn < 2 ? no_box(work.form.output.size())
                    : region_of(work.form.output, fed_piece(work, ranges, work.feed.slices, turn - 2));
}

/// A slice comes, is contracted and goes back in three phases that follow each other: two more phases than slices. The
/// master contracts its own part in as many pieces as there are phases, straight into the output, where what the
/// workers send back lands as well.
EINPARALLEL_INLINE void feed_workers(step_collector& steps, const rank_share& share, buffer_id output) {
    const task& work = share.work;
    const int phases = work.feed.slices + 2;
    for (int turn = 0; turn < phases; ++turn) {
        step& now = steps.at(compute_phase + static_cast<std::size_t>(turn));
        share.contract(now, share.operands, output, fed_piece(work, share.ranges, phases, turn), write_mode::overwrite);
        for (int worker = 0; worker < work.ranks.size(); ++worker) {
            if (worker == work.feed.master) {
                continue;
            }
            const std::vector<interval> ranges = fed_ranges(work, worker);
            for (std::size_t operand = 0; operand < share.operands.size(); ++operand) {
                now.send(worker, share.operands[operand], fed_operand(work, ranges, operand, turn));
            }
            now.receive(worker, output, fed_output(work, ranges, turn));
        }
    }
}

/// A worker contracts one slice while the next one comes and the one before goes back: two slices of every operand
/// that has the label and of the output are alive at once.
EINPARALLEL_INLINE void work_for_master(step_collector& steps, const rank_share& share) {
    const task& work = share.work;
    const int slices = work.feed.slices;
    std::vector<buffer_id> fed(share.operands.size(), no_buffer);
    buffer_id made = no_buffer;
    for (int turn = 0; turn < slices + 2; ++turn) {
        step& now = steps.at(compute_phase + static_cast<std::size_t>(turn));
        now.send(work.feed.master, made, fed_output(work, share.ranges, turn));
        if (turn >= 1 && turn <= slices) {
            std::vector<interval> slice = fed_piece(work, share.ranges, slices, turn - 1);
            made = steps.target().add_buffer(region_of(work.form.output, slice), work.output_bytes);
            share.contract(now, fed, made, std::move(slice), write_mode::overwrite);
        }
        for (std::size_t operand = 0; operand < fed.size() && turn < slices; ++operand) {
            const box coming = fed_operand(work, share.ranges, operand, turn);
            if (turn == 0 || work.form.in_operand(operand, work.feed.label)) {
                fed[operand] = steps.target().add_buffer(coming, work.operand_bytes[operand]);
                now.receive(work.feed.master, fed[operand], coming);
            }
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
