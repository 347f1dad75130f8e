#pragma once
// Other libraries' tensors, recognised by their shape and without including them: Eigen matrices, vectors, maps and
// tensor maps; std::span, std::vector and std::array; std::mdspan and its ancestors.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Eigen::MatrixBase with direct access to its memory: dense objects, maps, blocks, not products.
template <class M>
concept EigenMatrix = requires(M& matrix) {
    typename std::remove_cvref_t<M>::Scalar;
    { std::remove_cvref_t<M>::IsVectorAtCompileTime } -> std::convertible_to<int>;
    { matrix.rows() } -> std::convertible_to<index>;
    { matrix.rowStride() } -> std::convertible_to<index>;
    { matrix.colStride() } -> std::convertible_to<index>;
    {matrix.data()};
};

/// Eigen::Tensor and Eigen::TensorMap.
template <class M>
concept EigenTensor = requires(M& tensor) {
    typename std::remove_cvref_t<M>::Scalar;
    { std::remove_cvref_t<M>::NumDimensions } -> std::convertible_to<int>;
    { tensor.dimensions()[std::size_t{0}] } -> std::convertible_to<index>;
    { std::remove_cvref_t<M>::Layout } -> std::convertible_to<int>;
    {tensor.data()};
};

/// std::mdspan and mdarray shapes.
template <class M>
concept Mdspan = requires(M& span) {
    { std::remove_cvref_t<M>::rank() } -> std::convertible_to<std::size_t>;
    {span.data_handle()};
    { span.extent(0) } -> std::convertible_to<index>;
    { span.stride(0) } -> std::convertible_to<index>;
};

/// std::span, std::vector, std::array and alike: contiguous, one dimension.
template <class M>
concept Sequence = requires(M& elements) {
    typename std::remove_cvref_t<M>::value_type;
    { elements.size() } -> std::convertible_to<std::size_t>;
    { elements.data() } -> std::convertible_to<const typename std::remove_cvref_t<M>::value_type*>;
    {elements[std::size_t{0}]};
};

template <class M>
constexpr std::size_t rank_of_foreign() {
    using Bare = std::remove_cvref_t<M>;
    if constexpr (EigenMatrix<M>) {
        return Bare::IsVectorAtCompileTime ? 1 : 2;
    } else if constexpr (EigenTensor<M>) {
        return static_cast<std::size_t>(Bare::NumDimensions);
    } else if constexpr (Mdspan<M>) {
        return Bare::rank();
    } else {
        return 1;
    }
}
template <class M>
inline constexpr std::size_t foreign_rank = rank_of_foreign<M>();

/// An object of another library that a view of this rank can refer to.
template <class M, std::size_t Rank>
concept ForeignTensor = (EigenMatrix<std::remove_reference_t<M>> || EigenTensor<std::remove_reference_t<M>> ||
                         Mdspan<std::remove_reference_t<M>> ||
                         Sequence<std::remove_reference_t<M>>)&&foreign_rank<std::remove_reference_t<M>> == Rank;

template <class M>
auto foreign_data(M& object) {
    if constexpr (Mdspan<M>) {
        return object.data_handle();
    } else {
        return object.data();
    }
}
template <class M>
using foreign_pointer_t = decltype(foreign_data(std::declval<std::remove_reference_t<M>&>()));

template <class M>
auto foreign_extents(M& object) {
    std::array<index, foreign_rank<M>> extents{};
    if constexpr (EigenMatrix<M>) {
        if constexpr (foreign_rank<M> == 1) {
            extents[0] = static_cast<index>(object.size());
        } else {
            extents = {static_cast<index>(object.rows()), static_cast<index>(object.cols())};
        }
    } else if constexpr (EigenTensor<M>) {
        for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
            extents[dimension] = static_cast<index>(object.dimensions()[dimension]);
        }
    } else if constexpr (Mdspan<M>) {
        for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
            extents[dimension] = static_cast<index>(object.extent(dimension));
        }
    } else {
        extents[0] = static_cast<index>(object.size());
    }
    return extents;
}

template <class M>
auto foreign_strides(M& object) {
    std::array<index, foreign_rank<M>> strides{};
    if constexpr (EigenMatrix<M>) {
        if constexpr (foreign_rank<M> == 1) {
            strides[0] = static_cast<index>(object.innerStride());
        } else {
            strides = {static_cast<index>(object.rowStride()), static_cast<index>(object.colStride())};
        }
    } else if constexpr (EigenTensor<M>) {
        constexpr bool row_major_layout = (static_cast<int>(std::remove_cvref_t<M>::Layout) & 1) != 0;
        index stride = 1;
        for (std::size_t step = 0; step < strides.size(); ++step) {
            const std::size_t dimension = row_major_layout ? strides.size() - 1 - step : step;
            strides[dimension] = stride;
            stride *= static_cast<index>(object.dimensions()[dimension]);
        }
    } else if constexpr (Mdspan<M>) {
        for (std::size_t dimension = 0; dimension < strides.size(); ++dimension) {
            strides[dimension] = static_cast<index>(object.stride(dimension));
        }
    } else {
        strides[0] = 1;
    }
    return strides;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
