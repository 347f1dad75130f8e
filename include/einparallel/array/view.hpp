#pragma once
// Memory that somebody else owns, as a strided tensor.

#include <einparallel/array/foreign.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/refused.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Does not compile for tensors to which no view can refer.
template <class... M>
struct known_tensors {};
template <class... M>
    requires(OpaqueTensor<M> || ...)
struct known_tensors<M...> {
    static_assert(fits<M...>,
                  "einparallel: the type of this tensor does not say where its elements lie: write ep::view<double, "
                  "2>(pointer, {m, n}, {row_stride, column_stride}); Eigen's tensors, contiguous ranges of one "
                  "dimension, mdspans with the default accessor, Kokkos' and xtensor's views do not need this");
};

}  // namespace EINPARALLEL_DETAIL

/// A tensor in memory that it does not own, with strides in elements, of any sign and order. T may be const. Assigning
/// through labels writes the elements: V(i, k) = A(i, j) * B(j, k). Copying a view copies the reference. A negative
/// extent is an error when the elements are read or written; in a collective call all ranks throw it.
template <class T, std::size_t Rank>
class view {
    static_assert(detail::is_element<std::remove_const_t<T>>,
                  "ep::view: elements are float, double, std::complex of these, halves, integers or bool");

public:
    using value_type = std::remove_const_t<T>;
    static constexpr std::size_t rank = Rank;

    /// A row-major view: ep::view<double, 2> V(ptr, {m, k}). The braces may mix integral types.
    template <std::size_t Count>
    view(T* data, const einparallel::extent (&extents)[Count]) : view(data, detail::listed_extents<Rank>(extents)) {
        static_assert(Count == Rank, "ep::view: the number of extents differs from the rank");
    }
    /// A view with strides, in elements: ep::view<double, 2> V(ptr, {m, k}, {sm, sk}).
    template <std::size_t Count, std::size_t StrideCount>
    view(T* data, const einparallel::extent (&extents)[Count], const einparallel::extent (&strides)[StrideCount])
        : view(data, detail::listed_extents<Rank>(extents), detail::listed_extents<Rank>(strides)) {
        static_assert(Count == Rank, "ep::view: the number of extents differs from the rank");
        static_assert(StrideCount == Rank, "ep::view: the number of strides differs from the rank");
    }
    /// Extents without braces do not compile.
    template <std::integral... Extents>
        requires(sizeof...(Extents) > 0)
    view(T* /*data*/, Extents... /*extents*/) {
        static_assert(detail::fits<Extents...>,
                      "ep::view: extents stand in braces: ep::view<double, 2> V(pointer, {m, n})");
    }
    /// A row-major view with extents from a std::array. A view of rank 0: ep::view<double, 0>(ptr, {}).
    template <detail::NumberArray Extents = std::array<einparallel::extent, 0>>
    view(T* data, const Extents& extents)
        : view(data, extents, detail::row_major(detail::listed_extents<Rank>(extents))) {}
    /// A view with strides from a std::array, in elements; the extents may stand in braces.
    template <detail::NumberArray Extents = std::array<index, Rank>, detail::NumberArray Strides>
    view(T* data, const Extents& extents, const Strides& strides)
        : data_(data),
          extents_(detail::listed_extents<Rank>(extents)),
          strides_(detail::listed_extents<Rank>(strides)) {
        static_assert(std::tuple_size_v<Extents> == Rank, "ep::view: the number of extents differs from the rank");
        static_assert(std::tuple_size_v<Strides> == Rank, "ep::view: the number of strides differs from the rank");
    }

    /// A view of another library's object: an Eigen matrix, vector (rank 1), map or tensor map, a contiguous range
    /// (std::vector, std::span), an mdspan, or a view or container of Kokkos or xtensor.
    template <class Foreign>
        requires detail::ForeignOfRank<std::remove_reference_t<Foreign>, T, Rank> view(
            Foreign&& foreign) {  // implicit: accepted wherever a view is
            const auto block = detail::foreign_block_of(foreign);
            data_ = block.data;
            extents_ = block.extents;
            strides_ = block.strides;
        }

    /// Tensors whose elements cannot be found do not compile.
    template <class Other>
        requires detail::OpaqueTensor<Other> view(Other&& /*tensor*/) {
            static_cast<void>(detail::known_tensors<Other>());
        }

    /// A view of const elements from a view.
    template <class U>
        requires(std::is_same_v<const U, T>)
    view(const view<U, Rank>& other) : data_(other.data()), extents_(other.extents()), strides_(other.strides()) {}

    /// The address of the element whose indices are all 0.
    [[nodiscard]] T* data() const { return data_; }
    /// Number of elements.
    [[nodiscard]] index size() const { return detail::element_count(extents_); }
    /// Extent of one dimension. @pre dimension < Rank
    [[nodiscard]] index extent(std::size_t dimension) const { return extents_[dimension]; }
    /// Extents of all dimensions.
    [[nodiscard]] const std::array<index, Rank>& extents() const { return extents_; }
    /// Strides, in elements.
    [[nodiscard]] const std::array<index, Rank>& strides() const { return strides_; }

    /// With indices: one element. With labels: an operand, or the left-hand side of an einsum.
    template <class... Indices>
        requires detail::addresses<Rank, Indices...>
    decltype(auto) operator()(const Indices&... indices) const {
        return detail::access<T, Rank>(data_, extents_, strides_, nullptr, indices...);
    }

    /// Other arguments do not compile.
    template <class... Indices>
        requires(!detail::addresses<Rank, Indices...>)
    detail::other_access<Rank, Indices...>
    operator()(const Indices&... /*indices*/) const { return {}; }

    /// The element of a tensor of rank 0.
    [[nodiscard]] T& value() const requires(Rank == 0) { return *data_; }

private:
    T* data_ = nullptr;
    std::array<index, Rank> extents_{};
    std::array<index, Rank> strides_{};
};

/// ep::view(pointer, {m, k}): the rank is the number of extents.
template <class T, std::size_t Count>
view(T*, const einparallel::extent (&)[Count]) -> view<T, Count>;
/// ep::view(pointer, extents, strides), with extents and, if any, strides in std::arrays.
template <class T, detail::NumberArray Extents, detail::NumberArray... Strides>
view(T*, const Extents&, const Strides&...) -> view<T, std::tuple_size_v<Extents>>;
/// ep::view(pointer, {m, k}, {sm, sk}).
template <class T, std::size_t Count, std::size_t StrideCount>
view(T*, const einparallel::extent (&)[Count], const einparallel::extent (&)[StrideCount]) -> view<T, Count>;
/// ep::view(eigen_matrix): another library's object gives the element type and the rank.
template <class Foreign>
    requires detail::ForeignTensor<std::remove_reference_t<Foreign>> view(Foreign&&)
->view<typename detail::foreign_block_t<std::remove_reference_t<Foreign>>::element,
       detail::foreign_block_t<std::remove_reference_t<Foreign>>::rank>;
/// An object whose elements cannot be found does not compile.
template <class Other>
    requires detail::OpaqueTensor<Other> view(Other&&)
->view<double, 1>;

}  // namespace einparallel
