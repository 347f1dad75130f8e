#pragma once
// The innermost block of a blocked product as a value: its shape, and functions for packing, computing and scattering.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

struct packed_block;
struct small_call;

/// The least multiple of a step that is no less than the count.
constexpr index rounded_up(index count, index step) {
    return (count + step - 1) / step * step;
}

/// A micro-kernel with its packing routines. Rows, columns and offsets count elements of C. `context` is what the
/// functions need besides their arguments: a scale, functors.
struct tile_kernel {
    index rows = 0;
    index columns = 0;
    index lanes = 1;            ///< columns that must be neighbours in C for `run` to write them
    std::size_t a_bytes = 0;    ///< bytes of a packed element of A
    std::size_t b_bytes = 0;    ///< bytes of a packed element of B
    std::size_t a_element = 0;  ///< bytes of an element of A in memory
    std::size_t b_element = 0;
    std::size_t c_element = 0;
    index row_step = 1;  ///< `run` computes a multiple of this many rows

    /// C(high × columns) (⊕)= A · B on packed micro-panels. It computes a multiple of row_step rows; those beyond row
    /// high − 1 are copies of it. Row i of C is at c + row_offsets[i], and vector v of this row, `lanes` columns, at
    /// vector_offsets[v] from there.
    void (*run)(const void* context, index depth, index high, const void* a, const void* b, void* c,
                const index* row_offsets, const index* vector_offsets, bool add) = nullptr;
    void (*pack_a)(const void* context, void* into, const void* from, const packed_block& block) = nullptr;
    void (*pack_b)(const void* context, void* into, const void* from, const packed_block& block) = nullptr;
    /// C at row_offsets[i] + column_offsets[j] (⊕)= a dense tile of `columns` columns.
    void (*scatter)(const void* context, const void* tile, index columns, void* c, const index* row_offsets, index high,
                    const index* column_offsets, index wide, bool add) = nullptr;
    const void* context = nullptr;
    /// Like `run`, but reads A in place, where it is not packed, and B in packed micro-panels; null for kernels that
    /// cannot.
    /// @pre columns >= lanes; where `add`, columns is a multiple of lanes
    void (*run_in_place)(const small_call& block, const void* a, const void* b, void* c, bool add) = nullptr;
};

/// A tile_kernel::scatter whose context is a Context, which has ⊕ as `reduce`.
template <class Out, class Context>
void scatter_tile(const void* context, const void* tile, index columns, void* c, const index* row_offsets, index high,
                  const index* column_offsets, index wide, bool add) {
    const auto& reduce = static_cast<const Context*>(context)->reduce;
    for (index row = 0; row < high; ++row) {
        const Out* const from = static_cast<const Out*>(tile) + row * columns;
        Out* const into = static_cast<Out*>(c) + row_offsets[row];
        for (index column = 0; column < wide; ++column) {
            Out& element = into[column_offsets[column]];
            element = add ? Out(reduce(element, from[column])) : from[column];
        }
    }
}

/// Largest tile in elements and in bytes.
inline constexpr index largest_tile_rows = 12;
inline constexpr std::size_t largest_tile_bytes = 12 * 2 * 64;

}  // namespace einparallel::EINPARALLEL_DETAIL
