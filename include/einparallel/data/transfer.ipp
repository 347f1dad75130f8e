#pragma once
// Moves the elements of a tensor from one distribution and memory to another.

#include <einparallel/data/local_tensor.ipp>
#include <einparallel/layout/cycles.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/replay.ipp>
#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The boxes of a distribution, with their ranks in ascending order. With `cycles`, the boxes of the tensor whose
/// dimensions are cut in these cycles.
/// @pre a block-cyclic tensor is cut in these cycles
EINPARALLEL_SELDOM std::vector<std::pair<int, box>> boxes_of(const local_tensor& local,
                                                             const std::vector<index>& cycles) {
    std::vector<std::pair<int, box>> boxes;
    for (int rank = 0; rank < local.where->holders(); ++rank) {
        const box held = local.where->held_by(rank);
        const bool is_whole = cycles.empty() || local.cyclic;
        for (box& each : is_whole ? std::vector<box>{held} : in_cycles(held, cycles)) {
            if (!each.empty()) {
                boxes.emplace_back(rank, std::move(each));
            }
        }
    }
    return boxes;
}

/// The memory of `held`, one of this rank's boxes.
EINPARALLEL_SELDOM strided_box memory_of_box(const local_tensor& local, const box& held,
                                             const std::vector<index>& cycles) {
    strided_box memory = local.elements;
    memory.held = held;
    if (!cycles.empty()) {
        memory.strides.clear();
    }
    index offset = 0;
    for (std::size_t dimension = 0; dimension < cycles.size(); ++dimension) {
        const index stride = local.elements.strides[dimension];
        const index of_cycle = local.cyclic ? local.cyclic->blocks[dimension] : cycles[dimension];  // indices in memory
        const index begin = held.sides[2 * dimension].begin * of_cycle + held.sides[2 * dimension + 1].begin;
        offset += local.cyclic ? 0 : (begin - local.elements.held.sides[dimension].begin) * stride;
        memory.strides.insert(memory.strides.end(), {of_cycle * stride, stride});
    }
    memory.data += offset * index(memory.element.bytes);
    return memory;
}

/// One rank's part of a redistribution. Each source box and each target box that overlap make one message (one copy
/// where both are on this rank) with their common elements; target boxes may overlap each other. It is prepared once;
/// lay_out() binds the memory of both tensors.
class transfer {
public:
    /// @param from, to this rank's local tensors, in a memory space with this staging; no stride is negative
    /// @param vertices those of a plan; the last one is the input whose elements are moved
    EINPARALLEL_SELDOM transfer(const local_tensor& from, const local_tensor& to, int rank, std::size_t staging = 0,
                                std::vector<called_vertex> vertices = {})
        : cycles_(from.cyclic ? from.cyclic->cycles
                  : to.cyclic ? to.cyclic->cycles
                              : std::vector<index>()) {
        program moves;
        using ranked_box = std::pair<int, box>;
        const auto buffers_of = [&](const local_tensor& local, const std::vector<ranked_box>& boxes) {
            return list_of(boxes, [&](const ranked_box& each) {
                if (each.first != rank) {
                    return no_buffer;
                }
                const buffer_id made = moves.add_buffer(each.second, local.elements.element.bytes);
                moves[made].strides = memory_of_box(local, each.second, cycles_).strides;
                return made;
            });
        };
        const std::vector<ranked_box> sources = boxes_of(from, cycles_);
        const std::vector<ranked_box> targets = boxes_of(to, cycles_);
        from_ = buffers_of(from, sources);
        to_ = buffers_of(to, targets);
        const auto own = std::find_if(to_.begin(), to_.end(), [](buffer_id each) { return each != no_buffer; });
        const auto first = std::size_t(own - to_.begin());  // first target box of this rank; its others follow
        const auto end = std::size_t(std::find(own, to_.end(), no_buffer) - to_.begin());
        step& now = moves.steps.emplace_back();
        now.vertex = vertices.empty() ? 0 : vertices.size() - 1;
        for (std::size_t source = 0; source < sources.size(); ++source) {
            const auto& [holder, held] = sources[source];
            for (std::size_t target = holder == rank ? 0 : first; target < (holder == rank ? targets.size() : end);
                 ++target) {
                const auto& [taker, wanted] = targets[target];
                const box common = intersect(held, wanted);
                if (holder == taker) {
                    now.move(to_[target], from_[source], common);
                } else if (holder == rank) {
                    now.send(taker, from_[source], common);
                } else {
                    now.receive(holder, to_[target], common);
                }
            }
        }
        pack_strided(moves);
        std::erase(from_, no_buffer);
        std::erase(to_, no_buffer);
        moves.vertices = std::move(vertices);
        moves_.emplace(std::move(moves), staging);
    }

    /// The program of messages and copies, to be replayed after lay_out().
    program_replay& moves() { return *moves_; }

    /// Binds the memory of both tensors. Local; may throw.
    EINPARALLEL_SELDOM void lay_out(const memory_space& space, const local_tensor& from, const local_tensor& to) {
        const auto bind = [&](const std::vector<buffer_id>& boxes, const local_tensor& local) {
            for (const buffer_id each : boxes) {
                const strided_box memory = memory_of_box(local, moves_->of_rank()[each].region, cycles_);
                moves_->bind(each, memory.data, memory.strides);
            }
        };
        bind(from_, from);
        bind(to_, to);
        moves_->lay_out(space);
    }

private:
    std::vector<index> cycles_;
    std::vector<buffer_id> from_;  ///< buffers of this rank's source boxes
    std::vector<buffer_id> to_;    ///< buffers of this rank's target boxes
    std::optional<program_replay> moves_;
};

/// Carries out a collective call. On every rank to() returns the target, or throws. Then the ranks agree to start, and
/// that `numbers` are the same on all; transfer the elements, those on a device through the host; and agree at the end.
/// If source and target may share memory (ghost cells around a rank's own block), the source is copied first. Returns
/// the bytes that this rank sent. @throws error, the same on every rank
EINPARALLEL_SELDOM std::size_t transfer_now(const context_state& world, const char* call,
                                            std::initializer_list<common> numbers, const local_tensor& from,
                                            function_ref<local_tensor()> to) {
    const run_watch watch{.rank = world.payload.rank(), .call = call};
    local_tensor there;
    local_tensor here;
    local_tensor arriving;
    std::optional<transfer> way;
    memory_block scratch;
    transport flight(world.payload);
    const std::string unprepared = failure_of(call + (": rank " + std::to_string(watch.rank)), [&] {
        there = to();
        here = on_host(from, meet(from.elements, there.elements));
        arriving = room_on_host(there);
        way.emplace(here, arriving, watch.rank);
        way->lay_out(the_host, here, arriving);
        scratch = memory_block(the_host, way->moves().scratch_bytes());
        flight.reserve(way->moves().messages());
    });
    agree(world.control, unprepared, numbers);
    std::string failure;
    way->moves().replay(the_host, flight, scratch.data(), watch, failure);
    agree(world.control, failure.empty() ? failure_of(call, [&] { write_back(there, arriving); }) : failure);
    return flight.bytes_sent();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
