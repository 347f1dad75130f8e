#pragma once
// How a join is given to threads, and its program in device code: pure functions of loops and instructions.

#include <einparallel/device/body.hpp>
#include <einparallel/device/join_programs.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/op_program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// A program in device code.
struct join_code {
    op_code plain = op_code::opaque;          ///< its one functor, which has a kernel of its own, if it has
    cell_type type{};                         ///< of the result
    reduction by = reduction::sum;            ///< ⊕
    std::array<std::uint64_t, 2> identity{};  ///< of ⊕, as a cell
    small_vector<cell_type, launch::most_operands> operands;
    small_vector<cell_instruction, 64> instructions;  ///< but for the operands, which are the first registers
    int registers = 0;
    int result = 0;
    bool wide = false;  ///< cells of 16 bytes
};

/// @throws error where a device cannot run the program
EINPARALLEL_INLINE join_code code_of(const op_program& program);

/// Blocks and threads of a join.
struct join_shape {
    index points = 1;
    index terms = 1;       ///< of each; 1 where nothing is summed
    bool sums = false;     ///< something is
    bool sum_fast = true;  ///< neighbouring threads have neighbouring terms
    int across = 1;        ///< points of a block
    int along = 1;         ///< threads of a point
    index pieces = 1;
    index piece_terms = 1;

    [[nodiscard]] std::size_t workspace_bytes(std::size_t element) const {
        return pieces == 1 ? 0 : static_cast<std::size_t>(pieces * points) * element;
    }
};

/// @param threads  of a block at most, a power of two; pieces do not depend on it
EINPARALLEL_INLINE [[gnu::visibility("default")]] join_shape shape_of(const launch::strided_join& work,
                                                                      int threads = most_threads);

/// Z (⊕)= ⊕ of the pieces in the workspace.
EINPARALLEL_INLINE [[gnu::visibility("default")]] launch::strided_join sum_of_pieces(const launch::strided_join& work,
                                                                                     const join_shape& shape);

}  // namespace einparallel::EINPARALLEL_DETAIL
