#pragma once
// From a plan to the program of each rank: reads, redistributions and the schedule of every vertex, one after the
// other.

#include <einparallel/layout/levels.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/plan.ipp>
#include <einparallel/schedule/fused/fused.hpp>
#include <einparallel/schedule/in_place.hpp>
#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/paging/paging.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/redistribute.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Writes one rank's program. All ranks pass through the same phases, also where they have nothing to do in them.
EINPARALLEL_INLINE class program_writer {
public:
    program_writer(const plan& of, int rank)
        : plan_(of),
          rank_(rank),
          groups_(groups_of(of.asked().machine)),
          moves_(moves_of(of.vertices(), of.outputs())),
          buffers_(moves_.copies.size()) {}

    /// @param strip  bytes of a strip of a chain (compute_in_strips)
    program write(std::size_t strip) && {
        for (vertex_ = 0; vertex_ < plan_.vertices().size(); ++vertex_) {
            const planned_vertex& each = plan_.vertices()[vertex_];
            if (each.is_input()) {
                continue;  // read where it is wanted for the first time
            }
            const auto operands = list_of(moves_.serving[vertex_], [&](std::size_t copy) { return buffer_of(copy); });
            buffers_[moves_.first[vertex_]] =
                tagged(schedule_vertex(written_, vertex_, each.work, rank_, operands, phase_, groups_), vertex_);
            phase_ += phases_apart;
            mark_steps(each.lasts);
        }
        for (const std::size_t copy : moves_.results) {
            vertex_ = moves_.copies[copy].tensor;
            const buffer_id buffer = buffer_of(copy);
            written_.results.push_back(plan_.vertices()[vertex_].lasts ? copied(buffer) : buffer);
        }
        written_.vertices = list_of(plan_.vertices(), [](const planned_vertex& each) {
            const source* const origin = each.origin->origin.get();
            return called_vertex{{},
                                 each.origin->work.get(),
                                 each.work.form,
                                 origin != nullptr && origin->is_in_file(),
                                 origin != nullptr && origin->is_turned()};
        });
        fuse_softmax(written_);
        compute_in_strips(written_, strip, plan_.asked().memory_limit / 4 * 3);
        compute_in_place(written_);
        return std::move(written_);
    }

private:
    /// Notes that the steps since the last call serve the current vertex. With `once` later runs leave them out.
    void mark_steps(bool once) {
        for (; marked_ < written_.steps.size(); ++marked_) {
            written_.steps[marked_].vertex = vertex_;
            written_.steps[marked_].once = once;
        }
    }

    /// The buffer with this rank's part of a copy. The copy is made when its buffer is first asked for.
    buffer_id buffer_of(std::size_t number) {
        if (buffers_[number]) {
            return *buffers_[number];
        }
        const auto& each = moves_.copies[number];
        buffer_id buffer = no_buffer;
        if (each.from == no_copy) {
            buffer = read(each.tensor, *each.at);
        } else {
            const distribution& from = *moves_.copies[each.from].at;
            const buffer_id resting = buffer_of(each.from);
            buffer = each.is_gathered ? schedule_gathering(written_, *each.at, rank_, resting, phase_, groups_)
                     : each.is_joined ? schedule_halo(written_, from, *each.at, rank_, resting, phase_)
                                      : schedule_redistribution(written_, from, *each.at, rank_, resting, phase_);
            phase_ += each.is_gathered ? phases_apart : 1;
        }
        mark_steps(plan_.vertices()[each.tensor].lasts);
        buffers_[number] = tagged(buffer, each.tensor);
        return buffer;
    }

    /// Notes that a buffer has elements of a tensor. Returns the buffer.
    buffer_id tagged(buffer_id buffer, std::size_t tensor) {
        const source* const origin = plan_.vertices()[tensor].origin->origin.get();
        written_[buffer].tensor = tensor;
        written_[buffer].counts = origin != nullptr && origin->counts();
        return buffer;
    }

    /// Copies a buffer that is kept for later runs, because the application may write to its result.
    buffer_id copied(buffer_id kept) {
        const buffer from = written_.buffers[std::size_t(kept)];
        const buffer_id result = written_.add_buffer(from.region, from.element_bytes);
        fill(result, local_move{result, kept, from.region});
        mark_steps(false);
        return result;
    }

    buffer_id read(std::size_t number, const distribution& wanted) {
        const buffer_id buffer = written_.add_buffer(wanted.held_by(rank_), plan_.vertices()[number].element.bytes);
        fill(buffer, read_source{number, buffer});
        return tagged(buffer, number);
    }

    /// Adds a step that fills a buffer, on ranks where the buffer is not empty.
    void fill(buffer_id buffer, action work) {
        if (!written_.buffers[std::size_t(buffer)].region.empty()) {
            written_.steps.push_back({phase_, {}, {}, {std::move(work)}});
        }
        ++phase_;
    }

    const plan& plan_;
    int rank_;
    rank_groups groups_;
    program written_;
    std::size_t vertex_ = 0;  // the vertex whose steps are written
    std::size_t phase_ = 0;
    std::size_t marked_ = 0;
    plan_moves moves_;
    std::vector<std::optional<buffer_id>> buffers_;  // by copy
};

/// Strips of chains are these parts of the memory limit. Where pages make room, wider ones read inputs fewer times.
inline constexpr std::size_t narrow_strips = 16;
inline constexpr std::size_t wide_strips = 4;

/// The bytes of a strip of a chain (compute_in_strips), at most a part of the memory limit.
inline std::size_t bytes_of_strip(const plan& of, std::size_t parts) {
    constexpr std::size_t most = std::size_t{16} << 20;  // enough for a device's calls, too
    const std::size_t limit = of.asked().memory_limit;
    return limit == 0 ? most : std::min(most, limit / parts + 1);
}

/// One rank's program with all tensors in memory.
EINPARALLEL_SELDOM program program_without_pages(const plan& of, int rank) {
    program written = program_writer(of, rank).write(bytes_of_strip(of, narrow_strips));
    if (of.asked().memory_limit == 0) {  // the buffers are not necessary, they only save time
        pack_strided(written);
    }
    return written;
}

/// Adds the moves to and from storage to one rank's program.
EINPARALLEL_SELDOM void add_pages(program& written, const plan& of, int rank) {
    const options& asked = of.asked();
    const auto add = [&](program& to) {
        split_messages(to, asked.memory_limit);
        return page(to, paging_rule{.may_page = of.paging().which,
                                    .limit = asked.memory_limit,
                                    .files_outputs = of.paging().files_outputs,
                                    .seconds_per_flop = asked.machine.seconds_per_flop,
                                    .seconds_per_byte = asked.machine.seconds_per_stored_byte,
                                    .counts_bytes = asked.objective == objective::bytes});
    };
    const std::size_t buffers = written.buffers.size();
    const paging_loss loss = add(written);
    const std::size_t strip = bytes_of_strip(of, wide_strips);
    if (loss != paging_loss{} && strip > bytes_of_strip(of, narrow_strips)) {
        program wider = program_writer(of, rank).write(strip);
        if (wider.buffers.size() != buffers && add(wider) < loss) {
            written = std::move(wider);
        }
    }
}

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_SELDOM program plan::program_of(int rank) const {
    detail::require(rank >= 0 && rank < processes_,
                    {"plan: there is no rank ", rank, " in a plan for ", processes_, " ranks"});
    program written = detail::program_without_pages(*this, rank);
    if (paging_.which != paged_tensors::none) {
        detail::add_pages(written, *this, rank);
    }
    return written;
}

EINPARALLEL_SELDOM std::size_t plan::bytes_sent(int rank) const {
    return einparallel::bytes_sent(program_of(rank));
}

EINPARALLEL_SELDOM std::size_t plan::bytes_paged(int rank) const {
    return paging_.which == paged_tensors::none ? 0 : einparallel::bytes_paged(program_of(rank));
}

EINPARALLEL_SELDOM std::size_t plan::bytes_sent_again(int rank) const {
    return einparallel::bytes_sent(program_of(rank), true);
}

}  // namespace einparallel
