#pragma once
// Kernels by their types and functors.

#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace einparallel::testing {

/// ⊕ of a function of elements In….
template <class Out, class Reduce, class Function, class... In>
struct join_kernel : kernel {
    using made = detail::functor_join<Out, Reduce, Function, In...>;

    join_kernel(Reduce combine, Function map)
        : join_kernel(std::shared_ptr<const made>(new made(std::move(combine), std::move(map)))) {}

private:
    explicit join_kernel(const std::shared_ptr<const made>& functors)
        : kernel(*detail::make_join_kernel(functors->work, {}, {functors})) {}
};

/// Σ scale · x · y · …
template <Element T>
struct product_kernel : kernel {
    product_kernel(T scale, std::size_t operands) : kernel(*detail::make_product_kernel<T>(scale, operands)) {}
};

}  // namespace einparallel::testing
