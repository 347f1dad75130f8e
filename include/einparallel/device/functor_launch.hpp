#pragma once
// Kernels that call functors of the application, for units that nvcc compiles.

#include <einparallel/device/join_body.hpp>
#include <einparallel/device/join_programs.hpp>
#include <einparallel/device/join_start.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/work/join.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_UNIT {

#if defined(__CUDA_ARCH__)
// Evaluates trees in device code only: there nvcc refuses a functor that only the host can call; elsewhere it warns.

template <class Function, class... T>
__device__ auto called(const Function& function, const T&... x) {
    if constexpr (has_op_code<Function>) {
        constexpr op_code code = Function::code;
        constexpr type_role role = operation_of(code).role;
        constexpr bool is_elementary = role == type_role::magnitude || role == type_role::fractions;
        static_assert(!is_elementary || !(is_complex<T>::value || ...),
                      "ep::exp, ep::abs, ep::pow and the like: on a device, a statement with a functor of your own "
                      "cannot apply them to complex numbers; assign their result to a tensor first");
    }
    return function(x...);
}
__device__ auto value_there(const auto& leaf, const auto& elements) {
    return value_of_tree(leaf, elements);
}
template <class Function, class... Arguments>
__device__ auto value_there(const join_node<Function, Arguments...>& tree, const auto& elements) {
    return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
        return called(tree.function, value_there(argument<Position>(tree.arguments), elements)...);
    }
    (std::index_sequence_for<Arguments...>{});
}
template <class Tree, class... T>
__device__ auto called(const tree_function<Tree>& function, const T&... x) {
    return value_there(function.tree, boost::hana::basic_tuple<T...>(x...));
}
#else
template <class Function, class... T>
EINPARALLEL_HOST_DEVICE auto called(const Function& function, const T&... x) {
    return function(x...);
}
#endif

/// A functor that is called through called().
template <class Function>
struct device_call {
    Function function;

    EINPARALLEL_HOST_DEVICE auto operator()(const auto&... x) const { return called(function, x...); }
};

/// The program of a join that computes ⊕ over f(x1, …, xr) with functors.
template <class Out, class Reduce, class Function, class... In>
using program_of_functors = functor_program<Out, device_call<Reduce>, device_call<Function>, In...>;

/// Launches Z (⊕)= ⊕ f(X1, …, Xr), or, with OfSums, Z (⊕)= ⊕ X.
template <bool OfSums, class Out, class Reduce, class Function, class... In>
void launch_functor(launch::stream on, const launch::strided_join& work, const void* functors) {
    const auto& from = *static_cast<const functor_join<Out, Reduce, Function, In...>*>(functors);
    const program_of_functors<Out, Reduce, Function, In...> program{
        {from.reduce}, {from.function}, Reduce::template identity<Out>()};
    if constexpr (OfSums) {
        start_join(on, work, program.of_sums());
    } else {
        start_join(on, work, program);
    }
}

/// True where a functor of the application is called. Functors of the library have kernels already.
template <class Function>
inline constexpr bool calls_functor = !has_op_code<Function>;
template <class Tree>
inline constexpr bool calls_functor<tree_function<Tree>> = !is_told<Tree>;

/// True where a copy of its bytes is a copy of the functor: a launch copies only bytes. (The host compiler does not see
/// that this holds for an extended lambda with captures.)
template <class Tree>
inline constexpr bool has_plain_state = std::is_trivially_copyable_v<Tree>
#if defined(__CUDACC_EXTENDED_LAMBDA__)
                                        || __nv_is_extended_host_device_lambda_closure_type(Tree)
#endif
    ;
template <class Function, class... Arguments>
inline constexpr bool has_plain_state<join_node<Function, Arguments...>> = has_plain_state<Function> &&
                                                                           (has_plain_state<Arguments> && ...);
template <class Tree>
inline constexpr bool has_plain_state<tree_function<Tree>> = has_plain_state<Tree>;

template <class Out, class Reduce, class Function, class... In>
inline constexpr device_functor launches_of{&launch_functor<false, Out, Reduce, Function, In...>,
                                            &launch_functor<true, Out, Reduce, Function, In...>};

/// The launch functions of a kernel with functors of the application. Null for other kernels, and where a device cannot
/// get the functors' state: it must be copied as bytes, and must fit into the parameters of a launch.
template <class Out, class Reduce, class Function, class... In>
const device_functor* functor_of(const functor_join<Out, Reduce, Function, In...>& /*recorded*/) {
    if constexpr ((calls_functor<Function> || reduction_of<Reduce> == reduction::unknown) && sizeof...(In) > 0 &&
                  sizeof...(In) <= launch::most_operands && has_plain_state<Function> && has_plain_state<Reduce>) {
        if constexpr (sizeof(join_body<program_of_functors<Out, Reduce, Function, In...>>) <= most_parameter_bytes) {
            return &launches_of<Out, Reduce, Function, In...>;
        }
    }
    return nullptr;
}

}  // namespace einparallel::EINPARALLEL_UNIT
