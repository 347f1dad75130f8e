#pragma once
// Tensors that a program keeps between runs. Each has a memory block of its own; all plans of a context that need the
// same tensor in the same form share it.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/error.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A kept tensor's elements on this rank. Two of these are equal, see is(), if vertex, cuts and box are equal.
struct kept_tensor {
    std::weak_ptr<vertex> of;
    std::uint64_t cuts = 0;  ///< hash of how it, and all that it depends on, are cut and computed
    box region{};
    std::weak_ptr<memory_block> block{};  ///< where the elements lie

    EINPARALLEL_SELDOM bool is(const kept_tensor& other) const {
        return !of.expired() && of.lock() == other.of.lock() && cuts == other.cuts && region == other.region;
    }
};

/// The memory of the tensors that a program keeps. The steps marked `once` that serve one vertex form a group. The
/// steps of a group are run together, or left out together where another plan has all that they would write for later
/// steps.
class kept_memory {
public:
    /// Finds or allocates the memory of all kept buffers. `kept` holds the buffers to keep; `tensors`: for each vertex,
    /// the tensor that it computes; `others`: tensors that other plans keep. May throw.
    EINPARALLEL_SELDOM void lay_out(const memory_space& space, const program& of_rank, const arena_plan& kept,
                                    const std::vector<kept_tensor>& tensors, const std::vector<kept_tensor>& others) {
        needed_.assign(tensors.size() + 1, 0);
        tensors_.assign(of_rank.buffers.size(), {});
        blocks_.assign(of_rank.buffers.size(), nullptr);
        is_kept_.assign(of_rank.buffers.size(), false);
        is_lacking_.assign(of_rank.buffers.size(), false);
        for (std::size_t number = 0; number < blocks_.size(); ++number) {
            const buffer& each = of_rank.buffers[number];
            is_kept_[number] = kept.holds(buffer_id(number));
            if (is_kept_[number] && each.tensor < tensors.size()) {
                tensors_[number] = tensors[each.tensor];
                tensors_[number].region = each.region;
                const auto found = find_if_in(others, [&](const auto& other) { return other.is(tensors_[number]); });
                blocks_[number] = found == others.end() ? nullptr : found->block.lock();
            }
            is_lacking_[number] = is_kept_[number] && blocks_[number] == nullptr;
        }
        spread(of_rank);
        allocate(space, of_rank);
    }

    /// Allocates memory for kept buffers that have none yet. May throw.
    EINPARALLEL_SELDOM void allocate(const memory_space& space, const program& of_rank) {
        for (std::size_t number = 0; number < blocks_.size(); ++number) {
            if (is_kept_[number] && blocks_[number] == nullptr) {
                blocks_[number] = shared_block(space, aligned(of_rank.buffers[number].bytes()));
            }
        }
    }

    /// Makes all ranks leave out the same groups: those that other plans of the context have run already. To be called
    /// before the first run that keeps tensors, and after lay_out() on ranks that have groups. True where allocate()
    /// must be called: a rank had found a tensor that another rank lacks. Collective.
    EINPARALLEL_SELDOM bool agree_with(const communicator& control, const program& of_rank) {
        needed_.resize(of_rank.vertices.size() + 1);
        bool grew = true;
        do {
            needed_.back() = grew ? 1 : 0;
            check_mpi(MPI_Allreduce(MPI_IN_PLACE, needed_.data(), int(needed_.size()), MPI_UINT8_T, MPI_MAX,
                                    control.native()),
                      "MPI_Allreduce");
            grew = spread(of_rank);
        } while (needed_.back() != 0);
        std::array<std::uint8_t, 2> any{};  // some kept buffer lacks memory; some is shared
        for (std::size_t number = 0; number < blocks_.size(); ++number) {
            any[0] |= std::uint8_t(is_kept_[number] && blocks_[number] == nullptr);
            any[1] |= std::uint8_t(is_kept_[number] && !is_lacking_[number]);
        }
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, any.data(), 2, MPI_UINT8_T, MPI_MAX, control.native()), "MPI_Allreduce");
        if (any[1] == 0) {
            needed_.assign(needed_.size(), 1);
        }
        return any[0] != 0;
    }

    /// True where the steps marked `once` that serve this vertex must be run.
    bool needs(std::size_t vertex) const { return vertex >= needed_.size() || needed_[vertex] != 0; }
    /// First byte of a kept buffer.
    std::byte* start(std::size_t number) const {
        return blocks_[number] != nullptr ? blocks_[number]->data() : nullptr;
    }

    /// Adds this program's kept tensors to `others`, for other plans to share. Called after a run, when all are filled.
    EINPARALLEL_SELDOM void offer(std::vector<kept_tensor>& others) {
        needed_.assign(needed_.size(), 0);
        is_lacking_.assign(is_lacking_.size(), false);
        std::erase_if(others, [](const kept_tensor& each) { return each.block.expired(); });
        for (std::size_t number = 0; number < blocks_.size(); ++number) {
            const auto is_known = [&](const kept_tensor& each) { return each.block.lock() == blocks_[number]; };
            if (is_kept_[number] && !tensors_[number].of.expired() && !any_in(others, is_known)) {
                tensors_[number].block = blocks_[number];
                others.push_back(tensors_[number]);
            }
        }
    }

private:
    /// Finds all groups that must run. A group must run if it writes a lacking buffer. Buffers that it reads and that
    /// are not kept are then lacking, too. Kept buffers that it writes get memory of this program's own, because memory
    /// of another program must not be written. True where more groups must run than before.
    EINPARALLEL_SELDOM bool spread(const program& of_rank) {
        bool grew = false;
        for (bool changed = true; changed; grew = grew || changed) {
            changed = false;
            for (const step& each : of_rank.steps) {
                if (!each.once) {
                    continue;
                }
                std::uint8_t& needed = needed_[each.vertex];
                for_each_access(each, [&](buffer_id buffer, bool writes) {
                    const auto number = std::size_t(buffer);
                    if (writes && is_lacking_[number] && needed == 0) {
                        needed = 1;
                        changed = true;
                    }
                    if (needed != 0 && !is_lacking_[number] && writes == is_kept_[number]) {
                        is_lacking_[number] = true;
                        blocks_[number] = nullptr;
                        changed = true;
                    }
                });
            }
        }
        return grew;
    }

    std::vector<std::uint8_t> needed_;                   ///< by vertex: its group must run; last: more were found
    std::vector<bool> is_kept_;                          ///< by buffer
    std::vector<bool> is_lacking_;                       ///< by buffer: this run must write it
    std::vector<kept_tensor> tensors_;                   ///< by buffer
    std::vector<std::shared_ptr<memory_block>> blocks_;  ///< by buffer
};

}  // namespace einparallel::EINPARALLEL_DETAIL
