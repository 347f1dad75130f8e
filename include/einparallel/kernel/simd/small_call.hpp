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
    index ahead = 0;              ///< contiguous rows of A are prefetched this many rows before they are read; 0: never
    index even = 1;               ///< steps in each stretch where they are evenly apart: even_steps(along, k)
    index points = 1;
    index a_point = 0;  ///< elements from one point to the next
    index b_point = 0;
    index c_point = 0;
    index b_column = 1;  ///< elements from one column to the next, where each column is a vector
    index c_column = 1;
    bool apart = false;  ///< each column is a vector, where vectors hold columns: those of one point of several
};

/// The number of steps in a stretch, if steps are evenly apart inside stretches of one length; else 1. Never inlined:
/// it is called once for many steps.
[[gnu::noinline]] inline index even_steps(const small_step* along, index count) {
    if (count < 2) {
        return 1;
    }
    const auto follows = [&](index step) {
        return along[step].a - along[step - 1].a == along[1].a - along[0].a &&
               along[step].b - along[step - 1].b == along[1].b - along[0].b;
    };
    index even = 2;
    while (even < count && follows(even)) {
        ++even;
    }
    for (index step = even; step < count; ++step) {
        if (count % even != 0 || (step % even != 0 && !follows(step))) {
            return 1;
        }
    }
    return even;
}

/// Prefetches steps `first` to `last` of some rows, which are contiguous along the steps. Never inlined: many vector
/// kernels call it.
template <class T>
[[gnu::noinline]] void ask_for(const T* a, const index* rows, index count, const small_step* first,
                               const small_step* last) {
    for (index row = 0; row < count; ++row) {
        for (const small_step* step = first; step < last; step += 64 / sizeof(T)) {
            __builtin_prefetch(a + rows[row] + step->a);
        }
    }
    __asm__ volatile("");  // else calls are dropped: it has no effect
}

}  // namespace einparallel::EINPARALLEL_DETAIL
