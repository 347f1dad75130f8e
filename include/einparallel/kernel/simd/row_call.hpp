#pragma once
// A functor over rows, its types erased, and the functors that its derivative() returns.

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/simd/functor_identity.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

struct derived_call;

/// A functor as a function over rows, without its types.
struct row_call {
    row_function run = nullptr;
    const void* functor = nullptr;
    /// For a functor of the application that has derivative(): returns the derivative by an argument. @throws what
    /// derivative() throws
    derived_call (*derivative)(const void* functor, std::size_t argument) = nullptr;
    identity_function identity = nullptr;
};

/// A functor that another one's derivative() returned.
struct derived_call {
    row_call call;
    std::shared_ptr<const void> functor;
};

/// The name that a functor's type has, or f where it has none.
template <class Function>
constexpr std::string_view name_of_functor() {
    if constexpr (requires { Function::name; }) {
        return Function::name;
    } else {
        return "f";
    }
}

/// The row_call of a functor that is given to ep::map or ep::join. Arguments whose bits are set in Numbers are numbers.
template <unsigned Numbers, class Value, class... T, class Function>
row_call call_of(const Function& function) {
    row_call made{row_function_of<Numbers, Function, Value, T...>(), state_of(function)};
    if constexpr (!has_op_code<Function>) {
        made.identity = &identity_of<Function>;
    }
    if constexpr (!has_op_code<Function> && requires { function.derivative(); }) {
        made.derivative = [](const void* functor, std::size_t argument) {
            derived_call derived;
            const auto keep = [&]<class Derived>(Derived of) {
                static_assert(std::is_invocable_v<const Derived&, T...>,
                              "ep::map, ep::join: derivative() of a functor must return a functor with the same "
                              "arguments, its derivative; "
                              "for several arguments it returns a std::tuple with one such functor for each");
                const auto kept = std::make_shared<const Derived>(std::move(of));
                derived = {call_of<Numbers, Value, T...>(*kept), kept};
            };
            const auto all = static_cast<const Function*>(functor)->derivative();
            if constexpr (sizeof...(T) == 1) {
                keep(all);
            } else {
                static_assert(
                    requires { std::tuple_size<std::remove_const_t<decltype(all)>>::value; },
                    "ep::join: derivative() of a functor of several arguments returns a std::tuple with one functor "
                    "for each argument");
                std::size_t position = 0;
                std::apply([&](const auto&... each) { ((position++ == argument ? keep(each) : void()), ...); }, all);
            }
            return derived;
        };
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
