// The innermost block of ⊕ over f(x, y) on packed operands. Maxima and minima are one instruction, which loses NaNs,
// and the processor's word on whether there were any. Compiled for every instruction set: this header includes
// itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_JOIN)
#define EINPARALLEL_DETAIL_VECTOR_JOIN

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

// Without optimisation a compiler may compare by instructions that say nothing of a NaN.
#if EINPARALLEL_DETAIL_X86 && defined(__SSE2_MATH__) && defined(__OPTIMIZE__)
#define EINPARALLEL_DETAIL_INVALID_FLAG 1
#else
#define EINPARALLEL_DETAIL_INVALID_FLAG 0
#endif

namespace einparallel::EINPARALLEL_DETAIL {

/// The larger of two numbers. Of a number and a NaN either, and the processor's flag of invalid operations is raised.
struct quick_max {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};

/// The smaller of two numbers. Of a number and a NaN either, and the processor's flag of invalid operations is raised.
struct quick_min {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};

/// The quick form of a functor on elements of type T; the functor itself where it has none.
template <class Functor, class T>
using quick_form = std::conditional_t<
    !EINPARALLEL_DETAIL_INVALID_FLAG || !(std::is_same_v<T, float> || std::is_same_v<T, double>), Functor,
    std::conditional_t<std::is_same_v<Functor, op::max_type> || std::is_same_v<Functor, larger>, quick_max,
                       std::conditional_t<std::is_same_v<Functor, op::min_type> || std::is_same_v<Functor, smaller>,
                                          quick_min, Functor>>>;

/// `functor` where it is its own quick form, else the quick form.
template <class Quick, class Functor>
constexpr decltype(auto) quick(const Functor& functor) {
    if constexpr (std::is_same_v<Quick, Functor>) {
        return (functor);
    } else {
        return Quick{};
    }
}

#if EINPARALLEL_DETAIL_INVALID_FLAG

/// The flag that this thread's processor raises where an operation meets a NaN or makes one, lowered from here on; one
/// that was up before is up again afterwards.
class invalid_flag {
public:
    invalid_flag() : before_(__builtin_ia32_stmxcsr()) {
        if ((before_ & up) != 0) {
            __builtin_ia32_ldmxcsr(before_ & ~up);
        }
    }
    invalid_flag(const invalid_flag&) = delete;
    invalid_flag& operator=(const invalid_flag&) = delete;
    ~invalid_flag() {
        if ((before_ & up) != 0) {
            __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | up);
        }
    }

    /// Whether one of the operations whose results lie at `results` raised it.
    [[nodiscard]] bool raised_by(const void* results) const {
        __asm__ volatile("" : : "r"(results) : "memory");  // they are all done before the flag is read
        return (__builtin_ia32_stmxcsr() & up) != 0;
    }

    /// False under emulators that keep no such flag: tried once, on a NaN.
    static bool works() {
        static const bool found = [] {
            const unsigned before = __builtin_ia32_stmxcsr();
            __builtin_ia32_ldmxcsr((before | quiet) & ~up);
            volatile double number = 1;
            volatile double nan = std::numeric_limits<double>::quiet_NaN();
            volatile double either = quick_max{}(double{number}, double{nan});
            static_cast<void>(either);
            const bool raised = (__builtin_ia32_stmxcsr() & up) != 0;
            __builtin_ia32_ldmxcsr(before);
            return raised;
        }();
        return found;
    }

private:
    static constexpr unsigned up = 1;
    static constexpr unsigned quiet = 128;  // raises no signal

    unsigned before_;
};

#endif

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
    return static_cast<index>(of_widest < of_results ? of_results : of_widest);
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
    static constexpr bool keeps_flags = is_plain<Reduce> && is_plain<Function>;  // others may lower them
    using quick_plus = std::conditional_t<keeps_flags, quick_form<Reduce, Out>, Reduce>;
    using quick_times = std::conditional_t<keeps_flags && std::is_same_v<A, Out> && std::is_same_v<B, Out>,
                                           quick_form<Function, Out>, Function>;

    EINPARALLEL_DETAIL_TARGET static void run(const void* context, index depth, index /*high*/, const void* left,
                                              const void* right, void* c, const index* row_offsets,
                                              const index* vector_offsets, bool add) {
        const auto& functors = *static_cast<const join_functors<Reduce, Function>*>(context);
        const A* const a = static_cast<const A*>(left);
        const B* const b = static_cast<const B*>(right);
        Out sums[rows][columns];
        bool done = false;
#if EINPARALLEL_DETAIL_INVALID_FLAG
        if constexpr (!std::is_same_v<quick_plus, Reduce> || !std::is_same_v<quick_times, Function>) {
            if (invalid_flag::works()) {
                const invalid_flag flag;
                accumulate(sums, quick<quick_plus>(functors.reduce), quick<quick_times>(functors.function), depth, a,
                           b);
                done = !flag.raised_by(sums);
            }
        }
#endif
        if (!done) {
            accumulate(sums, functors.reduce, functors.function, depth, a, b);
        }
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < rows; ++row) {
            Out* const into = static_cast<Out*>(c) + row_offsets[row] + vector_offsets[0];
            for (index column = 0; column < columns; ++column) {
                into[column] =
                    add ? static_cast<Out>(functors.reduce(into[column], sums[row][column])) : sums[row][column];
            }
        }
    }

private:
    template <class Plus, class Times>
    EINPARALLEL_DETAIL_TARGET static void accumulate(Out (&__restrict sums)[rows][columns], const Plus& plus,
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
                        sums[row][column] = static_cast<Out>(plus(sums[row][column], mapped[column]));
                    }
                    continue;
                }
                for (index column = 0; column < columns; ++column) {
                    sums[row][column] =
                        static_cast<Out>(plus(sums[row][column], converted<Out>(function(x, b[column]))));
                }
            }
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
