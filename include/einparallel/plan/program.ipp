#pragma once
// From a plan to what each rank does: reads, redistributions and the schedule of every vertex, one after the other.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/in_place.hpp>
#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/redistribute.hpp>
#include <einparallel/schedule/softmax.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Writes one rank's program. All ranks pass through the same phases, whatever they have to do in them.
EINPARALLEL_INLINE class program_writer {
public:
    program_writer(const plan& of, int rank)
        : plan_(of), rank_(rank), copies_(of.vertices().size()), blocks_(of.vertices().size()) {}

    program write() && {
        for (std::size_t number = 0; number < plan_.vertices().size(); ++number) {
            const planned_vertex& each = plan_.vertices()[number];
            if (each.is_input()) {
                continue;  // read where it is wanted first
            }
            std::vector<buffer_id> operands;
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                operands.push_back(bring(each.inputs[operand], each.work.operands[operand]));
                if (each.work.holds(operand)) {
                    operands.back() = hold(each.inputs[operand], each.work.operands[operand], operands.back());
                }
            }
            const buffer_id output = schedule_vertex(written_, number, each.work, rank_, operands, phase_);
            phase_ += phases_apart;
            mark_once(each.lasts);
            copies_[number].push_back({&each.resting, output});
            mark_steps(number);
        }
        std::vector<std::size_t> kept(copies_.size(), 0);  // 1 + the result that is a copy of what is kept
        for (const std::size_t output : plan_.outputs()) {
            const planned_vertex& made = plan_.vertices()[output];
            const buffer_id place = kept[output] > 0 ? written_.results[kept[output] - 1] : bring(output, made.resting);
            written_.results.push_back(made.lasts && kept[output] == 0 ? copied(place) : place);
            kept[output] = made.lasts ? written_.results.size() : 0;
            mark_steps(output);
        }
        const auto form_of = [&](std::size_t number) -> const einsum_form& {
            return plan_.vertices()[number].work.form;
        };
        fuse_softmax(written_, form_of, [&](std::size_t number) -> const op_program& {
            return plan_.vertices()[number].origin->work->program();
        });
        compute_in_place(written_, form_of);
        return std::move(written_);
    }

private:
    /// The steps since the last call serve a vertex.
    void mark_steps(std::size_t vertex) {
        for (; marked_ < written_.steps.size(); ++marked_) {
            written_.steps[marked_].vertex = vertex;
        }
    }

    /// The steps since the last call are left out by later runs, or are not.
    void mark_once(bool once) {
        for (; told_ < written_.steps.size(); ++told_) {
            written_.steps[told_].once = once;
        }
    }

    /// A tensor, or this rank's part of it, as some vertex wants it.
    struct copy {
        const distribution* resting = nullptr;
        buffer_id place = no_buffer;
    };

    /// The buffer with this rank's part of a tensor in the distribution wanted. A copy is made once and serves all who
    /// want the same.
    buffer_id bring(std::size_t number, const distribution& wanted) {
        const planned_vertex& each = plan_.vertices()[number];
        for (const copy& known : copies_[number]) {
            if (*known.resting == wanted) {
                return known.place;
            }
        }
        buffer_id place = no_buffer;
        if (each.is_input() && read_by_all(each)) {
            place = read(number, wanted);
        } else {
            if (each.is_input() && copies_[number].empty()) {
                copies_[number].push_back({&each.resting, read(number, each.resting)});
            }
            const copy resting = copies_[number].front();
            place = schedule_redistribution(written_, *resting.resting, wanted, rank_, resting.place, phase_++);
        }
        mark_once(each.lasts);
        copies_[number].push_back({&wanted, place});
        return place;
    }

    /// The buffer with the whole block of a tensor of which the rank has a piece, gathered once for all who hold it.
    buffer_id hold(std::size_t number, const distribution& pieces, buffer_id piece) {
        for (const copy& known : blocks_[number]) {
            if (have_same_blocks(*known.resting, pieces)) {
                return known.place;
            }
        }
        const buffer_id block = schedule_gathering(written_, pieces, rank_, piece, phase_);
        phase_ += phases_apart;
        mark_once(true);
        blocks_[number].push_back({&pieces, block});
        return block;
    }

    /// A result is the application's, to write to as well: what is kept stays as it is.
    buffer_id copied(buffer_id kept) {
        const buffer from = written_.buffers[static_cast<std::size_t>(kept)];
        const buffer_id result = written_.add_buffer(from.region, from.element_bytes);
        if (!from.region.empty()) {
            written_.steps.push_back({phase_, {}, {}, {local_move{result, kept, from.region}}});
        }
        ++phase_;
        mark_once(false);
        return result;
    }

    buffer_id read(std::size_t number, const distribution& wanted) {
        const planned_vertex& each = plan_.vertices()[number];
        const buffer_id place = written_.add_buffer(wanted.held_by(rank_), each.element.bytes);
        if (!written_.buffers.back().region.empty()) {
            step reading;
            reading.phase = phase_;
            reading.work.emplace_back(read_source{number, place});
            written_.steps.push_back(std::move(reading));
        }
        ++phase_;
        return place;
    }

    const plan& plan_;
    int rank_;
    program written_;
    std::size_t phase_ = 0;
    std::size_t marked_ = 0;
    std::size_t told_ = 0;                   // once or not
    std::vector<std::vector<copy>> copies_;  // by vertex; the first is where it rests
    std::vector<std::vector<copy>> blocks_;  // by vertex; whole blocks of pieces
};

/// Bytes that a rank holds at most during each vertex of a plan; 0 for inputs.
EINPARALLEL_INLINE std::vector<std::size_t> held_by_vertex(const plan& shown, int rank) {
    const program of_rank = program_writer(shown, rank).write();
    std::vector<lifetime> alive = lifetimes_of(of_rank);
    const std::vector<buffer_id> lenders = lend(of_rank, alive, [&](buffer_id number) {
        return of_rank.is_result(number) || alive[static_cast<std::size_t>(number)].kept;
    });
    std::vector<std::size_t> bytes;
    for (const buffer& each : of_rank.buffers) {
        bytes.push_back(lenders[bytes.size()] == no_buffer ? each.bytes() : 0);
    }
    const std::vector<std::size_t> now = bytes_alive(alive, bytes, of_rank.steps.size());
    std::vector<std::size_t> held(shown.vertices().size(), 0);
    for (std::size_t position = 0; position < of_rank.steps.size(); ++position) {
        std::size_t& most = held[of_rank.steps[position].vertex];
        most = std::max(most, now[position]);
    }
    return held;
}

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_INLINE program plan::program_of(int rank) const {
    if (rank < 0 || rank >= processes_) {
        throw error("plan: there is no rank " + std::to_string(rank) + " in a plan for " + std::to_string(processes_) +
                    " ranks");
    }
    program written = detail::program_writer(*this, rank).write();
    if (options_.memory_limit == 0) {  // the buffers are speed, not need
        pack_strided(written);
    }
    return written;
}

EINPARALLEL_INLINE std::size_t plan::bytes_sent(int rank) const {
    return einparallel::bytes_sent(program_of(rank));
}

EINPARALLEL_INLINE std::size_t plan::bytes_sent_again(int rank) const {
    return einparallel::bytes_sent(program_of(rank), true);
}

/// Results, what is kept, and one arena for all other buffers (schedule/arena.hpp). An input that
/// is used in place in the application's memory counts as if it were copied.
EINPARALLEL_INLINE std::size_t plan::peak_bytes(int rank) const {
    const program mine = program_of(rank);
    const arena_plan kept = plan_kept(mine);
    const auto elsewhere = [&](buffer_id number) { return mine.is_result(number) || kept.holds(number); };
    std::size_t bytes = kept.bytes + plan_arena(mine, elsewhere).bytes;
    for (std::size_t result = 0; result < mine.results.size(); ++result) {
        const auto begin = mine.results.begin();
        const auto here = begin + static_cast<std::ptrdiff_t>(result);
        bytes += std::find(begin, here, *here) == here ? mine.buffers[static_cast<std::size_t>(*here)].bytes() : 0;
    }
    return bytes;
}

}  // namespace einparallel
