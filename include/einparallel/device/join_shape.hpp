#pragma once
// How a join is given to threads, and its program in device code: pure functions of loops and instructions.

#include <einparallel/device/join_body.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_program.hpp>

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

/// @param threads  of a block at most, a power of two; splits do not depend on it
EINPARALLEL_INLINE [[gnu::visibility("default")]] join_shape shape_of(const launch::strided_join& work,
                                                                      int threads = most_threads);

/// Z (⊕)= ⊕ of the splits in the workspace.
EINPARALLEL_INLINE [[gnu::visibility("default")]] launch::strided_join sum_of_splits(const launch::strided_join& work,
                                                                                     const join_shape& shape);

}  // namespace einparallel::EINPARALLEL_DETAIL
