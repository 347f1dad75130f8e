#pragma once
// ScaLAPACK's block-cyclic distribution as index arithmetic: blocks of a matrix dealt out to a grid of processes.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace einparallel {

/// In which order the ranks of a context are on a grid of processes: BLACS's "R" and "C".
enum class grid_order : std::uint8_t {
    row_major,     ///< rank 1 is to the right of rank 0
    column_major,  ///< rank 1 is below rank 0
};

/// A grid of processes, of the first rows · columns ranks.
struct process_grid {
    int rows = 1;                              ///< processes along rows of the matrix
    int columns = 1;                           ///< processes along its columns
    grid_order order = grid_order::row_major;  ///< of the ranks
};

namespace EINPARALLEL_DETAIL {

/// Indices of one dimension that a process has, `cycles` blocks of `length`: the next block begins `processes` blocks
/// further on, and one block further on in the process's memory.
struct dealt_run {
    index cycles = 0;
    index length = 0;
    index first = 0;  ///< of the dimension
    index local = 0;  ///< the same in the process's memory
};

/// One dimension in blocks, dealt out to processes round and round; the last block may be smaller.
struct dealt_dimension {
    index extent = 0;
    index block = 1;
    int processes = 1;
    int first = 0;  ///< the process with the first block

    /// Indices that a process has: ScaLAPACK's numroc.
    EINPARALLEL_INLINE [[nodiscard]] index count_of(int process) const;
    /// Those of them in an interval, in ascending order: three runs at most.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<dealt_run> runs_in(interval side, int process) const;
};

/// A matrix that is dealt out in both dimensions.
struct dealt_matrix {
    std::array<dealt_dimension, 2> dimensions;
    grid_order order = grid_order::row_major;

    [[nodiscard]] int holders() const { return dimensions[0].processes * dimensions[1].processes; }
    /// The process row and column of a rank. @pre rank < holders()
    EINPARALLEL_INLINE [[nodiscard]] std::array<int, 2> place_of(int rank) const;
};

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
