// The innermost block of ⊕ over f(x, y) on packed operands. Compiled for every instruction set: this header includes
// itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_JOIN)
#define EINPARALLEL_DETAIL_VECTOR_JOIN

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// The functors of a join: what a tile kernel's context points to.
template <class Reduce, class Function>
struct join_functors {
    const Reduce& reduce;
    const Function& function;
};

template <class Out, class A, class B>
inline constexpr std::size_t widest_of = [] {
    const std::size_t operands = sizeof(A) < sizeof(B) ? sizeof(B) : sizeof(A);
    return sizeof(Out) < operands ? operands : sizeof(Out);
}();

/// Columns of a tile: two vectors of the widest type, but no less than one of results.
template <class Out, class A, class B, std::size_t Bytes>
inline constexpr index join_columns = [] {
    const std::size_t of_widest = 2 * Bytes / widest_of<Out, A, B>;
    const std::size_t of_results = 16 / sizeof(Out);
    return index(of_widest < of_results ? of_results : of_widest);
}();

/// Micro-kernel for functors on scalars, which the compiler vectorises: blocks of constant length, private sums.
template <class Out, class Reduce, class Function, class A, class B, instruction_set Set>
struct vector_join;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_join.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class Out, class Reduce, class Function, class A, class B>
struct vector_join<Out, Reduce, Function, A, B, instruction_set::EINPARALLEL_DETAIL_SET> {
    static constexpr index rows = EINPARALLEL_DETAIL_ROWS < 6 ? 4 : 6;
    static constexpr std::size_t widest = widest_of<Out, A, B>;
    static constexpr index columns = join_columns<Out, A, B, EINPARALLEL_DETAIL_BYTES>;

    EINPARALLEL_DETAIL_TARGET static void run(const void* context, index depth, index /*high*/, const void* left,
                                              const void* right, void* c, const index* row_offsets,
                                              const index* vector_offsets, bool add) {
        const auto& functors = *static_cast<const join_functors<Reduce, Function>*>(context);
        const A* const a = static_cast<const A*>(left);
        const B* const b = static_cast<const B*>(right);
        Out sums[rows][columns];
        accumulate(sums, functors.reduce, functors.function, depth, a, b);
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < rows; ++row) {
            Out* const into = static_cast<Out*>(c) + row_offsets[row] + vector_offsets[0];
            for (index column = 0; column < columns; ++column) {
                into[column] = add ? Out(functors.reduce(into[column], sums[row][column])) : sums[row][column];
            }
        }
    }

private:
    EINPARALLEL_DETAIL_TARGET static void accumulate(Out (&__restrict sums)[rows][columns], const Reduce& reduce,
                                                     const Function& function, index depth, const A* a, const B* b) {
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < rows; ++row) {
            for (index column = 0; column < columns; ++column) {
                sums[row][column] = converted<Out>(function(a[row], b[column]));
            }
        }
        for (index step = 1; step < depth; ++step) {
            a += rows;
            b += columns;
            EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < rows; ++row) {
                const A x = a[row];
                if constexpr (sizeof(Out) < widest) {  // g++ vectorises either half, not the whole
                    Out mapped[columns];
                    for (index column = 0; column < columns; ++column) {
                        mapped[column] = converted<Out>(function(x, b[column]));
                    }
                    for (index column = 0; column < columns; ++column) {
                        sums[row][column] = Out(reduce(sums[row][column], mapped[column]));
                    }
                    continue;
                }
                for (index column = 0; column < columns; ++column) {
                    sums[row][column] = Out(reduce(sums[row][column], converted<Out>(function(x, b[column]))));
                }
            }
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
