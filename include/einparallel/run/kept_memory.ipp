#pragma once
// What a program keeps over runs: each tensor in a block of its own, which all plans of a context share that want it
// alike.

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

/// Elements of a tensor on this rank: equal where vertex, cuts and box are.
struct kept_tensor {
    std::weak_ptr<vertex> of;
    std::uint64_t cuts = 0;  ///< by which it is computed, and all that it is computed from
    box region{};
    std::weak_ptr<memory_block> block{};  ///< where they lie

    EINPARALLEL_SELDOM bool is(const kept_tensor& other) const {
        return !of.expired() && of.lock() == other.of.lock() && cuts == other.cuts && region == other.region;
    }
};

/// The memory of what a program keeps. A group is the steps marked once that serve one vertex: they are carried out
/// together, or left out where all that they write for later steps is there, of another plan.
class kept_memory {
public:
    /// @param kept  by buffer: whether it is kept here. @param tensors  what vertices make: vertex and cuts
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

    /// Memory for what is not there yet. May throw.
    EINPARALLEL_SELDOM void allocate(const memory_space& space, const program& of_rank) {
        for (std::size_t number = 0; number < blocks_.size(); ++number) {
            if (is_kept_[number] && blocks_[number] == nullptr) {
                blocks_[number] = shared_block(space, aligned(of_rank.buffers[number].bytes()));
            }
        }
    }

    /// All ranks leave out the same groups, which other plans of the context have moved or computed already.
    /// Collective, before the first of the runs that keep something, after lay_out() where there are groups. True where
    /// allocate() is to be called: some rank had found what another one has not.
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
        std::array<std::uint8_t, 2> any{};  // lacking memory, shared
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

    /// The steps marked once that serve this vertex are to be carried out.
    bool needs(std::size_t vertex) const { return vertex >= needed_.size() || needed_[vertex] != 0; }
    /// First byte of a buffer that is kept.
    std::byte* start(std::size_t number) const {
        return blocks_[number] != nullptr ? blocks_[number]->data() : nullptr;
    }

    /// Lists what other plans may share, after a run: all is there.
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
    /// A group is needed where it writes what is lacking, and what it reads is lacking where it is not kept; all that
    /// it writes is then this program's own, for another one's is not to be written to. True where more turned out to
    /// be needed.
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

    std::vector<std::uint8_t> needed_;                   ///< by vertex: its group; then whether more were found to be
    std::vector<bool> is_kept_;                          ///< by buffer
    std::vector<bool> is_lacking_;                       ///< by buffer: this run has to write it
    std::vector<kept_tensor> tensors_;                   ///< by buffer
    std::vector<std::shared_ptr<memory_block>> blocks_;  ///< by buffer
};

}  // namespace einparallel::EINPARALLEL_DETAIL
