#pragma once
// Other libraries' tensors, recognised by their shape and without including them: Eigen matrices, vectors, maps and
// tensor maps; std::span, std::vector and std::array; std::mdspan and its ancestors.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

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

/// An object of another library that a view can refer to.
template <class M>
concept ForeignTensor = EigenMatrix<M> || EigenTensor<M> || Mdspan<M> || Sequence<M>;

/// Where its elements lie.
template <class T, std::size_t Rank>
struct foreign_block {
    T* data;
    std::array<index, Rank> extents;
    std::array<index, Rank> strides;

    using element = T;
    static constexpr std::size_t rank = Rank;
};
template <class T, std::size_t Rank>
foreign_block(T*, std::array<index, Rank>, std::array<index, Rank>) -> foreign_block<T, Rank>;

template <class... Integers>
std::array<index, sizeof...(Integers)> indices_of(Integers... values) {
    return {index(values)...};
}

template <ForeignTensor M>
auto foreign_block_of(M& object) {
    using Bare = std::remove_cvref_t<M>;
    if constexpr (EigenMatrix<M>) {
        if constexpr (Bare::IsVectorAtCompileTime) {
            return foreign_block{object.data(), indices_of(object.size()), indices_of(object.innerStride())};
        } else {
            return foreign_block{object.data(), indices_of(object.rows(), object.cols()),
                                 indices_of(object.rowStride(), object.colStride())};
        }
    } else if constexpr (EigenTensor<M>) {
        constexpr std::size_t rank{Bare::NumDimensions};
        foreign_block made{object.data(), std::array<index, rank>(), std::array<index, rank>()};
        index stride = 1;
        for (std::size_t step = 0; step < rank; ++step) {
            const std::size_t dimension = (int(Bare::Layout) & 1) != 0 ? rank - 1 - step : step;
            made.extents[dimension] = index(object.dimensions()[dimension]);
            made.strides[dimension] = stride;
            stride *= made.extents[dimension];
        }
        return made;
    } else if constexpr (Mdspan<M>) {
        return [&]<std::size_t... Dimension>(std::index_sequence<Dimension...> /*all*/) {
            return foreign_block{object.data_handle(), indices_of(object.extent(Dimension)...),
                                 indices_of(object.stride(Dimension)...)};
        }
        (std::make_index_sequence<Bare::rank()>{});
    } else {
        return foreign_block{object.data(), indices_of(object.size()), indices_of(1)};
    }
}
template <ForeignTensor M>
using foreign_block_t = decltype(foreign_block_of(std::declval<M&>()));

/// A view of elements T and this rank can refer to it.
template <class M, class T, std::size_t Rank>
concept ForeignOfRank = ForeignTensor<M> && foreign_block_t<M>::rank ==
                        Rank&& std::is_convertible_v<typename foreign_block_t<M>::element*, T*>;

}  // namespace einparallel::EINPARALLEL_DETAIL
