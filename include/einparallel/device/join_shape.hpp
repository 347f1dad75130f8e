#pragma once
// How a join is given to threads, and its program in device code: pure functions of loops and instructions.

#include <einparallel/device/join_bodies.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/op_program.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// An element type in device code.
inline cell_type cell_type_of(element_type type) {
    const auto kind = type.kind == 'f'   ? (type.bytes == 4 ? cell_kind::f32 : cell_kind::f64)
                      : type.kind == 'c' ? (type.bytes == 8 ? cell_kind::c64 : cell_kind::c128)
                      : type.kind == 'i' ? cell_kind::whole
                                         : cell_kind::natural;
    return {kind, static_cast<std::uint8_t>(type.bytes), type.kind == 'b'};
}

/// Functions with kernels of their own (join_programs.hpp), where operands and result have one type of fractions.
enum class plain_function : std::uint8_t { none, product, sum, quotient, exponential };

/// A program in device code.
struct join_code {
    plain_function plain = plain_function::none;
    std::array<std::complex<double>, 2> factors{1.0, 1.0};  ///< of the product, or of both operands of the sum
    element_type type;                                      ///< of the result
    op_code by = op_code::add;                              ///< ⊕
    std::array<std::uint64_t, 2> identity{};                ///< of ⊕, as a cell
    small_vector<cell_type, launch::most_operands> operands;
    small_vector<cell_instruction, 64> instructions;  ///< but for the operands, which are the first registers
    int registers = 0;
    int result = 0;
    bool wide = false;  ///< cells of 16 bytes

    [[nodiscard]] int cell_bytes() const { return wide ? 16 : 8; }

    /// Bytes of shared memory for the registers of each thread.
    [[nodiscard]] int register_bytes() const {
        return plain == plain_function::none ? registers * join_points * cell_bytes() : 0;
    }
    /// … and for its sum.
    [[nodiscard]] int shared_bytes() const {
        return register_bytes() + (plain == plain_function::none ? cell_bytes() : static_cast<int>(type.bytes));
    }
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

/// @param shared_bytes  of each thread
EINPARALLEL_INLINE [[gnu::visibility("default")]] join_shape shape_of(const launch::strided_join& work,
                                                                      int shared_bytes);

/// Z (⊕)= ⊕ of the pieces in the workspace.
EINPARALLEL_INLINE [[gnu::visibility("default")]] launch::strided_join sum_of_pieces(const launch::strided_join& work,
                                                                                     const join_shape& shape);

}  // namespace einparallel::EINPARALLEL_DETAIL
