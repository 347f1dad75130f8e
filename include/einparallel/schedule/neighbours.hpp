#pragma once
// Ranks of one node read each other's buffers in place, in memory that they share, instead of sending messages.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel {

/// Replaces the messages between the ranks of a node by reads. `node`: the programs of ranks `first`, `first` + 1, …
/// A receive that fills a buffer nobody else writes becomes a name for the sender's buffer (buffer::original); any
/// other becomes a copy out of it, in a step behind. What was itself received from a neighbour is read where it lies
/// first. Buffers that are results, that change while others may read them, or inputs of which a part is wanted are
/// copied for the readers in a step before. Bytes read equal the bytes of the messages replaced. Phases are counted
/// anew, three for one, so the programs of all nodes are treated or none.
EINPARALLEL_INLINE void read_neighbours(std::span<program> node, int first,
                                        detail::function_ref<const einsum_form&(std::size_t)> form_of);

/// A rank of the node, and the phase that it has to have entered: all its steps of earlier phases are done then.
struct neighbour_phase {
    int rank = 0;
    std::size_t phase = 0;
};

/// Where one rank finds the buffers that a node shares, and whom it waits for.
struct window_plan {
    /// Every rank of the node has a segment of so many bytes, the same for all; 0 where nothing is shared.
    std::size_t segment = 0;
    /// Bytes from the start of the segment (of buffer::neighbour, or of the rank itself), by buffer; not_in_arena for
    /// buffers that nobody else reads.
    std::vector<std::size_t> offsets;
    /// By step: before it begins these neighbours have read what lay where the step writes.
    std::vector<std::vector<neighbour_phase>> clears;

    [[nodiscard]] bool holds(buffer_id number) const {
        return segment > 0 && offsets[static_cast<std::size_t>(number)] != not_in_arena;
    }
};

/// Offsets for the buffers that the ranks of a node read of each other, as plan_arena places the others: a buffer lives
/// on until its last reader is done.
EINPARALLEL_INLINE window_plan plan_window(std::span<const program> node, int first, int rank);

}  // namespace einparallel
