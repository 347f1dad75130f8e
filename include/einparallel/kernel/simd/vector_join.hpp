// The innermost block of ⊕ over f(x, y) on packed operands. A maximum or minimum is one instruction, which loses NaNs;
// a flag of the processor then says whether there were any. Compiled for every instruction set: this header includes
// itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_JOIN)
#define EINPARALLEL_DETAIL_VECTOR_JOIN

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

// Without optimisation a compiler may compare with instructions that do not raise the flag for a NaN.
#if EINPARALLEL_DETAIL_X86 && defined(__SSE2_MATH__) && defined(__OPTIMIZE__)
#define EINPARALLEL_DETAIL_INVALID_FLAG

/// The larger or smaller number in one instruction. Of a number and a NaN it returns either, and the processor raises
/// its flag of invalid operations.
template <op_code Code>
struct quick_extreme {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return (Code == op_code::larger ? a < b : b < a) ? b : a;
    }
};

/// Clears the flag of invalid operations of this thread, and keeps it from becoming a signal, as long as this object
/// lives. If the flag was raised before, it is raised again afterwards.
class invalid_flag {
public:
    invalid_flag() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr((before_ & ~up) | quiet); }
    invalid_flag(const invalid_flag&) = delete;
    invalid_flag& operator=(const invalid_flag&) = delete;
    ~invalid_flag() { __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~quiet) | (before_ & (up | quiet))); }

    /// Whether an operation whose results lie at `results` raised the flag.
    [[nodiscard]] bool raised_by(const void* results) const {
        __asm__ volatile("" : : "r"(results) : "memory");  // they are all done before the flag is read
        return (__builtin_ia32_stmxcsr() & up) != 0;
    }

    /// False under emulators that keep no such flag. This is tried once, with a NaN.
    static bool works() {
        static const bool found = [] {
            const invalid_flag flag;
            volatile double number = std::numeric_limits<double>::quiet_NaN();
            number = quick_extreme<op_code::larger>{}(1.0, double{number});
            const bool raised = flag.raised_by(const_cast<const double*>(&number));
            __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~up);
            return raised;
        }();
        return found;
    }

private:
    static constexpr unsigned up = 1;
    static constexpr unsigned quiet = 128;

    unsigned before_;
};

/// True for a maximum or minimum of the library.
template <class Functor>
inline constexpr bool is_extreme = Functor::code == op_code::larger || Functor::code == op_code::smaller;

/// The functor that is tried first: its quick form, where there is one, else `functor` itself.
template <class Functor>
constexpr decltype(auto) quick(const Functor& functor) {
    if constexpr (is_extreme<Functor>) {
        return quick_extreme<Functor::code>{};
    } else {
        return (functor);
    }
}

/// True where both functors are the library's, which leave the flag as it is, and one of them has a quick form.
template <class Reduce, class Function, class... T>
constexpr bool has_quick_form() {
    if constexpr (has_op_code<Reduce> && has_op_code<Function>) {
        return (is_extreme<Reduce> || is_extreme<Function>)&&((std::is_same_v<T, float> && ...) ||
                                                              (std::is_same_v<T, double> && ...));
    } else {
        return false;
    }
}
#endif

/// The functors of a join. The context of its tile kernel points to them.
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

/// Columns of a tile: two vectors of the widest type, but at least 16 bytes of results.
template <class Out, class A, class B, std::size_t Bytes>
inline constexpr index join_columns = [] {
    const std::size_t of_widest = 2 * Bytes / widest_of<Out, A, B>;
    const std::size_t of_results = 16 / sizeof(Out);
    return index(of_widest < of_results ? of_results : of_widest);
}();

/// A micro-kernel for functors on scalars. The compiler vectorises it, because its blocks have constant lengths and its
/// sums are private.
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

    /// For a sum, adding a term may be fused with computing it. For other ⊕ nothing is fused: terms are compared, and
    /// must have the values that they have elsewhere.
    static constexpr auto kernel() {
        if constexpr (std::is_same_v<Reduce, op::sum_type>) {
            return &run_fused;
        } else {
            return &run;
        }
    }

private:
    using offsets = const index*;
    EINPARALLEL_DETAIL_TARGET static void run_fused(const void* context, index depth, index /*high*/, const void* a,
                                                    const void* b, void* c, offsets row, offsets vector, bool add) {
        compute(context, depth, a, b, c, row, vector, add);
    }
    EINPARALLEL_DETAIL_UNFUSED static void run(const void* context, index depth, index /*high*/, const void* a,
                                               const void* b, void* c, offsets row, offsets vector, bool add) {
        compute(context, depth, a, b, c, row, vector, add);
    }

    [[gnu::always_inline]] static void compute(const void* context, index depth, const void* left, const void* right,
                                               void* c, offsets row_offsets, offsets vector_offsets, bool add) {
        const auto& functors = *static_cast<const join_functors<Reduce, Function>*>(context);
        const A* const a = static_cast<const A*>(left);
        const B* const b = static_cast<const B*>(right);
        Out sums[rows][columns];
        bool done = false;
#if defined(EINPARALLEL_DETAIL_INVALID_FLAG)
        if constexpr (has_quick_form<Reduce, Function, Out, A, B>()) {
            if (invalid_flag::works()) {
                const invalid_flag flag;
                accumulate(sums, quick(functors.reduce), quick(functors.function), depth, a, b);
                done = !flag.raised_by(sums);
            }
        }
#endif
        if (!done) {
            accumulate(sums, functors.reduce, functors.function, depth, a, b);
        }
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < rows; ++row) {
            Out* const into = static_cast<Out*>(c) + row_offsets[row] + vector_offsets[0];
            for (index column = 0; add && column < columns; ++column) {
                sums[row][column] = Out(functors.reduce(into[column], sums[row][column]));
            }
            for (index column = 0; column < columns; ++column) {
                into[column] = sums[row][column];
            }
        }
    }

    template <class Plus, class Times>
    [[gnu::always_inline]] static void accumulate(Out (&__restrict sums)[rows][columns], const Plus& reduce,
                                                  const Times& function, index depth, const A* a, const B* b) {
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
