#pragma once
// Kernels that call functors of the application's: for units that nvcc compiles.

#include <einparallel/device/functor.hpp>
#include <einparallel/device/join_bodies.hpp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/device/join_start.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/join.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/op_code.hpp>
#include <einparallel/notation/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_UNIT {

#if defined(__CUDA_ARCH__)
// Trees in device code alone: there nvcc refuses a functor that only the host can call, of which it warns elsewhere.

template <class Function, class... T>
__device__ auto called(const Function& function, const T&... x) {
    if constexpr (has_op_code<Function>) {
        constexpr op_code code = Function::code;
        constexpr bool is_elementary =
            code == op_code::absolute || code == op_code::power || (code >= op_code::exp && code <= op_code::gelu);
        static_assert(!is_elementary || !(is_complex<T>::value || ...),
                      "ep::exp, ep::abs, ep::pow and their like of complex numbers: a statement with a functor of your "
                      "own cannot have them on a device; assign them to a tensor of their own");
    }
    return function(x...);
}
template <std::size_t Leaf, class Elements>
__device__ auto value_of_tree(const pick<Leaf>& tree, const Elements& elements) {
    return tree(elements);
}
template <class T, class Elements>
__device__ T value_of_tree(const number<T>& tree, const Elements& /*elements*/) {
    return tree.value;
}
template <class Function, class... Branches, class Elements>
__device__ auto value_of_tree(const apply<Function, Branches...>& tree, const Elements& elements);
template <class Function, class... Branches, class Elements, std::size_t... Branch>
__device__ auto value_of_tree(const apply<Function, Branches...>& tree, const Elements& elements,
                              std::index_sequence<Branch...> /*all*/) {
    return called(tree.function, value_of_tree(boost::hana::at_c<Branch>(tree.branches), elements)...);
}
template <class Function, class... Branches, class Elements>
__device__ auto value_of_tree(const apply<Function, Branches...>& tree, const Elements& elements) {
    return value_of_tree(tree, elements, std::index_sequence_for<Branches...>{});
}
template <class Tree, class... T>
__device__ auto called(const tree_function<Tree>& function, const T&... x) {
    return value_of_tree(function.tree, boost::hana::basic_tuple<T...>(x...));
}
#else
template <class Function, class... T>
EINPARALLEL_HOST_DEVICE auto called(const Function& function, const T&... x) {
    return function(x...);
}
#endif

/// Some of the points of operand number `Operand`.
template <std::size_t Operand, class T>
struct points_of {
    T x[join_points];
};
template <class Operands, class... In>
struct points_of_all;
template <std::size_t... Operand, class... In>
struct points_of_all<std::index_sequence<Operand...>, In...> : points_of<Operand, In>... {};

/// ⊕ over f(x1, …, xr) as a program of joins (join_programs.hpp), by the functors themselves.
template <class Out, class Reduce, class Function, class... In>
struct functor_program : element_program<Out, points_of_all<std::index_sequence_for<In...>, In...>> {
    static constexpr int operands = sizeof...(In);
    using registers = points_of_all<std::index_sequence_for<In...>, In...>;

    Reduce by;
    Function function;
    Out identity;

    template <class Context>
    EINPARALLEL_HOST_DEVICE void load(Context& at, registers& held, int operand, int point, bool active,
                                      const void* first, index offset) const {
        load(at, held, operand, point, active, first, offset, std::index_sequence_for<In...>{});
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE Out result(const registers& held, int point) const {
        return result(held, point, std::index_sequence_for<In...>{});
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE Out reduce(Out a, Out b) const { return static_cast<Out>(called(by, a, b)); }

private:
    template <std::size_t Operand, class T, class Context>
    static EINPARALLEL_HOST_DEVICE void load_one(Context& at, points_of<Operand, T>& into, int operand, int point,
                                                 bool active, const void* first, index offset) {
        if (operand == static_cast<int>(Operand)) {
            into.x[point] = at.load(active, static_cast<const T*>(first) + offset);
        }
    }
    template <class Context, std::size_t... Operand>
    static EINPARALLEL_HOST_DEVICE void load(Context& at, registers& held, int operand, int point, bool active,
                                             const void* first, index offset, std::index_sequence<Operand...> /*all*/) {
        (load_one<Operand, In>(at, held, operand, point, active, first, offset), ...);
    }
    template <std::size_t... Operand>
    [[nodiscard]] EINPARALLEL_HOST_DEVICE Out result(const registers& held, int point,
                                                     std::index_sequence<Operand...> /*all*/) const {
        return converted<Out>(called(function, static_cast<const points_of<Operand, In>&>(held).x[point]...));
    }
};

/// Z (⊕)= ⊕ X
template <class Out, class Reduce>
void launch_combine(launch::stream on, const launch::strided_join& work, const kernel& of) {
    const join_shape shape = shape_of(work, sizeof(Out));
    const Reduce& by = static_cast<const reducing_kernel<Out, Reduce>&>(of).reduce();
    start_join(on, work, shape,
               functor_program<Out, Reduce, unchanged, Out>{{}, by, {}, Reduce::template identity<Out>()});
    if (shape.pieces > 1) {
        launch_combine<Out, Reduce>(on, sum_of_pieces(work, shape), of);
    }
}

/// Z (⊕)= ⊕ f(X1, …, Xr)
template <class Out, class Reduce, class Function, class... In>
void launch_functor(launch::stream on, const launch::strided_join& work, const kernel& of) {
    const join_shape shape = shape_of(work, sizeof(Out));
    const auto& from = static_cast<const join_kernel<Out, Reduce, Function, In...>&>(of);
    start_join(on, work, shape,
               functor_program<Out, Reduce, Function, In...>{
                   {}, from.reduce(), from.function(), Reduce::template identity<Out>()});
    if (shape.pieces > 1) {
        launch_combine<Out, Reduce>(on, sum_of_pieces(work, shape), of);
    }
}

/// Not of the library's own functors alone, which have kernels.
template <class Tree>
inline constexpr bool calls_functor = !has_op_code<Tree>;
template <std::size_t Leaf>
inline constexpr bool calls_functor<pick<Leaf>> = false;
template <class T>
inline constexpr bool calls_functor<number<T>> = false;
template <class Function, class... Branches>
inline constexpr bool calls_functor<apply<Function, Branches...>> = calls_functor<Function> ||
                                                                    (calls_functor<Branches> || ...);
template <class Tree>
inline constexpr bool calls_functor<tree_function<Tree>> = calls_functor<Tree>;

/// A launch copies a functor's bytes. (To the host compiler an extended lambda that captures is more than its bytes.)
template <class Tree>
inline constexpr bool has_plain_state = std::is_trivially_copyable_v<Tree>
#if defined(__CUDACC_EXTENDED_LAMBDA__)
                                        || __nv_is_extended_host_device_lambda_closure_type(Tree)
#endif
    ;
template <class Function, class... Branches>
inline constexpr bool has_plain_state<apply<Function, Branches...>> = has_plain_state<Function> &&
                                                                      (has_plain_state<Branches> && ...);
template <class Tree>
inline constexpr bool has_plain_state<tree_function<Tree>> = has_plain_state<Tree>;

template <class Out, class Reduce, class Function, class... In>
inline constexpr device_functor launches_of{&launch_functor<Out, Reduce, Function, In...>,
                                            &launch_combine<Out, Reduce>};

/// The launches of a kernel with functors of the application's; null for another one, and where a device cannot have
/// their state: bytes that are copied, so many that they fit into the parameters of a launch.
template <class Out, class Reduce, class Function, class... In>
const device_functor* functor_of(const join_kernel<Out, Reduce, Function, In...>& /*recorded*/) {
    if constexpr ((calls_functor<Function> || reduction_of<Reduce> == reduction::unknown) && sizeof...(In) > 0 &&
                  sizeof...(In) <= launch::most_operands && has_plain_state<Function> && has_plain_state<Reduce>) {
        if constexpr (sizeof(join_sum<functor_program<Out, Reduce, Function, In...>>) <= most_parameter_bytes) {
            return &launches_of<Out, Reduce, Function, In...>;
        }
    }
    return nullptr;
}

}  // namespace einparallel::EINPARALLEL_UNIT
