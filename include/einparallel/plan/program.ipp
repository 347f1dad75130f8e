#pragma once
// From a plan to what each rank does: reads, redistributions and the schedule of every vertex, one after the other.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/schedule/fused.hpp>
#include <einparallel/schedule/in_place.hpp>
#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/redistribute.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>
#include <einparallel/search/pins.hpp>

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
        for (vertex_ = 0; vertex_ < plan_.vertices().size(); ++vertex_) {
            const planned_vertex& each = plan_.vertices()[vertex_];
            if (each.is_input()) {
                continue;  // read where it is wanted first
            }
            std::vector<buffer_id> operands;
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                operands.push_back(
                    bring(each.inputs[operand], each.work.operands[operand], each.work.form.lies_in_pieces(operand)));
                if (each.work.holds(operand)) {
                    operands.back() = hold(each.inputs[operand], each.work.operands[operand], operands.back());
                }
            }
            const buffer_id output = schedule_vertex(written_, vertex_, each.work, rank_, operands, phase_);
            phase_ += phases_apart;
            mark_steps(each.lasts);
            copies_[vertex_].push_back({&each.resting, tagged(output, vertex_)});
        }
        for (const std::size_t output : plan_.outputs()) {
            vertex_ = output;
            const planned_vertex& made = plan_.vertices()[output];
            const buffer_id place = bring(output, made.resting);
            written_.results.push_back(made.lasts ? copied(place) : place);
        }
        const auto form_of = [&](std::size_t number) -> const einsum_form& {
            return plan_.vertices()[number].work.form;
        };
        fuse_softmax(written_, form_of, [&](std::size_t number) -> const op_program& {
            return plan_.vertices()[number].origin->work->program();
        });
        const auto replaces = [&](std::size_t number) { return plan_.vertices()[number].origin->work->replaces(); };
        constexpr std::size_t strip = std::size_t{16} << 20;  // enough for a device's calls, too
        const auto may_cut = [&](std::size_t number, label_id label) {
            const running_labels& running = form_of(number).running;
            return plan_.vertices()[number].origin->may_cut(label) && label != running.sums && label != running.terms;
        };
        const std::size_t limit = plan_.asked().memory_limit;
        compute_in_strips(written_, form_of, replaces, may_cut, limit == 0 ? strip : std::min(strip, limit / 16 + 1));
        compute_in_place(written_, form_of, replaces);
        return std::move(written_);
    }

private:
    /// A tensor, or this rank's part of it, as some vertex wants it.
    struct copy {
        const distribution* resting = nullptr;
        buffer_id place = no_buffer;
        bool in_pieces = false;  ///< on some rank: what a halo was brought to
    };

    /// The steps since the last call serve the vertex, and are left out by later runs, or are not.
    void mark_steps(bool once) {
        for (; marked_ < written_.steps.size(); ++marked_) {
            written_.steps[marked_].vertex = vertex_;
            written_.steps[marked_].once = once;
        }
    }

    /// The buffer with this rank's part of a tensor in the distribution wanted. A copy is made once and serves all who
    /// want the same. What is read at functions of labels may lie in pieces.
    buffer_id bring(std::size_t number, const distribution& wanted, bool in_pieces = false) {
        const planned_vertex& each = plan_.vertices()[number];
        std::vector<copy>& copies = copies_[number];
        for (const copy& known : copies) {
            if (*known.resting == wanted && (in_pieces || !known.in_pieces)) {
                return known.place;
            }
        }
        buffer_id place = no_buffer;
        if (!is_moved(*each.origin)) {
            place = read(number, wanted);
        } else {
            if (copies.empty()) {
                copies.push_back({&each.resting, read(number, each.resting)});
            }
            const copy resting = copies.front();
            place = in_pieces
                        ? schedule_halo(written_, *resting.resting, wanted, rank_, resting.place, phase_)
                        : schedule_redistribution(written_, *resting.resting, wanted, rank_, resting.place, phase_);
            ++phase_;
        }
        mark_steps(each.lasts);
        copies.push_back({&wanted, tagged(place, number), in_pieces && is_moved(*each.origin)});
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
        mark_steps(plan_.vertices()[number].lasts);
        blocks_[number].push_back({&pieces, tagged(block, number)});
        return block;
    }

    /// A buffer that has elements of a tensor.
    buffer_id tagged(buffer_id place, std::size_t tensor) {
        written_[place].tensor = tensor;
        return place;
    }

    /// A result is the application's, to write to as well: what is kept stays as it is.
    buffer_id copied(buffer_id kept) {
        const buffer from = written_.buffers[std::size_t(kept)];
        const buffer_id result = written_.add_buffer(from.region, from.element_bytes);
        fill(result, local_move{result, kept, from.region});
        mark_steps(false);
        return result;
    }

    buffer_id read(std::size_t number, const distribution& wanted) {
        const buffer_id place = written_.add_buffer(wanted.held_by(rank_), plan_.vertices()[number].element.bytes);
        fill(place, read_source{number, place});
        return tagged(place, number);
    }

    /// A step by itself that fills a buffer, on ranks where that is not empty.
    void fill(buffer_id place, action work) {
        if (!written_.buffers[std::size_t(place)].region.empty()) {
            written_.steps.push_back({phase_, {}, {}, {std::move(work)}});
        }
        ++phase_;
    }

    const plan& plan_;
    int rank_;
    program written_;
    std::size_t vertex_ = 0;  // whose steps are written
    std::size_t phase_ = 0;
    std::size_t marked_ = 0;
    std::vector<std::vector<copy>> copies_;  // by vertex; the first is where it rests
    std::vector<std::vector<copy>> blocks_;  // by vertex; whole blocks of pieces
};

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_SELDOM program plan::program_of(int rank) const {
    detail::require(rank >= 0 && rank < processes_,
                    {"plan: there is no rank ", rank, " in a plan for ", processes_, " ranks"});
    program written = detail::program_writer(*this, rank).write();
    if (options_.memory_limit == 0) {  // the buffers are speed, not need
        pack_strided(written);
    }
    return written;
}

EINPARALLEL_SELDOM std::size_t plan::bytes_sent(int rank) const {
    return einparallel::bytes_sent(program_of(rank));
}

EINPARALLEL_SELDOM std::size_t plan::bytes_sent_again(int rank) const {
    return einparallel::bytes_sent(program_of(rank), true);
}

}  // namespace einparallel
