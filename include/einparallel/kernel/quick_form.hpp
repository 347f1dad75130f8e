#pragma once
// Maxima and minima in one instruction, which lose NaNs, and the processor's word on whether there were any.

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

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

}  // namespace einparallel::EINPARALLEL_DETAIL
