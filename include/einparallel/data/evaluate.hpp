#pragma once
// Planning and running in one call.

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/local_tensor.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/decompose.hpp>
#include <einparallel/search/options.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void evaluate_into_memory(context& world, const options& asked, std::span<const binding> outputs);

template <class... Arguments>
struct other_than_bindings : refused {
    static_assert(
        fits<Arguments...>,
        "ep::evaluate_into: a context comes first, then options if any, then what ep::into and ep::bind return: "
        "ep::evaluate_into(world, ep::into(Z, z))");
};

template <class T>
concept OutputOrBinding = TensorOperand<T> || std::same_as<T, binding>;

auto evaluate_on(context& world, const options& asked, const auto&... arguments) {
    planned_outputs outputs;
    std::vector<binding> bound;
    const auto take = [&](const auto& each) {
        if constexpr (requires { each.node(); }) {
            outputs.push_back(each.node());
        } else {
            bound.push_back(each);
        }
    };
    (take(arguments), ...);
    const results all = carry_out(plan_on(world, asked, outputs), world, bound);
    const auto result = [&](const auto& argument) {
        if constexpr (requires { argument.node(); }) {
            return std::tuple{all.get(argument)};
        } else {
            return std::tuple{};
        }
    };
    auto made = std::tuple_cat(result(arguments)...);
    if constexpr (std::tuple_size_v<decltype(made)> == 1) {
        return std::get<0>(std::move(made));
    } else {
        return made;
    }
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// Plans outputs with decompose and runs the plan. Values for placeholders follow the outputs: `ep::evaluate(world, Z,
/// ep::bind(X, x))`. Collective. Returns the ep::distributed of one output, or a std::tuple of those of several.
/// @throws error, the same on every rank
template <class T, std::size_t Rank, detail::OutputOrBinding... More>
[[nodiscard]] auto evaluate(context& world, const options& asked, const tensor<T, Rank>& output, const More&... more) {
    return detail::evaluate_on(world, asked, output, more...);
}
/// Like the function above, with the default options.
template <class T, std::size_t Rank, detail::OutputOrBinding... More>
[[nodiscard]] auto evaluate(context& world, const tensor<T, Rank>& output, const More&... more) {
    return detail::evaluate_on(world, options{}, output, more...);
}

/// Other arguments, and options after the outputs, do not compile.
///@{
template <class... Arguments>
detail::other_than_outputs<Arguments...> evaluate(const Arguments&... /*arguments*/);
template <class First, class Second>
detail::other_than_outputs<First, Second, options> evaluate(const First& /*first*/, const Second& /*second*/,
                                                            const options& /*last*/);
template <std::size_t Count>
detail::refused evaluate(const context& /*world*/, const detail::anything (&/*no_options*/)[Count],
                         const detail::anything& /*next*/, ...);
///@}

/// Plans outputs with decompose and runs the plan. Each output goes into memory of an earlier result or of the
/// application; see ep::into. Collective. With the automatic algorithm, an output that has no pin is pinned to the
/// blocks of its memory if they form a grid of several ranks: then it is computed there.
///
///     ep::evaluate_into(world, ep::into(Z, z));
/// @throws error, the same on every rank
template <std::same_as<binding>... More>
void evaluate_into(context& world, const options& asked, const binding& output, const More&... more) {
    detail::evaluate_into_memory(world, asked, std::array{output, more...});
}
/// Like the function above, with the default options.
template <std::same_as<binding>... More>
void evaluate_into(context& world, const binding& output, const More&... more) {
    evaluate_into(world, options{}, output, more...);
}
/// Other arguments do not compile.
///@{
template <class... Arguments>
    requires(!(detail::is_refused<Arguments> || ...))
detail::other_than_bindings<Arguments...> evaluate_into(const Arguments&... /*arguments*/);
template <std::size_t Count>
detail::refused evaluate_into(const context& /*world*/, const detail::anything (&/*no_options*/)[Count],
                              const detail::anything& /*next*/, ...);
///@}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
