// Rows of one function of elements: what an instruction of an op program is on the host. Compiled for every instruction
// set: this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_OP_ROW)
#define EINPARALLEL_DETAIL_OP_ROW

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_math.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/op_code.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// into[i] = f(from[0][i], from[1][i], …) for `count` points. `into` may be one of the rows read, element for element.
using row_function = void (*)(const void* functor, void* into, const void* const* from, index count);

/// A functor of the library's own, which has no state.
template <class Function>
inline constexpr bool has_op_code = requires {
    requires std::is_same_v<decltype(Function::code), const op_code>;
};

/// What a row function gets for its functor: nothing of the library's own, which are made where they are called.
template <class Function>
const void* state_of(const Function& function) {
    return has_op_code<Function> ? nullptr : &function;
}

/// Rows of Function on elements In…
template <instruction_set Set, class Function, class Out, class... In>
struct op_row;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// The application's functors are compiled once, for what the unit is compiled for.
template <class Function, class Out, class... In>
row_function row_function_of() {
    if constexpr (has_op_code<Function>) {
        return with_best_instructions(
            [](auto set) -> row_function { return &op_row<set.value, Function, Out, In...>::run; });
    } else {
        return &op_row<instruction_set::baseline, Function, Out, In...>::run;
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class Function, class Out, class... In>
struct op_row<instruction_set::EINPARALLEL_DETAIL_SET, Function, Out, In...> {
    EINPARALLEL_DETAIL_TARGET static void run([[maybe_unused]] const void* functor, void* into, const void* const* from, index count) {
        if constexpr (has_op_code<Function>) {
            run(Function{}, static_cast<Out*>(into), from, count, std::index_sequence_for<In...>{});
        } else {
            run(*static_cast<const Function*>(functor), static_cast<Out*>(into), from, count,
                std::index_sequence_for<In...>{});
        }
    }

private:
    template <std::size_t... R>
    EINPARALLEL_DETAIL_TARGET static void run(const Function& function, Out* into, const void* const* from,
                                              index count, std::index_sequence<R...> /*operands*/) {
        if constexpr (has_op_code<Function> && (std::is_same_v<In, Out> && ...)) {
            if constexpr (has_vector_math<Function::code, Out>) {
                const Out* const rows[] = {static_cast<const Out*>(from[R])..., nullptr};
                vector_math<Out, instruction_set::EINPARALLEL_DETAIL_SET>::template row<Function::code>(into, rows[0],
                                                                                                       rows[1], count);
                return;
            }
        }
        compute(function, into, count, static_cast<const In*>(from[R])...);
    }

    /// In blocks of constant length, most of it: what -O2 makes vectors of.
    EINPARALLEL_DETAIL_TARGET static void compute(const Function& function, Out* into, index count, const In*... x) {
        constexpr index block = 16;
        index at = 0;
        for (; at + block <= count; at += block) {
            EINPARALLEL_DETAIL_SAME_PLACES for (index lane = 0; lane < block; ++lane) {
                into[at + lane] = converted<Out>(function(x[at + lane]...));
            }
        }
        for (; at < count; ++at) {
            into[at] = converted<Out>(function(x[at]...));
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
