#pragma once
// A product whose operands are read in place, as the micro-kernel takes it.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// Offsets of step d in A and in B.
struct small_step {
    index a;
    index b;
};

/// What the vectors of a small_call hold.
enum class small_vectors : std::uint8_t {
    columns,  ///< columns, where B and C are contiguous
    pairs,    ///< columns of complex numbers, each a real and an imaginary part; elements of A are such pairs
    points    ///< points of a batch, along which A, B and C are contiguous; a point of the call is a vector of them
};

/// A product that reads its operands in place: C[i][j] (+)= scale · Σ_d A[i][d] · B[d][j], at points evenly apart.
/// Tables hold the offsets, in real numbers.
struct small_call {
    index m = 0;
    index n = 0;
    index k = 0;
    const index* a_rows = nullptr;
    const small_step* along = nullptr;
    const index* c_rows = nullptr;
    const void* scale = nullptr;  ///< one number of the elements' type
    index b_gap = 0;              ///< elements between two vectors of columns of B and the next two
    bool is_even = false;         ///< are_even(), which looks at all tables
    bool is_far = false;          ///< elements come from memory: they are read and written in their order
    index points = 1;
    index a_point = 0;  ///< elements from one point to the next
    index b_point = 0;
    index c_point = 0;
    index b_column = 1;  ///< elements from one column to the next, where each column is a vector
    index c_column = 1;
    bool apart = false;  ///< each column is a vector, where vectors hold columns: those of one point of several
    index width = 0;     ///< lanes of such a vector that are used; 0: all
};

/// True where rows are evenly apart in both of their matrices, and steps too. Never inlined: it is called once for many
/// rows.
[[gnu::noinline]] inline bool are_even(const small_call& call) {
    for (index row = 2; row < call.m; ++row) {
        if (call.a_rows[row] - call.a_rows[row - 1] != call.a_rows[1] - call.a_rows[0] ||
            call.c_rows[row] - call.c_rows[row - 1] != call.c_rows[1] - call.c_rows[0]) {
            return false;
        }
    }
    for (index step = 2; step < call.k; ++step) {
        if (call.along[step].a - call.along[step - 1].a != call.along[1].a - call.along[0].a ||
            call.along[step].b - call.along[step - 1].b != call.along[1].b - call.along[0].b) {
            return false;
        }
    }
    return true;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
