#pragma once
// Functions of elements that are an exp between two simple steps, taken apart so that rows of them use vectors.

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// f(x…) = result(exp(argument(x…)), x…), where there is such a form.
template <class Function>
struct exp_form {
    static constexpr bool exists = false;
};
#define EINPARALLEL_DETAIL_EXP_FORM(function, before, after)                                     \
    template <>                                                                                  \
    struct exp_form<function> {                                                                  \
        static constexpr bool exists = true;                                                     \
        template <class T>                                                                       \
        static T argument(const function& /*f*/, T x, [[maybe_unused]] T c = T(0)) {             \
            return before;                                                                       \
        }                                                                                        \
        template <class T>                                                                       \
        static T result(const function& /*f*/, T of_exp, [[maybe_unused]] T x, T /*c*/ = T(0)) { \
            return after;                                                                        \
        }                                                                                        \
    }
EINPARALLEL_DETAIL_EXP_FORM(exp_function, x, of_exp);
EINPARALLEL_DETAIL_EXP_FORM(shifted_exponential, x - c, of_exp);
EINPARALLEL_DETAIL_EXP_FORM(sigmoid_function, -x, T(1) / (T(1) + of_exp));
EINPARALLEL_DETAIL_EXP_FORM(silu_function, -x, x*(T(1) / (T(1) + of_exp)));
#undef EINPARALLEL_DETAIL_EXP_FORM

/// Such a function of one subtree.
template <class Function, class Branch>
struct exp_form<tree_function<apply<Function, Branch>>> {
    static constexpr bool exists = exp_form<Function>::exists;
    using tree = tree_function<apply<Function, Branch>>;
    template <class... T>
    static auto of_branch(const tree& f, T... x) {
        return boost::hana::at_c<0>(f.tree.branches)(boost::hana::basic_tuple<T...>(x...));
    }
    template <class... T>
    static auto argument(const tree& f, T... x) {
        return exp_form<Function>::argument(f.tree.function, of_branch(f, x...));
    }
    template <class Out, class... T>
    static Out result(const tree& f, Out of_exp, T... x) {
        return exp_form<Function>::result(f.tree.function, of_exp, of_branch(f, x...));
    }
};

/// Rows of Function on elements In… are computed with vector exponentials: all is float, or all is double.
template <class Out, class Function, class... In>
constexpr bool has_exp_form() {
    if constexpr (exp_form<Function>::exists && std::is_floating_point_v<Out> && (std::is_same_v<In, Out> && ...)) {
        return std::is_same_v<std::invoke_result_t<const Function&, In...>, Out>;
    } else {
        return false;
    }
}

/// values[i] = exp(values[i]) with the widest instructions of this processor.
template <class T>
[[gnu::visibility("default")]] void exponentials(T* values, index count);

}  // namespace einparallel::EINPARALLEL_DETAIL
