#pragma once
// How a join is distributed over threads, and its program in device code. Both depend on loops and instructions only.

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

/// An op program in device code.
struct join_code {
    op_code plain = op_code::opaque;          ///< its functor, where it is only one functor; otherwise opaque
    cell_type type{};                         ///< of the result
    reduction by = reduction::sum;            ///< ⊕
    std::array<std::uint64_t, 2> identity{};  ///< neutral element of ⊕, as a cell
    small_vector<cell_type, launch::most_operands> operands;
    small_vector<cell_instruction, 64> instructions;  ///< without the operands, which are the first registers
    int registers = 0;
    int result = 0;
    bool wide = false;  ///< true: cells have 16 bytes, otherwise 8
};

/// Translates a program into device code. @throws error where a device cannot run the program
EINPARALLEL_INLINE join_code code_of(const op_program& program);

/// The shape of a join. @param threads  largest number of threads of a block, a power of two; splits do not depend on
/// it
EINPARALLEL_INLINE [[gnu::visibility("default")]] join_shape shape_of(const launch::strided_join& work,
                                                                      int threads = most_threads);

/// The join Z (⊕)= ⊕ X whose operand X is the splits in the workspace.
EINPARALLEL_INLINE [[gnu::visibility("default")]] launch::strided_join sum_of_splits(const launch::strided_join& work,
                                                                                     const join_shape& shape);

}  // namespace einparallel::EINPARALLEL_DETAIL
